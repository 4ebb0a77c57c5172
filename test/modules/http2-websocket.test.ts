// Longer than most: all that a WebSocket over HTTP/2 can do and suffer.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:http2';
import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import { WebSocketServer } from 'ws';
import { againstNginx } from '../support/binary.js';
import { block, END_HEADERS, END_STREAM, type FieldText, frame, Http2Client, number32, settings, T } from '../support/http2-client.js';
import { type OriginHandler, type Reply, startOrigin } from '../support/origin.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const options = { skip: againstNginx && 'nginx has no WebSocket over HTTP/2' };
const CONNECT_ERROR = 10;

/** The usual lines for WebSocket, as nginx's documentation has them. */
const conf = (port: number, more = '', location = ''): string =>
  httpConf(
    `map $http_upgrade $connection_upgrade { default upgrade; '' close; }
    log_format w '$request_method $request $status $http_upgrade $http_connection $body_bytes_sent';
    server {
      listen 127.0.0.1:%%PORT_0%%; http2 on; server_name localhost; root %%DIR%%/html; access_log %%DIR%%/w.log w;
      location /chat {
        proxy_pass http://127.0.0.1:${port}; proxy_http_version 1.1;
        proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade; ${location}
      }
      location /plain { proxy_pass http://127.0.0.1:${port}; proxy_http_version 1.1; }
      location /text { return 200 text; }
      location /empty { return 204; }
      location /no { return 403; }
      location /method { return 403 "$request_method $http_upgrade"; }
    }`,
    more,
  );

const accept = (key: string | undefined): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');

const switched = (key: string | undefined, more = ''): string =>
  `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept(key)}\r\n${more}\r\n`;

/** A backend that switches protocols; then what comes is the caller's. */
function switching(then: (socket: Socket) => void, more = ''): OriginHandler {
  return (request, reply: Reply) => {
    reply.socket.removeAllListeners('data').removeAllListeners('end');
    reply.socket.write(switched(request.header('sec-websocket-key'), more));
    then(reply.socket);
    return undefined;
  };
}

const echo = switching((socket) => socket.on('data', (piece: Buffer) => socket.write(piece)).on('end', () => socket.end()));

const connectFields = (path: string, ...others: readonly FieldText[]): FieldText[] => [
  [':method', 'CONNECT'],
  [':protocol', 'websocket'],
  [':scheme', 'http'],
  [':path', path],
  [':authority', 'localhost'],
  ['sec-websocket-version', '13'],
  ...others,
];

const head = (id: number, path: string, ...others: readonly FieldText[]): Buffer =>
  frame(T.HEADERS, END_HEADERS, id, block(connectFields(path, ...others)));

const data = (id: number, payload: string | Buffer, flags = 0): Buffer => frame(T.DATA, flags, id, payload);

/** Waits for a response head and returns its fields. */
async function answer(client: Http2Client, id: number): Promise<Map<string, string>> {
  const { fields } = await client.frame((f) => f.id === id && f.fields !== undefined, `the head of ${id}`);
  return new Map(fields);
}

const bytesOf = (client: Http2Client, id: number): Buffer =>
  Buffer.concat(client.frames.filter((f) => f.type === T.DATA && f.id === id).map(({ payload }) => payload));

async function received(client: Http2Client, id: number, text: string): Promise<void> {
  await waitFor(() => bytesOf(client, id).toString('latin1') === text, {
    what: () => `"${text}"; there was "${bytesOf(client, id).toString('latin1').slice(0, 200)}"`,
  });
}

const logLine = (s: Server, pattern: RegExp): Promise<string> =>
  waitFor(() => pattern.exec(s.read('w.log'))?.[0], { what: String(pattern) });

t.test('the server says that it takes them; the backend sees an HTTP/1.1 handshake', options, async (t) => {
  const origin = await startOrigin(t, echo);
  const s = await startServer(t, { conf: conf(origin.port) });
  const client = await Http2Client.connect(t, s.port(0));
  const said = (await client.frame(({ type, flags }) => type === T.SETTINGS && flags === 0, 'SETTINGS')).payload;
  t.ok(said.includes(settings([8, 1])), 'SETTINGS_ENABLE_CONNECT_PROTOCOL');

  client.send(head(1, '/chat?room=1', ['sec-websocket-protocol', 'chat'], ['origin', 'http://localhost'], ['sec-websocket-key', 'mine']));
  const fields = await answer(client, 1);
  t.equal(fields.get(':status'), '200');
  for (const name of ['connection', 'upgrade', 'sec-websocket-accept', 'content-length', 'transfer-encoding']) {
    t.notOk(fields.has(name), name);
  }
  const request = await origin.received(1);
  t.equal(request.head.split('\r\n')[0], 'GET /chat?room=1 HTTP/1.1');
  t.equal(request.header('upgrade'), 'websocket');
  t.equal(request.header('connection'), 'upgrade');
  t.equal(request.header('sec-websocket-version'), '13');
  t.equal(request.header('sec-websocket-protocol'), 'chat');
  t.match(request.header('sec-websocket-key'), /^[A-Za-z0-9+/]{22}==$/, 'a key of its own, once');
  t.notOk(request.headers.some(([name]) => /^(content-length|transfer-encoding|:.*)$/i.test(name)));

  client.send(data(1, 'one '), data(1, 'two '));
  await received(client, 1, 'one two ');
  // Others are served beside it.
  client.request(3, [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/text'],
    [':authority', 'localhost'],
  ]);
  t.equal((await client.response(3)).body, 'text');
  client.send(head(5, '/chat', ['sec-websocket-key', 'mine'], ['sec-websocket-key', 'mine']));
  t.equal((await answer(client, 5)).get(':status'), '400', 'two keys of its own');
  t.equal(await client.reset(5), 1);
  t.equal(origin.requests.length, 1);
  await s.logged('client sent duplicate "Sec-WebSocket-Key" header');
  client.send(data(1, 'three'));
  await received(client, 1, 'one two three');
  client.send(data(1, '', END_STREAM));
  t.equal((await client.response(1)).reset, undefined);
  await logLine(s, /GET GET \/chat\?room=1 HTTP\/2\.0 101 websocket upgrade 13\n/);
});

t.test('what came before the answer is kept for the backend', options, async (t) => {
  const origin = await startOrigin(t, echo);
  const s = await startServer(t, { conf: conf(origin.port) });
  const client = await Http2Client.connect(t, s.port(0));
  client.send(head(1, '/chat'), data(1, 'early'), data(1, ' bird'));
  await received(client, 1, 'early bird');
});

t.test('requests byte by byte', options, async (t) => {
  const origin = await startOrigin(t, echo);
  const s = await startServer(t, { conf: conf(origin.port) });
  const client = await Http2Client.connect(t, s.port(0));
  for (const byte of Buffer.concat([head(1, '/chat'), data(1, 'slow')])) {
    client.send(Buffer.from([byte]));
  }
  await received(client, 1, 'slow');
});

t.test('what is no WebSocket', options, async (t) => {
  const origin = await startOrigin(t, ({ target }) =>
    target === '/plain' ? { body: 'plain' } : target === '/chat/bad' ? `${switched('another key')}` : { status: 404, body: 'none' },
  );
  const s = await startServer(t, { conf: conf(origin.port) });
  const client = await Http2Client.connect(t, s.port(0));
  let id = -1;
  const ask = async (bytes: (id: number) => Buffer): Promise<readonly [string, number | undefined]> => {
    id += 2;
    client.send(bytes(id));
    const { status, reset } = await client.response(id);
    return [status, reset];
  };
  // A 2xx would open the WebSocket.
  t.strictSame((await ask((id) => head(id, '/text')))[0], '501', 'a page');
  t.strictSame((await ask((id) => head(id, '/empty')))[0], '501', 'no page');
  t.strictSame((await ask((id) => head(id, '/plain')))[0], '501', 'a backend without WebSocket');
  t.strictSame((await ask((id) => head(id, '/chat/none')))[0], '404', 'a backend that refuses');
  t.strictSame((await ask((id) => head(id, '/chat/bad')))[0], '502', 'a backend that did not read the key');
  t.strictSame((await ask((id) => head(id, '/no')))[0], '403', 'a location that refuses');
  const odd =
    (path: string, ...fields: FieldText[]) =>
    (id: number) =>
      frame(T.HEADERS, END_HEADERS, id, block(connectFields(path, ...fields)));
  t.strictSame(await ask(odd('/chat', ['content-length', '5'])), ['400', 1], 'a length');
  t.strictSame(await ask(odd('/chat', ['upgrade', 'websocket'])), ['400', 1], 'a header of HTTP/1.1');
  t.strictSame(await ask((id) => frame(T.HEADERS, END_HEADERS | END_STREAM, id, block(connectFields('/chat')))), ['400', 1], 'an end');
  const method = connectFields('/chat').map(([name, value]): FieldText => [name, name === ':method' ? 'GET' : value]);
  t.strictSame(await ask((id) => frame(T.HEADERS, END_HEADERS, id, block(method))), ['400', 1], ':protocol without CONNECT');
  const other = connectFields('/chat').map(([name, value]): FieldText => [name, name === ':protocol' ? 'connect-udp' : value]);
  t.strictSame((await ask((id) => frame(T.HEADERS, END_HEADERS, id, block(other))))[0], '501', 'another protocol');
  t.equal(origin.requests.filter(({ target }) => target.startsWith('/chat')).length, 2);
  await client.ping();

  // A backend that switches without being asked would leave the client with a status that HTTP/2 does not have.
  origin.answer(() => switched('x'));
  client.request(101, [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/plain'],
    [':authority', 'localhost'],
  ]);
  t.equal((await client.response(101)).status, '502');
});

t.test('phases, methods and limits see the request of HTTP/1.1', options, async (t) => {
  const origin = await startOrigin(t, echo);
  const s = await startServer(t, { conf: conf(origin.port, '', 'limit_except GET { deny all; } if ($http_upgrade = "") { return 400; }') });
  const client = await Http2Client.connect(t, s.port(0));
  client.send(head(1, '/method'));
  const { body } = await client.response(1);
  t.equal(body, 'GET websocket');
  client.send(head(3, '/chat'), data(3, 'x'));
  await received(client, 3, 'x');
});

t.test('back-pressure both ways', options, async (t) => {
  const sockets: Socket[] = [];
  let taken = 0;
  const origin = await startOrigin(
    t,
    switching((socket) => sockets.push(socket.pause())),
  );
  const s = await startServer(t, { conf: conf(origin.port, 'worker_processes 1;') });
  const client = await Http2Client.connect(t, s.port(0), { pure: true });
  client.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', frame(T.SETTINGS, 0, 0, settings([4, 1000])));
  client.send(head(1, '/chat'));
  await answer(client, 1);
  const [socket] = sockets as [Socket];

  // To the client: a window of 1000 bytes takes 1000.
  const much = Buffer.alloc(8 << 20, 'abcdefghij');
  socket.write(much);
  await waitFor(() => bytesOf(client, 1).length === 1000, { what: '1000 bytes' });
  await client.ping();
  t.equal(bytesOf(client, 1).length, 1000);
  t.ok(socket.writableLength > 0, 'the backend waits');
  for (let open = 1000; open < 60_000; open += 3000) {
    client.send(frame(T.WINDOW, 0, 1, number32(3000)));
    await waitFor(() => bytesOf(client, 1).length === open + 3000);
  }
  client.send(frame(T.WINDOW, 0, 1, number32(much.length)), frame(T.WINDOW, 0, 0, number32(much.length)));
  await waitFor(() => bytesOf(client, 1).length === much.length);
  t.ok(bytesOf(client, 1).equals(much));

  // To the backend, which reads nothing: the server lets the client send no more in the end.
  let room = 65536;
  let sent = 0;
  const piece = Buffer.alloc(16_000, 'x');
  const given = (): number =>
    client.frames.filter((f) => f.type === T.WINDOW && f.id === 1).reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 65536);
  for (let calm = 0; calm < 3; ) {
    while (room - sent >= piece.length) {
      client.send(data(1, piece));
      sent += piece.length;
    }
    await client.ping();
    calm = given() === room ? calm + 1 : 0;
    room = given();
  }
  t.ok(sent < 16 << 20, `${sent} bytes were let in`);
  socket.on('data', (bytes: Buffer) => (taken += bytes.length));
  socket.resume();
  await waitFor(() => taken === sent, { what: () => `${sent} bytes, there were ${taken}` });
  await waitFor(() => given() > room, { what: 'room again' });
});

t.test('ends: of the backend, of the client, by a break', options, async (t) => {
  const sockets: Socket[] = [];
  const origin = await startOrigin(
    t,
    switching((socket) => sockets.push(socket.resume())),
  );
  const s = await startServer(t, { conf: conf(origin.port) });
  const client = await Http2Client.connect(t, s.port(0));
  const open = async (id: number): Promise<Socket> => {
    const known = sockets.length;
    client.send(head(id, '/chat'));
    await answer(client, id);
    return waitFor(() => sockets[known]);
  };
  // The backend ends: its last bytes, then the end of the stream.
  const one = await open(1);
  one.end('last words');
  const ended = await client.response(1);
  t.equal(ended.body, 'last words');
  client.send(data(1, 'unheard', END_STREAM));
  await client.ping();
  t.notOk(
    client.frames.some((f) => f.id === 1 && f.type === T.RST),
    'what the client says then is no fault',
  );
  t.ok(client.frames.some((f) => f.id === 1 && f.type === T.DATA && (f.flags & END_STREAM) !== 0));

  // The client ends its side: the backend hears it.
  const two = await open(3);
  client.send(data(3, 'bye', END_STREAM));
  await once(two, 'end');
  two.end('good bye');
  t.equal((await client.response(3)).body, 'good bye', 'and its answer is heard');

  // The client breaks off.
  const three = await open(5);
  client.send(frame(T.RST, 0, 5, number32(8)));
  await waitFor(() => three.readableEnded || three.destroyed, { what: 'the end at the backend' });

  // The backend breaks off.
  const four = await open(7);
  four.resetAndDestroy();
  t.equal(await client.reset(7), CONNECT_ERROR);

  // The same beside a stream on which nothing moves.
  await open(9);
  const beside = await open(11);
  beside.end('over');
  t.equal((await client.response(11)).body, 'over');
  const broken = await open(13);
  broken.resetAndDestroy();
  t.equal(await client.reset(13), CONNECT_ERROR);

  // What the backend sent is still delivered when it ended while the client gave no room.
  const slow = await Http2Client.connect(t, s.port(0), { pure: true });
  slow.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', frame(T.SETTINGS, 0, 0, settings([4, 10])), head(1, '/chat'));
  await answer(slow, 1);
  const five = await waitFor(() => sockets[7]);
  five.end('x'.repeat(200_000));
  await waitFor(() => bytesOf(slow, 1).length === 10);
  slow.send(frame(T.WINDOW, 0, 0, number32(1_000_000)), frame(T.WINDOW, 0, 1, number32(1_000_000)));
  t.equal((await slow.response(1)).body.length, 200_000);

  // A client that leaves altogether.
  const gone = await Http2Client.connect(t, s.port(0));
  gone.send(head(1, '/chat'));
  await answer(gone, 1);
  const six = await waitFor(() => sockets[8]);
  gone.socket.destroy();
  await waitFor(() => six.readableEnded || six.destroyed, { what: 'the end at the backend' });
  await client.ping();
});

t.test('time limits', options, async (t) => {
  const sockets: Socket[] = [];
  const origin = await startOrigin(
    t,
    switching((socket) => sockets.push(socket.resume())),
  );
  const s = await startServer(t, { conf: conf(origin.port, '', 'proxy_read_timeout 300ms;') });
  const client = await Http2Client.connect(t, s.port(0));
  client.send(head(1, '/chat'));
  t.equal(await client.reset(1), CONNECT_ERROR, 'a silent tunnel is reset');
  await s.logged(/upstream timed out/);

  const t2 = await startServer(t, { conf: conf(origin.port, '', 'send_timeout 300ms;') });
  const slow = await Http2Client.connect(t, t2.port(0), { pure: true });
  slow.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', frame(T.SETTINGS, 0, 0, settings([4, 10])), head(1, '/chat'));
  await answer(slow, 1);
  sockets.at(-1)!.write('x'.repeat(100));
  t.type(await slow.reset(1), 'number');
  await t2.logged(/client timed out/);
});

t.test('a reload leaves tunnels alone, worker_shutdown_timeout ends them', options, async (t) => {
  const origin = await startOrigin(t, echo);
  const s = await startServer(t, { conf: conf(origin.port, 'worker_processes 1; worker_shutdown_timeout 1h;') });
  const client = await Http2Client.connect(t, s.port(0));
  client.send(head(1, '/chat'), data(1, 'a'));
  await received(client, 1, 'a');
  await s.reload(conf(origin.port, 'worker_processes 1; worker_shutdown_timeout 100ms;'));
  t.strictSame(await client.goaway(), [1, 0]);
  client.send(data(1, 'b'));
  await received(client, 1, 'ab');
  client.send(data(1, '', END_STREAM));
  await client.closed();

  const second = await Http2Client.connect(t, s.port(0));
  second.send(head(1, '/chat'), data(1, 'c'));
  await received(second, 1, 'c');
  await s.reload();
  await second.closed();
  await waitFor(() => s.workers().length === 1, { what: 'the end of the old worker' });
});

/** A text message as a client sends it (RFC 6455, 5). */
function textFrame(text: string): Buffer {
  const mask = Buffer.from([1, 2, 3, 4]);
  const bytes = Buffer.from(text).map((byte, i) => byte ^ mask[i % 4]!);
  return Buffer.concat([Buffer.from([0x81, 0x80 | bytes.length]), mask, bytes]);
}

t.test('node:http2 and a server of the ws package', options, async (t: Test) => {
  const wss = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(wss, 'listening');
  wss.on('connection', (socket) => socket.on('message', (message: Buffer) => socket.send(message.toString())));
  t.teardown(() => {
    for (const socket of wss.clients) {
      socket.terminate();
    }
    wss.close();
  });
  const s = await startServer(t, { conf: conf((wss.address() as { port: number }).port) });
  const session = connect(`http://127.0.0.1:${s.port(0)}`);
  t.teardown(() => session.destroy());
  const [remote] = await once(session, 'remoteSettings');
  t.equal(remote.enableConnectProtocol, true);
  const stream = session.request(
    { ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/chat', 'sec-websocket-version': '13' },
    { endStream: false },
  );
  const pieces: Buffer[] = [];
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  const [fields] = await once(stream, 'response');
  t.equal(fields[':status'], 200);
  stream.write(textFrame('hello'));
  await waitFor(() => Buffer.concat(pieces).equals(Buffer.from('\x81\x05hello', 'latin1')), { what: 'the echo' });
  stream.close();
  await waitFor(() => wss.clients.size === 0, { what: 'the end at the backend' });
});
