// More clients than descriptors: those beyond the limit wait in the backlog, and none is closed.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import t from 'tap';
import { againstNginx, serverCommand } from '../support/binary.js';
import { startOrigin } from '../support/origin.js';
import { makePrefix } from '../support/prefix.js';
import { isAlive } from '../support/processes.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const LIMIT = 80;
const CLIENTS = 120;

t.test('clients beyond the limit of descriptors', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(
      `server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% proxy_protocol; listen unix:%%DIR%%/socket; return 200 answer; }`,
      `worker_rlimit_nofile ${LIMIT};`,
    ),
  });
  for (const [target, first] of [
    [s.port(0), ''],
    [s.port(1), 'PROXY UNKNOWN\r\n'],
    [`${s.dir}/socket`, ''],
  ] as const) {
    const clients: RawClient[] = [];
    t.teardown(() => clients.forEach((client) => void client.destroy()));
    for (let i = 0; i < CLIENTS; i++) {
      clients.push((await RawClient.connect(target)).send(first + requestText('GET', '/'), 'GET'));
    }
    await s.logged('failed (24: Too many open files)');
    const texts: string[] = [];
    for (const client of clients) {
      texts.push((await client.response()).text);
      client.destroy();
    }
    t.strictSame(texts, Array(CLIENTS).fill('answer'), `${target}`);
  }
});

t.test('connections to backends take the last descriptors', async (t) => {
  let release = () => {};
  const released = new Promise<void>((done) => {
    release = done;
  });
  const backend = await startOrigin(t, async () => {
    await released;
    return { body: 'answer' };
  });
  const s = await startServer(t, {
    conf: httpConf(
      `server { listen 127.0.0.1:%%PORT_0%%; location / { proxy_pass http://127.0.0.1:${backend.port}; } }`,
      `worker_rlimit_nofile ${LIMIT};`,
    ),
    expectAlerts: /socket\(\) failed \(24: Too many open files\)/,
  });
  const clients: RawClient[] = [];
  t.teardown(() => clients.forEach((client) => void client.destroy()));
  for (let i = 0; i < CLIENTS; i++) {
    clients.push(await RawClient.connect(s.port(0)));
  }
  // The clients that were accepted leave fewer descriptors than they will want for backends, and the backend keeps its own.
  await s.logged('[crit]');
  await s.logged('accept4() failed (24: Too many open files)');
  for (const client of clients) {
    client.send(requestText('GET', '/'), 'GET');
  }
  await s.logged('socket() failed (24: Too many open files) while connecting to upstream');
  release();
  const statuses: (number | undefined)[] = [];
  for (const client of clients) {
    statuses.push((await client.response().catch(() => undefined))?.status);
    client.destroy();
  }
  t.ok(statuses.includes(500), 'nobody is there to ask');
  t.ok(statuses.includes(200), 'others had a descriptor');
  if (!s.log().includes('using the "libuv"')) {
    // libuv closes those that it has no descriptors for.
    t.notOk(
      statuses.some((status) => status !== 200 && status !== 500),
      'each is answered',
    );
  }
  t.equal((await httpGet(s, '/')).text, 'answer');
});

t.test('a master that is started with few descriptors serves, or ends and says why', { skip: againstNginx }, async (t) => {
  const conf =
    'daemon off; worker_processes 2; pid server.pid; error_log stderr info; events {} http { server { listen 127.0.0.1:%%PORT_0%%; } }';
  const [command, ...first] = serverCommand();
  const outcomes = await Promise.all(
    // With fewer, Node does not start.
    [20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32].map(async (limit) => {
      const prefix = await makePrefix(t, { 'sluice.conf': conf });
      const args = [...first, '-p', `${prefix.dir}/`, '-c', 'sluice.conf', '-e', 'stderr'];
      const child = spawn('sh', ['-c', `ulimit -n ${limit}; exec "$@"`, 'sh', command, ...args], {
        stdio: ['ignore', 'ignore', 'pipe'],
        // A group of its own: nothing else is to be signalled.
        detached: true,
      });
      t.teardown(() => child.kill('SIGKILL'));
      let said = '';
      child.stderr.on('data', (text) => {
        said += text;
      });
      const closed = once(child, 'close');
      await waitFor(() => child.exitCode !== null || existsSync(`${prefix.dir}/server.pid`), { what: () => said });
      const serves = child.exitCode === null;
      if (serves) {
        child.kill('SIGTERM');
      }
      await closed;
      return serves ? child.exitCode : `${child.exitCode} ${/too many open files|unable to open database file/i.test(said)}`;
    }),
  );
  t.strictSame(new Set(outcomes), new Set(['1 true', 0]), 'some serve until TERM, and the others say why they cannot');
});

t.test('a master without a descriptor left', { skip: againstNginx || spawnSync('prlimit').error !== undefined }, async (t) => {
  const s = await startServer(t, {
    conf: httpConf('server { listen 127.0.0.1:%%PORT_0%%; return 200 answer; }', 'worker_processes 2;'),
    expectAlerts:
      /fork\(\) failed while spawning "worker process"|exited on signal 9|execve\(\) failed|unable to open database file|too many open files/i,
  });
  const { pid } = s;
  // Refused for a moment while the master does something with its workers' rights.
  const limit = (descriptors: number) =>
    waitFor(() => spawnSync('prlimit', ['--pid', String(pid), `--nofile=${descriptors}:`]).status === 0, { what: 'another limit' });
  await limit(3);
  t.comment('a reload is refused, and nothing changes');
  s.signal('HUP');
  await s.logged(/\[emerg\].*too many open files/i);
  t.equal((await httpGet(s, '/')).text, 'answer');
  t.comment('an upgrade is given up, and the pid file has its name');
  s.signal('USR2');
  await s.logged('execve() failed while executing new binary process');
  await waitFor(() => existsSync(`${s.dir}/server.pid`) && readFileSync(`${s.dir}/server.pid`, 'latin1') === `${pid}\n`);
  t.comment('workers cannot be replaced until there are descriptors again');
  for (const worker of s.workers()) {
    process.kill(worker, 'SIGKILL');
  }
  await s.logged('fork() failed while spawning "worker process" (24: Too many open files)');
  await limit(1000);
  await waitFor(() => s.workers().length === 2);
  t.equal((await httpGet(s, '/')).text, 'answer');
  t.comment('it ends when it is told to, and forgets about zones that nobody has any more');
  const before = s.workers();
  const held = (await RawClient.connect(s)).send('GET / HTTP/1.1\r\n', 'GET');
  t.teardown(() => held.destroy());
  s.signal('HUP');
  await waitFor(() => s.workers().filter((worker) => !before.includes(worker)).length === 2);
  await waitFor(() => s.workers().length === 3, { what: () => `one old worker alone, which has a request ${s.log()}` });
  await limit(3);
  for (const worker of s.workers().filter((each) => !before.includes(each))) {
    process.kill(worker, 'SIGKILL');
  }
  await waitFor(() => s.log().split('fork() failed').length > 3);
  s.signal('TERM');
  await waitFor(() => !isAlive(pid));
  t.notMatch(s.log(), 'uncaught exception');
});
