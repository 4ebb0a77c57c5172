import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { type Redis, startRedis, withoutEngine } from '../support/redis.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { type StoreProxy, startStoreProxy } from '../support/store-proxy.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx ? 'sluice alone has a shared store' : withoutEngine;

const SERVER = `location /burst { limit_req zone=burst burst=5 nodelay; stub_status; }
  location /wide { limit_req zone=wide burst=100000 nodelay; limit_conn many 1000; stub_status; }
  location /conn { limit_conn conn 1; stub_status; }
  location /held { limit_conn conn 1; limit_rate 1; }
  location /pair { set $pair $arg_value; return 200 $pair; }
  location /read { return 200 "$pair"; }
  location /status { sluice_status; }`;
const HTTP = `limit_req_zone $arg_key zone=burst:1m rate=1r/m sync; limit_req_zone $arg_key zone=wide:10m rate=1r/m sync;
  limit_conn_zone $server_name zone=conn:1m sync; limit_conn_zone $arg_key zone=many:10m sync;
  keyval_zone zone=pairs:1m timeout=1h sync; keyval $arg_key $pair zone=pairs;`;

interface Options {
  /** Its name. */
  readonly node: string;
  readonly port: number;
  /** The address of a module that its processes load. */
  readonly preload?: string;
}

async function machine(t: Test, { node, port, preload }: Options): Promise<Server> {
  const s = await startServer(t, {
    conf: `shared_store fleet { server 127.0.0.1:${port}; timeout 10s; node ${node}; }\n${serverConf(SERVER, HTTP)}`,
    files: { 'html/held': 'a text of which a byte goes each second'.repeat(9) },
    ...(preload === undefined ? {} : { preload }),
  });
  await s.logged('shared store "fleet" is connected');
  return s;
}

/** Sends requests to machines in turn, all at once; gives how many answers of each status came. */
async function burst(machines: readonly Server[], path: string, count: number): Promise<Record<number, number>> {
  const clients = await Promise.all(Array.from({ length: count }, (_, i) => RawClient.connect(machines[i % machines.length]!)));
  for (const client of clients) {
    client.send(requestText('GET', path, { Connection: 'close' }));
  }
  const answers: Record<number, number> = {};
  for (const client of clients) {
    const { status } = await client.response();
    answers[status] = (answers[status] ?? 0) + 1;
    client.destroy();
  }
  return answers;
}

/** Four machines, each with its own way to the store, on which bytes are two milliseconds. */
async function distantFleet(t: Test, redis: Redis): Promise<{ machines: Server[]; ways: StoreProxy[] }> {
  const ways = await Promise.all([0, 1, 2, 3].map(() => startStoreProxy(t, redis.port, 2)));
  return { ways, machines: await Promise.all(ways.map(({ port }, i) => machine(t, { node: `m${i}`, port }))) };
}

/** Requests one after the other at each machine, for as long as `during` takes; gives the statuses that came. */
async function load(
  machines: readonly Server[],
  path: (i: number) => string,
  during: (answered: () => number) => Promise<void>,
): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  let running = true;
  let count = 0;
  const all = Promise.all(
    machines.map(async (s) => {
      const client = await RawClient.connect(s);
      while (running) {
        const { status } = await client.send(requestText('GET', path(count++))).response();
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
      client.destroy();
    }),
  );
  try {
    await during(() => Object.values(statuses).reduce((sum, n) => sum + n, 0));
  } finally {
    running = false;
    await all;
  }
  return statuses;
}

t.test('machines two milliseconds from their store', { skip }, async (t) => {
  const redis = await startRedis(t);
  const { machines, ways } = await distantFleet(t, redis);
  for (const key of ['a', 'b', 'c']) {
    t.strictSame(await burst(machines, `/burst?key=${key}`, 60), { 200: 6, 503: 54 }, 'exactly a burst and one');
  }
  const statuses = await load(
    machines,
    (i) => `/wide?key=${i % 50}`,
    async () => {
      for (let i = 0; i < 5; i++) {
        await redis.ask('SCRIPT', 'FLUSH');
        t.strictSame(await burst(machines, `/burst?key=flush${i}`, 60), { 200: 6, 503: 54 }, 'while the store forgets programs');
      }
    },
  );
  t.strictSame(Object.keys(statuses), ['200'], JSON.stringify(statuses));
  t.notMatch(machines.map((s) => s.log()).join(''), / is lost /);

  // One machine is cut off: the others go on, and its place is theirs.
  const [cut, ...others] = machines as [Server, Server, Server, Server];
  const held = await RawClient.connect(cut);
  held.send(requestText('GET', '/held'));
  await held.until('HTTP/1.1 200');
  t.equal((await httpGet(others[0]!, '/conn')).status, 503);
  ways[0]!.cut();
  await waitFor(async () => (await httpGet(others[0]!, '/conn')).status === 200, { what: 'the place of the machine that is cut off' });
  t.strictSame(await burst(others, '/burst?key=cut', 60), { 200: 6, 503: 54 }, 'the others are exact');
  t.strictSame(await burst([cut], '/burst?key=cut', 60), { 200: 6, 503: 54 }, 'it counts for itself');
  await cut.logged('shared store "fleet" is lost (no answer in time)');
  ways[0]!.heal();
  await cut.logged('shared store "fleet" is back');
  t.strictSame(await burst(machines, '/burst?key=healed', 60), { 200: 6, 503: 54 });
  await waitFor(async () => (await httpGet(others[0]!, '/conn')).status === 503, { what: 'what it holds to be counted again' });
  held.destroy();
});

/** A module that sets the clock of a process off. */
const clockOff = (milliseconds: number): string =>
  `data:text/javascript,${encodeURIComponent(`const Real = Date; const off = ${milliseconds};
    globalThis.Date = class extends Real { constructor(...args) { super(...(args.length === 0 ? [Real.now() + off] : args)); } static now() { return Real.now() + off; } };`)}`;

t.test('machines whose clocks are off by minutes and hours', { skip }, async (t) => {
  const redis = await startRedis(t);
  const { port } = redis;
  const offs = [0, 3 * 3600_000, -10 * 60_000, -26 * 3600_000];
  const machines = await Promise.all(
    offs.map((off, i) => machine(t, { node: `m${i}`, port, ...(off === 0 ? {} : { preload: clockOff(off) }) })),
  );
  const [right, ahead, behind] = machines as [Server, Server, Server, Server];
  t.ok(Math.abs(Date.parse((await httpGet(ahead, '/status')).header('date') ?? '') - Date.now()) > 3600_000, 'the clock is off');
  t.strictSame(await burst(machines, '/burst?key=a', 60), { 200: 6, 503: 54 });
  for (const [i, s] of machines.entries()) {
    await httpGet(s, `/pair?key=k${i}&value=v${i}`);
    for (const other of machines) {
      await waitFor(async () => (await httpGet(other, `/read?key=k${i}`)).text === `v${i}`, { what: `a pair of machine ${i}` });
    }
  }
  const held = await RawClient.connect(behind);
  held.send(requestText('GET', '/held'));
  await held.until('HTTP/1.1 200');
  t.equal((await httpGet(ahead, '/conn')).status, 503, 'a lease of a machine whose clock is behind counts');
  held.destroy();
  await waitFor(async () => (await httpGet(right, '/conn')).status === 200);
  for (const s of machines) {
    const { machines: seen } = await waitFor(
      async () => {
        const { shared_store: store } = JSON.parse((await httpGet(s, '/status')).text);
        return store.machines.length === 4 && (store as { machines: { seen: string }[] });
      },
      { what: 'all machines to be seen' },
    );
    const now = Date.parse((await httpGet(s, '/status')).header('date') ?? '');
    t.ok(
      seen.every(({ seen: at }) => Math.abs(now - Date.parse(at)) < 60_000),
      'when they were seen is told by the clock of the machine that is asked',
    );
    t.notMatch(s.log(), / is lost /);
  }
});

t.test('a store that drops keys under load', { skip }, async (t) => {
  const redis = await startRedis(t);
  const machines = await Promise.all(['a', 'b'].map((node) => machine(t, { node, port: redis.port })));
  // What scripts and buffers of connections take is no key, and cannot be dropped: it is there before the store is filled.
  await burst(machines, '/wide?key=before', 20);
  const used = Number(/^used_memory:(\d+)/m.exec(await redis.ask('INFO', 'memory'))?.[1]);
  await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
  await redis.ask('CONFIG', 'SET', 'maxmemory', String(used + 500_000));
  await redis.ask('EVAL', "for i = 1, 3000 do redis.call('SET', 'filler' .. i, string.rep('x', 300)) end return 1", '0');
  const evicted = async (): Promise<number> => Number(/^evicted_keys:(\d+)/m.exec(await redis.ask('INFO', 'stats'))?.[1]);
  const first = await evicted();
  t.ok(first > 0, 'it is full');
  const statuses = await load(
    machines,
    (i) => `/wide?key=${i}`,
    async (answered) => void (await waitFor(async () => answered() > 100 && (await evicted()) > first + 20, { what: 'evictions' })),
  );
  t.strictSame(Object.keys(statuses), ['200'], JSON.stringify(statuses));
  t.notMatch(machines.map((s) => s.log()).join(''), / is lost /, 'the store is there all the time');
  await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
  t.strictSame(await burst(machines, '/burst?key=after', 20), { 200: 6, 503: 14 });
});

t.test('two machines of one name', { skip }, async (t) => {
  const redis = await startRedis(t);
  const [a, b] = (await Promise.all([1, 2].map(() => machine(t, { node: 'same', port: redis.port })))) as [Server, Server];
  t.strictSame(await burst([a, b], '/burst?key=a', 60), { 200: 6, 503: 54 });
  const held = await RawClient.connect(a);
  held.send(requestText('GET', '/held'));
  await held.until('HTTP/1.1 200');
  t.equal((await httpGet(b, '/conn')).status, 503, 'the other one does not overwrite what it holds');
  await a.reload();
  t.equal((await httpGet(b, '/conn')).status, 503, 'nor does a reload');
  t.equal((await httpGet(a, '/conn')).status, 503);
  await httpGet(a, '/pair?key=k&value=v');
  await waitFor(async () => (await httpGet(b, '/read?key=k')).text === 'v');
  await b.stop();
  t.equal((await httpGet(a, '/conn')).status, 503, 'what goes with one is its own');
  held.destroy();
  await waitFor(async () => (await httpGet(a, '/conn')).status === 200);
});
