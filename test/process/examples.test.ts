import { cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import t from 'tap';
import { makePrefix } from '../support/prefix.js';
import { httpGet } from '../support/raw-client.js';
import { runCheck } from '../support/run-cli.js';
import { httpConf, startServer } from '../support/server.js';

const shipped = new URL('../../conf/', import.meta.url).pathname;

t.test('-t accepts every shipped example in an http block', async (t) => {
  const names = readdirSync(`${shipped}examples`).filter((name) => name.endsWith('.conf') && !name.endsWith('.test.conf'));
  t.ok(names.length > 0);
  for (const name of names) {
    const { dir } = await makePrefix(t, {
      'conf/main.conf': `nginx_compatibility on; pid %%DIR%%/pid; events { } http { include mime.types; include examples/${name}; }`,
    });
    cpSync(shipped, `${dir}/conf`, { recursive: true });
    // For modules that import packages.
    symlinkSync(new URL('../../node_modules', import.meta.url).pathname, `${dir}/conf/node_modules`);
    const { code, stderr } = await runCheck(['-p', `${dir}/`, '-c', 'conf/main.conf', '-e', 'error.log', '-t']);
    t.match({ code, stderr }, { code: 0, stderr: /^.*syntax is ok\n.*test is successful\n$/ }, name);
  }
});

t.test('what is shipped chooses the defaults of nginx', async (t) => {
  for (const name of ['sluice.conf', 'system/sluice.conf', 'examples/wordpress.conf']) {
    t.match(readFileSync(`${shipped}${name}`, 'utf8'), /^(# +)?nginx_compatibility on;$/m, name);
  }
});

t.test('applications hear of the version of nginx that this is compatible with', async (t) => {
  for (const name of ['fastcgi.conf', 'fastcgi_params']) {
    t.match(readFileSync(`${shipped}${name}`, 'utf8'), 'nginx/$nginx_version;', name);
  }
  const server = await startServer(t, { conf: httpConf('server { listen 127.0.0.1:%%PORT_0%%; return 200 $nginx_version; }') });
  t.equal((await httpGet(server, '/')).text, '1.31.5');
});
