import { Buffer } from 'node:buffer';
import t, { type Test } from 'tap';
import {
  block,
  END_HEADERS,
  END_STREAM,
  type FieldText,
  frame,
  Http2Client,
  number32,
  request,
  settings,
  T,
} from '../support/http2-client.js';
import { startOrigin } from '../support/origin.js';
import { type Server, serverConf, startServer } from '../support/server.js';

const CALM = 11;

/** A server whose worker must live on, with a backend that answers when its client is gone. */
async function target(t: Test, extra = ''): Promise<Server> {
  const origin = await startOrigin(t, async (_request, reply) => {
    await reply.gone();
    return undefined;
  });
  return startServer(t, {
    conf: serverConf(
      `http2 on; ${extra} location / { return 200 ok; } location = /f { } location /wait { proxy_pass http://127.0.0.1:${origin.port}; }`,
    ),
    files: { 'html/f': 'x'.repeat(1_000_000) },
  });
}

/** The same worker still serves. */
async function alive(t: Test, s: Server, worker: number): Promise<void> {
  const client = await Http2Client.connect(t, s.port(0));
  t.equal((await client.request(1, request('GET', '/')).response(1)).body, 'ok', 'others are served');
  t.ok(s.workers().includes(worker), 'by the same worker');
}

/** Sends `piece` until the server ends the connection. */
async function flood(client: Http2Client, piece: Buffer): Promise<void> {
  while (!client.ended) {
    if (!client.socket.write(piece)) {
      await new Promise((done) => void client.socket.once('drain', done).once('close', done));
    }
    await new Promise(setImmediate);
  }
}

const repeat = (bytes: Buffer, times: number): Buffer => Buffer.concat(Array.from({ length: times }, () => bytes));

t.test('frames without end that bring nothing', async (t) => {
  const s = await target(t);
  const worker = s.workers()[0]!;
  const cases: readonly (readonly [string, Buffer])[] = [
    ['SETTINGS', frame(T.SETTINGS, 0, 0, settings([3, 1]))],
    ['empty SETTINGS', frame(T.SETTINGS, 0, 0)],
    ['PING', frame(T.PING, 0, 0, '12345678')],
    ['answers to PING', frame(T.PING, 1, 0, '12345678')],
    ['unknown frames', frame(200, 0, 0, 'x')],
    ['empty DATA', frame(T.DATA, 0, 1)],
    ['padded empty DATA', frame(T.DATA, 8, 1, '\x00')],
    ['WINDOW_UPDATE', frame(T.WINDOW, 0, 1, number32(1))],
    ['RST_STREAM of a stream that is over', frame(T.RST, 0, 1, number32(8))],
    ['GOAWAY', frame(T.GOAWAY, 0, 0, '\0\0\0\0\0\0\0\0')],
  ];
  for (const [what, piece] of cases) {
    const client = await Http2Client.connect(t, s.port(0));
    client.send(frame(T.HEADERS, END_HEADERS, 1, block(request('POST', what.includes('over') ? '/' : '/wait'))));
    if (what.includes('over')) {
      await client.response(1);
    }
    await flood(client, repeat(piece, 100));
    await s.logged('http2 flood detected');
    t.ok(client.ended, what);
    client.socket.destroy();
  }
  await alive(t, s, worker);
});

t.test('priorities without end', async (t) => {
  const s = await target(t);
  const worker = s.workers()[0]!;
  for (const [piece, what] of [
    [frame(T.PRIORITY, 0, 3, '\0\0\0\x01x'), 'PRIORITY'],
    [frame(T.PRIORITY_UPDATE, 0, 0, '\0\0\0\x01u=1'), 'PRIORITY_UPDATE'],
  ] as const) {
    const client = await Http2Client.connect(t, s.port(0));
    await flood(client, repeat(piece, 10));
    t.equal((await client.goaway())[1], CALM, what);
  }
  await alive(t, s, worker);
});

t.test('a header section without end', async (t) => {
  const s = await target(t);
  const worker = s.workers()[0]!;
  for (const piece of [
    frame(T.CONTINUATION, 0, 1),
    frame(T.CONTINUATION, 0, 1, '\0'),
    frame(T.CONTINUATION, 0, 1, block([['x', 'y'.repeat(1000)]])),
  ]) {
    const client = await Http2Client.connect(t, s.port(0));
    client.send(frame(T.HEADERS, 0, 1, block(request('GET', '/'))));
    await flood(client, repeat(piece, 10));
    t.equal((await client.goaway())[1], CALM);
  }
  await alive(t, s, worker);
});

t.test('streams opened and reset at once', async (t) => {
  const s = await target(t, 'keepalive_requests 1000000;');
  const worker = s.workers()[0]!;
  const client = await Http2Client.connect(t, s.port(0));
  const head = block(request('GET', '/wait'));
  for (let id = 1; !client.ended; id += 2) {
    const piece = Buffer.concat([frame(T.HEADERS, END_HEADERS | END_STREAM, id, head), frame(T.RST, 0, id, number32(8))]);
    if (!client.socket.write(piece) || id % 64 === 1) {
      await new Promise(setImmediate);
    }
    if (id > 2_000_000) {
      t.fail('no bound');
    }
  }
  const [last, code] = await client.goaway();
  t.equal(code, CALM);
  t.ok(last < 600, `after ${last}`);
  await alive(t, s, worker);
});

t.test('streams that the server has to reset', async (t) => {
  const s = await target(t, 'keepalive_requests 1000000;');
  const worker = s.workers()[0]!;
  const head = block(request('GET', '/wait'));
  for (const [what, offence] of [
    ['a window that is too large', (id: number) => [frame(T.WINDOW, 0, id, number32(2 ** 31 - 1))]],
    ['DATA behind the end', (id: number) => [frame(T.DATA, 0, id, 'x')]],
  ] as const) {
    const client = await Http2Client.connect(t, s.port(0));
    for (let id = 1; !client.ended && id < 200_000; id += 2) {
      client.send(frame(T.HEADERS, END_HEADERS | END_STREAM, id, head), ...offence(id));
      if (id % 64 === 1) {
        await new Promise(setImmediate);
      }
    }
    const [last, code] = await client.goaway();
    t.equal(code, CALM, what);
    t.ok(last < 600, `after ${last}`);
  }
  await alive(t, s, worker);
});

t.test('more streams at a time than are allowed', async (t) => {
  const s = await target(t);
  const worker = s.workers()[0]!;
  const client = await Http2Client.connect(t, s.port(0));
  const head = block(request('GET', '/wait'));
  for (let id = 1; !client.ended && id < 200_000; id += 2) {
    client.send(frame(T.HEADERS, END_HEADERS | END_STREAM, id, head));
    if (id % 64 === 1) {
      await new Promise(setImmediate);
    }
  }
  const [last, code] = await client.goaway();
  t.equal(code, 0);
  t.ok(last < 1000, `after ${last}`);
  await s.logged('client sent too many refused streams');
  await alive(t, s, worker);
});

t.test('few bytes that stand for many', async (t) => {
  const s = await target(t);
  const worker = s.workers()[0]!;
  const client = await Http2Client.connect(t, s.port(0));
  // A field of 4000 bytes in the table, and then its index again and again.
  const value = 'v'.repeat(4000);
  const first = Buffer.concat([block(request('GET', '/')), Buffer.from([0x40, 1, 0x78, 0x7f, 0xa1, 0x1e]), Buffer.from(value)]);
  client.send(frame(T.HEADERS, END_HEADERS | END_STREAM, 1, first));
  t.equal((await client.response(1)).body, 'ok');
  client.send(frame(T.HEADERS, END_HEADERS | END_STREAM, 3, Buffer.concat([block(request('GET', '/')), Buffer.alloc(16_000, 0xbe)])));
  t.equal((await client.goaway())[1], CALM);
  const many = await Http2Client.connect(t, s.port(0));
  const cookies = Array.from({ length: 8000 }, (): FieldText => ['cookie', 'a']);
  many.send(frame(T.HEADERS, END_HEADERS | END_STREAM, 1, block([...request('GET', '/'), ...cookies])));
  await many.frame(({ type, id }) => type === T.GOAWAY || (type === T.HEADERS && id === 1), 'an answer');
  await alive(t, s, worker);
});

t.test('a client that asks and does not read', async (t) => {
  const s = await target(t, 'send_timeout 200ms;');
  const worker = s.workers()[0]!;
  const client = await Http2Client.connect(t, s.port(0));
  client.send(frame(T.SETTINGS, 0, 0, settings([4, 2 ** 31 - 1])), frame(T.WINDOW, 0, 0, number32(2 ** 31 - 1 - 65_535)));
  await client.ping();
  client.socket.pause();
  // More than the system holds for a client.
  for (let id = 1; id < 250; id += 2) {
    client.request(id, request('GET', '/f'));
  }
  await s.logged('client timed out');
  client.socket.resume();
  await client.closed();
  await alive(t, s, worker);
});

t.test('windows of nothing hold nothing but their streams', async (t) => {
  const s = await target(t, 'send_timeout 100ms;');
  const worker = s.workers()[0]!;
  const client = await Http2Client.connect(t, s.port(0));
  client.send(frame(T.SETTINGS, 0, 0, settings([4, 0])));
  for (let id = 1; id < 200; id += 2) {
    client.request(id, request('GET', '/f'));
  }
  for (let id = 1; id < 200; id += 2) {
    t.equal(await client.reset(id), 1);
  }
  client.send(frame(T.SETTINGS, 0, 0, settings([4, 100_000])));
  t.equal((await client.request(201, request('GET', '/')).response(201)).body, 'ok');
  await alive(t, s, worker);
});

t.test('a connection that takes nothing more holds nothing but its streams', async (t) => {
  const s = await target(t, 'send_timeout 100ms;');
  const worker = s.workers()[0]!;
  const client = await Http2Client.connect(t, s.port(0));
  client.send(frame(T.SETTINGS, 0, 0, settings([4, 2 ** 31 - 1])));
  for (let id = 1; id < 40; id += 2) {
    client.request(id, request('GET', '/f'));
  }
  for (let id = 1; id < 40; id += 2) {
    t.equal(await client.reset(id), 1);
  }
  client.send(frame(T.WINDOW, 0, 0, number32(100_000)));
  t.equal((await client.request(41, request('GET', '/')).response(41)).body, 'ok');
  await alive(t, s, worker);
});
