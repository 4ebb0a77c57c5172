import { readdirSync, truncateSync } from 'node:fs';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { HeldReads, HOLDS_READS, linkOf } from '../support/held-reads.js';
import { startOrigin } from '../support/origin.js';
import { isAlive } from '../support/processes.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { startTcpBackend, type TcpBackend } from '../support/tcp-backend.js';
import { bytesOnTheWay } from '../support/tcp-queues.js';
import { waitFor } from '../support/wait.js';

const KB = 1024;
const HEAD_END = '\r\n\r\n';

const conf = (server: string, http = '') =>
  httpConf(`${http}
    server { listen 127.0.0.1:%%PORT_0%%; root %%DIR%%; location /other { return 200 'others are served'; } ${server} }`);

const serveOthers = async (t: Test, s: Server): Promise<void> => void t.equal((await httpGet(s, '/other')).text, 'others are served');

/** nginx loads no modules of JavaScript, and waits for the disk where it is not told to have threads. */
const needsPreload = { skip: againstNginx && 'reads of nginx cannot be held' };

const COLD = Buffer.alloc(16 * KB, 'x');

/** A server with a file whose reads are held. */
async function startCold(t: Test) {
  const text = conf('location /cold/ { aio threads; directio 1; output_buffers 1 16k; }');
  const s = await startServer(t, { conf: text, files: { 'cold/file': COLD }, preload: HOLDS_READS, asRoot: true });
  return { text, s, held: new HeldReads(t, s, 'cold') };
}

t.test('clients that leave while their file is read', needsPreload, async (t) => {
  const { s, held } = await startCold(t);
  // More than are read at a time: four have not begun.
  const clients = await Promise.all(Array.from({ length: 12 }, () => RawClient.connect(s)));
  for (const [i, client] of clients.entries()) {
    client.send(requestText('GET', '/cold/file'));
    await held.opened(i + 1);
  }
  for (const client of clients.slice(1)) {
    client.destroy(true);
  }
  await serveOthers(t, s);
  const more = httpGet(s, '/cold/file');
  const first = await held.feed(clients[0]!.response());
  t.ok(first.body.equals(COLD), 'who stays is served');
  clients[0]!.destroy();
  t.ok((await held.feed(more)).body.equals(COLD), 'who comes then is served');
  await held.opened(0);
});

t.test('a worker that is to leave in the middle of a read finishes its responses', needsPreload, async (t) => {
  const { text, s, held } = await startCold(t);
  const client = await RawClient.connect(s);
  client.send(requestText('GET', '/cold/file'));
  await held.opened(1);
  const [worker] = s.workers();
  await s.reload(text);
  t.ok(isAlive(worker!), 'it waits for the read');
  t.ok((await held.feed(client.response())).body.equals(COLD));
  client.destroy();
  await waitFor(() => !isAlive(worker!), { what: 'its end' });
});

/** A server that has request bodies of more than 1 KB in a file, for backends that are asked in turn. */
async function startForBodies(t: Test, backends: readonly { port: number }[], held: boolean): Promise<Server> {
  return startServer(t, {
    conf: conf(
      `location / { proxy_pass http://group; client_body_buffer_size 1k; client_body_temp_path %%DIR%%/body; client_max_body_size 0;
         proxy_buffering off; }`,
      `upstream group { ${backends.map(({ port }, i) => `server 127.0.0.1:${port} ${i > 0 ? 'backup' : ''};`).join(' ')} }`,
    ),
    ...(held ? { preload: HOLDS_READS } : {}),
    asRoot: true,
    expectAlerts: /read only/,
  });
}

/** The backend has the head of its first request: the body is read then. */
const headCame = (backend: TcpBackend): Promise<boolean> => waitFor(() => backend.received[0]?.includes(HEAD_END) ?? false);

t.test('a request body is read as its reads end', needsPreload, async (t) => {
  const origin = await startOrigin(t, ({ body }) => ({ body: String(body.equals(Buffer.alloc(150_000, 'x'))) }));
  const s = await startForBodies(t, [origin], true);
  const held = new HeldReads(t, s, 'body');
  const client = await RawClient.connect(s);
  client.send(requestText('PUT', '/', {}, '-'.repeat(150_000)), 'PUT');
  await held.opened(1);
  await held.give(1000);
  await serveOthers(t, s);
  await held.give(149_000);
  t.equal((await client.response()).text, 'true');
  await held.opened(0);
  client.destroy();
});

t.test('a client leaves while the body of its request is read', needsPreload, async (t) => {
  const backend = await startTcpBackend(t, () => {});
  const s = await startForBodies(t, [backend], true);
  const held = new HeldReads(t, s, 'body');
  const client = await RawClient.connect(s);
  client.send(requestText('PUT', '/left', {}, '-'.repeat(50_000)), 'PUT');
  await headCame(backend);
  client.destroy(true);
  await s.accessLogged('"PUT /left HTTP/1.1" 499');
  t.equal(held.open, 1, 'what is read stays open');
  await serveOthers(t, s);
  await held.give(50_000);
  await held.opened(0);
  t.equal(backend.received[0]!.split(HEAD_END)[1], '', 'nobody got what was read');
});

t.test('a backend leaves while the body is read: the next one gets all of it', needsPreload, async (t) => {
  const bad = await startTcpBackend(t, (socket) => void socket.once('data', () => socket.resetAndDestroy()));
  const good = await startTcpBackend(t, () => {});
  const s = await startForBodies(t, [bad, good], true);
  const held = new HeldReads(t, s, 'body');
  const client = await RawClient.connect(s);
  client.send(requestText('PUT', '/', {}, '-'.repeat(50_000)), 'PUT');
  await headCame(good);
  // The first read still is under way.
  await held.give(100_000);
  await waitFor(() => good.received[0]!.length >= good.received[0]!.indexOf(HEAD_END) + 4 + 50_000);
  t.equal(good.received[0]!.split(HEAD_END)[1], 'x'.repeat(50_000));
  good.sockets[0]!.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone');
  t.equal((await client.response()).text, 'done');
  await held.opened(0);
  client.destroy();
});

t.test('the file of a request body shrinks', async (t) => {
  const backend = await startTcpBackend(t, (socket) => void socket.once('data', () => socket.pause()));
  const s = await startForBodies(t, [backend], false);
  const client = await RawClient.connect(s);
  client.send(requestText('PUT', '/', {}, '-'.repeat(30_000_000)), 'PUT');
  await headCame(backend);
  const path = `${s.dir}/body/${readdirSync(`${s.dir}/body`)[0]}`;
  truncateSync(path, 0);
  backend.sockets[0]!.resume();
  t.equal((await client.response()).status, 500);
  await s.logged(new RegExp(`pread\\(\\) read only 0 of 61440 from "${path}"`));
  t.ok(backend.received[0]!.length < 30_000_000);
  await serveOthers(t, s);
  client.destroy();
});

/** A client that has yet to take a response, the rest of which is in a file. */
async function startResponse(t: Test, finish: 'ends' | 'stays', preload?: string) {
  const length = 24_000_000;
  const backend = await startTcpBackend(t, (socket) => {
    socket.once('data', () => {
      const head = `HTTP/1.1 200 OK\r\nContent-Length: ${finish === 'ends' ? length : length * 2}\r\n\r\n`;
      socket.write(head + 'o'.repeat(length));
    });
  });
  const s = await startServer(t, {
    conf: conf(
      `location / { proxy_pass http://127.0.0.1:${backend.port}; proxy_temp_path %%DIR%%/temp; proxy_buffer_size 4k; proxy_buffers 4 4k;
         proxy_read_timeout 2s; }`,
    ),
    ...(preload === undefined ? {} : { preload }),
    asRoot: true,
    expectAlerts: /read only/,
  });
  const held = new HeldReads(t, s, preload === undefined ? 'elsewhere' : 'temp');
  const client = await RawClient.connect(s);
  client.pause().send(requestText('GET', '/'));
  await s.logged('buffered to a temporary file');
  // What a reset finds on its way is lost.
  await waitFor(() => backend.sockets[0]!.writableLength === 0 && bytesOnTheWay(backend.port) === 0);
  return { s, held, client, backend, length };
}

/** The same, and the second piece of the file is being read. */
async function startReading(t: Test, finish: 'ends' | 'stays') {
  const started = await startResponse(t, finish, HOLDS_READS);
  const { held, client } = started;
  client.resume();
  await held.give(60 * KB, 'y');
  await waitFor(() => client.received.endsWith('y'.repeat(60 * KB)));
  return started;
}

t.test('a response is read from its file as the reads end', needsPreload, async (t) => {
  const { s, held, client, length } = await startReading(t, 'ends');
  await serveOthers(t, s);
  t.equal((await held.feed(client.response())).body.length, length);
  await held.opened(0);
  client.destroy();
});

t.test('a client leaves while its response is read', needsPreload, async (t) => {
  const { s, held, client } = await startReading(t, 'ends');
  client.destroy(true);
  await s.accessLogged('"GET / HTTP/1.1" 200');
  await serveOthers(t, s);
  t.equal(held.open, 1, 'what is read stays open');
  await held.give(60 * KB);
  await held.opened(0);
});

t.test('the backend breaks off while the response is read: all that it sent is sent', needsPreload, async (t) => {
  const { s, held, client, backend, length } = await startReading(t, 'stays');
  backend.sockets[0]!.resetAndDestroy();
  await s.logged(/Connection reset by peer|prematurely closed/);
  const response = await held.feed(client.response());
  t.notOk(response.complete);
  t.equal(response.body.length, length);
  await held.opened(0);
});

t.test('the backend falls silent while the response is read: the rest is lost', needsPreload, async (t) => {
  const { s, held, client, length } = await startReading(t, 'stays');
  await s.logged('upstream timed out');
  await client.closed();
  t.ok(client.received.length < length);
  await serveOthers(t, s);
  t.equal(held.open, 1, 'what is read stays open');
  await held.give(60 * KB);
  await held.opened(0);
});

t.test('the file of a response shrinks', async (t) => {
  const { s, client, backend, length } = await startResponse(t, 'ends');
  // All has come, and nothing more is written to the file.
  await waitFor(() => backend.sockets[0]!.readableEnded);
  const [pid] = s.workers();
  // It has no name any more.
  const fds = readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
  const path = await waitFor(() => fds.find((fd) => linkOf(fd).startsWith(`${s.dir}/temp/`)));
  truncateSync(path, 0);
  client.resume();
  const response = await client.response();
  t.notOk(response.complete);
  t.ok(response.body.length < length);
  await s.logged(/pread\(\) read only 0 of \d+ from "/);
  await serveOthers(t, s);
});
