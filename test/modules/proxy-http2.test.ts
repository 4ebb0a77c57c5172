// proxy_http_version 2: what HTTP/1 backends give, over HTTP/2.

import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import t from 'tap';
import { certs } from '../support/certs.js';
import { block, END_HEADERS, END_STREAM, type FieldText, frame, number32, settings, T } from '../support/http2-client.js';
import { answer, dataOf, type Http2Request, startHttp2Origin } from '../support/http2-origin.js';
import { exchange, http, httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const conf = (port: number, location: string, group = 'keepalive 4;', outer = ''): string =>
  serverConf(
    `proxy_http_version 2; ${location}`,
    `upstream u { server 127.0.0.1:${port}; ${group} } proxy_cache_path %%DIR%%/cache keys_zone=c:1m; ${outer}`,
  );

t.test('heads, bodies and statuses', async (t) => {
  const origin = await startHttp2Origin(t, (got) => {
    const path = got.fields.get(':path')!;
    if (path === '/none') {
      answer(got, { status: 204 });
    } else if (path === '/moved') {
      answer(got, { status: 302, headers: [['location', 'http://u/there']] });
    } else {
      const echoed = [...got.fields].map(([name, value]) => `${name}=${value}`).join('\n');
      answer(got, {
        headers: [
          ['content-type', 'text/plain'],
          ['set-cookie', 'a=b'],
          ['set-cookie', 'c=d'],
          ['x-pad', 'p'],
        ],
        body: echoed,
      });
    }
  });
  const s = await startServer(t, {
    conf: conf(
      origin.port,
      `location / { proxy_pass http://u; proxy_set_header X-Real-IP $remote_addr; proxy_set_header Connection upgrade; proxy_set_header X-None ""; }
       location /shown { proxy_pass http://u; proxy_pass_header Server; proxy_pass_header Date; }
       location /host { proxy_pass http://u/mapped?x; proxy_set_header Host given.example; proxy_method PURGE; }`,
    ),
  });
  const plain = await http(s, 'GET / HTTP/1.1\r\nHost: h\r\nTE: trailers\r\nUser-Agent: Test\r\nX_Odd: 1\r\nConnection: close\r\n\r\n');
  t.equal(plain.text, ':method=GET\n:scheme=http\n:path=/\n:authority=u\nx-real-ip=127.0.0.1\nuser-agent=Test');
  t.strictSame(
    plain.headers.filter(([name]) => /set-cookie/i.test(name)).map(([, value]) => value),
    ['a=b', 'c=d'],
  );
  t.equal(plain.header('x-pad'), undefined);
  const mapped = await httpGet(s, '/host/more');
  t.match(mapped.text, /:method=PURGE\n:scheme=http\n:path=\/mapped\?x\/more\n:authority=given\.example/);
  t.equal((await httpGet(s, '/none')).status, 204);
  t.match((await httpGet(s, '/moved')).header('location'), /\/there$/);
  const shown = await httpGet(s, '/shown');
  t.match(shown.header('server'), /^(sluice|nginx)/, 'who answers says so where the backend does not');
  t.match(shown.header('date'), /GMT$/);
  t.equal(origin.connections.length, 1, 'one connection serves them all');
});

t.test('request bodies, read before and passed on while they come, and replaced', async (t) => {
  const origin = await startHttp2Origin(t, undefined, {});
  const s = await startServer(t, {
    conf: conf(
      origin.port,
      `client_body_buffer_size 1k; client_max_body_size 0; location / { proxy_pass http://u; } location /now { proxy_request_buffering off; proxy_pass http://u; }
       location /set { proxy_set_body "made: $arg_x"; proxy_pass http://u; } location /no { proxy_pass_request_body off; proxy_set_header Content-Length ""; proxy_pass http://u; }`,
    ),
  });
  const body = 'b'.repeat(100_000);
  const asked = http(s, `POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  const first = await origin.received(1);
  t.equal(first.fields.get('content-length'), '100000');
  await waitFor(() => dataOf(first).length === 65535, { what: () => `the window to be used up: ${dataOf(first).length}` });
  first.connection.send(frame(T.WINDOW, 0, first.id, number32(100_000)), frame(T.WINDOW, 0, 0, number32(200_000)));
  await waitFor(() => dataOf(first) === body, { what: 'the rest' });
  answer(first, { body: 'got it' });
  t.equal((await asked).text, 'got it');

  const set = httpGet(s, '/set?x=y');
  const second = await origin.received(2);
  t.equal(second.fields.get('content-length'), '7');
  await waitFor(() => dataOf(second) === 'made: y');
  answer(second, {});
  await set;

  const none = http(s, 'POST /no HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 6\r\n\r\nunseen');
  const third = await origin.received(3);
  t.ok(third.ended);
  answer(third, {});
  await none;

  const chunked = http(
    s,
    'POST /now HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
  );
  const fourth = await origin.received(4);
  await waitFor(() => dataOf(fourth) === 'abcde');
  answer(fourth, { body: 'whole' });
  t.equal((await chunked).text, 'whole');
});

t.test('caching, revalidation and ranges', async (t) => {
  const origin = await startHttp2Origin(t, (got) => {
    if (got.fields.get('if-none-match') === '"v1"') {
      answer(got, { status: 304, headers: [['etag', '"v1"']] });
    } else {
      answer(got, {
        headers: [
          ['etag', '"v1"'],
          ['cache-control', 'max-age=0'],
          ['content-length', '10'],
          ['accept-ranges', 'bytes'],
        ],
        body: '0123456789',
        trailers: [['x-t', '1']],
      });
    }
  });
  const s = await startServer(t, {
    conf: conf(
      origin.port,
      `location / { proxy_pass http://u; proxy_cache c; proxy_cache_valid 1m; proxy_ignore_headers Cache-Control; add_header X-Cache $upstream_cache_status; }
       location /re { proxy_pass http://u; proxy_cache c; proxy_cache_revalidate on; proxy_cache_valid 1s; add_header X-Cache $upstream_cache_status; }`,
    ),
  });
  t.strictSame([(await httpGet(s, '/a')).header('x-cache'), (await httpGet(s, '/a')).header('x-cache')], ['MISS', 'HIT']);
  const part = await http(s, 'GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\nRange: bytes=2-4\r\n\r\n');
  t.strictSame([part.status, part.text], [206, '234']);
  const head = await http(s, 'HEAD /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
  t.strictSame([head.status, head.header('content-length')], [200, '10']);
  t.equal((await httpGet(s, '/b')).header('x-cache'), 'HIT', 'HEAD was asked as GET');
});

t.test('trailers and early hints', async (t) => {
  const origin = await startHttp2Origin(t, (got) => {
    got.connection.send(
      frame(
        T.HEADERS,
        END_HEADERS,
        got.id,
        block([
          [':status', '103'],
          ['link', '</style.css>'],
        ]),
      ),
    );
    answer(got, { body: 'x', trailers: [['x-sum', '42']] });
  });
  const s = await startServer(t, {
    conf: conf(origin.port, 'location / { proxy_pass http://u; proxy_pass_trailers on; early_hints $http_x_early; }'),
  });
  const plain = await http(s, 'GET / HTTP/1.1\r\nHost: h\r\nX-Early: 1\r\nConnection: close\r\n\r\n');
  t.strictSame(
    plain.interim.map((hint) => [hint.status, hint.header('link')]),
    [[103, '</style.css>']],
  );
  t.strictSame(plain.trailers, [['x-sum', '42']]);
});

t.test('a slow client holds the backend back', async (t) => {
  const size = 64 * 1024 * 1024;
  let sent = 0;
  const piece = Buffer.alloc(16 * 1024, 'p');
  const pump = (got: Http2Request): void => {
    const room = (id: number): number =>
      got.connection.frames.filter((f) => f.type === T.WINDOW && f.id === id).reduce((sum, f) => sum + f.payload.readUInt32BE(0), 0);
    const first = got.connection.frames.find((f) => f.type === T.SETTINGS && f.flags === 0)!.payload;
    let window = 65535;
    for (let at = 0; at < first.length; at += 6) {
      window = first.readUInt16BE(at) === 4 ? first.readUInt32BE(at + 2) : window;
    }
    const go = (): void => {
      while (sent < size && sent + piece.length <= window + room(got.id)) {
        sent += piece.length;
        got.connection.send(frame(T.DATA, sent === size ? END_STREAM : 0, got.id, piece));
      }
      if (sent < size && !got.connection.ended) {
        setImmediate(go);
      }
    };
    got.connection.send(
      frame(
        T.HEADERS,
        END_HEADERS,
        got.id,
        block([
          [':status', '200'],
          ['content-length', String(size)],
        ]),
      ),
    );
    go();
  };
  const origin = await startHttp2Origin(t, (got) => (got.fields.get(':path') === '/slow' ? pump(got) : answer(got, { body: 'quick' })));
  const s = await startServer(t, { conf: conf(origin.port, 'location / { proxy_pass http://u; proxy_buffering off; }') });
  const { connect } = await import('node:net');
  const socket = connect(s.port(0), '127.0.0.1');
  t.teardown(() => socket.destroy());
  let got = 0;
  socket.write('GET /slow HTTP/1.0\r\n\r\n');
  await new Promise((done) => socket.once('readable', done));
  let before = -1;
  // It comes to rest when all on the way is full.
  await waitFor(async () => {
    await new Promise((done) => setTimeout(done, 300));
    const still = sent === before;
    before = sent;
    return still && sent > 0;
  });
  t.ok(sent < 24 * 1024 * 1024, `${sent} bytes are on the way`);
  t.equal((await httpGet(s, '/quick')).text, 'quick', 'others on the same connection go on');
  t.equal(origin.connections.length, 1);
  socket.on('data', (bytes) => (got += bytes.length));
  await new Promise((done) => socket.once('end', done));
  t.ok(got > size);
});

t.test('a response is read as fast as proxy_limit_rate says, to its end', async (t) => {
  const origin = await startHttp2Origin(t, (got) => answer(got, { body: 'r'.repeat(60_000), trailers: [['x-end', 'yes']] }));
  const s = await startServer(t, { conf: conf(origin.port, 'location / { proxy_pass http://u; proxy_limit_rate 40k; }') });
  t.equal((await httpGet(s, '/')).text.length, 60_000);
});

t.test('idle connections are counted', async (t) => {
  const origin = await startHttp2Origin(t, (got) => {
    if (got.fields.get(':path') !== '/wait') {
      answer(got, { body: 'now' });
    }
  });
  const s = await startServer(t, { conf: conf(origin.port, 'location / { proxy_pass http://u; } location = /status { sluice_status; }') });
  const idle = async (): Promise<string | undefined> =>
    /^\w*upstream_keepalive_connections\{upstream="u"\} (\d+)$/m.exec((await httpGet(s, '/status?format=prometheus')).text)?.[1];
  const becomes = (wanted: string): Promise<unknown> =>
    waitFor(async () => (await idle()) === wanted, { what: `${wanted} idle connections` });
  t.equal(await idle(), '0');
  t.equal((await httpGet(s, '/')).text, 'now');
  await becomes('1');
  const waiting = httpGet(s, '/wait');
  const second = await origin.received(2);
  await becomes('0');
  t.equal((await httpGet(s, '/')).text, 'now', 'a second stream of the same connection');
  t.equal(await idle(), '0');
  answer(second, { body: 'then' });
  t.equal((await waiting).text, 'then');
  await becomes('1');
  t.equal(origin.connections.length, 1);
  second.connection.socket.end();
  await becomes('0');
});

t.test('TLS asks for h2', { skip: false }, async (t) => {
  const { rsa, ca } = certs();
  const server = createSecureServer({ key: readFileSync(rsa.key), cert: readFileSync(rsa.cert) }, (request, response) => {
    response.end(`${request.httpVersion} ${(request.socket as unknown as { alpnProtocol: string }).alpnProtocol}`);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const s = await startServer(t, {
    conf: conf(
      port,
      `proxy_ssl_verify on; proxy_ssl_trusted_certificate ${ca.cert};
       location / { proxy_pass https://u; proxy_ssl_name localhost; } location /wrong { proxy_pass https://u; proxy_ssl_name wrong.example; }`,
    ),
  });
  t.equal((await httpGet(s, '/')).text, '2.0 h2');
  t.equal((await httpGet(s, '/wrong')).status, 502);
  t.equal((await httpGet(s, '/wrong')).status, 502, 'a connection that was not trusted is not used again');
  t.equal((await httpGet(s, '/')).text, '2.0 h2');
});

t.test('floods and broken frames', async (t) => {
  let attack: (got: Http2Request) => void = () => {};
  const origin = await startHttp2Origin(t, (got) => attack(got));
  const s = await startServer(t, { conf: conf(origin.port, 'location / { proxy_pass http://u; proxy_read_timeout 20s; }') });
  const many = (count: number, one: Uint8Array): Buffer => Buffer.concat(Array.from({ length: count }, () => one));
  const head = (flags: number, id: number, payload: Uint8Array): Buffer => frame(T.HEADERS, flags, id, payload);
  const attacks: readonly (readonly [string, (got: Http2Request) => Uint8Array])[] = [
    ['settings', () => many(20_000, frame(T.SETTINGS, 0, 0))],
    ['pings', () => many(20_000, frame(T.PING, 0, 0, '12345678'))],
    ['continuations', ({ id }) => Buffer.concat([head(0, id, block([[':status', '200']])), many(1000, frame(T.CONTINUATION, 0, id))])],
    [
      'endless header',
      ({ id }) => Buffer.concat([head(0, id, Buffer.alloc(16384)), many(100, frame(T.CONTINUATION, 0, id, Buffer.alloc(16384)))]),
    ],
    [
      'large header',
      ({ id }) =>
        head(
          END_HEADERS,
          id,
          block([
            [':status', '200'],
            ['x', 'y'.repeat(8000)],
          ]),
        ),
    ],
    ['header of references', ({ id }) => head(END_HEADERS, id, Buffer.concat([block([[':status', '200']]), Buffer.alloc(10_000, 0x90)]))],
    ['index that is not there', ({ id }) => head(END_HEADERS, id, Buffer.from([0xff, 0x20]))],
    ['no status', ({ id }) => head(END_HEADERS, id, block([['x', 'y']]))],
    [
      'capitals',
      ({ id }) =>
        head(
          END_HEADERS,
          id,
          block([
            [':status', '200'],
            ['X', 'y'],
          ]),
        ),
    ],
    [
      'line ends',
      ({ id }) =>
        head(
          END_HEADERS,
          id,
          block([
            [':status', '200'],
            ['x', 'y\r\nz: 1'],
          ]),
        ),
    ],
    ['data first', ({ id }) => frame(T.DATA, 0, id, 'x')],
    ['a pushed response', ({ id }) => frame(T.PUSH, END_HEADERS, id, Buffer.concat([number32(2), block([[':method', 'GET']])]))],
    ['a stream that is not there', () => head(END_HEADERS, 77, block([[':status', '200']]))],
    ['a window of nothing', ({ id }) => frame(T.WINDOW, 0, id, number32(0))],
    ['windows that are too large', () => many(2, frame(T.WINDOW, 0, 0, number32(0x7fffffff)))],
    ['settings that are too large', () => frame(T.SETTINGS, 0, 0, settings([4, 0x80000000]))],
    ['a frame that is too long', () => Buffer.from([1, 0, 0, 6, 0, 0, 0, 0, 0])],
    ['a reset', ({ id }) => frame(T.RST, 0, id, number32(2))],
    ['nothing at all', () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ];
  for (const [what, bytes] of attacks) {
    attack = (got) => void got.connection.send(bytes(got));
    t.equal((await httpGet(s, '/')).status, 502, what);
  }
  attack = (got) => answer(got, { body: 'well again' });
  t.equal((await httpGet(s, '/')).text, 'well again');

  attack = (got) => {
    got.connection.send(
      frame(T.HEADERS, END_HEADERS, got.id, block([[':status', '200']])),
      ...Array.from({ length: 30 }, () => frame(T.WINDOW, 0, 0, number32(1))),
      frame(T.PING, 0, 0, 'harmless'),
      frame(99, 255, got.id, 'unknown'),
      frame(T.PRIORITY, 0, got.id, Buffer.alloc(5)),
      frame(T.DATA, 8, got.id, '\x05padded\0\0\0\0\0'),
      frame(T.DATA, END_STREAM, got.id),
    );
  };
  t.equal((await httpGet(s, '/')).text, 'padded', 'what is odd but allowed');
});

t.test('what the log says of responses that break the rules', async (t) => {
  let attack: (got: Http2Request) => void = () => {};
  const origin = await startHttp2Origin(t, (got) => attack(got));
  const off = 'proxy_next_upstream off; grpc_next_upstream off;';
  const s = await startServer(t, {
    conf: conf(origin.port, `${off} location / { proxy_pass http://u; } location /g { grpc_pass u; }`),
  });
  const ok = block([[':status', '200']]);
  const field = (hex: string): Buffer => Buffer.concat([ok, Buffer.from(hex.replaceAll(' ', ''), 'hex')]);
  const whole =
    (payload: Uint8Array, flags = 0): ((id: number) => Buffer) =>
    (id) =>
      frame(T.HEADERS, END_HEADERS | flags, id, payload);
  const Invalid = 'invalid header';
  const cases: readonly (readonly [string, (id: number) => Buffer, readonly string[]])[] = [
    ['an index of no table', whole(field('be')), ['invalid http2 table index: 62', Invalid]],
    ['an index of two bytes', whole(field('ff20')), ['invalid http2 table index: 127', Invalid]],
    ['a name of no table', whole(field('7f20 0176')), ['invalid http2 table index: 63', Invalid]],
    ['a name of no table, not to be kept', whole(field('0f30 0176')), ['invalid http2 table index: 63', Invalid]],
    ['a size of the table', whole(Buffer.concat([Buffer.from('21', 'hex'), ok])), ['invalid http2 dynamic table size update: 1', Invalid]],
    ['a larger one, behind a field', whole(field('3fe11f')), ['invalid http2 dynamic table size update: 31', Invalid]],
    ['a block that breaks off', whole(field('0003 61')), ['truncated http2 header', Invalid]],
    ['a field without a value', whole(field('0001 61')), ['truncated http2 header', Invalid]],
    ['no name', whole(field('0000 0176')), ['zero http2 header name length', Invalid]],
    ['a name without end', whole(field('007fffffffff')), ['too large http2 header name length', Invalid]],
    ['a value without end', whole(field('0001617fffffffff')), ['too large http2 header value length', Invalid]],
    ['a long name', whole(field('007f892761')), ['too large http2 header name length: 5128', Invalid]],
    ['a long value', whole(field('0001617f892761')), ['too large http2 header value length: 5128', Invalid]],
    ['no Huffman code', whole(field('0001 61 84ffffffff')), ['invalid encoded header', Invalid]],
    ['a capital', whole(field('000141 0176')), ['invalid header: "A: v"', Invalid]],
    [
      'much padding',
      (id) => frame(T.HEADERS, END_HEADERS | 8, id, '\x09\x88'),
      ['http2 frame with too long padding: 9 in frame 1', Invalid],
    ],
    ['no room for priorities', whole(Buffer.from('88', 'hex'), 0x20), ['headers frame with invalid length: 1', Invalid]],
    [
      'no length',
      whole(
        block([
          [':status', '200'],
          ['content-length', '5x'],
        ]),
      ),
      ['invalid "Content-Length" header: "content-length: 5x"'],
    ],
    [
      'a second status',
      whole(
        block([
          [':status', '200'],
          [':status', '200'],
        ]),
      ),
      ['duplicate :status header'],
    ],
    ['a refusal', (id) => frame(T.RST, 0, id, number32(7)), ['rejected request with error 7']],
    ['a goodbye', () => frame(T.GOAWAY, 0, 0, Buffer.alloc(8)), ['goaway with error 0']],
    [
      'trailers with a capital',
      (id) =>
        Buffer.concat([
          frame(T.HEADERS, END_HEADERS, id, ok),
          frame(T.DATA, 0, id, 'x'),
          frame(T.HEADERS, END_HEADERS | END_STREAM, id, Buffer.from('0001410176', 'hex')),
        ]),
      ['invalid header: "A: v"', 'invalid trailer'],
    ],
    [
      'padding of data',
      (id) => Buffer.concat([frame(T.HEADERS, END_HEADERS, id, ok), frame(T.DATA, 8, id, '\x09abc')]),
      ['http2 frame with too long padding: 9 in frame 3'],
    ],
  ];
  let seen = 0;
  for (const [what, bytes, expected] of cases) {
    for (const [path, schema] of [
      ['/', 'http'],
      ['/g', 'grpc'],
    ] as const) {
      attack = (got) => void got.connection.send(bytes(got.id));
      await exchange(s, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      const lines = s
        .log()
        .split('\n')
        .filter((line) => line.includes('upstream sent') || line.includes('upstream rejected'));
      const said = lines.slice(seen).map((line) => /\] \d+#\d+: \*\d+ (.*)/.exec(line)![1]!);
      seen = lines.length;
      t.strictSame(
        said.map((line) => line.replace(/^upstream (sent )?/, '').replace(/ while reading .*/, '')),
        expected,
        `${what}, ${schema}`,
      );
      t.match(said[0], `upstream: "${schema}://127.0.0.1:${origin.port}", host: "x"`);
      t.notMatch(lines.slice(-1)[0], /\[info\]/);
    }
  }
  // As nginx takes it.
  attack = (got) => got.connection.send(frame(T.HEADERS, END_HEADERS | END_STREAM, got.id, field('20')));
  t.equal((await httpGet(s, '/')).status, 200, 'a table of no size, behind a field');
});

t.test('responses with bytes that were changed', async (t) => {
  // Xorshift: the same changes in every run.
  let seed = 20_261_123;
  const next = (below: number): number => {
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    return (seed >>> 0) % below;
  };
  const origin = await startHttp2Origin(t, (got) => {
    const whole = Buffer.concat([
      frame(T.SETTINGS, 0, 0, settings([4, 100_000], [3, 50])),
      frame(
        T.HEADERS,
        END_HEADERS,
        got.id,
        block([
          [':status', '200'],
          ['x-a', 'b'],
          ['content-length', '10'],
        ]),
      ),
      frame(T.PING, 0, 0, '12345678'),
      frame(T.DATA, 8, got.id, '\x02hello\0\0'),
      frame(T.WINDOW, 0, got.id, number32(5)),
      frame(T.DATA, 0, got.id, 'world'),
      frame(T.HEADERS, END_HEADERS | END_STREAM, got.id, block([['x-end', 'yes']])),
      frame(T.GOAWAY, 0, 0, Buffer.concat([number32(got.id), number32(0)])),
    ]);
    if (got.fields.get(':path') !== '/') {
      for (let changes = 1 + next(4); changes > 0; changes--) {
        whole[next(whole.length)] = next(256);
      }
    }
    got.connection.socket.end(whole);
  });
  const s = await startServer(t, { conf: conf(origin.port, 'proxy_next_upstream off; location / { proxy_pass http://u; }') });
  // A worker that dies would fail the test at its end.
  for (let i = 0; i < 400; i++) {
    const got = await httpGet(s, `/changed${i}`).catch(() => undefined);
    if (got?.complete && got.status === 200 && got.header('content-length') === '10' && got.text.length !== 10) {
      t.fail(`${i}: ${got.text}`);
    }
  }
  t.equal((await httpGet(s, '/')).text, 'helloworld');
});

t.test('responses that come one byte at a time', async (t) => {
  let withData = 0;
  const origin = await startHttp2Origin(t, async (got) => {
    const whole = Buffer.concat([
      frame(T.SETTINGS, 0, 0, settings([4, 100_000], [3, 50])),
      frame(
        T.HEADERS,
        8,
        got.id,
        Buffer.concat([
          Buffer.from([3]),
          block([
            [':status', '200'],
            ['x-long', 'v'.repeat(200)],
          ]),
          Buffer.alloc(3),
        ]),
      ),
      frame(T.CONTINUATION, END_HEADERS, got.id, block([['content-length', '11']])),
      frame(T.PING, 0, 0, '12345678'),
      frame(T.DATA, 8, got.id, '\x03hello \0\0\0'),
      frame(T.WINDOW, 0, 0, number32(5)),
      frame(99, 0, 0, 'unknown'),
      frame(T.DATA, 0, got.id, 'world'),
      frame(T.HEADERS, END_HEADERS | END_STREAM, got.id, block([['x-end', 'yes']])),
    ]);
    withData = whole.lastIndexOf('world') + 5;
    const cut = got.fields.get(':path')!.startsWith('/cut') ? Number(got.fields.get(':path')!.slice(4)) : whole.length;
    for (let at = 0; at < cut; at++) {
      got.connection.send(whole.subarray(at, at + 1));
      await new Promise((done) => setImmediate(done));
    }
    if (cut < whole.length) {
      got.connection.socket.end();
    }
  });
  const s = await startServer(t, {
    conf: conf(
      origin.port,
      'proxy_next_upstream off; proxy_pass_trailers on; location / { proxy_pass http://u; } location /un { proxy_buffering off; proxy_pass http://u; }',
    ),
  });
  for (const path of ['/', '/un']) {
    const got = await httpGet(s, path);
    t.equal(got.text, 'hello world');
    t.equal(got.header('x-long'), 'v'.repeat(200));
  }
  // Without its last byte of data a response is not whole, wherever it ends.
  for (let cut = 0; cut < withData; cut += 7) {
    const got = await httpGet(s, `/cut${cut}`);
    if (got.status !== 502 && got.complete) {
      t.fail(`cut at ${cut}: ${got.status} ${got.text}`);
    }
  }
  t.equal((await httpGet(s, '/')).text, 'hello world', 'it goes on');
});

t.test('a response that does not end well is passed on as far as it is sound, breaks off, and is not cached', async (t) => {
  const head = (id: number, ...fields: FieldText[]): Buffer => frame(T.HEADERS, END_HEADERS, id, block([[':status', '200'], ...fields]));
  const data = (id: number, text: string, flags = 0): Buffer => frame(T.DATA, flags, id, text);
  const reset = (id: number, code: number): Buffer => frame(T.RST, 0, id, number32(code));
  const trailers = (id: number, flags: number): Buffer => frame(T.HEADERS, END_HEADERS | flags, id, block([['x-t', 'y']]));
  const ten: FieldText = ['content-length', '10'];
  /** What a backend sends, in two reads where the second is not empty, and what the client gets of the body. */
  const cases: Readonly<Record<string, (id: number) => readonly [first: Buffer[], second: Buffer[], body: string, complete?: boolean]>> = {
    sound: (id) => [[head(id, ten), data(id, '01234')], [data(id, '56789', END_STREAM)], '0123456789', true],
    unread: (id) => [[head(id), data(id, '01234')], [data(id, '56', END_STREAM), reset(id, 0)], '0123456', true],
    short: (id) => [[head(id, ten), data(id, '01234')], [data(id, '56', END_STREAM)], '0123456'],
    long: (id) => [[head(id, ten), data(id, '01234')], [data(id, '56789x', END_STREAM)], '01234'],
    reset: (id) => [[head(id), data(id, '01234')], [reset(id, 2)], '01234'],
    resetwithout: (id) => [[head(id), data(id, '01234')], [reset(id, 0)], '01234'],
    resetafter: (id) => [[head(id), data(id, '01234')], [data(id, '56', END_STREAM), reset(id, 2)], '0123456'],
    resettwice: (id) => [[head(id), data(id, '01234')], [data(id, '56', END_STREAM), reset(id, 0), reset(id, 0)], '0123456'],
    resettrailers: (id) => [[head(id), data(id, '01234')], [trailers(id, END_STREAM), reset(id, 2)], '01234'],
    dataafter: (id) => [[head(id), data(id, '01234')], [data(id, '56', END_STREAM), data(id, '78', END_STREAM)], '0123456'],
    moretrailers: (id) => [[head(id), data(id, '01234')], [trailers(id, 0)], '01234'],
    goaway: (id) => [[head(id), data(id, '01234')], [frame(T.GOAWAY, 0, 0, Buffer.concat([number32(0), number32(0)]))], '01234'],
    window: (id) => [[head(id), data(id, '01234')], [frame(T.WINDOW, 0, id, number32(2 ** 31 - 1))], '01234'],
    nowindow: (id) => [[head(id), data(id, '01234')], [frame(T.WINDOW, 0, id, number32(0))], '01234'],
  };
  const origin = await startHttp2Origin(t, ({ connection, id, fields }) => {
    const [first, second] = cases[fields.get(':path')!.split('/').at(-1)!]!(id);
    connection.send(...first);
    // The answer to a PING says that it was read.
    void connection.ping().then(() => connection.send(...second));
  });
  const s = await startServer(t, {
    conf: serverConf(
      `proxy_http_version 2;
       location /t/ { proxy_pass http://127.0.0.1:${origin.port}; }
       location /u/ { proxy_pass http://127.0.0.1:${origin.port}; proxy_buffering off; }
       location /c/ { proxy_pass http://127.0.0.1:${origin.port}; proxy_cache Z; proxy_cache_valid any 1h; add_header X-Cache $upstream_cache_status; }`,
      'proxy_temp_path %%DIR%%/temp; proxy_cache_path %%DIR%%/cache keys_zone=Z:1m;',
    ),
  });
  for (const where of ['t', 'u', 'c']) {
    for (const [name, made] of Object.entries(cases)) {
      const [, , body, complete = false] = made(1);
      const found = await httpGet(s, `/${where}/${name}`);
      t.strictSame([found.status, found.text, found.complete], [200, body, complete], `/${where}/${name}`);
      if (where === 'c') {
        t.equal((await httpGet(s, `/c/${name}`)).header('x-cache'), complete ? 'HIT' : 'MISS', `/c/${name} again`);
      }
    }
  }
});

t.test('the last piece of a request that fits the window exactly ends it', async (t) => {
  const origin = await startHttp2Origin(t, undefined, { settings: settings([4, 10]) });
  const s = await startServer(t, {
    conf: conf(
      origin.port,
      `location / { proxy_pass http://u; } location /now { proxy_request_buffering off; proxy_pass http://u; }
       location /file { client_body_in_file_only clean; proxy_pass http://u; }`,
    ),
  });
  const warm = httpGet(s, '/');
  answer(await origin.received(1), {});
  await warm;
  const frames = ({ connection, id }: Http2Request): number[][] =>
    connection.frames.filter((f) => f.type === T.DATA && f.id === id).map(({ flags, payload }) => [payload.length, flags & END_STREAM]);
  let count = 1;
  for (const path of ['/', '/now', '/file']) {
    const exact = http(s, `POST ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 10\r\n\r\n0123456789`);
    const got = await origin.received(++count);
    await waitFor(() => dataOf(got) === '0123456789');
    answer(got, { body: 'done' });
    t.equal((await exact).text, 'done');
    t.strictSame(frames(got), [[10, END_STREAM]], `${path}: all at once`);

    const more = http(s, `POST ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 15\r\n\r\n0123456789abcde`);
    const rest = await origin.received(++count);
    await waitFor(() => dataOf(rest) === '0123456789');
    rest.connection.send(frame(T.WINDOW, 0, rest.id, number32(5)));
    await waitFor(() => dataOf(rest) === '0123456789abcde');
    answer(rest, { body: 'done' });
    t.equal((await more).text, 'done');
    t.strictSame(
      frames(rest),
      [
        [10, 0],
        [5, END_STREAM],
      ],
      `${path}: the rest`,
    );
  }

  // The end of a longer one is known only once its last piece is asked for.
  const { connection } = await origin.received(count);
  const size = 100_000;
  connection.send(frame(T.SETTINGS, 0, 0, settings([4, size])), frame(T.WINDOW, 0, 0, number32(10 * size)));
  await connection.ping();
  for (const path of ['/', '/now', '/file']) {
    const head = `POST ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n`;
    const long = http(s, head + 'x'.repeat(size));
    const got = await origin.received(++count);
    await waitFor(() => dataOf(got).length === size);
    answer(got, { body: 'done' });
    t.equal((await long).text, 'done');
    const [length, flags] = frames(got).at(-1)!;
    t.ok(length! > 0 && flags === END_STREAM, `${path}: ${frames(got)}`);
  }
});

t.test('GOAWAY with a lower last stream in the middle of a request', async (t) => {
  const origin = await startHttp2Origin(t);
  const s = await startServer(t, {
    conf: conf(
      origin.port,
      `client_max_body_size 0; client_body_buffer_size 16k; location / { proxy_pass http://u; }
       location /off { proxy_next_upstream off; proxy_pass http://u; } location /now { proxy_request_buffering off; proxy_pass http://u; }`,
    ),
  });
  const size = 100_000;
  let count = 0;
  const interrupt = async (path: string): Promise<ReturnType<typeof http>> => {
    const head = `POST ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n`;
    const asked = http(s, head + 'x'.repeat(size));
    const got = await origin.received(++count);
    await waitFor(() => dataOf(got).length === 65_535, { what: 'the window to be used up' });
    got.connection.send(frame(T.GOAWAY, 0, 0, Buffer.concat([number32(0), number32(0)])));
    return asked;
  };
  for (const path of ['/off', '/now']) {
    t.equal((await interrupt(path)).status, 502, path);
    await s.logged('upstream sent goaway with error 0');
    t.equal(origin.requests.length, count, `${path} was not asked for again`);
  }
  // All of it is here, and the backend has done nothing with it: another connection gets it, as RFC 9113 (6.8) has it.
  const whole = interrupt('/');
  const again = await origin.received(count + 1);
  t.not(again.connection, origin.requests[count - 1]!.connection);
  again.connection.send(frame(T.WINDOW, 0, 0, number32(size)), frame(T.WINDOW, 0, again.id, number32(size)));
  await waitFor(() => dataOf(again).length === size);
  answer(again, { body: 'got it' });
  t.equal((await whole).text, 'got it');
});
