import { existsSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import t from 'tap';
import { againstNginx, serverCommand } from '../support/binary.js';
import { startForeground } from '../support/foreground.js';
import { makePrefix } from '../support/prefix.js';
import { httpGet } from '../support/raw-client.js';
import { runCli } from '../support/run-cli.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('nginx has no such command');
}

const [command, ...first] = serverCommand();

const site = `http { include mime.types;
  server { listen 127.0.0.1:%%PORT_0%%; root public; location = /old { return 301 /; } } } events {}`;
const cases = 'base http://localhost:%%PORT_0%%; case "the old page" { request /old; expect status 301; }';

t.test('without -p the folder of -c FILE is the prefix, and two projects do not collide', async (t) => {
  const projects = await Promise.all(
    ['one', 'two'].map(async (text) => {
      const prefix = await makePrefix(t, {
        'site.conf': site,
        'mime.types': 'types { text/html html; }',
        'site.test.conf': cases,
        'public/index.html': text,
      });
      rmSync(`${prefix.dir}/logs`, { recursive: true });
      const args = [...first, text === 'one' ? 'run' : 'dev', '-c', 'site.conf'];
      const server = startForeground(t, command, args, { cwd: prefix.dir });
      await server.until(/serving on http:/);
      return { prefix, server, text, dir: prefix.dir };
    }),
  );
  for (const { prefix, dir, text } of projects) {
    t.equal((await httpGet(prefix.port(0), '/')).text, text, 'root is relative to the file');
    await waitFor(() => readFileSync(`${dir}/logs/access.log`, 'latin1').includes('GET / '));
    t.match(readFileSync(`${dir}/logs/sluice.pid`, 'latin1'), /^\d+\n$/);
    t.equal((await runCli(['test', '-c', 'site.conf'], { cwd: dir })).code, 0);
    const full = ['-c', `${dir}/site.conf`];
    t.match(await runCli(['-t', ...full], { cwd: '/' }), { code: 0 }, 'nginx’s options mean the same server');
    t.match(await runCli(['status', ...full], { cwd: '/' }), { code: 0, stdout: /^sluice runs as process/ });
    const reload = await runCli(['-s', 'reload', '--wait', ...full], { cwd: '/' });
    t.match(reload, { code: 0, stderr: /^sluice: the new configuration serves\n$/ });
    t.match(await runCli(['logs', ...full], { cwd: '/' }), { code: 0, stdout: /"GET \// });
  }
  t.notOk(existsSync(`${realpathSync('.')}/logs/sluice.pid.lock`), 'nothing is left in the package');
  const [one, two] = projects as [(typeof projects)[0], (typeof projects)[0]];
  t.equal((await runCli(['-s', 'quit', '-c', '../../x/../site.conf'], { cwd: `${one.dir}/public` })).code, 1, 'a file that is not there');
  t.equal((await runCli(['-s', 'quit', '-c', '../site.conf'], { cwd: `${one.dir}/public` })).code, 0);
  t.equal(await one.server.end(), 0);
  t.equal((await httpGet(two.prefix.port(0), '/')).text, 'two');
});

t.test('called as nginx, -c FILE leaves the prefix as it is', async (t) => {
  const { dir } = await makePrefix(t, { 'site.conf': 'pid %%DIR%%/x.pid; events {} http { access_log off; include none.conf; }' });
  rmSync(`${dir}/logs`, { recursive: true });
  symlinkSync(realpathSync('dist/sluice.js'), `${dir}/nginx`);
  const child = startForeground(t, process.execPath, [`${dir}/nginx`, '-T', '-c', `${dir}/site.conf`, '-e', 'stderr']);
  await child.end();
  t.match(child.said(), `"${dir}/none.conf" failed`);
  t.notOk(existsSync(`${dir}/logs`));
});
