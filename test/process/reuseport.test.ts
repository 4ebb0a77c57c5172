import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import t, { type Test } from 'tap';
import { DatagramPeer, echo, startDatagramBackend } from '../support/datagrams.js';
import { isAlive, isStopped } from '../support/processes.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, type Server, startServer, streamConf } from '../support/server.js';
import { needsNative } from '../support/socket-options.js';
import { waitFor } from '../support/wait.js';

const http = (workers: number, option = 'reuseport') =>
  httpConf(`server { listen 127.0.0.1:%%PORT_0%% ${option}; return 200 $pid; }`, `worker_processes ${workers};`);

/** The sockets of a port that listen, or that are bound for datagrams, each by its number in /proc. */
function socketsAt(port: number, table: 'tcp' | 'udp' = 'tcp'): string[] {
  const own = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync(`/proc/net/${table}`, 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1] === own && fields[3] === (table === 'tcp' ? '0A' : '07'))
    .map((fields) => fields[9]!)
    .sort();
}

/** Those of some sockets that a process holds. */
function heldBy(pid: number, sockets: readonly string[]): string[] {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return sockets.filter((socket) => links.includes(`socket:[${socket}]`));
}

/** Each worker has one socket of its own, and the master has them all. */
function eachHasItsOwn(t: Test, s: Server, sockets: readonly string[]): void {
  t.strictSame(
    s.workers().map((pid) => heldBy(pid, sockets).length),
    s.workers().map(() => 1),
  );
  t.strictSame(
    s
      .workers()
      .flatMap((pid) => heldBy(pid, sockets))
      .sort(),
    sockets,
  );
  t.strictSame(heldBy(s.pid, sockets), sockets);
}

async function oldOnesEnded(before: readonly number[]): Promise<void> {
  await waitFor(() => !before.some(isAlive), { what: 'the end of the old workers' });
}

/** Asks until each of so many workers has answered. */
async function allAnswer(s: Server, workers: number): Promise<void> {
  const pids = new Set<string>();
  await waitFor(async () => pids.add((await httpGet(s, '/')).text).size === workers, { what: 'an answer of each worker' });
}

t.test('each worker accepts from a socket of its own', needsNative, async (t) => {
  const s = await startServer(t, { conf: http(3) });
  const sockets = socketsAt(s.port(0));
  t.equal(sockets.length, 3);
  eachHasItsOwn(t, s, sockets);
  await allAnswer(s, 3);
});

t.test('reloads: workers come and go, and so do their sockets', needsNative, async (t) => {
  const s = await startServer(t, { conf: http(2, '') });
  const [first] = socketsAt(s.port(0));
  for (const [workers, option] of [
    [2, 'reuseport'],
    [3, 'reuseport'],
    [1, 'reuseport'],
    [2, 'reuseport backlog=100'],
    [2, ''],
  ] as const) {
    const before = s.workers();
    await s.reload(http(workers, option));
    await oldOnesEnded(before);
    const sockets = socketsAt(s.port(0));
    t.ok(sockets.includes(first!), 'the first one stays');
    t.equal(sockets.length, option === '' ? 1 : workers);
    if (option !== '') {
      eachHasItsOwn(t, s, sockets);
    }
    await allAnswer(s, workers);
  }
});

t.test('no client is lost over reloads', needsNative, async (t) => {
  const s = await startServer(t, { conf: http(1, '') });
  let running = true;
  let answered = 0;
  const failures: unknown[] = [];
  const load = async () => {
    while (running) {
      await httpGet(s, '/').then(
        ({ status }) => (status === 200 ? answered++ : failures.push(status)),
        (error) => failures.push(error),
      );
    }
  };
  const clients = [load(), load(), load()];
  for (const conf of [http(1), http(2), http(2), http(3)]) {
    const before = s.workers();
    await s.reload(conf);
    await oldOnesEnded(before);
  }
  running = false;
  await Promise.all(clients);
  t.strictSame(failures, []);
  t.ok(answered > 0);
});

t.test('a configuration that is refused changes nothing', needsNative, async (t) => {
  const s = await startServer(t, { conf: http(2, ''), expectAlerts: /chdir/ });
  const sockets = socketsAt(s.port(0));
  await t.rejects(s.reload(`working_directory /none;\n${http(2)}`), /chdir/);
  await waitFor(() => socketsAt(s.port(0)).length === 1);
  t.strictSame(socketsAt(s.port(0)), sockets);
  const [, second] = s.workers();
  process.kill(second!, 'SIGTERM');
  await waitFor(() => s.workers().length === 2 && !s.workers().includes(second!), { what: 'its successor' });
  await allAnswer(s, 2);
});

t.test('who waits for a worker that was killed is served by its successor', needsNative, async (t) => {
  const s = await startServer(t, { conf: http(2), expectAlerts: /exited on signal 9/ });
  const sockets = socketsAt(s.port(0));
  const before = s.workers();
  for (const pid of before) {
    process.kill(pid, 'SIGSTOP');
    await waitFor(() => isStopped(pid), { what: 'the worker to stop' });
  }
  const clients = await Promise.all(Array.from({ length: 8 }, () => RawClient.connect(s)));
  for (const pid of before) {
    process.kill(pid, 'SIGKILL');
  }
  for (const client of clients) {
    t.equal((await client.send(requestText('GET', '/'), 'GET').response()).status, 200);
    client.destroy();
  }
  await waitFor(() => s.workers().length === 2);
  t.strictSame(socketsAt(s.port(0)), sockets);
  eachHasItsOwn(t, s, sockets);
});

t.test('datagrams: each worker reads its own socket, and a client stays with one', needsNative, async (t) => {
  const backend = await startDatagramBackend(t, echo);
  const conf = (workers: number, option: string) =>
    `worker_processes ${workers};\n${streamConf(
      `server { listen 127.0.0.1:%%PORT_0%% udp ${option}; proxy_pass 127.0.0.1:${backend.port}; }`,
      ' $pid',
    )}`;
  const s = await startServer(t, { conf: conf(2, 'reuseport') });
  t.equal(socketsAt(s.port(0), 'udp').length, 2);
  eachHasItsOwn(t, s, socketsAt(s.port(0), 'udp'));
  const peers = await Promise.all(Array.from({ length: 32 }, () => DatagramPeer.connect(t, s.port(0))));
  for (const peer of peers) {
    t.equal(await peer.ask('a'), 'a');
    t.equal(await peer.ask('b'), 'b');
  }
  t.equal(new Set(backend.peers).size, peers.length, 'each has one session');
  // Its sessions are under way while a worker's socket goes: it gets no datagrams any more.
  for (const [workers, option] of [
    [1, 'reuseport'],
    [3, 'reuseport'],
    [2, ''],
  ] as const) {
    await s.reload(conf(workers, option));
    await waitFor(() => socketsAt(s.port(0), 'udp').length === (option === '' ? 1 : workers), { what: 'the sockets' });
    for (const peer of peers) {
      t.equal(await peer.ask('c'), 'c');
    }
  }
});
