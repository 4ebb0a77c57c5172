// What a server over QUIC stands: floods, forged packets, slow readers, workers that are killed, many idle clients.
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { whyNoQuic } from '../../src/worker/net/openssl/quic-library.js';
import { certs } from '../support/certs.js';
import { APPLICATION, frame, QuicClient } from '../support/quic-client.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { settled, waitFor } from '../support/wait.js';

const skip = whyNoQuic() !== '' && `no QUIC: ${whyNoQuic()}`;
const { rsa } = certs();
const LONG = 4_000_000;
/** Less than worker_connections of both workers. */
const FEW = 30;

/** A server with two workers, which tells at another port how many connections there are. */
const start = (t: Test, server = '', connections = 512, options: { readonly expectAlerts?: RegExp } = {}): Promise<Server> =>
  startServer(t, {
    ...options,
    conf: httpConf(
      `ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key}; http3_hq on;
      server { listen 127.0.0.1:%%PORT_1%%; location / { stub_status; } }
      server { listen 127.0.0.1:%%PORT_0%% quic; ${server} location / { return 200 "$pid"; } location /long { root %%DIR%%; } }`,
      'worker_processes 2;',
    ).replace('events {}', `events { worker_connections ${connections}; }`),
    files: { long: 'x'.repeat(LONG) },
  });

/** Megabytes that all workers have in memory. */
const memory = (server: Server): number =>
  server
    .workers()
    .map((pid) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))![1]) / 1024)
    .reduce((sum, each) => sum + each, 0);

const active = async (server: Server): Promise<number> =>
  Number(/^Active connections: (\d+)/.exec((await httpGet(server.port(1), '/')).text)![1]);

async function answer(client: QuicClient, stream: number): Promise<string> {
  client.get(stream, '/');
  await client.until(() => client.streams.get(stream)?.end === true || client.closed !== undefined);
  return client.streams.get(stream)?.text ?? '';
}

/** A new client is served, which tries again where a datagram is lost among others. Returns the process that it was served by. */
async function serves(t: Test, port: number): Promise<string> {
  for (let tries = 0; tries < 20; tries++) {
    const client = await QuicClient.open(port);
    const served = client
      .until(() => client.confirmed || client.closed !== undefined)
      .then(() => (client.closed === undefined ? answer(client, 0) : ''));
    const pid = await Promise.race([served, sleep(3000, '')]);
    client.close();
    if (pid !== '') {
      t.match(pid, /^\d+$/);
      return pid;
    }
  }
  t.fail('nobody is served');
  return '';
}

/** Sends datagrams from one socket, and counts what comes back until the test ends. */
async function flood(
  t: Test,
  port: number,
  count: number,
  make: () => Buffer,
): Promise<{ readonly datagrams: number; readonly bytes: number }> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.teardown(() => socket.close());
  const back = { datagrams: 0, bytes: 0 };
  socket.on('message', (bytes) => {
    back.datagrams++;
    back.bytes += bytes.length;
  });
  for (let sent = 0; sent < count; sent += 50) {
    await Promise.all(Array.from({ length: 50 }, () => new Promise((done) => socket.send(make(), port, '127.0.0.1', done))));
  }
  return back;
}

/** An Initial packet by its look, which nobody can read. */
function garbage(): Buffer {
  const packet = randomBytes(1200);
  packet.set([0xc3, 0, 0, 0, 1, 8]);
  packet[14] = 8;
  packet.set([0, 0x44, 0x90], 23);
  return packet;
}

t.test('Initial packets that nobody can read take no place', { skip }, async (t) => {
  const server = await start(t, '', 64);
  await serves(t, server.port(0));
  const before = memory(server);
  await flood(t, server.port(0), 3000, garbage);
  await serves(t, server.port(0));
  // Those that were served are still there, since they have not taken leave.
  const left = await settled(
    () => active(server),
    (count) => count < FEW,
  );
  t.ok(left < FEW, `${left}`);
  t.ok(memory(server) - before < 120, `${memory(server) - before} MB`);
});

t.test('a flood that is answered by Retry takes no place, and gets less than it sends', { skip }, async (t) => {
  const server = await start(t, 'quic_retry on;', 64);
  const back = await flood(t, server.port(0), 2000, garbage);
  await serves(t, server.port(0));
  t.ok(back.datagrams > 0 && back.bytes <= 2000 * 1200, `${back.bytes}`);
  // Those that were served are still there, since they have not taken leave.
  const left = await settled(
    () => active(server),
    (count) => count < FEW,
  );
  t.ok(left < FEW, `${left}`);
});

t.test('packets of connections that are not there', { skip }, async (t) => {
  const server = await start(t);
  const short = (): Buffer => {
    const packet = randomBytes(60);
    packet[0] = 0x40 | (packet[0]! & 0x3f);
    return packet;
  };
  const back = await flood(t, server.port(0), 3000, short);
  await serves(t, server.port(0));
  t.ok(back.datagrams > 0 && back.bytes < 3000 * 60, `${back.bytes}`);
});

t.test('clients that read nothing', { skip }, async (t) => {
  const server = await start(t);
  await serves(t, server.port(0));
  const before = memory(server);
  const clients: QuicClient[] = [];
  for (let i = 0; i < 50; i++) {
    const client = await QuicClient.connect(server.port(0));
    client.acknowledges = false;
    client.send(APPLICATION, frame(0x0b, 0, 11, 'GET /long\r\n'));
    clients.push(client);
  }
  await Promise.all(clients.map((client) => client.until(() => client.streams.has(0))));
  t.ok(memory(server) - before < 150, `${memory(server) - before} MB`);
  await serves(t, server.port(0));
  for (const client of clients) {
    client.close();
  }
});

t.test('a worker that is killed: its clients hear of it, and the others go on', { skip }, async (t) => {
  const server = await start(t, '', 512, { expectAlerts: /exited on signal 9/ });
  const clients: { readonly client: QuicClient; readonly pid: string }[] = [];
  while (new Set(clients.map(({ pid }) => pid)).size < 2) {
    const client = await QuicClient.connect(server.port(0));
    clients.push({ client, pid: await answer(client, 0) });
  }
  const killed = clients.at(-1)!.pid;
  process.kill(Number(killed), 'SIGKILL');
  await waitFor(() => server.workers().length === 2 && !server.workers().includes(Number(killed)));
  for (const { client, pid } of clients) {
    if (pid !== killed) {
      t.equal(await answer(client, 4), pid);
      continue;
    }
    // What nobody knows is answered with the token that the connection had been told.
    const tokens = client.newIds.map(({ token }) => token);
    const known = (): boolean => client.unknown.some((bytes) => tokens.some((token) => bytes.subarray(-16).equals(token)));
    for (let i = 0; i < 50 && !known(); i++) {
      client.peer = client.newIds[0]!.id;
      client.send(APPLICATION, frame(1), Buffer.alloc(40));
      await Promise.race([client.until(known), sleep(200)]);
    }
    t.ok(known(), 'a stateless reset');
  }
  await serves(t, server.port(0));
  for (const { client } of clients) {
    client.close();
  }
});
