// Connections to backends that are kept, `$upstream_*` and interim answers.
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { httpGet, type Response } from '../support/raw-client.js';
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
    while (responses.length < count) responses.push(await httpGet(s, path));
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

t.test('$upstream_*: one entry for each attempt; headers, cookies and trailers of the last', async (t) => {
  const origin = await startOrigin(t, (request) => {
    if (request.target === '/redirect') return { headers: { 'X-Accel-Redirect': '/second', 'X-Who': 'first' } };
    if (request.target.startsWith('/trailers'))
      return 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 12\r\n\r\n';
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
  if (!againstNginx) t.equal(await message('keepalive 1; keepalive 2;'), '"keepalive" directive is duplicate in %%FILE%%:1');
});
