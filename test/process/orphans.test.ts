import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import t, { type Test } from 'tap';
import { againstNginx, serverCommand } from '../support/binary.js';
import { makePrefix, type Prefix } from '../support/prefix.js';
import { childrenOf, isAlive } from '../support/processes.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const conf = (text: string) =>
  httpConf(
    `server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_2%% reuseport; listen unix:%%DIR%%/s.sock; location / { return 200 ${text}; } }`,
    'daemon off; worker_processes 2; pid %%DIR%%/server.pid; error_log %%DIR%%/error.log info;',
  );

/** Starts a server by hand: its master is going to be killed, which the harness would take for a failure. */
async function start(t: Test, prefix: Prefix, pidFile = 'server.pid'): Promise<ChildProcess> {
  const [command, ...first] = serverCommand();
  const child = spawn(command, [...first, '-p', `${prefix.dir}/`, '-c', 'sluice.conf', '-e', 'error.log'], {
    stdio: 'ignore',
    detached: true,
  });
  t.teardown(() => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      // Nobody is left.
    }
  });
  const path = `${prefix.dir}/${pidFile}`;
  const pid = () => (existsSync(path) ? Number(readFileSync(path, 'latin1')) : 0);
  await waitFor(() => child.exitCode !== null || pid() === child.pid, {
    what: () => readFileSync(`${prefix.dir}/error.log`, 'latin1'),
  });
  return child;
}

async function killMaster(child: ChildProcess): Promise<number[]> {
  const workers = childrenOf(child.pid ?? 0);
  child.kill('SIGKILL');
  await waitFor(() => !isAlive(child.pid ?? 0));
  return workers;
}

t.test('workers of a master that was killed serve on, and end by TERM', async (t) => {
  const prefix = await makePrefix(t, { 'sluice.conf': conf('old') });
  const workers = await killMaster(await start(t, prefix));
  t.equal(workers.length, 2);
  for (let i = 0; i < 10; i++) {
    t.equal((await httpGet(prefix, '/')).text, 'old');
  }
  t.ok(workers.every(isAlive));
  for (const pid of workers) {
    process.kill(pid, 'SIGTERM');
  }
  await waitFor(() => !workers.some(isAlive));
});

t.test('a new master takes over without losing a request', { skip: againstNginx }, async (t) => {
  const prefix = await makePrefix(t, { 'sluice.conf': conf('old') });
  const workers = await killMaster(await start(t, prefix));
  await prefix.write('sluice.conf', conf('new'));
  let running = true;
  let answered = 0;
  const failures: unknown[] = [];
  const load = async (target: number | string) => {
    while (running) {
      await httpGet(target, '/').then(
        ({ status }) => (status === 200 ? answered++ : failures.push(status)),
        (error) => failures.push(error),
      );
    }
  };
  const clients = [load(prefix.port(0)), load(prefix.port(2)), load(`${prefix.dir}/s.sock`)];
  const child = await start(t, prefix);
  t.equal(child.exitCode, null, readFileSync(`${prefix.dir}/error.log`, 'latin1'));
  await waitFor(() => !workers.some(isAlive), { what: 'the end of the old workers' });
  running = false;
  await Promise.all(clients);
  t.strictSame(failures, []);
  t.ok(answered > 0);
  t.equal((await httpGet(prefix, '/')).text, 'new');
  t.equal((await httpGet(`${prefix.dir}/s.sock`, '/')).text, 'new');
  // The one after it can take over just the same.
  const next = await killMaster(child);
  const third = await start(t, prefix);
  await waitFor(() => !next.some(isAlive));
  t.equal((await httpGet(prefix, '/')).text, 'new');
  third.kill('SIGTERM');
  await waitFor(() => third.exitCode === 0);
  t.notOk(existsSync(`${prefix.dir}/s.sock`));
});

t.test('a worker that hangs does not keep a new master from starting elsewhere', { skip: againstNginx }, async (t) => {
  const prefix = await makePrefix(t, { 'sluice.conf': conf('old') });
  const workers = await killMaster(await start(t, prefix));
  for (const pid of workers) {
    process.kill(pid, 'SIGSTOP');
  }
  t.teardown(() => {
    for (const pid of workers.filter(isAlive)) {
      process.kill(pid, 'SIGKILL');
    }
  });
  await prefix.write('sluice.conf', conf('new').replace('PORT_0', 'PORT_1').replace('listen unix:%%DIR%%/s.sock;', ''));
  await start(t, prefix);
  t.equal((await httpGet(prefix.port(1), '/')).text, 'new');
});

t.test('a new master that cannot start leaves the old workers alone', { skip: againstNginx }, async (t) => {
  const prefix = await makePrefix(t, { 'sluice.conf': conf('old') });
  const workers = await killMaster(await start(t, prefix));
  for (const broken of ['listen 192.0.2.1:80;', '']) {
    const text = conf('new').replace('server {', `server { ${broken}`);
    await prefix.write('sluice.conf', broken === '' ? `working_directory /none; ${text}` : text);
    const child = await start(t, prefix);
    await waitFor(() => child.exitCode === 1);
    t.ok(workers.every(isAlive));
    t.equal((await httpGet(prefix, '/')).text, 'old');
    t.equal((await httpGet(`${prefix.dir}/s.sock`, '/')).text, 'old');
  }
  await prefix.write('sluice.conf', conf('new'));
  await start(t, prefix);
  await waitFor(() => !workers.some(isAlive));
  t.equal((await httpGet(prefix, '/')).text, 'new');
});

/** A folder in which a socket's path would be longer than the 107 bytes of such an address. */
const DEEP = 'a-folder-whose-name-has-sixty-letters-since-projects-lie-deep/'.repeat(3);

t.test('a pid file in a deep folder', { skip: againstNginx }, async (t) => {
  const deep = (text: string) => conf(text).replace('server.pid', `${DEEP}server.pid`);
  const prefix = await makePrefix(t, { 'sluice.conf': deep('old'), [`${DEEP}x`]: '' });
  const pidFile = `${DEEP}server.pid`;
  const workers = await killMaster(await start(t, prefix, pidFile));
  t.equal((await httpGet(prefix, '/')).text, 'old');
  t.strictSame(readdirSync(`${prefix.dir}/${pidFile}.workers`).map(Number), workers);
  await prefix.write('sluice.conf', deep('new'));
  const child = await start(t, prefix, pidFile);
  await waitFor(() => !workers.some(isAlive), { what: 'the end of the old workers' });
  t.equal((await httpGet(prefix, '/')).text, 'new');
  child.kill('SIGTERM');
  await waitFor(() => child.exitCode === 0);
  t.notOk(existsSync(`${prefix.dir}/${pidFile}.workers`));
});

t.test('a folder of control sockets that others may have made, or written into', { skip: againstNginx }, async (t) => {
  const plain = conf('hello').replace('listen unix:%%DIR%%/s.sock;', '');
  const prefix = await makePrefix(t, { 'sluice.conf': plain, 'elsewhere/x': '' });
  const folder = `${prefix.dir}/server.pid.workers`;
  const cases: [what: string, make: () => void, message: string, left: string][] = [
    ['a link', () => symlinkSync(`${prefix.dir}/elsewhere`, folder), `open() "${folder}" failed (20: Not a directory)`, 'elsewhere'],
    ['open to all', () => mkdirSync(folder) ?? chmodSync(folder, 0o777), `others may write into "${folder}"`, 'server.pid.workers'],
  ];
  if (process.getuid?.() === 0) {
    const make = () => mkdirSync(folder, 0o700) ?? chownSync(folder, 65534, 65534);
    cases.push(["another user's", make, `"${folder}" belongs to the user 65534`, 'server.pid.workers']);
  }
  for (const [what, make, message, left] of cases) {
    make();
    const child = await start(t, prefix);
    t.equal((await httpGet(prefix, '/')).text, 'hello', what);
    t.match(readFileSync(`${prefix.dir}/error.log`, 'latin1'), `${message}, workers cannot be taken over`);
    t.strictSame(
      readdirSync(`${prefix.dir}/${left}`).filter((name) => name !== 'x'),
      [],
      'nothing is put there',
    );
    child.kill('SIGTERM');
    await waitFor(() => child.exitCode === 0);
    t.ok(lstatSync(folder), 'nor is it removed');
    rmSync(folder, { recursive: true });
  }
  // One that only others may look into is closed to them.
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  const child = await start(t, prefix);
  t.equal(lstatSync(folder).mode & 0o777, 0o700);
  // It is made anew for the next workers when somebody removes it.
  rmSync(folder, { recursive: true });
  const [first = 0] = childrenOf(child.pid ?? 0);
  process.kill(first, 'SIGKILL');
  await waitFor(() => existsSync(folder) && readdirSync(folder).length === 1);
  t.equal(lstatSync(folder).mode & 0o777, 0o700);
  child.kill('SIGTERM');
  await waitFor(() => child.exitCode === 0);
  t.notOk(existsSync(folder));
});
