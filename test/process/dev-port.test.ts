import { writeFileSync } from 'node:fs';
import t from 'tap';
import { againstNginx, serverCommand } from '../support/binary.js';
import { startForeground } from '../support/foreground.js';
import { reservePort } from '../support/ports.js';
import { makePrefix } from '../support/prefix.js';
import { httpGet } from '../support/raw-client.js';
import { runCli, testConfig } from '../support/run-cli.js';

if (againstNginx) {
  t.bailout('nginx has no such command');
}

const [command, ...first] = serverCommand();

t.test('sluice run --port serves the same file on another port, after a reload too', async (t) => {
  const conf = (text: string): string =>
    `events {} http { access_log off; server { listen 127.0.0.1:8080; return 200 ${text}; } server { listen 127.0.0.1:8080; server_name x; return 200 x; } }`;
  const { dir } = await makePrefix(t, { 'site.conf': conf('one') });
  const { port, release } = await reservePort();
  t.teardown(release);
  const server = startForeground(t, command, [...first, 'run', '-c', 'site.conf', '--port', String(port)], { cwd: dir });
  await server.until(new RegExp(`serving on http://127\\.0\\.0\\.1:${port}/`));
  t.equal((await httpGet(port, '/')).text, 'one');
  t.equal((await httpGet(port, '/', { Host: 'x' })).text, 'x');
  writeFileSync(`${dir}/site.conf`, conf('two'));
  t.match(await runCli(['-s', 'reload', '--wait', '-c', 'site.conf'], { cwd: dir }), {
    code: 0,
    stderr: 'sluice: the new configuration serves\n',
  });
  t.equal((await httpGet(port, '/')).text, 'two');
});

t.test('one port stands for one port', async (t) => {
  const test = async (main: string, server: string): Promise<string> =>
    (await testConfig(t, `${main} events {} http { server { ${server} } }`)).stderr;
  t.match(
    await test('dev_port 8001;', 'listen 8080; listen 8081;'),
    '"dev_port" stands for one port, and there are two, 8080 and 8081 in ',
  );
  t.match(await test('dev_port 70000;', 'listen 8080;'), 'invalid port "70000" in "dev_port" directive');
  t.match(await test('dev_port x;', 'listen 8080;'), 'invalid port "x" in "dev_port" directive');
});
