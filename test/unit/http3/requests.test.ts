import t from 'tap';
import { http3Slot } from '../../../src/worker/http/http3/http3-settings.js';
import { FRAME, H3_ERROR } from '../../../src/worker/http/http3-frames/protocol.js';
import { frame, framesOf, get, Http3Scene, headers, post, responseOf, until } from '../../support/http3-scene.js';

const CONF = `
  server {
    listen 127.0.0.1:8443;
    server_name localhost;
    root DIR/html;
    client_body_buffer_size 64k;
    add_header X-Proto $server_protocol;
    location = /text { return 200 "a text"; }
    location = /empty { return 204; }
    location = /echo { return 200 "$request_method $request_uri $http_a"; }
    location = /interim { early_hints 1; return 200 x; }
    location = /trailers { add_trailer X-Last "$host"; return 200 body; }
    location = /big { limit_rate 0; }
    location = /close { return 444; }
    location = /small { client_max_body_size 10; root DIR/html; }
  }
  server {
    listen 127.0.0.1:8443;
    server_name other;
    return 200 other;
  }
  server {
    listen 127.0.0.1:8443;
    server_name wide;
    large_client_header_buffers 2 1k;
    return 200 wide;
  }
`;

t.test('requests and their responses', async (t) => {
  const scene = await Http3Scene.of(t, CONF, { 'index.html': '<p>', big: 'b'.repeat(300_000) });
  const client = scene.client();
  let id = -4;
  const ask = async (bytes: Buffer, size?: number) => {
    const stream = client.open((id += 4)).send(bytes, true, size);
    await until(() => stream.ended || stream.resetCode !== undefined);
    return { ...responseOf(stream), reset: stream.resetCode, stream };
  };

  await t.test('a file', async (t) => {
    const { status, headers, body } = await ask(get('/'));
    t.match(
      [status, body, headers['content-type'], headers['content-length'], headers['x-proto']],
      ['200', '<p>', 'text/html', '3', 'HTTP/3.0'],
    );
    t.match(headers['server'], /./);
    t.match(headers['date'], /GMT/);
  });

  await t.test('a request in pieces of every size', async (t) => {
    for (const size of [1, 2, 3, 7, 50]) {
      t.equal((await ask(get('/echo', 'a: b'), size)).body, 'GET /echo b');
    }
  });

  await t.test('a large file, to a client that reads slowly', async (t) => {
    const stream = client.open((id += 4));
    stream.reads = false;
    stream.send(get('/big'), true);
    await until(() => stream.room <= 0);
    t.ok(stream.bytes.length < 70_000, 'what a stream keeps is bounded');
    while (!stream.ended) {
      stream.read();
      await until(() => stream.ended || stream.room <= 0);
    }
    stream.read();
    const { status, body, headers } = responseOf(stream);
    t.match([status, body.length, headers['content-length']], ['200', 300_000, '300000']);
  });

  await t.test('HEAD, 204, 304, ranges', async (t) => {
    const head = await ask(headers(':method: HEAD', ':scheme: https', ':path: /', ':authority: localhost'));
    t.match([head.status, head.body, head.headers['content-length']], ['200', '', '3']);
    t.equal((await ask(get('/empty'))).status, '204');
    const etag = head.headers['etag']!;
    t.equal((await ask(get('/', `if-none-match: ${etag}`))).status, '304');
    const part = await ask(get('/', 'range: bytes=1-1'));
    t.match([part.status, part.body], ['206', 'p']);
  });

  await t.test('trailers, and 1xx before', async (t) => {
    const { body, trailers } = await ask(get('/trailers'));
    t.match([body, trailers], ['body', ['x-last: localhost']]);
  });

  await t.test('servers by their names', async (t) => {
    t.equal((await ask(headers(':method: GET', ':scheme: https', ':path: /', ':authority: other'))).body, 'other');
    t.equal((await ask(headers(':method: GET', ':scheme: https', ':path: /', 'host: other'))).body, 'other');
  });

  await t.test('a body that nobody reads', async (t) => {
    const stream = client.open((id += 4));
    stream.send(Buffer.concat([post('/text', 'content-length: 100000'), frame(FRAME.DATA, 'x'.repeat(50_000))]));
    await until(() => stream.ended);
    t.equal(responseOf(stream).status, '200');
    await until(() => stream.stopCode !== undefined);
    t.equal(stream.stopCode, H3_ERROR.NO_ERROR);
    t.equal(stream.used, stream.sent, 'the room on the connection is given back');
  });

  await t.test('the connection goes on, and all is counted', async (t) => {
    t.equal(client.end, undefined);
    await until(() => [...client.streams.values()].every((stream) => stream.unidirectional || stream.over));
    t.equal(scene.counters.writing, 0);
    t.equal(scene.counters.waiting, 1);
    client.finish({ by: 'peer', application: true, code: H3_ERROR.NO_ERROR, reason: '' });
    t.equal(scene.counters.waiting, 0);
    t.match(scene.accessLog, /"GET \/ HTTP\/3\.0" 200 3 /);
    t.match(scene.accessLog, /"GET \/big HTTP\/3\.0" 200 300000 /);
  });
});

t.test('requests that are refused', async (t) => {
  const scene = await Http3Scene.of(t, CONF, { 'index.html': '<p>' });
  const client = scene.client();
  let id = -4;
  const good = [':method: GET', ':scheme: https', ':path: /text', ':authority: localhost'];
  const without = (name: string): string[] => good.filter((line) => !line.startsWith(name));
  const cases: readonly (readonly [what: string, request: Buffer, status: string, malformed: boolean])[] = [
    ['a duplicate pseudo-header', headers(...good, ':path: /'), '400', true],
    ['no method', headers(...without(':method')), '400', true],
    ['no scheme', headers(...without(':scheme')), '400', true],
    ['no path', headers(...without(':path')), '400', true],
    ['no host', headers(...without(':authority')), '400', false],
    ['an unknown pseudo-header', headers(...good, ':foo: bar'), '400', true],
    ['a pseudo-header of responses', headers(...good, ':status: 200'), '400', true],
    ['a pseudo-header behind a field', headers(...without(':authority'), 'a: b', ':authority: localhost'), '400', true],
    ['capitals', headers(...good, 'Aa: b'), '400', true],
    ['no name', headers(...good, ': b'), '400', true],
    ['a line break in a value', headers(...good, 'a: b\nc'), '400', true],
    ['connection', headers(...good, 'connection: close'), '400', true],
    ['transfer-encoding', headers(...good, 'transfer-encoding: chunked'), '400', true],
    ['te', headers(...good, 'te: gzip'), '400', true],
    ['te of two kinds', headers(...good, 'te: trailers', 'te: gzip'), '400', true],
    ['te as it may be', headers(...good, 'te: trailers'), '200', false],
    ['keep-alive', headers(...good, 'keep-alive: timeout=5'), '400', true],
    ['proxy-connection', headers(...good, 'proxy-connection: close'), '400', true],
    ['upgrade', headers(...good, 'upgrade: websocket'), '400', true],
    [':protocol without CONNECT', headers(...good, ':protocol: websocket'), '400', true],
    ['a pseudo-header twice, behind a field', headers(...good, 'a: b', ':method: GET'), '400', true],
    ['two lengths', headers(...good, 'content-length: 0', 'content-length: 0'), '400', false],
    ['no length', headers(...good, 'content-length: -1'), '400', false],
    ['a zero byte in a value', headers(...good, 'a: b\0c'), '400', true],
    ['a space in a name', headers(...good, 'a b: c'), '400', true],
    ['an empty path', headers(...without(':path'), ':path: '), '400', true],
    ['another host', headers(...good, 'host: other'), '400', false],
    ['a length without a body', headers(...good, 'content-length: 5'), '400', true],
    ['CONNECT', headers(':method: CONNECT', ...without(':method')), '405', false],
    ['TRACE', headers(':method: TRACE', ...without(':method')), '405', false],
    ['a large header', headers(...good, ...Array.from({ length: 5 }, (_, i) => `a${i}: ${'x'.repeat(8000)}`)), '400', false],
    ['a large field', headers(...good, `a: ${'\x80'.repeat(9000)}`), '400', false],
  ];
  for (const [what, request, status, malformed] of cases) {
    const stream = client.open((id += 4)).send(request, true);
    await until(() => stream.ended && (!malformed || stream.resetCode !== undefined || stream.over));
    t.equal(responseOf(stream).status, status, what);
    if (malformed && stream.resetCode !== undefined) {
      t.equal(stream.resetCode, H3_ERROR.MESSAGE_ERROR);
    }
  }
  t.equal(client.end, undefined, 'the connection goes on');
  const stream = client.open((id += 4)).send(get('/close'), true);
  await until(() => stream.resetCode !== undefined);
  t.equal(stream.bytes.length, 0, 'no answer at all');
});

t.test('bodies', async (t) => {
  const scene = await Http3Scene.of(
    t,
    `server {
      listen 127.0.0.1:8443;
      client_body_buffer_size 128k;
      client_body_early_read 1;
      return 200 $request_body;
    }
    server {
      listen 127.0.0.1:8443;
      server_name small;
      client_body_early_read 1;
      client_max_body_size 10;
      return 200 $request_body;
    }`,
  );
  const client = scene.client();
  let id = -4;
  const body = 'abcdefghij'.repeat(1000);
  const data = (text: string): Buffer => frame(FRAME.DATA, text);
  const cases: readonly (readonly [what: string, bytes: Buffer, status: string, body: string])[] = [
    ['with a length', Buffer.concat([post('/', `content-length: ${body.length}`), data(body)]), '200', body],
    ['without', Buffer.concat([post('/'), data(body)]), '200', body],
    ['in many frames', Buffer.concat([post('/'), ...[...'some text'].map(data), data('')]), '200', 'some text'],
    ['between frames of unknown types', Buffer.concat([post('/'), frame(0x21, 'x'), data('a'), frame(0x40, 'yy'), data('b')]), '200', 'ab'],
    ['with trailers', Buffer.concat([post('/'), data('a'), headers('x: y'), frame(0x21, 'x')]), '200', 'a'],
    ['shorter than was said', Buffer.concat([post('/', 'content-length: 5'), data('abc')]), '400', ''],
    ['longer than was said', Buffer.concat([post('/', 'content-length: 5'), data('abcdefg')]), '400', ''],
    [
      'too long',
      Buffer.concat([headers(':method: POST', ':scheme: https', ':path: /', ':authority: small'), data('abcdefghijklm')]),
      '413',
      '',
    ],
  ];
  for (const [what, bytes, status, text] of cases) {
    for (const size of [bytes.length, 13]) {
      const stream = client.open((id += 4)).send(bytes, true, size);
      await until(() => stream.ended);
      const seen = responseOf(stream);
      t.equal(seen.status, status, `${what}, ${size} bytes at a time`);
      if (status === '200') {
        t.equal(seen.body, text);
        t.equal(stream.used, stream.sent, 'all of it was used');
      }
    }
  }
  for (const line of [
    ':path: /',
    ':status: 200',
    'X-Large: a',
    'a: b\nc',
    'connection: close',
    'transfer-encoding: chunked',
    'proxy-connection: x',
  ]) {
    const stream = client.open((id += 4)).send(Buffer.concat([post('/'), data('a'), headers(line)]), true);
    await until(() => stream.resetCode !== undefined);
    t.equal(stream.resetCode, H3_ERROR.MESSAGE_ERROR, `${line} in trailers`);
  }
  const asked = client.open((id += 4)).send(post('/', 'content-length: 4', 'expect: 100-continue'));
  await until(() => asked.bytes.length > 0);
  t.strictSame(responseOf(asked).interim, ['100']);
  asked.send(data('body'), true);
  await until(() => asked.ended);
  t.equal(responseOf(asked).body, 'body');
  t.equal(client.end, undefined);
  t.equal(framesOf(asked.bytes).length, 3);
});

t.test('HTTP/0.9 over QUIC', async (t) => {
  const scene = await Http3Scene.of(t, CONF, { 'index.html': '<p>', big: 'b'.repeat(100_000) });
  for (const server of scene.http.servers) {
    server.put(http3Slot, { ...server.conf(http3Slot), http3Hq: true });
  }
  const client = scene.connect('hq-interop');
  t.equal(client.streams.size, 0, 'nothing is said before');
  let id = -4;
  for (const [line, body] of [
    ['GET /\r\n', '<p>'],
    ['GET /text', 'a text'],
    ['GET /big\n', 'b'.repeat(100_000)],
    ['GET /empty\r\n', ''],
  ] as const) {
    const stream = client.open((id += 4)).send(Buffer.from(line), true, 3);
    await until(() => stream.ended);
    t.equal(stream.bytes.toString(), body);
  }
  for (const line of ['POST /\r\n', 'GET / HTTP/1.1\r\n', 'nonsense']) {
    const stream = client.open((id += 4)).send(Buffer.from(line), true);
    t.equal(stream.resetCode, H3_ERROR.GENERAL_PROTOCOL_ERROR);
    t.equal(stream.bytes.length, 0);
  }
  t.match(scene.accessLog, /"GET \/" 200 3 /);
  client.open(2).send(Buffer.from([0]));
  t.equal(client.end?.code, H3_ERROR.STREAM_CREATION_ERROR);
});
