import { cpSync, readdirSync } from 'node:fs';
import t from 'tap';
import { makePrefix } from '../support/prefix.js';
import { runCli } from '../support/run-cli.js';

const shipped = new URL('../../conf/', import.meta.url).pathname;

t.test('-t accepts every shipped example in an http block', async (t) => {
  const names = readdirSync(`${shipped}examples`);
  t.ok(names.length > 0);
  for (const name of names) {
    const { dir } = await makePrefix(t, {
      'conf/main.conf': `pid %%DIR%%/pid; events { } http { include mime.types; include examples/${name}; }`,
    });
    cpSync(shipped, `${dir}/conf`, { recursive: true });
    const { code, stderr } = await runCli(['-p', `${dir}/`, '-c', 'conf/main.conf', '-e', 'error.log', '-t']);
    t.match({ code, stderr }, { code: 0, stderr: /^.*syntax is ok\n.*test is successful\n$/ }, name);
  }
});
