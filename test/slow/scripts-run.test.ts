import { cpSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import t from 'tap';
import { againstNginx, serverCommand } from '../support/binary.js';
import { startForeground } from '../support/foreground.js';
import { reservePort } from '../support/ports.js';
import { makePrefix } from '../support/prefix.js';

if (againstNginx) {
  t.bailout('nginx has no such script');
}

const root = new URL('../../', import.meta.url).pathname;
const [, , , node, program] = serverCommand() as unknown as string[];

/** A checkout that was built: what installs and builds is left out. */
async function checkout(t: import('tap').Test): Promise<string> {
  const { dir } = await makePrefix(t, { 'scripts/install-and-build': '' });
  for (const name of ['scripts/run', 'conf', 'package.json']) {
    cpSync(`${root}${name}`, `${dir}/${name}`, { recursive: true });
  }
  cpSync(program!.replace(/\/sluice\.js$/, ''), `${dir}/dist`, { recursive: true });
  symlinkSync(`${root}node_modules`, `${dir}/node_modules`);
  return dir;
}

t.test('scripts/run says where it serves once it does, and the commands of the pages mean its server', async (t) => {
  const dir = await checkout(t);
  const { port, release } = await reservePort();
  t.teardown(release);
  const server = startForeground(t, `${dir}/scripts/run`, ['--port', String(port)], { env: { NODE_OPTIONS: '' } });
  await server.until(new RegExp(`^sluice: serving on http://127\\.0\\.0\\.1:${port}/ \\(Ctrl-C stops it\\)$`, 'm'));
  t.match(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'sluice is running');
  const sluice = async (...args: string[]) => {
    const command = startForeground(t, node!, [`${dir}/dist/sluice.js`, ...args], { cwd: '/', env: { NODE_OPTIONS: '' } });
    return { code: await command.end(), said: command.said() };
  };
  const tested = await sluice('-t');
  t.equal(tested.code, 0, tested.said);
  t.match(tested.said, `the configuration file ${dir}/conf/sluice.conf syntax is ok`);
  t.match((await sluice('status')).said, `sluice runs as process ${server.child.pid} since `);
  t.equal((await sluice('-s', 'reload', '--wait')).code, 0);
  t.match(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'sluice is running', 'the port stays');
  t.equal((await sluice('-s', 'quit')).code, 0);
  t.equal(await server.end(), 0);
});

t.test('a port in use is no server', async (t) => {
  const dir = await checkout(t);
  const busy = createServer();
  await new Promise<void>((done) => busy.listen(0, '127.0.0.1', done));
  t.teardown(() => busy.close());
  const { port } = busy.address() as { port: number };
  const server = startForeground(t, `${dir}/scripts/run`, [`--port=${port}`], { env: { NODE_OPTIONS: '' } });
  t.equal(await server.end(), 1);
  t.match(server.said(), `bind() to 127.0.0.1:${port} failed`);
  t.notMatch(server.said(), 'serving');
  const wrong = startForeground(t, `${dir}/scripts/run`, ['--port', 'x']);
  t.equal(await wrong.end(), 2);
});
