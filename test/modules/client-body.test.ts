import t from 'tap';
import { Http2Client } from '../support/http2-client.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

// Request bodies that nobody asks for are still read (or refused) in a way that keeps the connection in step.

t.test('bodies are skipped and the connection goes on', async (t) => {
  const s = await startServer(t, {
    conf: serverConf('location /r { return 200 "$request_method $uri"; } location / { }'),
    files: { 'html/file': 'content' },
  });
  const next = 'GET /r HTTP/1.1\r\nHost: a\r\n\r\n';
  const chunked = (body: string) => `POST /r/1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;

  const inStep = async (request: string, what: string, method = 'POST') => {
    const client = await RawClient.connect(s);
    client.send(request + next, method, 'GET');
    const first = await client.response();
    t.equal(first.status, 200, what);
    t.equal((await client.response()).text, 'GET /r', what);
    client.destroy();
  };
  await inStep(requestText('POST', '/r/1', {}, 'GET /r/evil HTTP/1.1\r\n\r\n'), 'a body that looks like a request');
  await inStep(requestText('POST', '/r/1', {}, 'x'.repeat(300_000)), 'a large body');
  await inStep(requestText('GET', '/r/1', {}, 'body'), 'a body of GET', 'GET');
  await inStep(requestText('GET', '/file', {}, 'body'), 'a body before a file', 'GET');
  await inStep(chunked('4\r\nGET \r\na\r\n/r/2 HTTP/\r\n0\r\n\r\n'), 'chunks');
  await inStep(chunked('3;ext="a;b"\r\nabc\r\n0;last\r\nT: v\r\nU: w\r\n\r\n'), 'chunk extensions and trailers');
  await inStep(chunked('00A\r\n0123456789\r\n0000\r\n\r\n'), 'zeros before a size');

  const client = await RawClient.connect(s);
  const request = chunked('5\r\nhello\r\n3\r\nabc\r\n0\r\nT: v\r\n\r\n') + next;
  client.send('', 'POST', 'GET');
  for (const piece of request) {
    client.socket.write(piece);
  }
  t.equal((await client.response()).status, 200, 'in single bytes');
  t.equal((await client.response()).text, 'GET /r');
  client.destroy();
});

t.test('malformed chunks', async (t) => {
  const s = await startServer(t, { conf: serverConf('location / { return 200 "$request_method $uri"; }') });
  const send = async (body: string) => {
    const client = await RawClient.connect(s);
    const response = await client
      .send(`POST /r HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body}GET / HTTP/1.1\r\nHost: a\r\n\r\n`, 'POST')
      .response();
    const rest = await client.rest();
    return [response.status, response.header('Connection'), rest];
  };
  for (const body of [
    'x\r\n',
    '-1\r\n',
    ' 1\r\na\r\n0\r\n\r\n',
    '1\r\nab\r\n0\r\n\r\n',
    '1 \0\r\na\r\n',
    '10000000000000000\r\n',
    '0x1\r\na\r\n0\r\n\r\n',
    ';\r\n',
    '\r\n',
  ]) {
    const [status, , rest] = await send(body);
    t.match(rest, /^$/, JSON.stringify(body));
    t.equal(status, 400, JSON.stringify(body));
  }
});

t.test('Expect: 100-continue', async (t) => {
  const s = await startServer(t, {
    conf: serverConf('location /r { return 200 "ok"; } client_max_body_size 10; location / { }'),
  });
  const head = (path: string, length: number, more = '') =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n${more}\r\n`;

  const client = await RawClient.connect(s);
  t.equal((await client.send(head('/r', 4)).response()).interim.length, 1, 'the body is wanted');
  client.send('body');
  t.equal((await client.send('GET /r HTTP/1.1\r\nHost: a\r\n\r\n').response()).text, 'ok', 'and skipped');

  const refused = await RawClient.connect(s);
  const answer = await refused.send(head('/r', 11)).response();
  t.strictSame([answer.status, answer.interim.length], [413, 0], 'no invitation for a body that is refused');

  const old = await RawClient.connect(s);
  const without = await old.send('POST /r HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nbody').response();
  t.strictSame([without.status, without.interim.length], [200, 0], 'HTTP/1.0 has no interim answers');

  const other = await RawClient.connect(s);
  t.equal(
    (await other.send('POST /r HTTP/1.1\r\nHost: a\r\nExpect: something\r\nContent-Length: 1\r\n\r\nx').response()).status,
    200,
    'other expectations do not count',
  );
  for (const each of [client, refused, old, other]) {
    each.destroy();
  }
});

t.test('client_max_body_size', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      client_max_body_size 10;
      server { listen 127.0.0.1:%%PORT_0%%;
        location / { return 200 ok; }
        location /large { client_max_body_size 1k; return 200 ok; }
        location /any { client_max_body_size 0; return 200 ok; }
        error_page 413 /too-large;
        location /too-large { return 200 "too large: $status"; }
        location /plain { error_page 500 /x; return 200 ok; } }`),
  });
  const status = async (path: string, size: number) => (await http(s, requestText('POST', path, {}, 'x'.repeat(size)))).status;
  t.equal(await status('/plain', 10), 200);
  t.equal(await status('/plain', 11), 413);
  t.equal(await status('/large', 1024), 200);
  t.equal(await status('/large', 1025), 413);
  t.equal(await status('/any', 100_000), 200);
  t.equal((await http(s, requestText('POST', '/', {}, 'x'.repeat(11)))).text, 'too large: 413');
  t.match(await s.logged('client intended'), /\[error\] .*client intended to send too large body: 11 bytes, client: /);

  const declared = await http(s, 'POST /plain HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n');
  t.equal(declared.status, 413, 'before any of it is read');
  t.equal(declared.header('Connection'), 'close');
});

t.test('client_max_body_size and chunks, in one piece and byte by byte', async (t) => {
  // It answers when it has the whole body.
  const origin = await startOrigin(t, { body: 'ok' });
  const s = await startServer(t, {
    conf: serverConf(`client_max_body_size 8; location / { proxy_pass http://127.0.0.1:${origin.port}; }
      location /relay { proxy_request_buffering off; proxy_http_version 1.1; proxy_pass http://127.0.0.1:${origin.port}; }`),
  });
  const head = (path: string): string => `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`;
  for (const [body, status, told] of [
    ['5\r\nhello\r\n4\r\nmore\r\n0\r\n\r\n', 413, '5+4'],
    ['5\r\nhello\r\n3\r\nmor\r\n1\r\ne\r\n5\r\nworld\r\n0\r\n\r\n', 413, '8+1'],
    ['9\r\nnine char\r\n0\r\n\r\n', 413, '0+9'],
    ['ffff\r\nmuch', 413, '0+65535'],
    ['7\r\nhello w\r\n6\r\norld!!\r\nz\r\n', 413, '7+6'],
    ['5\r\nhello\r\nz\r\n', 400, undefined],
    ['5\r\nhello\r\n3\r\nmor\r\n0\r\n\r\n', 200, undefined],
  ] as const) {
    for (const path of ['/', '/relay']) {
      for (const pieces of [[body], [...body]]) {
        const before = s.log().length;
        const client = await RawClient.connect(s);
        client.send(head(path));
        for (const piece of pieces) {
          client.send(piece);
          if (pieces.length > 1) {
            await new Promise(setImmediate);
          }
        }
        t.equal((await client.response()).status, status, `${path} ${pieces.length} ${JSON.stringify(body)}`);
        client.destroy();
        if (told !== undefined) {
          const line = await waitFor(() => /too large chunked body: (\S+) bytes/.exec(s.log().slice(before)));
          t.equal(line[1], told, `${path} ${pieces.length} ${JSON.stringify(body)}`);
        }
      }
    }
  }
});

const H2_HEAD = [
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'a'],
] as const;

t.test('client_body_buffer_size counts what came behind the head', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`server { listen 127.0.0.1:%%PORT_0%%;
        client_body_buffer_size 100;
        add_header X-Body $request_body;
        add_header X-File $request_body_file;
        location / { proxy_pass http://127.0.0.1:%%PORT_1%%; } }
      server { listen 127.0.0.1:%%PORT_1%%; return 200; }`),
  });
  const kept = async (body: string, framing: string, withHead: number) => {
    const client = await RawClient.connect(s);
    const head = `POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n${framing}\r\n\r\n`;
    client.send(head + body.slice(0, withHead), 'POST');
    await client.interim();
    client.socket.write(body.slice(withHead));
    const response = await client.response();
    client.destroy();
    t.equal(response.status, 200);
    return response.header('X-File') === undefined ? response.header('X-Body')?.length : 'file';
  };
  const body = (size: number) => 'x'.repeat(size);
  const sized = (size: number, withHead: number) => kept(body(size), `Content-Length: ${size}`, withHead);
  const chunked = (size: number, withHead: number) =>
    kept(`${size.toString(16)}\r\n${body(size)}\r\n0\r\n\r\n`, 'Transfer-Encoding: chunked', withHead);
  t.equal(await sized(300, 300), 300, 'with the head');
  t.equal(await sized(300, 1), 300, 'begun with the head, whose buffer has room for all of it');
  t.equal(await sized(300, 0), 'file', 'behind the head');
  t.equal(await sized(1000, 800), 'file', 'more behind the head than the buffer takes');
  t.equal(await sized(1000, 880), 1000, 'as much behind the head as the buffer takes');
  t.equal(await sized(2000, 2000), 'file', 'with the head, whose buffer has no room for it');
  t.equal(await chunked(300, 320), 300, 'chunked, with the head');
  t.equal(await chunked(300, 100), 'file', 'chunked, begun with the head');
  t.equal(await chunked(2000, 2100), 'file', 'chunked, with the head, whose buffer has no room for it');
});

t.test('a body that comes while its request waits, and is not read', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `location /limited { limit_req zone=slow burst=50; return 403; }
      location /denied { auth_basic closed; auth_basic_user_file users; auth_delay 50ms; }
      location /asked { auth_request /no; }
      location = /no { limit_req zone=slow burst=50; return 401; }`,
      'limit_req_zone $server_name zone=slow:32k rate=20r/s;',
    ),
    files: { users: '' },
  });
  const head = (path: string, size: number) => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`;
  for (const path of ['/limited', '/denied', '/asked']) {
    for (const [size, whole] of [
      [3000, true],
      [40_000, true],
      [300_000, false],
    ] as const) {
      const client = await RawClient.connect(s);
      client.send(head(path, size), 'POST', 'GET');
      await new Promise((done) => setTimeout(done, 5));
      client.socket.write('x'.repeat(whole ? size : size - 1));
      const first = await client.response();
      t.equal(first.status, path === '/limited' ? 403 : 401, path);
      client.socket.write(`${whole ? '' : 'x'}GET /missing HTTP/1.1\r\nHost: a\r\n\r\n`);
      t.equal((await client.response()).status, 404, `the next request behind ${size} bytes to ${path}`);
      client.destroy();
    }
  }
});

t.test('client_body_early_read', async (t) => {
  const s = await startServer(t, {
    compatible: true,
    conf: httpConf(`
      map $http_x $early { ~early 1; }
      client_max_body_size 1k;
      server { listen 127.0.0.1:%%PORT_0%%;
        client_body_early_read $early $arg_early; client_max_body_size 10; client_body_buffer_size 10;
        if ($request_body = secret) { return 403; }
        location / { return 200 "<$request_body>"; }
        location /small { client_max_body_size 5; return 200 "<$request_body>"; }
        location /pass { proxy_request_buffering off; proxy_pass http://127.0.0.1:%%PORT_1%%; }
        location /large { client_max_body_size 100; return 200 "<$request_body>"; } }
      server { listen 127.0.0.1:%%PORT_1%%; client_body_early_read 0 1; return 200 "[$request_body]"; }
      server { listen 127.0.0.1:%%PORT_2%% http2; client_body_early_read 1; client_max_body_size 10; return 200 "<$request_body>"; }`),
  });
  const early = { X: 'early' };
  const send = async (path: string, headers: Record<string, string>, body: string): Promise<[number, string]> => {
    const { status, text } = await http(s, requestText('POST', path, headers, body));
    return [status, status === 200 ? text : ''];
  };
  t.strictSame(await send('/', {}, 'body'), [200, '<>']);
  t.strictSame(await send('/', early, 'body'), [200, '<body>']);
  t.strictSame(await send('/?early=1', {}, 'body'), [200, '<body>']);
  t.strictSame(await send('/?early=0', {}, 'body'), [200, '<>']);
  t.strictSame(await send('/', early, 'secret'), [403, ''], 'the rewrite phase sees the body');
  t.strictSame(await send('/pass', early, 'body'), [200, '[body]'], 'a backend gets it');
  t.strictSame(await send('/', early, ''), [200, '<>']);
  t.strictSame(await send('/large', {}, 'x'.repeat(11)), [200, '<>']);
  t.strictSame(await send('/large', early, 'x'.repeat(11)), [413, ''], "the server's limit counts");
  t.strictSame(await send('/small', early, 'x'.repeat(6)), [413, ''], "the location's limit counts, too");

  const chunked = 'POST / HTTP/1.1\r\nHost: a\r\nX: early\r\nTransfer-Encoding: chunked\r\n\r\n';
  t.equal((await http(s, `${chunked}4\r\nbody\r\n0\r\n\r\n`)).text, '<body>');
  t.equal((await http(s, `${chunked}b\r\n${'x'.repeat(11)}\r\n0\r\n\r\n`)).status, 413);
  t.equal((await http(s, `${chunked}x\r\n`)).status, 400);

  const expecting = 'Host: a\r\nX: early\r\nExpect: 100-continue\r\nContent-Length:';
  const client = await RawClient.connect(s);
  client.send(`POST / HTTP/1.1\r\n${expecting} 4\r\n\r\n`);
  t.equal((await client.interim()).status, 100);
  for (const byte of 'body') {
    client.socket.write(byte);
  }
  t.equal((await client.response()).text, '<body>');
  const refused = await client.send(`POST / HTTP/1.1\r\n${expecting} 11\r\n\r\n`).response();
  t.strictSame([refused.status, refused.interim.length, refused.header('Connection')], [413, 0, 'close']);
  client.destroy();

  const h2 = await Http2Client.connect(t, s.port(2));
  h2.request(1, [[':method', 'POST'], ...H2_HEAD], 'body').request(3, [[':method', 'POST'], ...H2_HEAD], 'x'.repeat(11));
  h2.request(5, [[':method', 'GET'], ...H2_HEAD]);
  t.strictSame([(await h2.response(1)).body, (await h2.response(3)).status, (await h2.response(5)).body], ['<body>', '413', '<>']);

  const leaving = await RawClient.connect(s);
  leaving.send('POST /left HTTP/1.1\r\nHost: a\r\nX: early\r\nContent-Length: 4\r\n\r\nbo').end();
  await leaving.closed();
  await s.accessLogged('"POST /left HTTP/1.1" 400');
});

t.test('timeouts', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server { listen 127.0.0.1:%%PORT_0%%; client_header_timeout 1s; location / { return 200 ok; } }
      server { listen 127.0.0.1:%%PORT_1%%; client_body_timeout 100ms; lingering_timeout 100ms; location / { return 200 ok; } }`),
  });
  const silent = await RawClient.connect(s);
  const half = (await RawClient.connect(s)).send('GET / HTTP/1.1\r\nHost: a\r\n');
  t.equal(await silent.rest(), '', 'no answer to a connection that says nothing');
  t.equal(await half.rest(), '', 'nor to half a head');
  await s.accessLogged('"GET / HTTP/1.1" 408 0 ');
  t.match(
    await s.logged('reading client request headers'),
    /\[info\] .*client timed out \(110: Connection timed out\) while reading client request headers/,
  );

  const body = await RawClient.connect(s.port(1));
  const answer = await body.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nxx').response();
  t.equal(answer.status, 200, 'an answer does not wait for a body nobody reads');
  await body.closed();
});

t.test('a client that leaves early is logged', async (t) => {
  const s = await startServer(t, { conf: serverConf('location / { return 200 ok; }') });
  const client = await RawClient.connect(s);
  client.send('GET / HTTP/1.1\r\nHost: a\r\n');
  client.end();
  await client.closed();
  t.match(
    await s.logged('prematurely'),
    /\[info\] .*client prematurely closed connection while reading client request headers, client: 127\.0\.0\.1/,
  );
  await s.accessLogged('"GET / HTTP/1.1" 400 0 ');
  t.equal((await httpGet(s, '/')).status, 200);
});
