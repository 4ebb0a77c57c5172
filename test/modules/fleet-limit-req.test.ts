import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { type Redis, startRedis, withoutEngine } from '../support/redis.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { startStoreProxy } from '../support/store-proxy.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx ? 'sluice alone has a shared store' : withoutEngine;

/** The configuration of one machine. */
const conf = (redis: Redis, server: string, http: string, store = '', workers = 1): string =>
  `worker_processes ${workers};\nshared_store fleet { server 127.0.0.1:${redis.port}; timeout 2s; ${store} }\n${serverConf(server, http)}`;

/** Machines on one store. */
async function startFleet(t: Test, n: number, text: string): Promise<Server[]> {
  const machines = await Promise.all(Array.from({ length: n }, () => startServer(t, { conf: text })));
  await Promise.all(machines.map((machine) => machine.logged('shared store "fleet" is connected')));
  return machines;
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

/** How often the store's programs were run. */
async function scriptCalls(redis: Redis): Promise<number> {
  const stats = await redis.ask('INFO', 'commandstats');
  return [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce((sum, [, n]) => sum + Number(n), 0);
}

t.test('sixty requests at once over four machines', { skip }, async (t) => {
  const redis = await startRedis(t);
  const machines = await startFleet(
    t,
    4,
    conf(
      redis,
      `location /burst { limit_req zone=burst burst=5 nodelay; stub_status; }
      location /none { limit_req zone=none; limit_req_status 429; limit_req_retry_after on; stub_status; }
      location /arg { limit_req zone=arg; stub_status; }
      location /both { limit_req zone=wide burst=20 nodelay; limit_req zone=arg burst=2 nodelay; stub_status; }
      location /mixed { limit_req zone=here burst=3 nodelay; limit_req zone=arg burst=30 nodelay; stub_status; }
      location /after { limit_req zone=arg burst=30 nodelay; stub_status; }
      location /dry { limit_req zone=dry burst=1 nodelay; limit_req_dry_run on; stub_status; }`,
      `limit_req_zone $server_name zone=burst:1m rate=1r/m sync;
      limit_req_zone $server_name zone=none:1m rate=1r/m sync;
      limit_req_zone $arg_key zone=arg:1m rate=1r/m sync;
      limit_req_zone $server_name zone=wide:1m rate=1r/m sync;
      limit_req_zone $arg_key zone=here:1m rate=1r/m;
      limit_req_zone $server_name zone=dry:1m rate=1r/m sync;`,
      '',
      2,
    ),
  );
  t.strictSame(await burst(machines, '/burst', 60), { 200: 6, 503: 54 }, 'a burst of five and one');
  t.strictSame(await burst(machines, '/none', 60), { 200: 1, 429: 59 }, 'no burst');
  t.match((await httpGet(machines[3]!, '/none')).header('retry-after') ?? '', /^(?:6\d|5\d)$/, 'when the next one would be admitted');
  t.strictSame(await burst(machines, '/arg', 10), { 200: 10 }, 'an empty key is not counted');
  t.strictSame(await burst(machines, '/arg?key=a', 10), { 200: 1, 503: 9 });
  t.strictSame(await burst(machines, '/arg?key=b', 1), { 200: 1 }, 'keys are apart');
  t.strictSame(await burst(machines, '/both?key=c', 20), { 200: 3, 503: 17 }, 'two limits');
  t.strictSame(await burst(machines, '/both?key=d', 20), { 200: 3, 503: 17 }, 'what one refused the other did not count');
  t.strictSame(await burst(machines.slice(0, 1), '/mixed?key=e', 20), { 200: 4, 503: 16 }, 'a limit of this machine and one of all');
  t.strictSame(await burst(machines, '/after?key=e', 40), { 200: 27, 503: 13 }, 'what the first refused the second did not count');
  t.strictSame(await burst(machines, '/dry', 20), { 200: 20 }, 'a dry run');
  const logs = machines.map((machine) => machine.log()).join('');
  t.match(logs, /\[error\] .*: \*\d+ limiting requests, excess: [56]\.\d{3} by zone "burst", client: 127\.0\.0\.1, server: localhost/);
  t.match(logs, /limiting requests, dry run, excess: [12]\.\d{3} by zone "dry"/);
  // One more bucket than before: `both` with the key `c` put nothing into the bucket of a third request.
  t.match(await redis.ask('KEYS', 'sluice:fleet:r:*'), /sluice:fleet:r:burst:localhost/);
  t.ok(Number(await redis.ask('PTTL', 'sluice:fleet:r:burst:localhost')) > 1000, 'buckets go when they are empty');
});

t.test('delays come from the store', { skip }, async (t) => {
  const redis = await startRedis(t);
  const [a, b] = await startFleet(
    t,
    2,
    conf(
      redis,
      'location / { limit_req zone=slow burst=5; limit_req_log_level notice; stub_status; }',
      'limit_req_zone $server_name zone=slow:1m rate=20r/s sync;',
    ),
  );
  t.strictSame(await burst([a!, b!], '/', 6), { 200: 6 });
  t.match(a!.log() + b!.log(), /delaying request, excess: [0-9.]+, by zone "slow"/);
});

t.test('keys of any bytes are buckets of their own', { skip }, async (t) => {
  const redis = await startRedis(t);
  const [a, b] = await startFleet(
    t,
    2,
    conf(
      redis,
      `location /bin { limit_req zone=bin; stub_status; }
      location /uri { limit_req zone=uri; stub_status; }`,
      'limit_req_zone $binary_remote_addr zone=bin:1m rate=1r/m sync; limit_req_zone $uri zone=uri:1m rate=1r/m sync;',
    ),
  );
  t.strictSame(await burst([a!, b!], '/bin', 2), { 200: 1, 503: 1 });
  t.equal(await redis.ask('EXISTS', 'sluice:fleet:r:bin:~7f000001'), '1');
  const paths = ['/uri', '/uri/{a}', '/uri/%FF', '/uri/%C3%BF', '/uri/~7f', `/uri/${'x'.repeat(300)}`, `/uri/${'x'.repeat(301)}`];
  for (const path of paths) {
    t.strictSame(await burst([a!, b!, a!, b!], path, 4), { 200: 1, 503: 3 }, path.slice(0, 20));
  }
  await redis.ask('RPUSH', 'sluice:fleet:r:uri:/uri/odd', 'x');
  t.strictSame(await burst([a!, b!], '/uri/odd', 4), { 200: 1, 503: 3 }, 'what is no bucket becomes one');
  t.notMatch(a!.log() + b!.log(), / is lost /);
});

t.test('a flood of one key needs few questions', { skip }, async (t) => {
  const redis = await startRedis(t);
  const machines = await startFleet(
    t,
    4,
    conf(
      redis,
      'location / { limit_req zone=one burst=2 nodelay; stub_status; }',
      'limit_req_zone $server_name zone=one:1m rate=1r/m sync;',
    ),
  );
  await burst(machines, '/', 40);
  const before = await scriptCalls(redis);
  for (let i = 0; i < 5; i++) {
    t.strictSame(await burst(machines, '/', 40), { 503: 40 });
  }
  t.equal((await scriptCalls(redis)) - before, 0);
});

t.test('a store that goes and comes back fails no request', { skip }, async (t) => {
  const redis = await startRedis(t);
  const [a, b] = await startFleet(
    t,
    2,
    conf(
      redis,
      `location / { limit_req zone=free burst=1000 nodelay; stub_status; }
      location /key { limit_req zone=key burst=1 nodelay; stub_status; }
      location /none { limit_req zone=key burst=1 nodelay; stub_status; }
      location /status { sluice_status; }`,
      'limit_req_zone $server_name zone=free:1m rate=10000r/s sync; limit_req_zone $arg_key zone=key:1m rate=1r/m sync;',
    ),
  );
  t.strictSame(await burst([a!, b!], '/key?key=a', 8), { 200: 2, 503: 6 });
  let running = true;
  const statuses: Record<number, number> = {};
  const load = Promise.all(
    [a!, b!].map(async (machine) => {
      const client = await RawClient.connect(machine);
      while (running) {
        client.send(requestText('GET', '/'));
        const { status } = await client.response();
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
      client.destroy();
    }),
  );
  await redis.kill();
  await Promise.all(
    [a!, b!].map((machine) =>
      machine.logged(/\[warn\] .*shared store "fleet" is lost \(.*\), this machine decides for itself until it is back/),
    ),
  );
  t.strictSame(await burst([a!, b!], '/key?key=b', 8), { 200: 4, 503: 4 }, 'each machine admits the whole limit');
  await redis.start();
  await Promise.all([a!, b!].map((machine) => machine.logged(/\[notice\] .*shared store "fleet" is back/)));
  t.strictSame(await burst([a!, b!], '/key?key=c', 8), { 200: 2, 503: 6 }, 'again all together');
  await redis.ask('SCRIPT', 'FLUSH');
  t.strictSame(await burst([a!, b!], '/key?key=d', 8), { 200: 2, 503: 6 }, 'programs that the store forgot are sent again');
  running = false;
  await load;
  t.strictSame(Object.keys(statuses), ['200'], JSON.stringify(statuses));
  for (const machine of [a!, b!]) {
    t.equal(machine.log().match(/ is lost /g)?.length, 1, 'one line on the loss');
    t.equal(machine.log().match(/fleet" is back/g)?.length, 1, 'one line on the return');
  }
});

t.test('a store that does not answer, and one that is full', { skip }, async (t) => {
  const redis = await startRedis(t);
  const text = `shared_store fleet { server 127.0.0.1:${redis.port}; timeout 500ms; failure local divisor=2; }\n${serverConf(
    'location / { limit_req zone=key burst=5 nodelay; stub_status; }',
    'limit_req_zone $arg_key zone=key:1m rate=1r/m sync;',
  )}`;
  const s = await startServer(t, { conf: text });
  await s.logged('shared store "fleet" is connected');
  t.strictSame(await burst([s], '/?key=a', 8), { 200: 6, 503: 2 });
  await redis.freeze();
  t.strictSame(await burst([s], '/?key=b', 8), { 200: 3, 503: 5 }, 'half the limit');
  await s.logged('shared store "fleet" is lost (no answer in time)');
  redis.thaw();
  await s.logged('shared store "fleet" is back');
  t.strictSame(await burst([s], '/?key=c', 8), { 200: 6, 503: 2 });
  await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
  await redis.ask('CONFIG', 'SET', 'maxmemory', '1');
  t.strictSame(await burst([s], '/?key=d', 8), { 200: 3, 503: 5 }, 'a store without memory');
  await s.logged(/shared store "fleet" is lost \(OOM /);
  await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
  await waitFor(() => s.log().match(/fleet" is back/g)?.length === 2, { what: () => s.log() });
  t.strictSame(await burst([s], '/?key=e', 8), { 200: 6, 503: 2 });
  t.equal(s.log().match(/ is lost /g)?.length, 2);
});

t.test('a store that answers after half a second holds nobody up for long', { skip }, async (t) => {
  const redis = await startRedis(t);
  const proxy = await startStoreProxy(t, redis.port);
  const s = await startServer(t, {
    conf: `shared_store fleet { server 127.0.0.1:${proxy.port}; timeout 100ms; }\n${serverConf(
      'location / { limit_req zone=key burst=5 nodelay; stub_status; } location /status { sluice_status; }',
      'limit_req_zone $arg_key zone=key:1m rate=1r/m sync;',
    )}`,
  });
  await s.logged('shared store "fleet" is connected');
  proxy.delay = 250;
  t.strictSame(await burst([s], '/?key=a', 8), { 200: 6, 503: 2 });
  await s.logged('shared store "fleet" is lost (no answer in time)');
  t.strictSame(await burst([s], '/?key=b', 8), { 200: 6, 503: 2 });
  const { timeouts, losses } = JSON.parse((await httpGet(s, '/status')).text).shared_store;
  t.strictSame([timeouts, losses], [1, 1], 'one wait, and no other while it is lost');
  proxy.delay = 0;
  await s.logged('shared store "fleet" is back');
});

t.test('requests are refused without the store where the configuration says so', { skip }, async (t) => {
  const redis = await startRedis(t, { args: ['--requirepass', 'right'], clientArgs: ['-a', 'right', '--no-auth-warning'] });
  const proxy = await startStoreProxy(t, redis.port);
  // Its refusals, one for each command of the opening, do not come together.
  proxy.piece = 1;
  const http = 'limit_req_zone $server_name zone=one:1m rate=1000r/s sync;';
  const server = 'location / { limit_req zone=one burst=10 nodelay; limit_req_status 429; stub_status; } location /free { stub_status; }';
  const s = await startServer(t, {
    conf: `shared_store fleet { server 127.0.0.1:${proxy.port}; timeout 2s; failure refuse; password_file %%DIR%%/secret; }\n${serverConf(server, http)}`,
    files: { secret: 'wrong\n' },
  });
  await s.logged(/shared store "fleet" is lost \((?:WRONGPASS|NOAUTH) .*\), requests that need it are refused until it is back/);
  t.strictSame(await burst([s], '/', 3), { 429: 3 });
  t.strictSame(await burst([s], '/free', 3), { 200: 3 });
  await s.logged('limiting requests, the shared store is lost, by zone "one"');
  t.notMatch(s.log(), /wrong/);
  await s.write('secret', 'right\n');
  proxy.piece = 1000;
  await s.reload();
  await s.logged('shared store "fleet" is connected');
  await waitFor(async () => (await burst([s], '/', 1))[200] === 1);
  t.equal(s.log().match(/ is lost /g)?.length, 1);
});

t.test('a database that the store does not have', { skip }, async (t) => {
  const redis = await startRedis(t, { args: ['--databases', '4'] });
  const conf = (database: number): string =>
    `shared_store fleet { server 127.0.0.1:${redis.port}; database ${database}; failure refuse; }\n${serverConf(
      'location / { limit_req zone=one burst=10 nodelay; stub_status; }',
      'limit_req_zone $server_name zone=one:1m rate=1000r/s sync;',
    )}`;
  const s = await startServer(t, { conf: conf(4) });
  await s.logged(/shared store "fleet" is lost \(ERR DB index is out of range\), requests that need it are refused/);
  t.strictSame(await burst([s], '/', 3), { 503: 3 });
  t.equal(await redis.ask('INFO', 'keyspace'), '# Keyspace', 'nothing is written to another one');
  await s.reload(conf(3));
  await waitFor(async () => (await burst([s], '/', 1))[200] === 1);
  t.match(await redis.ask('INFO', 'keyspace'), /db3:/);
});
