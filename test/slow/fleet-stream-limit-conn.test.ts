import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { DatagramPeer, startDatagramBackend } from '../support/datagrams.js';
import { killWorkers } from '../support/processes.js';
import { RawClient } from '../support/raw-client.js';
import { type Redis, startRedis, withoutEngine } from '../support/redis.js';
import { type Server, startServer, streamConf } from '../support/server.js';
import { startTcpBackend } from '../support/tcp-backend.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx ? 'sluice alone has a shared store' : withoutEngine;

/** Where the store keeps who holds places. */
const HELD_KEY = 'sluice:fleet:c:places:127.0.0.1';

/** What listens at a machine's ports. */
const HELD = 0;
const QUICK = 1;
const DRY = 2;
const DATAGRAMS = 3;

interface Fleet {
  readonly machines: readonly Server[];
  /** Sessions that a backend has, which answers nobody. */
  held(): number;
  /** Datagrams that a backend has got. */
  readonly datagrams: readonly string[];
  readonly redis: Redis;
}

async function startFleet(t: Test, n: number, store = ''): Promise<Fleet> {
  const redis = await startRedis(t);
  const open = new Set<Socket>();
  const backend = await startTcpBackend(t, (socket) => {
    open.add(socket);
    socket.on('end', () => socket.end()).on('close', () => open.delete(socket));
  });
  const datagrams = await startDatagramBackend(t, () => {});
  const stream = `limit_conn_zone $remote_addr zone=places:1m sync; limit_conn_zone $remote_addr zone=datagrams:1m sync;
    server { listen 127.0.0.1:%%PORT_${HELD}%%; limit_conn places 3; proxy_pass 127.0.0.1:${backend.port}; }
    server { listen 127.0.0.1:%%PORT_${QUICK}%%; limit_conn places 3; return ok; }
    server { listen 127.0.0.1:%%PORT_${DRY}%%; limit_conn places 3; limit_conn_dry_run on; return $limit_conn_status; }
    server { listen 127.0.0.1:%%PORT_${DATAGRAMS}%% udp; limit_conn datagrams 2; proxy_pass 127.0.0.1:${datagrams.port}; }`;
  const machine = (i: number): Promise<Server> =>
    startServer(t, {
      conf: `worker_processes 2;\nshared_store fleet { server 127.0.0.1:${redis.port}; timeout 10s; node m${i}; ${store} }\n${streamConf(stream, ' $limit_conn_status')}`,
      expectAlerts: /exited on signal 9/,
    });
  const machines = await Promise.all(Array.from({ length: n }, (_, i) => machine(i)));
  // Each worker has its own connection.
  await Promise.all(
    machines.map((s) => waitFor(() => s.log().match(/shared store "fleet" is connected/g)?.length === 2, { what: () => s.log() })),
  );
  return { machines, held: () => open.size, datagrams: datagrams.received, redis };
}

/** What a session gets until it ends. */
const ask = async (s: Server, port: number): Promise<string> => (await RawClient.connect(s.port(port))).rest();

/** Sessions at machines in turn, all at once; gives those that the backend has. The others have been ended. */
async function holders({ machines, held }: Fleet, count: number, at = machines): Promise<RawClient[]> {
  const before = held();
  const clients = await Promise.all(Array.from({ length: count }, (_, i) => RawClient.connect(at[i % at.length]!.port(HELD))));
  const ended = (): number => clients.filter((client) => client.ended).length;
  await waitFor(() => ended() + held() - before === count, { what: () => `${count} decisions: ${ended()} refused, ${held()} held` });
  return clients.filter((client) => !client.ended);
}

const free = (s: Server): Promise<unknown> => waitFor(async () => (await ask(s, QUICK)) === 'ok', { what: 'a place to be free' });

t.test('twelve sessions at once over four machines', { skip }, async (t) => {
  const fleet = await startFleet(t, 4);
  const [a, b, c, d] = fleet.machines as [Server, Server, Server, Server];
  const held = await holders(fleet, 12);
  t.equal(held.length, 3);
  t.equal(fleet.held(), 3);
  for (const s of fleet.machines) {
    t.equal(await ask(s, QUICK), '', 'full everywhere, on other ports, too');
    t.equal(await ask(s, DRY), 'REJECTED_DRY_RUN', 'a dry run lets in');
  }
  const logs = [a, b, c, d].map((s) => s.log()).join('');
  t.match(logs, /\[error\] .* limiting connections by zone "places" while initializing session, client: 127\.0\.0\.1/);
  t.match(logs, /limiting connections, dry run, by zone "places"/);
  await d.accessLogged(/^503 REJECTED$/);
  const keys = await fleet.redis.ask('HKEYS', HELD_KEY);
  t.match(keys, /^m\d:\d+:stream_limit_conn:[0-9a-f]{12}$/m, 'workers of stream are told apart from those of http');
  for (const client of held) {
    client.destroy();
  }
  await waitFor(() => fleet.held() === 0, { what: 'the sessions to end' });
  await waitFor(async () => (await fleet.redis.ask('EXISTS', HELD_KEY)) === '0', { what: 'no place to be held' });
  t.equal((await holders(fleet, 6)).length, 3, 'all places are free again');
  for (const s of fleet.machines) {
    t.notMatch(s.log(), / is lost /);
  }
});

t.test('what silent sessions hold is known for longer than a lease, and over a reload', { skip }, async (t) => {
  const fleet = await startFleet(t, 2);
  const [a, b] = fleet.machines as [Server, Server];
  const held = await holders(fleet, 3, [a]);
  t.equal(held.length, 3);
  await a.reload();
  // What workers say that they hold, and until when.
  const leases = async () => (await fleet.redis.ask('HVALS', HELD_KEY)).split('\n').map((line) => line.split(' ').map(Number));
  const end = async (): Promise<number> => Math.min(...(await leases()).map(([, ends]) => ends!));
  const first = await end();
  await waitFor(async () => (await end()) > first + 6000, { what: 'leases to be renewed for longer than one lasts' });
  t.equal(
    (await leases()).reduce((sum, [n]) => sum + n!, 0),
    3,
  );
  t.equal(await ask(b, QUICK), '', 'the worker from before the reload has its places');
  t.equal(await ask(a, QUICK), '');
  held[0]!.destroy();
  await free(b);
  for (const client of held) {
    client.destroy();
  }
  await waitFor(async () => (await fleet.redis.ask('EXISTS', HELD_KEY)) === '0', { what: 'no place to be held' });
});

t.test('a machine that dies gives its places back, and so does a worker', { skip }, async (t) => {
  const fleet = await startFleet(t, 3);
  const [a, b, c] = fleet.machines as [Server, Server, Server];
  t.equal((await holders(fleet, 2, [a])).length, 2);
  t.equal((await holders(fleet, 2, [b])).length, 1);
  t.equal(await ask(c, QUICK), '');
  const workers = a.workers();
  // As a machine that loses its power: nobody says goodbye.
  process.kill(a.pid, 'SIGKILL');
  await killWorkers(workers).catch(() => {});
  // What its workers hold ends for each at a time of its own.
  const gone = async (): Promise<boolean> => (await ask(c, QUICK)) === 'ok' && !/^m0:/m.test(await fleet.redis.ask('HKEYS', HELD_KEY));
  await waitFor(gone, { what: 'the places of both workers to be free' });
  t.equal((await holders(fleet, 4, [c])).length, 2, 'two places, for one is still held');
  t.equal(await ask(b, QUICK), '');
  await killWorkers(c.workers());
  await free(b);
  await waitFor(async () => (await ask(c, QUICK)) === 'ok', { what: 'new workers to have their places' });
});

t.test('a store that starts anew learns what sessions hold; without it each machine decides', { skip }, async (t) => {
  const fleet = await startFleet(t, 2);
  const [a, b] = fleet.machines as [Server, Server];
  t.equal((await holders(fleet, 2, [a])).length, 2);
  await fleet.redis.kill();
  await Promise.all([a, b].map((s) => s.logged(/shared store "fleet" is lost/)));
  t.equal((await holders(fleet, 4, [b])).length, 3, 'a machine for itself');
  t.equal((await holders(fleet, 2, [a])).length, 1, 'knows what it held before');
  await fleet.redis.start();
  const sum = async (): Promise<number> =>
    (await fleet.redis.ask('HVALS', HELD_KEY)).split('\n').reduce((all, line) => all + (Number.parseInt(line, 10) || 0), 0);
  await waitFor(async () => (await sum()) === 6, { what: 'what both hold' });
  t.equal(await ask(a, QUICK), '', 'six are too many');
});

t.test('sessions are refused without the store where the configuration says so', { skip }, async (t) => {
  const fleet = await startFleet(t, 1, 'failure refuse;');
  const [a] = fleet.machines as [Server];
  t.equal(await ask(a, QUICK), 'ok');
  await fleet.redis.kill();
  await a.logged(/shared store "fleet" is lost \(.*\), requests that need it are refused until it is back/);
  t.equal(await ask(a, QUICK), '');
  await a.logged(/limiting connections, the shared store is lost, by zone "places" while initializing session, client: 127\.0\.0\.1/);
});

t.test('sessions of datagrams', { skip }, async (t) => {
  const fleet = await startFleet(t, 2);
  const [a, b] = fleet.machines as [Server, Server];
  const peer = (s: Server): Promise<DatagramPeer> => DatagramPeer.connect(t, s.port(DATAGRAMS));
  (await peer(a)).send('one');
  await waitFor(() => fleet.datagrams.includes('one'));
  (await peer(b)).send('two');
  await waitFor(() => fleet.datagrams.includes('two'));
  (await peer(a)).send('three');
  (await peer(b)).send('four');
  await Promise.all([a, b].map((s) => s.logged(/limiting connections by zone "datagrams" while initializing session/)));
  t.strictSame([...fleet.datagrams].sort(), ['one', 'two']);
});

t.test('messages', { skip: againstNginx }, async (t) => {
  const message = (zone: string): Promise<string | undefined> => configMessage(t, streamConf(zone));
  t.match(await message('limit_conn_zone $remote_addr zone=a:1m synchro;'), 'invalid number of arguments in "limit_conn_zone" directive');
  t.equal(await message('limit_conn_zone $remote_addr zone=a:1m sync;'), undefined);
});
