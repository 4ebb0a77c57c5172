// WebSockets to backends that speak HTTP/2 (RFC 8441), from clients of HTTP/1.1 and of HTTP/2.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttp2Server } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import t, { type Test } from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import { block, END_HEADERS, END_STREAM, type FieldText, frame, Http2Client, number32, settings, T } from '../support/http2-client.js';
import { answer, dataOf, type Http2Origin, type Http2Request, startHttp2Origin } from '../support/http2-origin.js';
import { httpGet, RawClient } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { startTcpBackend } from '../support/tcp-backend.js';
import { waitFor } from '../support/wait.js';

const [CANCEL, CONNECT_ERROR] = [8, 10];
const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';
const TUNNELS = settings([8, 1]);

const HANDSHAKE = `GET /chat?room=1 HTTP/1.1\r
Host: localhost\r
Connection: Upgrade\r
Upgrade: websocket\r
Sec-WebSocket-Key: ${KEY}\r
Sec-WebSocket-Version: 13\r
Sec-WebSocket-Protocol: chat\r
\r\n`;

const conf = (ports: readonly number[], location = ''): string =>
  serverConf(
    `http2 on; proxy_http_version 2; access_log %%DIR%%/w.log w;
    location / { proxy_pass http://u; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; ${location} }
    location /none { proxy_pass http://u; }`,
    `log_format w '$request_method $status $upstream_status $upstream_addr.';
    upstream u { ${ports.map((port) => `server 127.0.0.1:${port};`).join(' ')} keepalive 4; }`,
  );

const connectHead = (id: number, path = '/chat', ...others: readonly FieldText[]): Buffer =>
  frame(
    T.HEADERS,
    END_HEADERS,
    id,
    block([
      [':method', 'CONNECT'],
      [':protocol', 'websocket'],
      [':scheme', 'http'],
      [':path', path],
      [':authority', 'localhost'],
      ['sec-websocket-version', '13'],
      ...others,
    ]),
  );

const data = (id: number, payload: string | Buffer, flags = 0): Buffer => frame(T.DATA, flags, id, payload);
const ofStream = (c: Http2Client, id: number): string =>
  Buffer.concat(c.frames.filter((f) => f.type === T.DATA && f.id === id).map(({ payload }) => payload)).toString('latin1');
const ends = (c: Http2Client, id: number): boolean =>
  c.frames.some((f) => f.id === id && f.type === T.DATA && (f.flags & END_STREAM) !== 0);
const isReset = (c: Http2Client, id: number): boolean => c.frames.some((f) => f.id === id && f.type === T.RST);

/** Says that the tunnel is there. */
const accept = ({ connection, id }: Http2Request, ...headers: readonly FieldText[]): void => {
  connection.send(frame(T.HEADERS, END_HEADERS, id, block([[':status', '200'], ...headers])));
};

/** A backend that opens tunnels, and answers other requests. */
const tunnels = (t: Test, said: Uint8Array = TUNNELS): Promise<Http2Origin> =>
  startHttp2Origin(t, (got) => (got.fields.has(':protocol') ? accept(got) : answer(got, { body: 'plain' })), { settings: said });

async function dial(t: Test, s: Server): Promise<RawClient> {
  const client = await RawClient.connect(s);
  t.teardown(() => client.destroy());
  return client.send(HANDSHAKE);
}

/** Waits for the head that says that the protocol is another one now, and takes it. */
async function switched(client: RawClient): Promise<string> {
  const received = await client.until('\r\n\r\n');
  return client.take(received.indexOf('\r\n\r\n') + 4);
}

const arrived = (got: Http2Request, text: string): Promise<unknown> =>
  waitFor(() => dataOf(got) === text, { what: () => `"${text}"; there was "${dataOf(got).slice(0, 200)}"` });

t.test('a client of HTTP/1.1: the handshake, both directions, the end', async (t) => {
  const origin = await startHttp2Origin(
    t,
    (got) =>
      got.fields.has(':protocol')
        ? accept(got, ['sec-websocket-protocol', 'chat'], ['sec-websocket-accept', 'none'], ['content-length', '0'])
        : answer(got, { body: 'plain' }),
    { settings: TUNNELS },
  );
  const s = await startServer(t, { conf: conf([origin.port]) });
  const client = await dial(t, s);
  const got = await origin.received(1);
  const fields = [...got.fields].map(([name, value]) => `${name}=${value}`);
  t.strictSame(fields, [
    ':method=CONNECT',
    ':protocol=websocket',
    ':scheme=http',
    ':path=/chat?room=1',
    ':authority=u',
    'sec-websocket-version=13',
    'sec-websocket-protocol=chat',
  ]);
  t.notOk(got.ended);
  t.equal(
    (await switched(client)).replace(/^(Server|Date): .*\r\n/gm, ''),
    `HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nsec-websocket-protocol: chat\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${ACCEPT}\r\n\r\n`,
  );
  client.send('one');
  await arrived(got, 'one');
  got.connection.send(data(got.id, 'two'));
  await client.until('two');
  client.send('three');
  await arrived(got, 'onethree');
  // The client leaves: the backend hears the end of its side, and ends the other.
  client.send('bye').end();
  await waitFor(() => ends(got.connection, got.id), { what: 'the end of the request' });
  t.equal(dataOf(got), 'onethreebye');
  got.connection.send(data(got.id, 'good bye', END_STREAM));
  t.equal(await client.rest(), 'twogood bye');
  t.notOk(isReset(got.connection, got.id));
  await waitFor(() => s.read('w.log') === `GET 101 101 127.0.0.1:${origin.port}.\n`, { what: () => s.read('w.log') });
  t.equal((await httpGet(s, '/none')).status, 200, 'the connection goes on');
  t.equal(origin.connections.length, 1);
});

t.test('a client of HTTP/2: an extended CONNECT on both sides', async (t) => {
  const origin = await tunnels(t);
  const s = await startServer(t, { conf: conf([origin.port]) });
  const client = await Http2Client.connect(t, s.port(0));
  client.send(connectHead(1, '/chat', ['origin', 'http://localhost']), data(1, 'early'));
  const got = await origin.received(1);
  t.equal(got.fields.get(':method'), 'CONNECT');
  t.equal(got.fields.get(':protocol'), 'websocket');
  t.equal(got.fields.get('origin'), 'http://localhost');
  t.notOk(got.fields.has('sec-websocket-key'));
  const { fields } = await client.frame((f) => f.id === 1 && f.fields !== undefined, 'the head');
  t.equal(fields![0]![1], '200');
  t.notOk(fields!.some(([name]) => /^(upgrade|connection|sec-websocket-accept)$/.test(name)));
  await arrived(got, 'early');
  got.connection.send(data(got.id, 'answer'));
  await waitFor(() => ofStream(client, 1) === 'answer');
  // Browsers end a stream with their last frame, and read the answer to it.
  client.send(data(1, ' last', END_STREAM));
  await arrived(got, 'early last');
  await waitFor(() => ends(got.connection, got.id));
  got.connection.send(data(got.id, ' words'), data(got.id, '', END_STREAM));
  t.same((await client.response(1)).body, 'answer words');

  // The backend is the first to end: what the client had sent by then arrives, and its side ends, too.
  client.send(connectHead(3), data(3, 'x'));
  const second = await origin.received(2);
  await arrived(second, 'x');
  second.connection.send(data(second.id, 'over', END_STREAM));
  t.equal((await client.response(3)).reset, undefined);
  await waitFor(() => ends(second.connection, second.id), { what: 'the end towards the backend' });

  // Resets, one way and the other.
  client.send(connectHead(5));
  const third = await origin.received(3);
  await client.frame((f) => f.id === 5 && f.fields !== undefined, 'the head');
  client.send(frame(T.RST, 0, 5, number32(CANCEL)));
  t.equal(await third.connection.reset(third.id), CANCEL);
  client.send(connectHead(7));
  const fourth = await origin.received(4);
  await client.frame((f) => f.id === 7 && f.fields !== undefined, 'the head');
  fourth.connection.send(frame(T.RST, 0, fourth.id, number32(CANCEL)));
  t.equal(await client.reset(7), CANCEL);
  await s.logged('upstream rejected request with error 8');

  // The connection ends without a word of the stream.
  client.send(connectHead(9));
  const fifth = await origin.received(5);
  await client.frame((f) => f.id === 9 && f.fields !== undefined, 'the head');
  fifth.connection.socket.end();
  t.equal(await client.reset(9), CONNECT_ERROR);
  await s.logged('upstream prematurely closed connection');
  t.equal(origin.connections.length, 1);
});

t.test('a client of HTTP/1.1 that breaks off, and one whose backend does', async (t) => {
  const origin = await tunnels(t);
  const s = await startServer(t, { conf: conf([origin.port]) });
  const leaving = await dial(t, s);
  await switched(leaving);
  leaving.destroy(true);
  const first = await origin.received(1);
  await waitFor(() => ends(first.connection, first.id) || isReset(first.connection, first.id), { what: 'the end of the first' });
  const left = await dial(t, s);
  await switched(left);
  const second = await origin.received(2);
  second.connection.send(data(second.id, 'half'), frame(T.RST, 0, second.id, number32(CANCEL)));
  t.equal(await left.rest(), 'half');
});

t.test('a backend that has not announced it', async (t) => {
  const silent = await tunnels(t, new Uint8Array());
  const s = await startServer(t, { conf: conf([silent.port]) });
  const client = await dial(t, s);
  t.equal((await client.response()).status, 502);
  await s.logged(/\[error\] .* upstream does not accept extended CONNECT/);
  t.equal(silent.requests.length, 0, 'it is not asked');
  const http2 = await Http2Client.connect(t, s.port(0));
  http2.send(connectHead(1));
  t.equal((await http2.response(1)).status, '502');
  t.equal((await httpGet(s, '/none')).text, 'plain', 'and is asked for other things');
  t.equal(silent.connections.length, 1);
  await waitFor(() => s.read('w.log').startsWith('GET 502 502 '));

  // Another one of the group may take it.
  const able = await tunnels(t);
  await s.reload(conf([silent.port, able.port]));
  for (let i = 0; i < 4; i++) {
    t.match(await switched(await dial(t, s)), /^HTTP\/1.1 101 /);
  }
  t.equal(able.requests.length, 4);
});

t.test('a backend that is slow to say it, or says nonsense', async (t) => {
  const slow = await startHttp2Origin(t, (got) => accept(got));
  const s = await startServer(t, { conf: conf([slow.port]) });
  // The first SETTINGS of this backend are empty; a later frame adds to what holds.
  t.equal((await (await dial(t, s)).response()).status, 502);
  slow.connections[0]!.send(frame(T.SETTINGS, 0, 0, TUNNELS));
  await slow.connections[0]!.ping();
  t.match(await switched(await dial(t, s)), /^HTTP\/1.1 101 /);
  slow.connections[0]!.send(frame(T.SETTINGS, 0, 0, settings([8, 0])));
  await s.logged('upstream sent settings frame with invalid extended connect value: 0');
});

t.test('answers that open nothing', async (t) => {
  const origin = await startHttp2Origin(
    t,
    (got) => {
      const status = Number(got.fields.get(':path')!.slice(1));
      answer(got, { status, headers: [['location', '/login']], body: 'no entry' });
    },
    { settings: TUNNELS },
  );
  const s = await startServer(t, { conf: conf([origin.port]) });
  for (const status of [403, 302, 500]) {
    const client = await RawClient.connect(s);
    const response = await client.send(HANDSHAKE.replace('/chat?room=1', `/${status}`)).response();
    t.equal(response.status, status);
    t.equal(response.text, 'no entry');
    client.destroy();
  }
  await waitFor(() => origin.requests.every(({ connection, id }) => ends(connection, id)), { what: 'the ends of the requests' });
  const http2 = await Http2Client.connect(t, s.port(0));
  http2.send(connectHead(1, '/401'));
  const refused = await http2.response(1);
  t.strictSame([refused.status, refused.body], ['401', 'no entry']);
});

t.test('what is no whole handshake stays a request', async (t) => {
  const origin = await tunnels(t);
  const s = await startServer(t, { conf: conf([origin.port]) });
  const requests = [
    HANDSHAKE.replace(/Sec-WebSocket-Key:.*\r\n/, ''),
    HANDSHAKE.replace('Upgrade: websocket', 'Upgrade: h2c'),
    HANDSHAKE.replace('GET', 'POST').replace('Host', 'Content-Length: 0\r\nHost'),
    HANDSHAKE.replace('/chat', '/none'),
    HANDSHAKE.replace('HTTP/1.1', 'HTTP/1.0'),
    HANDSHAKE.replace('\r\n\r\n', '\r\nContent-Length: 1\r\n\r\nx'),
  ];
  for (const [i, request] of requests.entries()) {
    const client = await RawClient.connect(s);
    t.equal((await client.send(request).response()).text, 'plain', request.slice(0, 60));
    const { fields } = await origin.received(i + 1);
    t.not(fields.get(':method'), 'CONNECT');
    t.notOk(fields.has(':protocol') || fields.has('upgrade') || fields.has('connection'));
    client.destroy();
  }
});

t.test('a backend frame by frame, byte by byte', async (t) => {
  const origin = await startHttp2Origin(t, undefined, { settings: TUNNELS });
  const s = await startServer(t, { conf: conf([origin.port]) });
  const client = await dial(t, s);
  const { connection, id } = await origin.received(1);
  const bytes = Buffer.concat([
    frame(T.HEADERS, END_HEADERS, id, block([[':status', '103']])),
    frame(T.HEADERS, END_HEADERS, id, block([[':status', '200']])),
    data(id, 'slow'),
    data(id, ''),
    data(id, ' words', END_STREAM),
  ]);
  for (const byte of bytes) {
    connection.send(Buffer.from([byte]));
    await new Promise((done) => setImmediate(done));
  }
  t.match(await switched(client), /^HTTP\/1.1 101 /);
  t.equal(await client.rest(), 'slow words');
});

t.test('slow readers on either side: what waits is bounded, and nothing is lost', async (t) => {
  const origin = await startHttp2Origin(t, (got) => accept(got), { settings: settings([8, 1], [4, 1000]) });
  const s = await startServer(t, { conf: conf([origin.port]) });
  const client = await dial(t, s);
  await switched(client);
  const got = await origin.received(1);
  const { connection, id } = got;

  // To the backend, whose window is of 1000 bytes.
  const much = Buffer.alloc(8 << 20, 'abcdefghij');
  client.send(much);
  await waitFor(() => dataOf(got).length === 1000, { what: '1000 bytes' });
  await connection.ping();
  t.equal(dataOf(got).length, 1000);
  t.ok(client.socket.writableLength > 0, 'the client waits');
  connection.send(frame(T.WINDOW, 0, id, number32(much.length)), frame(T.WINDOW, 0, 0, number32(much.length)));
  await waitFor(() => dataOf(got).length === much.length, { what: () => `${much.length} bytes; there were ${dataOf(got).length}` });
  t.ok(dataOf(got) === much.toString('latin1'));

  // To the client, which reads nothing: the backend gets no more room in the end.
  client.pause();
  const first = connection.frames.find((f) => f.type === T.SETTINGS && f.payload.length > 0)!.payload;
  let room = 0;
  for (let at = 0; at < first.length; at += 6) {
    room = first.readUInt16BE(at) === 4 ? first.readUInt32BE(at + 2) : room;
  }
  const given = (): number =>
    connection.frames.filter((f) => f.type === T.WINDOW && f.id === id).reduce((sum, { payload }) => sum + payload.readUInt32BE(0), room);
  let sent = 0;
  const piece = Buffer.alloc(16_000, 'x');
  for (let calm = 0, before = -1; calm < 3; ) {
    while (given() - sent >= piece.length) {
      connection.send(data(id, piece));
      sent += piece.length;
    }
    await connection.ping();
    calm = given() === before ? calm + 1 : 0;
    before = given();
  }
  t.ok(sent < 24 << 20, `${sent} bytes were let in`);
  client.resume();
  await client.take(sent);
  await waitFor(() => given() - sent >= piece.length, { what: 'room again' });
});

t.test('timeouts', async (t) => {
  const origin = await tunnels(t);
  const s = await startServer(t, { conf: conf([origin.port], 'proxy_read_timeout 1s;') });
  const client = await dial(t, s);
  t.match(await switched(client), /^HTTP\/1.1 101 /);
  t.equal(await client.rest(), '');
  await s.logged(/upstream timed out .* while proxying upgraded connection/);
  const { connection, id } = await origin.received(1);
  t.equal(await connection.reset(id), CANCEL);

  // A backend that never says what it takes.
  const mute = await startTcpBackend(t, () => {});
  await s.reload(conf([mute.port], 'proxy_read_timeout 1s;'));
  t.equal((await (await dial(t, s)).response()).status, 504);
  t.notOk(mute.received[0]!.includes('CONNECT'));
});

/** A real HTTP/2 server: it passes each tunnel's bytes to a server of the ws package, which sends back what it gets. */
async function startReal(t: Test): Promise<number> {
  const echo = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(echo, 'listening');
  echo.on('connection', (socket) => socket.on('message', (message: Buffer, binary: boolean) => socket.send(message, { binary })));
  const server = createHttp2Server({ settings: { enableConnectProtocol: true } });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    if (headers[':protocol'] !== 'websocket') {
      stream.respond({ ':status': 404 }, { endStream: true });
      return;
    }
    const socket = connectTcp((echo.address() as { port: number }).port, '127.0.0.1');
    socket.on('error', () => stream.close());
    socket.write(HANDSHAKE.replace(/Sec-WebSocket-Protocol.*\r\n/, ''));
    let head = '';
    const read = (piece: Buffer): void => {
      head += piece.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end !== -1) {
        socket.off('data', read);
        stream.respond({ ':status': 200 });
        stream.write(Buffer.from(head.slice(end + 4), 'latin1'));
        socket.pipe(stream).pipe(socket);
      }
    };
    socket.on('data', read);
  });
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => sessions.add(session));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const session of sessions) {
      session.destroy();
    }
    for (const socket of echo.clients) {
      socket.terminate();
    }
    echo.close();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

t.test('node:http2 as the backend, and clients of the ws package', async (t) => {
  const s = await startServer(t, { conf: conf([await startReal(t)]) });
  const open = async (): Promise<WebSocket> => {
    const socket = new WebSocket(`ws://127.0.0.1:${s.port(0)}/`);
    await once(socket, 'open');
    return socket;
  };
  const echoed = async (socket: WebSocket, message: string | Buffer): Promise<Buffer> => {
    socket.send(message);
    return (await once(socket, 'message'))[0] as Buffer;
  };
  const socket = await open();
  t.equal((await echoed(socket, 'hello')).toString(), 'hello');
  const large = Buffer.alloc(3_000_000, 'abc');
  t.equal(
    createHash('sha1')
      .update(await echoed(socket, large))
      .digest('hex'),
    createHash('sha1').update(large).digest('hex'),
  );
  socket.ping('still there');
  t.equal(String((await once(socket, 'pong'))[0]), 'still there');
  const others = await Promise.all(Array.from({ length: 50 }, open));
  const answers = await Promise.all(others.map(async (other, i) => (await echoed(other, `n${i}`)).toString()));
  t.ok(answers.every((text, i) => text === `n${i}`));
  await s.reload();
  t.equal((await echoed(socket, 'after the reload')).toString(), 'after the reload');
  for (const other of [socket, ...others]) {
    other.close(4000, 'enough');
  }
  const [code, reason] = await once(socket, 'close');
  t.strictSame([code, String(reason)], [4000, 'enough']);
  await waitFor(() => s.workers().length === 1, { what: 'the old worker to leave' });
});
