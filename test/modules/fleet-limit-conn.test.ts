import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { killWorkers } from '../support/processes.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { type Redis, startRedis, withoutEngine } from '../support/redis.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx ? 'sluice alone has a shared store' : withoutEngine;

/** A backend that answers nobody; gives its port, and how many wait. */
async function silentBackend(t: Test): Promise<{ port: number; waiting(): number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    for (const socket of sockets) {
      socket.destroy();
    }
    server.close();
  });
  return { port: (server.address() as { port: number }).port, waiting: () => sockets.size };
}

interface Fleet {
  readonly machines: readonly Server[];
  readonly backend: { port: number; waiting(): number };
}

async function startFleet(t: Test, redis: Redis, n: number, store = ''): Promise<Fleet> {
  const backend = await silentBackend(t);
  const machine = (i: number): Promise<Server> =>
    startServer(t, {
      conf: `worker_processes 2;\nshared_store fleet { server 127.0.0.1:${redis.port}; timeout 2s; node m${i}; ${store} }\n${serverConf(
        `location /held { limit_conn one 3; limit_conn two 50; proxy_pass http://127.0.0.1:${backend.port}; }
        location /quick { limit_conn one 3; stub_status; }
        location /status { stub_status; }
        location /two { limit_conn two 1; stub_status; }
        location /dry { limit_conn one 3; limit_conn_dry_run on; stub_status; }`,
        'limit_conn_zone $server_name zone=one:1m sync; limit_conn_zone $server_name zone=two:1m sync;',
      )}`,
      expectAlerts: /exited on signal 9/,
    });
  const machines = await Promise.all(Array.from({ length: n }, (_, i) => machine(i)));
  await Promise.all(machines.map((s) => s.logged('shared store "fleet" is connected')));
  return { machines, backend };
}

/** Sends requests to machines in turn, all at once; gives those that the backend holds, and the statuses of the others. */
async function holders({ machines, backend }: Fleet, count: number, at = machines) {
  const before = backend.waiting();
  const clients = await Promise.all(Array.from({ length: count }, (_, i) => RawClient.connect(at[i % at.length]!)));
  for (const client of clients) {
    client.send(requestText('GET', '/held', { Connection: 'close' }));
  }
  const answered = () => clients.filter((client) => client.received !== '');
  await waitFor(() => answered().length + backend.waiting() - before === count);
  const held = clients.filter((client) => client.received === '');
  const refused: Record<number, number> = {};
  for (const client of answered()) {
    const { status } = await client.response();
    refused[status] = (refused[status] ?? 0) + 1;
    client.destroy();
  }
  return { held, refused };
}

const free = (s: Server, path: string) => waitFor(async () => (await httpGet(s, path)).status === 200, { what: `${path} to be free` });

t.test('twelve at once over four machines', { skip }, async (t) => {
  const redis = await startRedis(t);
  const fleet = await startFleet(t, redis, 4);
  const [a, b, c, d] = fleet.machines as [Server, Server, Server, Server];
  const { held, refused } = await holders(fleet, 12);
  t.equal(held.length, 3);
  t.strictSame(refused, { 503: 9 });
  for (const s of fleet.machines) {
    t.equal((await httpGet(s, '/quick')).status, 503, 'full everywhere');
    t.equal((await httpGet(s, '/dry')).status, 200, 'a dry run lets in');
  }
  t.match(d.log() + b.log() + c.log() + a.log(), /\[error\] .* limiting connections by zone "one", client: 127\.0\.0\.1/);
  t.equal((await httpGet(a, '/two')).status, 503, 'another limit on the second zone');
  for (const client of held) {
    client.destroy();
  }
  await free(c, '/quick');
  await free(a, '/two');
  t.strictSame(
    await redis.ask('KEYS', 'sluice:fleet:c:*').then((text) => text === '' || /^sluice:fleet:c:(one|two):localhost/.test(text)),
    true,
  );
  for (let i = 0; i < 20; i++) {
    // The client has the response before the store hears that the place is free.
    await free(fleet.machines[i % 4]!, '/two');
  }
});

t.test('a machine that dies gives its places back', { skip }, async (t) => {
  const redis = await startRedis(t);
  const fleet = await startFleet(t, redis, 2);
  const [a, b] = fleet.machines as [Server, Server];
  const { held } = await holders(fleet, 3, [a]);
  t.equal(held.length, 3);
  t.equal((await httpGet(b, '/quick')).status, 503);
  const workers = a.workers();
  // As a machine that loses its power: nobody says goodbye.
  process.kill(a.pid, 'SIGKILL');
  await killWorkers(workers).catch(() => {});
  await free(b, '/quick');
  for (const client of held) {
    client.destroy();
  }
});

t.test('a store that starts anew learns what is held', { skip }, async (t) => {
  const redis = await startRedis(t);
  const fleet = await startFleet(t, redis, 2);
  const [a, b] = fleet.machines as [Server, Server];
  const { held } = await holders(fleet, 2, [a]);
  t.equal(held.length, 2);
  await redis.kill();
  await Promise.all([a, b].map((s) => s.logged(/shared store "fleet" is lost/)));
  const alone = await holders(fleet, 4, [b]);
  t.equal(alone.held.length, 3, 'a machine for itself');
  t.equal((await holders(fleet, 2, [a])).held.length, 1, 'knows what it held before');
  await redis.start();
  await Promise.all([a, b].map((s) => s.logged(/shared store "fleet" is back/)));
  await waitFor(
    async () =>
      (await redis.ask('HVALS', 'sluice:fleet:c:one:localhost')).split('\n').reduce((sum, line) => sum + Number.parseInt(line, 10), 0) ===
      6,
    {
      what: 'what both hold',
    },
  );
  t.equal((await httpGet(a, '/quick')).status, 503, 'six are too many');
  for (const client of [...alone.held.slice(0, 3), ...held.slice(0, 1)]) {
    client.destroy();
  }
  await free(b, '/quick');
});

for (const signal of ['TERM', 'QUIT'] as const) {
  t.test(`workers end by SIG${signal} while the store is asked`, { skip }, async (t) => {
    const redis = await startRedis(t);
    const [s] = (await startFleet(t, redis, 1)).machines as [Server];
    await redis.freeze();
    const clients = await Promise.all(Array.from({ length: 3 }, () => RawClient.connect(s)));
    for (const client of clients) {
      client.send(requestText('GET', '/held', { Connection: 'close' }));
    }
    await waitFor(async () => (await httpGet(s, '/status')).body.includes('Writing: 4'), { what: 'three requests' });
    const ended = s.stop(signal);
    for (const client of clients) {
      client.destroy();
    }
    await ended;
    t.match(s.log(), /worker process \d+ exited with code 0/);
    redis.thaw();
  });
}

t.test('messages', { skip: againstNginx }, async (t) => {
  const message = (zone: string) => configMessage(t, serverConf('', zone));
  t.match(await message('limit_conn_zone $uri zone=a:1m synchro;'), 'invalid number of arguments in "limit_conn_zone" directive');
  t.equal(await message('limit_conn_zone $uri zone=a:1m sync;'), undefined);
});
