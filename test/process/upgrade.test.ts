import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import t, { type Test } from 'tap';
import { serverCommand } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { isAlive } from '../support/processes.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const conf = httpConf(
  'server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% reuseport; listen unix:%%DIR%%/s.sock; location / { return 200 $pid; } }',
  'daemon on;\nworker_processes 2;',
);

/** Waits for the pid file of a master that follows `old`. Between the two there is no file for a moment, so each look is one read. */
async function following(s: Server, old: number): Promise<number> {
  let fresh = 0;
  const named = (): boolean => {
    fresh = Number(s.read('server.pid'));
    return fresh !== 0 && fresh !== old;
  };
  await waitFor(named, { what: () => s.log() });
  return fresh;
}

/** Starts a server and upgrades it; gives both masters. */
async function upgraded(t: Test): Promise<{ s: Server; old: number; fresh: number }> {
  const s = await startServer(t, { conf });
  const old = s.pid;
  s.signal('USR2');
  const fresh = await following(s, old);
  t.equal(s.read('server.pid.oldbin'), `${old}\n`);
  return { s, old, fresh };
}

const children = (s: Server, master: number) =>
  s
    .log()
    .match(new RegExp(`${master}#\\d+: start worker process (\\d+)`, 'g'))
    ?.map((line) => Number(/\d+$/.exec(line))) ?? [];
const answering = async (s: Server) => Number((await httpGet(s, '/')).text);

t.test('the new master can be sent away again: the old one goes on', async (t) => {
  const { s, old, fresh } = await upgraded(t);
  process.kill(old, 'SIGWINCH');
  await waitFor(() => !children(s, old).some(isAlive), { what: 'the end of the old workers' });
  t.ok(children(s, fresh).includes(await answering(s)));
  process.kill(old, 'SIGUSR2');
  await s.logged('the changing binary signal is ignored');
  process.kill(fresh, 'SIGUSR2');
  await waitFor(() => s.log().match(/the changing binary signal is ignored/g)?.length === 2);
  process.kill(fresh, 'SIGTERM');
  await waitFor(() => s.read('server.pid') === `${old}\n` && !existsSync(`${s.dir}/server.pid.oldbin`), {
    what: 'the pid file to come back',
  });
  await waitFor(() => !isAlive(fresh));
  await waitFor(async () => children(s, old).includes(await answering(s)));
  t.equal((await httpGet(`${s.dir}/s.sock`, '/')).status, 200, 'the socket file is still there');
  await s.stop('QUIT');
  t.notOk(existsSync(`${s.dir}/s.sock`));
});

t.test('HUP gives the old master its workers back, without reading the configuration', async (t) => {
  const { s, old, fresh } = await upgraded(t);
  process.kill(old, 'SIGWINCH');
  const before = children(s, old);
  await waitFor(() => !before.some(isAlive));
  await s.configure('broken;');
  process.kill(old, 'SIGHUP');
  await waitFor(() => children(s, old).length > before.length && children(s, old).some(isAlive));
  process.kill(fresh, 'SIGQUIT');
  await waitFor(() => !isAlive(fresh));
  t.ok(children(s, old).includes(await answering(s)));
});

t.test('the old master leaves, and the new one can be replaced in its turn', async (t) => {
  const { s, old, fresh } = await upgraded(t);
  process.kill(old, 'SIGQUIT');
  await waitFor(() => !isAlive(old));
  t.equal(s.read('server.pid'), `${fresh}\n`);
  t.notOk(existsSync(`${s.dir}/server.pid.oldbin`));
  for (let i = 0; i < 8; i++) {
    t.equal((await httpGet(s.port(1), '/')).status, 200, 'no socket is left without a worker');
  }
  t.equal((await httpGet(`${s.dir}/s.sock`, '/')).status, 200, 'the socket file is still there');
  process.kill(fresh, 'SIGUSR2');
  const third = await following(s, fresh);
  t.equal(s.read('server.pid.oldbin'), `${fresh}\n`);
  process.kill(fresh, 'SIGTERM');
  await waitFor(() => !isAlive(fresh));
  t.ok(children(s, third).includes(await answering(s)));
});

t.test('a new executable that does not start changes nothing', async (t) => {
  const s = await startServer(t, { conf });
  const { pid } = s;
  await s.configure('broken;');
  s.signal('USR2');
  await s.logged(/new binary process \d+ exited with code 1/);
  await waitFor(() => s.read('server.pid') === `${pid}\n` && !existsSync(`${s.dir}/server.pid.oldbin`));
  t.equal((await httpGet(s, '/')).status, 200);
});

t.test('of several signals in a row, the first counts', async (t) => {
  const s = await startServer(t, { conf });
  const { pid } = s;
  for (const end = performance.now() + 20; performance.now() < end; ) {
    process.kill(pid, 'SIGUSR2');
  }
  await waitFor(() => {
    // On a busy machine all of them may have come as one.
    process.kill(pid, 'SIGUSR2');
    return s.log().includes('the changing binary signal is ignored');
  });
  await following(s, pid);
  t.match(s.log().match(/start new binary process/g), { length: 1 });
  t.equal(s.read('server.pid.oldbin'), `${pid}\n`);
  process.kill(pid, 'SIGQUIT');
  await waitFor(() => !isAlive(pid));
});

t.test('sockets that come as nginx passes them are used', async (t) => {
  const prefix = await makePrefix(t, { 'sluice.conf': conf });
  const listener = createServer();
  await new Promise<void>((done) => listener.listen(prefix.port(0), '127.0.0.1', done));
  const { fd } = (listener as unknown as { _handle: { fd: number } })._handle;
  const [command, ...first] = serverCommand();
  const args = ['-p', `${prefix.dir}/`, '-c', 'sluice.conf', '-e', 'error.log', '-g', `pid ${prefix.dir}/server.pid;`];
  const child = spawn(command, [...first, ...args], { stdio: ['ignore', 'ignore', 'ignore', fd], env: { ...process.env, NGINX: '3;' } });
  t.teardown(() => child.kill('SIGKILL'));
  await waitFor(() => existsSync(`${prefix.dir}/server.pid`));
  listener.close();
  t.equal((await httpGet(prefix, '/')).status, 200);
  child.kill('SIGTERM');
  await waitFor(() => child.exitCode === 0);
});
