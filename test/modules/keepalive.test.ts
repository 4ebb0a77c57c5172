// Connections to backends that are kept, `$upstream_*` and interim answers.
import { createServer, type Server, type Socket } from 'node:net';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, type Response, requestText } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const texts = (responses: readonly Response[]): string => responses.map(({ text }) => text).join(' ');

t.test('connections are kept, no more than so many, for so many requests, for so long', async (t) => {
  const origin = await startOrigin(t, (request) => ({
    body: `${request.connection}/${request.nth}`,
    headers: { 'X-Connection': request.header('Connection') ?? '' },
  }));
  const group = (name: string, lines: string): string => `upstream ${name} { server 127.0.0.1:${origin.port}; ${lines} }`;
  const s = await startServer(t, {
    conf: httpConf(`
      ${group('kept', 'keepalive 2;')}
      ${group('thrice', 'keepalive 1; keepalive_requests 3;')}
      ${group('short', 'keepalive 1; keepalive_timeout 1s;')}
      ${group('young', 'keepalive 1; keepalive_time 1s;')}
      ${group('none', 'keepalive 0;')}
      server {
        listen 127.0.0.1:%%PORT_0%%;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        ${['kept', 'thrice', 'short', 'young', 'none'].map((name) => `location /${name} { proxy_pass http://${name}; }`).join('\n')}
        location /closed { proxy_pass http://kept; proxy_set_header Connection close; }
      }`),
  });
  const get = async (path: string, count: number): Promise<string> => {
    const responses: Response[] = [];
    while (responses.length < count) {
      responses.push(await httpGet(s, path));
    }
    return texts(responses);
  };
  const seen = (): number => origin.connections();
  t.equal(await get('/kept', 4), '1/1 1/2 1/3 1/4');
  t.equal(await get('/closed', 1), '1/5', 'the kept connection is used, and what the backend does then is its own matter');
  let from = seen();
  t.equal(
    await get('/thrice', 5),
    [1, 2, 3]
      .map((n) => `${from + 1}/${n}`)
      .join(' ')
      .concat(` ${from + 2}/1 ${from + 2}/2`),
  );
  from = seen();
  t.equal(await get('/none', 2), `${from + 1}/1 ${from + 2}/1`);
  from = seen();
  t.equal(await get('/short', 1), `${from + 1}/1`);
  const open = origin.open();
  await waitFor(() => origin.open() < open, { what: () => 'the end of a connection that nobody used' });
  t.equal(await get('/short', 1), `${from + 2}/1`);
  from = seen();
  t.equal(await get('/young', 1), `${from + 1}/1`);
  await new Promise((done) => setTimeout(done, 1100));
  t.equal(await get('/young', 2), `${from + 1}/2 ${from + 2}/1`, 'a connection that is too old ends after its request');
});

t.test('a kept connection that ends while it waits is not an error', async (t) => {
  const origin = await startOrigin(t, { body: 'again' });
  const s = await startServer(t, {
    conf: httpConf(`
      upstream u { server 127.0.0.1:${origin.port}; keepalive 4; }
      server {
        listen 127.0.0.1:%%PORT_0%%;
        location / { proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://u; }
      }`),
  });
  await httpGet(s, '/');
  const { port } = origin;
  await origin.stop();
  const next = await startOrigin(t, { body: 'new' }, { port });
  t.equal((await httpGet(s, '/')).text, 'new');
  t.equal(next.connections(), 1);
  t.notMatch(s.log(), /upstream prematurely closed/);
});

t.test('what is no head on a kept connection is no response', { skip: againstNginx }, async (t) => {
  // What comes with a later answer might have come behind the one before.
  const origin = await startOrigin(t, ({ connection, nth }) => {
    const body = `${connection}/${nth}`;
    return `${nth === 1 ? '' : '\n'}HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  });
  const s = await startServer(t, {
    conf: httpConf(`
      upstream u { server 127.0.0.1:${origin.port} max_fails=0; keepalive 4; }
      server {
        listen 127.0.0.1:%%PORT_0%%;
        location / { proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://u; }
      }`),
  });
  t.equal(texts([await httpGet(s, '/'), await httpGet(s, '/'), await httpGet(s, '/')]), '1/1 2/1 3/1');
  t.equal(s.log().match(/upstream sent no valid header on a connection that was kept/g)?.length, 2);
  const posted = await http(s, requestText('POST', '/', { 'Content-Length': '0' }));
  t.equal(posted.status, 502, 'a request that must not be repeated fails');
  t.equal(origin.requests.length, 6);
});

t.test('$upstream_*: one entry for each attempt; headers, cookies and trailers of the last', async (t) => {
  const origin = await startOrigin(t, (request) => {
    if (request.target === '/redirect') {
      return { headers: { 'X-Accel-Redirect': '/second', 'X-Who': 'first' } };
    }
    if (request.target.startsWith('/trailers')) {
      return 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 12\r\n\r\n';
    }
    return { body: 'hello', headers: { 'X-Who': ['me', 'and me'], 'Set-Cookie': ['a=1; Path=/', 'session=abc; HttpOnly'] } };
  });
  const s = await startServer(t, {
    conf: httpConf(`
      log_format up '$uri|$upstream_addr|$upstream_status|$upstream_response_length|$upstream_connect_time|$upstream_header_time|'
                    '$upstream_response_time|$upstream_bytes_received|$upstream_bytes_sent|$upstream_http_x_who|$upstream_cookie_session|$upstream_trailer_x_sum';
      access_log %%DIR%%/up.log up;
      upstream u { server 127.0.0.1:%%PORT_1%%; server 127.0.0.1:${origin.port} backup; }
      server {
        listen 127.0.0.1:%%PORT_0%%;
        location / { return 204; }
        location /two { proxy_pass http://u; }
        location /redirect { proxy_pass http://127.0.0.1:${origin.port}; }
        location /second { proxy_pass http://127.0.0.1:${origin.port}; }
        location /trailers { proxy_http_version 1.1; proxy_pass_trailers on; proxy_pass http://127.0.0.1:${origin.port}; }
      }`),
  });
  const fields = async (path: string): Promise<string[]> => {
    await httpGet(s, path);
    const found = (): string | undefined =>
      s
        .read('up.log')
        .split('\n')
        .find((line) => line.startsWith(`${path === '/redirect' ? '/second' : path}|`));
    return (await waitFor(found, { what: () => `the line of ${path}` })).split('|').slice(1);
  };
  const time = /^0\.\d{3}$/;
  t.strictSame(
    await fields('/nothing'),
    Array.from({ length: 11 }, () => '-'),
  );
  const two = await fields('/two');
  t.strictSame(two.slice(0, 3), [`127.0.0.1:${s.port(1)}, 127.0.0.1:${origin.port}`, '502, 200', '0, 5']);
  t.match(two[3], /^-, 0\.\d{3}$/);
  t.match(two[4], /^-, 0\.\d{3}$/);
  t.match(two[5], /^0\.\d{3}, 0\.\d{3}$/);
  t.match(two[6], /^0, [1-9]\d+$/);
  t.match(two[7], /^0, [1-9]\d+$/);
  t.strictSame(two.slice(8), ['me, and me', 'abc', '-']);
  const redirected = await fields('/redirect');
  t.strictSame(redirected.slice(0, 3), [`127.0.0.1:${origin.port} : 127.0.0.1:${origin.port}`, '200 : 200', '0 : 5']);
  t.equal(redirected[8], 'me, and me');
  const trailers = await fields('/trailers');
  t.match(trailers[5], time);
  t.strictSame(trailers.slice(8), ['-', '-', '12']);
});

t.test('early_hints: 103 answers of a backend are passed on where a value says so', async (t) => {
  const origin = await startOrigin(
    t,
    'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\nLink: </a.css>; rel=preload\r\n\r\nok',
  );
  const s = await startServer(t, {
    conf: httpConf(`
      map $http_sec_fetch_mode $hints { navigate 1; }
      server {
        listen 127.0.0.1:%%PORT_0%%;
        location / { early_hints $hints; proxy_pass http://127.0.0.1:${origin.port}; }
        location /zero { early_hints 0; proxy_pass http://127.0.0.1:${origin.port}; }
        location /never { proxy_pass http://127.0.0.1:${origin.port}; }
      }`),
  });
  const navigate = { 'Sec-Fetch-Mode': 'navigate' };
  const hinted = await httpGet(s, '/', navigate);
  t.strictSame([hinted.status, hinted.text], [200, 'ok']);
  t.strictSame(
    hinted.interim.map((response) => [response.status, response.header('Link')]),
    [[103, '</a.css>; rel=preload']],
  );
  for (const [path, headers] of [
    ['/', {}],
    ['/zero', navigate],
    ['/never', navigate],
  ] as const) {
    const plain = await httpGet(s, path, headers);
    t.strictSame([plain.status, plain.text, plain.interim.length], [200, 'ok', 0], path);
  }
});

t.test('messages', async (t) => {
  const message = (lines: string): Promise<string | undefined> =>
    configMessage(t, `events {} http { upstream u { server 127.0.0.1; ${lines} } }`);
  t.equal(await message('keepalive 1 local;'), undefined);
  t.equal(await message('keepalive some;'), 'invalid value "some" in "keepalive" directive in %%FILE%%:1');
  t.equal(await message('keepalive 1 global;'), 'invalid parameter "global" in %%FILE%%:1');
  t.equal(await message('keepalive_requests x;'), '"keepalive_requests" directive invalid number in %%FILE%%:1');
  t.equal(await message('keepalive_timeout x;'), '"keepalive_timeout" directive invalid value in %%FILE%%:1');
  t.equal(await message('keepalive_time 1s; keepalive_time 1s;'), '"keepalive_time" directive is duplicate in %%FILE%%:1');
  if (!againstNginx) {
    t.equal(await message('keepalive 1; keepalive 2;'), '"keepalive" directive is duplicate in %%FILE%%:1');
  }
});

/** What a client gets who asks for what the backend has said, unasked, behind another response. */
const FORGED = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged';

t.test('bytes behind a response end the connection', async (t) => {
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n';
  const responses: Readonly<Record<string, string>> = {
    '/head': `${ok}`,
    '/no-content': 'HTTP/1.1 204 No Content\r\n\r\n',
    '/not-modified': 'HTTP/1.1 304 Not Modified\r\n\r\n',
    '/empty': 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    '/length': `${ok}body`,
    '/chunked': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n',
    '/trailers': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nA: b\r\n\r\n',
    '/page': 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n',
    '/limited': `${ok}body`,
    '/unbuffered': `${ok}body`,
    '/cached': 'HTTP/1.1 204 No Content\r\nCache-Control: max-age=60\r\n\r\n',
  };
  const origin = await startOrigin(t, ({ target }) => (responses[target] === undefined ? { body: 'own' } : responses[target] + FORGED));
  const s = await startServer(t, {
    conf: httpConf(`
      proxy_cache_path %%DIR%%/cache keys_zone=kept:1m;
      upstream origin { server 127.0.0.1:${origin.port}; keepalive 1; }
      server {
        listen 127.0.0.1:%%PORT_0%%;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        location / { proxy_pass http://origin; }
        location /trailers { proxy_pass http://origin; proxy_pass_trailers on; }
        location /page { proxy_pass http://origin; proxy_intercept_errors on; error_page 404 = /own; }
        location /limited { proxy_pass http://origin; proxy_limit_rate 4; }
        location /unbuffered { proxy_pass http://origin; proxy_buffering off; }
        location /cached { proxy_pass http://origin; proxy_cache kept; }
      }`),
  });
  t.equal((await httpGet(s, '/own')).text, 'own');
  for (const path of Object.keys(responses)) {
    const before = origin.connections();
    await http(s, requestText(path === '/head' ? 'HEAD' : 'GET', path));
    t.equal((await httpGet(s, '/own')).text, 'own', path);
    t.equal(origin.connections(), before + 1, `${path}: the next request has a connection of its own`);
  }
  // A connection that nobody uses ends when something comes on it.
  const idle = await startOrigin(t, async ({ connection, nth }, reply) => {
    await reply.write(`HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n${connection}/${nth}`);
    if (nth === 2) {
      await reply.write('x');
    }
    return undefined;
  });
  const kept = await startServer(t, {
    conf: httpConf(`
      upstream origin { server 127.0.0.1:${idle.port}; keepalive 1; }
      server {
        listen 127.0.0.1:%%PORT_0%%;
        location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; }
      }`),
  });
  t.equal((await httpGet(kept, '/')).text, '1/1');
  t.equal((await httpGet(kept, '/')).text, '1/2');
  await waitFor(() => idle.open() === 0, { what: () => 'the end of the idle connection' });
  t.equal((await httpGet(kept, '/')).text, '2/1');
});

t.test('bytes behind a response of memcached or FastCGI end the connection', async (t) => {
  let connections = 0;
  const answers: Readonly<Record<string, string>> = { '/found': 'VALUE /found 0 4\r\nbody\r\nEND\r\n', '/missing': 'END\r\n' };
  const memcached = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const key = bytes.toString('latin1').slice(4, -2);
      socket.write(
        answers[key] === undefined ? `VALUE ${key} 0 3\r\nown\r\nEND\r\n` : `${answers[key]}VALUE /own 0 6\r\nforged\r\nEND\r\n`,
      );
    });
  });
  const sockets = new Set<Socket>();
  memcached.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((done) => memcached.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    for (const socket of sockets) {
      socket.destroy();
    }
    memcached.close();
  });
  const record = (type: number, content: string): string =>
    String.fromCharCode(1, type, 0, 1, content.length >> 8, content.length & 255, 0, 0) + content;
  const page = (text: string): string => record(6, `Content-Type: text/plain\r\n\r\n${text}`) + record(6, '') + record(3, '\0'.repeat(8));
  let passes = 0;
  const fastcgi = createServer((socket) => {
    const nth = ++passes;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', () => socket.write(Buffer.from(nth === 1 ? page('body') + page('forged') : page('own'), 'latin1')));
  });
  await new Promise<void>((done) => fastcgi.listen(0, '127.0.0.1', done));
  t.teardown(() => fastcgi.close());
  const port = (server: Server): number => (server.address() as { port: number }).port;
  const s = await startServer(t, {
    conf: httpConf(`
      upstream memcached { server 127.0.0.1:${port(memcached)}; keepalive 1; }
      upstream fastcgi { server 127.0.0.1:${port(fastcgi)}; keepalive 1; }
      server {
        listen 127.0.0.1:%%PORT_0%%;
        location / { set $memcached_key $uri; memcached_pass memcached; }
        location /fastcgi { fastcgi_pass fastcgi; fastcgi_keep_conn on; }
      }`),
  });
  t.equal((await httpGet(s, '/found')).text, 'body');
  t.equal((await httpGet(s, '/own')).text, 'own');
  t.equal((await httpGet(s, '/missing')).status, 404);
  t.equal((await httpGet(s, '/own')).text, 'own');
  t.equal(connections, 3, 'the one without bytes behind its response is used again');
  t.equal((await httpGet(s, '/fastcgi')).text, 'body');
  t.equal((await httpGet(s, '/fastcgi')).text, 'own');
});
