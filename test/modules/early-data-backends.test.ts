// What backends are told of early data, and what becomes of their 425 (RFC 8470): early, and behind the handshake.
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { whyNoEarlyData } from '../../src/worker/net/openssl/early-data.js';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { early, OpenSslClient, request, ticket } from '../support/early-client.js';
import { noQuicClient, quicGet } from '../support/gtlsclient.js';
import { block, END_HEADERS, END_STREAM, request as fields, frame, settings, T } from '../support/http2-client.js';
import { makePrefix } from '../support/prefix.js';
import { httpConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const why = againstNginx ? '' : whyNoEarlyData();
const { rsa } = certs();
/** On the other engine early data is refused, so that all is late. */
const onRing = againstNginx || process.env['SLUICE_TEST_NET_ENGINE'] !== 'libuv';

const conf = (listen: string): string =>
  `worker_processes 2;\n${httpConf(`
  ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
  proxy_cache_path %%DIR%%/cache keys_zone=cache:1m;
  log_format seen '$uri $status $upstream_status';
  access_log %%DIR%%/seen.log seen;
  upstream group { server 127.0.0.1:%%PORT_1%%; server 127.0.0.1:%%PORT_1%%; }
  server {
    listen 127.0.0.1:%%PORT_1%%;
    access_log off;
    location / { if ($http_early_data) { return 425 "too early"; } return 200 "late $request_method $uri <$http_early_data>"; }
    location /tells { return 200 "backend <$http_early_data>"; }
  }
  server {
    ${listen}
    server_name localhost; ssl_early_data on;
    location / { proxy_set_header Early-Data $ssl_early_data; proxy_pass http://group; }
    location /tells { proxy_set_header Early-Data $ssl_early_data; proxy_pass http://group; }
    location /silent { proxy_pass http://group; }
    location /page { proxy_set_header Early-Data $ssl_early_data; proxy_pass http://group; proxy_intercept_errors on; error_page 425 @page; }
    location @page { return 425 "come again"; }
    location /cached {
      proxy_set_header Early-Data $ssl_early_data; proxy_pass http://group; proxy_cache cache; proxy_cache_valid 200 1h;
      add_header X-Cache $upstream_cache_status always;
    }
    location /next { proxy_set_header Early-Data $ssl_early_data; proxy_pass http://group; proxy_next_upstream error timeout http_403 http_429 http_500; }
    location = /who { return 200 "$ssl_early_data $pid"; }
    location /only-late { if ($ssl_early_data) { return 425 "not early"; } return 200 "late by itself"; }
  }`)}`;

t.test('what backends make of early data', { skip: why || false }, async (t) => {
  const { dir } = await makePrefix(t, {});
  const s = await startServer(t, { conf: conf('listen 127.0.0.1:%%PORT_0%% ssl; http2 on;') });
  const port = s.port(0);
  await ticket(port, `${dir}/session`);
  /** The answer to a request in early data, and to the same one behind the handshake, on one connection. */
  const both = async (path: string, method = 'GET', head = '', body = ''): Promise<readonly [string, string]> => {
    const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`;
    const first = request(path, `${head}${length}\r\n${body}`, method);
    const out = await early(port, dir, first, request(path, `${head}${length}Connection: close\r\n\r\n${body}`, method));
    const answers = out.split(/(?=HTTP\/1\.1 \d)/).slice(1);
    t.equal(answers.length, onRing ? 2 : 1, `${path}: ${out}`);
    return onRing ? [answers[0]!, answers[1]!] : ['', answers[0]!];
  };
  const rows: readonly (readonly [path: string, method: string, body: string, early: RegExp, late: RegExp])[] = [
    ['/plain', 'GET', '', /^HTTP\/1\.1 425 ?\r\n[\s\S]*\r\n\r\ntoo early/, /^HTTP\/1\.1 200 OK[\s\S]*late GET \/plain <>/],
    ['/plain', 'POST', 'a body', /^HTTP\/1\.1 425\b[\s\S]*too early/, /200 OK[\s\S]*late POST \/plain <>/],
    ['/tells', 'GET', '', /200 OK[\s\S]*backend <1>/, /200 OK[\s\S]*backend <>/],
    ['/silent', 'GET', '', /200 OK[\s\S]*late GET \/silent <>/, /200 OK[\s\S]*late GET \/silent <>/],
    ['/page', 'GET', '', /^HTTP\/1\.1 425\b[\s\S]*come again/, /200 OK[\s\S]*late GET \/page <>/],
    ['/next', 'GET', '', /^HTTP\/1\.1 425\b[\s\S]*too early/, /200 OK[\s\S]*late GET \/next <>/],
    [
      '/cached',
      'GET',
      '',
      /^HTTP\/1\.1 425\b[\s\S]*X-Cache: MISS[\s\S]*too early/,
      /200 OK[\s\S]*X-Cache: MISS[\s\S]*late GET \/cached <>/,
    ],
    ['/only-late', 'GET', '', /^HTTP\/1\.1 425\b[\s\S]*not early/, /200 OK[\s\S]*late by itself/],
  ];
  for (const [path, method, body, first, second] of rows) {
    const [before, after] = await both(path, method, '', body);
    if (onRing) {
      t.match(before, first, `${method} ${path} early`);
    }
    t.match(after, second, `${method} ${path} late`);
  }
  const [hit] = await both('/cached');
  if (onRing) {
    t.match(hit, /200 OK[\s\S]*X-Cache: HIT/, 'what is cached is no risk');
    t.match(
      await waitFor(() => /\/cached 200 -\n/.test(s.read('seen.log')) && s.read('seen.log')),
      /\/next 425 425\n/,
      'asked of one backend',
    );
  }
  // A client that says so itself, as a proxy in front does.
  const [own, later] = await both('/tells', 'GET', 'Early-Data: 1\r\n');
  t.match(onRing ? own : '<1>', /<1>/);
  t.match(later, /backend <>/, 'the directive has the last word, as in nginx');
});

t.test('over HTTP/2', { skip: why || !onRing || false }, async (t) => {
  const { dir } = await makePrefix(t, {});
  const s = await startServer(t, { conf: conf('listen 127.0.0.1:%%PORT_0%% ssl; http2 on;') });
  const port = s.port(0);
  const get = (id: number, path: string): string =>
    frame(T.HEADERS, END_STREAM | END_HEADERS, id, block(fields('GET', path))).toString('latin1');
  await ticket(port, `${dir}/session`, '-alpn', 'h2');
  writeFileSync(
    `${dir}/early`,
    `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${settings().toString('latin1')}${get(1, '/plain')}${get(3, '/only-late')}`,
    'latin1',
  );
  const client = new OpenSslClient(port, ['-sess_in', `${dir}/session`, '-early_data', `${dir}/early`, '-alpn', 'h2']);
  t.teardown(() => client.kill());
  await client.until('too early');
  await client.until('not early');
  client.send(get(5, '/plain') + get(7, '/only-late'));
  await client.until('late GET /plain <>');
  await client.until('late by itself');
});

t.test('over HTTP/3', { skip: why || noQuicClient }, async (t) => {
  const s = await startServer(t, { conf: conf('listen 127.0.0.1:%%PORT_0%% quic;') });
  const kept = [`--session-file=${join(s.dir, 'session')}`, `--tp-file=${join(s.dir, 'parameters')}`];
  const ask = async (path: string, ...more: string[]): Promise<string> => {
    const { heads, bodies } = await quicGet(s.port(0), [path], [...kept, ...more]);
    return `${heads[0]?.[':status']} ${bodies[path.slice(1)]}`;
  };
  t.equal(await ask('/plain', '--disable-early-data'), '200 late GET /plain <>');
  t.equal(await ask('/plain'), '425 too early');
  t.equal(await ask('/page'), '425 come again');
  t.equal(await ask('/tells'), '200 backend <1>');
  t.equal(await ask('/plain', '--disable-early-data'), '200 late GET /plain <>');

  await t.test('by whichever worker, before a reload, while there is one, and after it', async (t) => {
    const workers = new Set<string>();
    const several = async (): Promise<void> => {
      for (let i = 0; i < 8; i++) {
        const { heads, bodies } = await quicGet(s.port(0), ['/only-late', '/who'], kept);
        t.equal(`${heads[0]?.[':status']} ${bodies['only-late']}`, '425 not early');
        const [early, pid] = bodies['who']!.split(' ');
        t.equal(early, '1');
        workers.add(pid!);
      }
    };
    await several();
    t.equal(workers.size, 2);
    await Promise.all([s.reload(), several()]);
    await several();
    t.ok(workers.size >= 4, `${workers.size} processes`);
  });
});

t.test('a client that leaves while its early request is under way', { skip: why || !onRing || againstNginx || false }, async (t) => {
  const { dir } = await makePrefix(t, {});
  let [asked, left] = ['', false];
  const backend = createServer((socket) => {
    socket.on('data', (bytes) => (asked += bytes.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () => (left = true));
  });
  await new Promise<void>((done) => backend.listen(0, '127.0.0.1', done));
  t.teardown(() => backend.close());
  const { port } = backend.address() as AddressInfo;
  const s = await startServer(t, {
    conf: httpConf(`
      ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
      log_format seen '$uri $status'; access_log %%DIR%%/seen.log seen;
      server { listen 127.0.0.1:%%PORT_0%% ssl; server_name localhost; ssl_early_data on; location / { return 200 ok; }
        location /silent { proxy_set_header Early-Data $ssl_early_data; proxy_pass http://127.0.0.1:${port}; } }`),
  });
  await ticket(s.port(0), `${dir}/session`);
  writeFileSync(`${dir}/early`, request('/silent', '\r\n'));
  const client = new OpenSslClient(s.port(0), ['-sess_in', `${dir}/session`, '-early_data', `${dir}/early`]);
  await waitFor(() => asked.includes('\r\n\r\n'));
  t.match(asked, /\r\nEarly-Data: 1\r\n/);
  client.kill();
  await waitFor(() => left);
  await waitFor(() => /\/silent 499\n/.test(s.read('seen.log')));
  t.match(await early(s.port(0), dir, request('/')), 'ok', 'others are served');
});
