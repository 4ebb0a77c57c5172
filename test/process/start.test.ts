import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import t from 'tap';
import { product } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { childrenOf, isAlive, titleOf } from '../support/processes.js';
import { httpGet } from '../support/raw-client.js';
import { runCli } from '../support/run-cli.js';
import { httpConf, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const ok = 'location / { return 200 "$pid"; }';

t.test('master and workers', async (t) => {
  const s = await startServer(t, { conf: `worker_processes 3;\n${serverConf(ok)}` });
  t.equal((await httpGet(s, '/')).status, 200, 'it answers as soon as the pid file is there');
  await waitFor(() => s.workers().length === 3, { what: 'three workers' });
  await waitFor(() => s.workers().every((pid) => titleOf(pid) === `${product}: worker process`), {
    what: () => s.workers().map(titleOf).join(' | '),
  });
  t.match(titleOf(s.pid), new RegExp(`^${product}: master process \\S.*-c sluice\\.conf`));
  const pids = new Set<string>();
  await waitFor(async () => pids.add((await httpGet(s, '/')).text) && pids.size > 1, { what: 'answers from several workers' });
  t.ok([...pids].every((pid) => s.workers().includes(Number(pid))));
  t.match(s.log(), /\[notice\] \d+#\d+: start worker processes\n/);
  for (const pid of s.workers()) {
    t.match(s.log(), `start worker process ${pid}\n`);
  }
  const { pid, dir } = s;
  await s.stop('QUIT');
  t.notOk(isAlive(pid));
  t.notOk(existsSync(`${dir}/server.pid`), 'the pid file goes with the server');
});

t.test('worker_processes auto', async (t) => {
  const s = await startServer(t, { conf: `worker_processes auto;\n${serverConf(ok)}` });
  const cores = (await import('node:os')).availableParallelism();
  await waitFor(() => s.workers().length === cores, { what: () => `${cores} workers, not ${s.workers().length}` });
});

t.test('master_process off', async (t) => {
  const s = await startServer(t, { conf: `master_process off;\n${serverConf(ok)}` });
  t.equal((await httpGet(s, '/')).text, String(s.pid));
  t.equal(childrenOf(s.pid).length, 0);
});

t.test('daemon on', async (t) => {
  const prefix = await makePrefix(t, { 'sluice.conf': `daemon on;\npid %%DIR%%/server.pid;\n${serverConf(ok)}` });
  const where = ['-p', `${prefix.dir}/`, '-c', 'sluice.conf', '-e', 'error.log'];
  const { code, stdout, stderr } = await runCli(where);
  t.strictSame([code, stdout, stderr], [0, '', ''], 'the command returns');
  const pid = await waitFor(() => existsSync(`${prefix.dir}/server.pid`) && Number(readFileSync(`${prefix.dir}/server.pid`, 'latin1')));
  t.teardown(() => isAlive(pid) && process.kill(-pid, 'SIGKILL'));
  t.equal((await httpGet(prefix, '/')).status, 200);

  const second = await runCli(where);
  t.equal(second.code, 1, 'a second instance does not start');
  t.equal((await httpGet(prefix, '/')).status, 200, 'and does not harm the first');
  t.equal(Number(readFileSync(`${prefix.dir}/server.pid`, 'latin1')), pid);

  const quit = await runCli([...where, '-s', 'quit']);
  t.equal(quit.code, 0);
  await waitFor(() => !isAlive(pid), { what: 'the end of the server' });
});

t.test('daemon on, and what comes through pipes comes once', async (t) => {
  const prefix = await makePrefix(t, {
    'sluice.conf': `daemon on;\npid %%DIR%%/server.pid;\n${serverConf(ok, 'ssl_password_file passwords;')}`,
  });
  execFileSync('mkfifo', [`${prefix.dir}/passwords`]);
  const writer = spawn('sh', ['-c', 'echo secret > "$0"', `${prefix.dir}/passwords`], { stdio: 'ignore' });
  t.teardown(() => writer.kill());
  const { code, stderr } = await runCli(['-p', `${prefix.dir}/`, '-c', 'sluice.conf', '-e', 'error.log']);
  t.strictSame([code, stderr], [0, '']);
  const pid = await waitFor(() => existsSync(`${prefix.dir}/server.pid`) && Number(readFileSync(`${prefix.dir}/server.pid`, 'latin1')));
  t.teardown(() => isAlive(pid) && process.kill(-pid, 'SIGKILL'));
  t.equal((await httpGet(prefix, '/')).status, 200);
  process.kill(pid, 'SIGQUIT');
  await waitFor(() => !isAlive(pid), { what: 'the end of the server' });
});

t.test('a port in use', async (t) => {
  const prefix = await makePrefix(t);
  const conf = await prefix.expand(serverConf(ok));
  const holder = createServer();
  await new Promise<void>((done) => holder.listen(prefix.port(0), '127.0.0.1', done));
  t.teardown(() => holder.close());
  await prefix.write('sluice.conf', `daemon off;\n${conf}`);
  const where = ['-p', `${prefix.dir}/`, '-c', 'sluice.conf', '-e', 'error.log'];
  t.equal((await runCli(['-t', ...where])).code, 0, '-t does not mind');
  const { code, stderr } = await runCli(where);
  t.equal(code, 1);
  t.match(stderr, `[emerg] bind() to 127.0.0.1:${prefix.port(0)} failed (98: Address already in use)`);
  t.match(stderr, '[emerg] still could not bind()');
});

t.test('rights of workers', { skip: process.getuid?.() !== 0 && 'needs root' }, async (t) => {
  const uids = (pid: number) =>
    /^Uid:\t(\d+)\t(\d+)/m
      .exec(readFileSync(`/proc/${pid}/status`, 'latin1'))!
      .slice(1)
      .map(Number);
  const nobody = Number(/^nobody:[^:]*:(\d+):/m.exec(readFileSync('/etc/passwd', 'latin1'))?.[1]);
  const s = await startServer(t, { conf: serverConf(ok) });
  t.equal((await httpGet(s, '/')).status, 200);
  // The master takes a worker's rights for a moment to make zones.
  await waitFor(() => uids(s.pid).join() === '0,0', { what: "the master's own rights" });
  for (const pid of s.workers()) {
    t.strictSame(uids(pid), [nobody, nobody]);
  }
  const root = await startServer(t, { conf: serverConf(ok), asRoot: true });
  t.equal((await httpGet(root, '/')).status, 200);
  for (const pid of root.workers()) {
    t.strictSame(uids(pid), [0, 0]);
  }
  const daemon = await startServer(t, { conf: `user daemon;\n${serverConf(ok)}` });
  t.equal((await httpGet(daemon, '/')).status, 200);
  for (const pid of daemon.workers()) {
    t.strictSame(uids(pid), [1, 1]);
  }
});

t.test('several addresses', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% backlog=10; listen unix:%%DIR%%/a.sock; ${ok} }
      server { listen 127.0.0.1:%%PORT_2%% reuseport; ${ok} }
      server { listen [::1]:%%PORT_0%% ipv6only=on so_keepalive=on; ${ok} }`),
  });
  for (const target of [s.port(0), s.port(1), s.port(2), `${s.dir}/a.sock`]) {
    t.equal((await httpGet(target, '/')).status, 200, String(target));
  }
  t.equal((await httpGet(s, '/', {}, { host: '::1' })).status, 200);
  const { dir } = s;
  await s.stop();
  t.notOk(existsSync(`${dir}/a.sock`), 'the socket file goes with the server');
});
