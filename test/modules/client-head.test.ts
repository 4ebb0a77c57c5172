import t, { type Test } from 'tap';
import { product } from '../support/binary.js';
import { exchange, http, httpGet, pipeline, RawClient } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

// How request heads are read: the request line, header fields, Host, and what is refused.

const echo = 'location / { return 200 "$request_method|$uri|$args|$host|$http_x|$server_protocol"; }';

/** A request (Host: a is added to a bare request line) and the answer: a status, or the text of a 200. */
type Row = readonly [request: string, answer: number | string];

const requestLines: readonly Row[] = [
  ['GET / HTTP/1.1', 'GET|/||a||HTTP/1.1'],
  ['GET  /  HTTP/1.1', 'GET|/||a||HTTP/1.1'],
  ['GET / HTTP/1.1 ', 'GET|/||a||HTTP/1.1 '],
  ['\r\n\r\nGET / HTTP/1.1', 'GET|/||a||HTTP/1.1'],
  ['\nGET / HTTP/1.1', 'GET|/||a||HTTP/1.1'],
  [' GET / HTTP/1.1', 400],
  ['FOO / HTTP/1.1', 'FOO|/||a||HTTP/1.1'],
  ['FOO_BAR-X / HTTP/1.1', 'FOO_BAR-X|/||a||HTTP/1.1'],
  ['get / HTTP/1.1', 400],
  ['F1 / HTTP/1.1', 400],
  ['G@T / HTTP/1.1', 400],
  ['TRACE / HTTP/1.1', 405],
  ['CONNECT / HTTP/1.1', 400],
  ['CONNECT a:80 HTTP/1.1', 405],
  ['OPTIONS * HTTP/1.1', 400],
  ['GET a HTTP/1.1', 400],
  ['GET /a b HTTP/1.1', 400],
  ['GET / HTTP/1.2', 'GET|/||a||HTTP/1.2'],
  ['GET / HTTP/1.10', 'GET|/||a||HTTP/1.10'],
  ['GET / HTTP/2.0', 505],
  ['GET / HTTP/9.9', 505],
  ['GET / HTTP/0.9', 400],
  ['GET / HTTP/1', 400],
  ['GET / HTTP/1.', 400],
  ['GET / HTTP/01.1', 400],
  ['GET / http/1.1', 400],
  ['GET / HTTPS/1.1', 400],
  ['GET http://b HTTP/1.1', 'GET|/||b||HTTP/1.1'],
  ['GET HTTP://B/ HTTP/1.1', 'GET|/||b||HTTP/1.1'],
  ['GET http://b:81/c?d HTTP/1.1', 'GET|/c|d|b||HTTP/1.1'],
  ['GET http://b?d HTTP/1.1', 'GET|/|d|b||HTTP/1.1'],
  ['GET http://b:/ HTTP/1.1', 'GET|/||b||HTTP/1.1'],
  ['GET ftp://b/ HTTP/1.1', 'GET|/||b||HTTP/1.1'],
  ['GET http://[::1]:80/x HTTP/1.1', 'GET|/x||[::1]||HTTP/1.1'],
  ['GET http://[::1/x HTTP/1.1', 400],
  ['GET http://a_b/ HTTP/1.1', 400],
  ['GET http://a,b/ HTTP/1.1', 400],
  ['GET http://a%41/ HTTP/1.1', 400],
  ['GET http://a..b/ HTTP/1.1', 400],
  ['GET http:/// HTTP/1.1', 400],
  ['GET http:/b HTTP/1.1', 400],
  ['GET 1http://b/ HTTP/1.1', 400],
  ['GET http://user@b/ HTTP/1.1', 400],
  ['GET http://b#f HTTP/1.1', 400],
  ['GET http://b:x/ HTTP/1.1', 400],
];

const fields: readonly Row[] = [
  ['Host: a\r\nX:y', 'GET|/||a|y|HTTP/1.1'],
  ['Host: a\r\nX:   y  ', 'GET|/||a|y|HTTP/1.1'],
  ['Host: a\r\nX:\ty\t', 'GET|/||a|\ty\t|HTTP/1.1'],
  ['Host: a\r\nX:', 'GET|/||a||HTTP/1.1'],
  ['Host: a\r\nx: 1\r\nX: 2', 'GET|/||a|1, 2|HTTP/1.1'],
  ['Host: a\r\nX: \x7f\x01\x80', 'GET|/||a|\x7f\x01\x80|HTTP/1.1'],
  ['Host: a\r\nX: a\r', 'GET|/||a|a|HTTP/1.1'],
  ['Host: a\r\nX', 'GET|/||a||HTTP/1.1'],
  ['Host: a\r\nX(: y', 'GET|/||a||HTTP/1.1'],
  ['Host: a\r\nX\x80: y', 'GET|/||a||HTTP/1.1'],
  ['Host: a\r\nX : y', 400],
  ['Host: a\r\nX Y: y', 400],
  ['Host: a\r\n X: y', 400],
  ['Host: a\r\nX: y\r\n z', 400],
  ['Host: a\r\n: y', 400],
  ['Host: a\r\nX: a\0b', 400],
  ['Host: a\r\nX: a\rb', 400],
  ['Host: a\r\nX\0: y', 400],
  ['Host: a\r\n\rX: y', 400],
];

const hosts: readonly Row[] = [
  ['A.B:8080', 'a.b'],
  ['a.', 'a'],
  ['.a', '.a'],
  ['a:', 'a'],
  ['a_b', 'a_b'],
  ['a,b', 'a,b'],
  ['a%41', 'a%41'],
  ['[::1]:80', '[::1]'],
  ['', 400],
  ['.', 400],
  ['a..b', 400],
  ['a b', 400],
  ['a/b', 400],
  ['a\\b', 400],
  ['a?b', 400],
  ['a#b', 400],
  ['a@b', 400],
  ['a:b', 400],
  ['a:80:80', 400],
  ['a:99999', 400],
  [':80', 400],
  ['[::1', 400],
  ['\x80', 400],
];

const framings: readonly Row[] = [
  ['Content-Length: 1\r\n\r\nx', 200],
  ['Content-Length: 01\r\n\r\nx', 200],
  ['Content-Length: 1\r\nContent-Length: 1\r\n\r\nx', 400],
  ['Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx', 400],
  ['Content-Length: 1, 1\r\n\r\nx', 400],
  ['Content-Length: -1\r\n\r\n', 400],
  ['Content-Length: +1\r\n\r\nx', 400],
  ['Content-Length: 0x1\r\n\r\nx', 400],
  ['Content-Length: \r\n\r\n', 400],
  ['Content-Length: 99999999999999999999\r\n\r\nx', 400],
  ['Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 200],
  ['Transfer-Encoding: CHUNKED\r\n\r\n0\r\n\r\n', 200],
  ['Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n', 400],
  ['Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
  ['Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
  ['Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n', 400],
  ['Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n', 501],
  ['Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n', 501],
  ['Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n', 501],
  ['Transfer-Encoding: identity\r\n\r\n', 501],
  ['Transfer-Encoding:\r\n\r\n', 501],
];

t.test('request heads', async (t) => {
  const s = await startServer(t, { conf: serverConf(echo) });

  const check = async (t: Test, request: string, method: string, expected: number | string) => {
    const client = await RawClient.connect(s);
    const response = await client.send(request, method).response();
    t.equal(response.status === 200 && typeof expected === 'string' ? response.text : response.status, expected, JSON.stringify(request));
    if (response.status >= 400) {
      t.equal(response.header('Connection'), 'close');
      t.equal(response.version, 'HTTP/1.1');
      await client.closed();
    }
    client.destroy();
  };

  t.test('request line', async (t) => {
    for (const [line, answer] of requestLines) {
      await check(t, `${line}\r\nHost: a\r\n\r\n`, 'GET', answer);
    }
  });

  t.test('header fields', async (t) => {
    for (const [lines, answer] of fields) {
      await check(t, `GET / HTTP/1.1\r\n${lines}\r\n\r\n`, 'GET', answer);
    }
  });

  t.test('Host', async (t) => {
    for (const [host, answer] of hosts) {
      const text = typeof answer === 'string' ? `GET|/||${answer}||HTTP/1.1` : answer;
      await check(t, `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 'GET', text);
    }
    await check(t, 'GET / HTTP/1.1\r\n\r\n', 'GET', 400);
    await check(t, 'GET http://b/ HTTP/1.1\r\n\r\n', 'GET', 400);
    await check(t, 'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n', 'GET', 400);
    await check(t, 'GET / HTTP/1.0\r\n\r\n', 'GET', 'GET|/||localhost||HTTP/1.0');
  });

  t.test('framing of bodies', async (t) => {
    for (const [rest, answer] of framings) {
      await check(t, `POST / HTTP/1.1\r\nHost: a\r\n${rest}`, 'POST', answer);
    }
    await check(t, 'POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 'POST', 400);
  });

  t.test('bare line feeds end lines', async (t) => {
    await check(t, 'GET / HTTP/1.1\nHost: a\nX: y\n\n', 'GET', 'GET|/||a|y|HTTP/1.1');
  });

  t.test('HTTP/0.9 gets the body alone', async (t) => {
    for (const request of ['GET /x\r\n', 'GET /x\n', 'GET /x \r\n']) {
      t.equal(await exchange(s, request), 'GET|/x||localhost||');
    }
  });

  t.test('and so does a refusal of another method', async (t) => {
    for (const request of ['POST /x\r\n', 'HEAD /x\r\n']) {
      t.match(await exchange(s, request), /^<html>\r\n<head><title>400 Bad Request<[\s\S]*<\/html>\r\n$/);
    }
  });

  t.test('heads may come byte by byte', async (t) => {
    const client = await RawClient.connect(s);
    await client.sendSlowly([...'GET /slow?a=b HTTP/1.1\r\nHost: h\r\nX: y\r\n\r\n'], 1);
    t.equal((await client.response()).text, 'GET|/slow|a=b|h|y|HTTP/1.1');
    client.destroy();
  });

  t.test('a refused request is logged as it came', async (t) => {
    await exchange(s, 'BAD^ / HTTP/1.1\r\nHost: a\r\n\r\n');
    await s.accessLogged(/"BAD\^ \/ HTTP\/1\.1" 400 \d+ "-" "-"$/);
    t.match(
      await s.logged('request: "BAD'),
      / \[info\] \d+#\d+: \*\d+ client sent invalid method while reading client request line, client: 127\.0\.0\.1, server: localhost, request: "BAD\^ \/ HTTP\/1\.1"$/,
    );
  });

  t.test('the page of an error', async (t) => {
    const { text, headers } = await http(s, 'BAD^ / HTTP/1.1\r\n\r\n');
    const body = `<html>\r\n<head><title>400 Bad Request</title></head>\r\n<body>\r\n<center><h1>400 Bad Request</h1></center>\r\n<hr><center>${product}/X</center>\r\n</body>\r\n</html>\r\n`;
    t.equal(text.replace(/(nginx|sluice)\/[\d.]+/, '$1/X'), body);
    t.strictSame(
      headers.map(([name]) => name),
      ['Server', 'Date', 'Content-Type', 'Content-Length', 'Connection'],
    );
  });
});

t.test('limits of the head', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      client_header_buffer_size 128; large_client_header_buffers 2 512;
      server { listen 127.0.0.1:%%PORT_0%%; ${echo} }
      server { listen 127.0.0.1:%%PORT_0%%; server_name two; max_headers 3; ${echo} }`),
  });
  const fill = (length: number) => 'x'.repeat(length);

  t.equal((await httpGet(s, `/${fill(400)}`)).status, 200, 'a request line in a large buffer');
  t.match((await httpGet(s, `/${fill(600)}`)).text, /414 Request-URI Too Large/, 'a request line longer than a large buffer');
  t.equal((await httpGet(s, '/', { X: fill(400) })).status, 200, 'a field in a large buffer');
  const tooLarge = await httpGet(s, '/', { X: fill(600) });
  t.equal(tooLarge.status, 400);
  t.match(tooLarge.text, /<center><h1>400 Bad Request<\/h1><\/center>\r\n<center>Request Header Or Cookie Too Large<\/center>/);
  t.equal((await httpGet(s, '/', { X: fill(350), Y: fill(350), Z: fill(350) })).status, 400, 'more than the large buffers hold');
  t.match(
    await s.logged('too long header'),
    /\[info\] .*client sent too long header line: "X: x+\.\.\." while reading client request headers/,
  );
  t.match(await s.logged('too long URI'), /\[info\] .*client sent too long URI while reading client request line/);

  t.equal((await httpGet(s, '/', { Host: 'two', A: '1', B: '2' })).status, 400, 'a field beyond max_headers');
  t.equal((await httpGet(s, '/', { Host: 'two', A: '1' })).status, 200);
});

t.test('invalid header names', async (t) => {
  const server = (name: string, more: string) =>
    `server { listen 127.0.0.1:%%PORT_0%%; server_name ${name}; ${more} location / { return 200 "$http_x_y|$http_x"; } }`;
  const s = await startServer(t, {
    conf: httpConf(
      `${server('strict', '')} ${server('lax', 'ignore_invalid_headers off;')} ${server('underscores', 'underscores_in_headers on;')}`,
    ),
  });
  const text = async (host: string, field: string) => {
    const response = await http(s, `GET / HTTP/1.1\r\nHost: ${host}\r\n${field}\r\nConnection: close\r\n\r\n`);
    return response.status === 200 ? response.text : response.status;
  };
  t.equal(await text('strict', 'X-Y: 1'), '1|');
  t.equal(await text('strict', 'X_Y: 1'), '|', 'an underscore makes a name invalid');
  t.match(
    await s.logged('invalid header line'),
    /\[info\] .*client sent invalid header line: "X_Y: 1" while reading client request headers, .* request: "GET \/ HTTP\/1.1", host: "strict"/,
  );
  t.equal(await text('underscores', 'X_Y: 1'), '1|');
  t.equal(await text('lax', 'X_Y: 1'), '1|');
  t.equal(await text('strict', 'X.Y: 1'), '|');
});

t.test('pipelined requests are answered in order', async (t) => {
  const s = await startServer(t, { conf: serverConf(`${echo} location /file { }`), files: { 'html/file': 'content' } });
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const paths = Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? '/file' : `/${i}`));
  const answers = await pipeline(s, paths.map(request));
  t.strictSame(
    answers.map(({ text }) => text),
    paths.map((path) => (path === '/file' ? 'content' : `GET|${path}||a||HTTP/1.1`)),
  );

  const client = await RawClient.connect(s);
  client.send(`${request('/1')}HEAD /2 HTTP/1.1\r\nHost: a\r\n\r\nGET bad\r\n\r\n${request('/3')}`, 'GET', 'HEAD', 'GET');
  t.equal((await client.response()).status, 200);
  const head = await client.response();
  t.equal(head.header('Content-Length'), '20');
  t.equal((await client.response()).status, 400, 'the rest of the connection is lost with a bad request');
  t.equal(await client.rest(), '');
});

t.test('what a request line that cannot be read has no part of', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      'return 200; access_log %%DIR%%/parts.log parts;',
      'log_format parts "$request_method|$request_uri|$uri|$document_uri|$server_protocol";',
    ),
  });
  const rows = [
    ['BAD^ / HTTP/1.1\r\n', '-|-|-|-|-'],
    ['GET a HTTP/1.1\r\n', '-|-|-|-|-'],
    ['POST /\r\n', '-|-|-|-|-'],
    ['GET / HTTP/9.1\r\n', '-|-|-|-|'],
    ['GET /%00 HTTP/1.1\r\n', 'GET|-|||HTTP/1.1'],
    ['GET /a\r\n', 'GET|/a|/a|/a|-'],
    ['GET /a?b HTTP/1.1\r\n\r\n', 'GET|/a?b|/a|/a|HTTP/1.1'],
  ] as const;
  for (const [request] of rows) {
    await exchange(s, request);
  }
  t.strictSame(
    await waitFor(() => {
      const lines = s.read('parts.log').split('\n').slice(0, -1);
      return lines.length === rows.length && lines;
    }),
    rows.map(([, parts]) => parts),
  );
});
