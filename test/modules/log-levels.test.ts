// What the error log says of a request and of a connection at levels info and debug.
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

t.test('info: connections that end between requests', async (t) => {
  const s = await startServer(t, { conf: serverConf('client_header_timeout 200ms; keepalive_timeout 75s; location / { return 204; }') });
  const silent = await RawClient.connect(s);
  silent.end();
  await s.logged(
    /\[info\] \d+#\d+: \*\d+ client closed connection while waiting for request, client: 127\.0\.0\.1, server: 127\.0\.0\.1:\d+$/,
  );
  const slow = await RawClient.connect(s);
  await slow.closed();
  await s.logged(
    /\[info\] \d+#\d+: \*\d+ client timed out \(110: Connection timed out\) while waiting for request, client: 127\.0\.0\.1, server: 127\.0\.0\.1:\d+$/,
  );
  const kept = await RawClient.connect(s);
  await kept.send(requestText('GET', '/')).response();
  kept.end();
  await s.logged(/\[info\] \d+#\d+: \*\d+ client 127\.0\.0\.1 closed keepalive connection$/);
  const broken = await RawClient.connect(s);
  await broken.send(requestText('GET', '/')).response();
  broken.destroy(true);
  await s.logged(/\[info\] \d+#\d+: \*\d+ client 127\.0\.0\.1 closed keepalive connection \(104: Connection reset by peer\)$/);
  const half = await RawClient.connect(s);
  half.send('GET /ha');
  await s.logged('client timed out (110: Connection timed out) while reading client request line');
});

t.test('info: connections that end before a request name the address that is listened on', async (t) => {
  const key = `ssl_certificate ${certs().rsa.cert}; ssl_certificate_key ${certs().rsa.key};`;
  const s = await startServer(t, {
    conf: httpConf(`
      server { listen 127.0.0.1:%%PORT_0%% ssl; ${key} }
      server { listen 127.0.0.1:%%PORT_1%% proxy_protocol; }
      server { listen 127.0.0.1:%%PORT_2%% ssl proxy_protocol; ${key} }
      server { listen unix:%%DIR%%/plain; }
      server { listen unix:%%DIR%%/tls ssl; ${key} }
      server { listen unix:%%DIR%%/proxied proxy_protocol; }`),
  });
  const header = 'PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n';
  const hello = '\x16\x03\x01\x00\x05hello';
  const silent = 'client closed connection while';
  for (const [target, sent, line] of [
    [0, hello, 'routines::unexpected message) while SSL handshaking'],
    [0, hello.slice(0, 3), 'peer closed connection in SSL handshake while SSL handshaking'],
    [0, '', `${silent} SSL handshaking`],
    [1, 'x\r\n', 'broken header: "x" while reading PROXY protocol'],
    [1, '', `${silent} reading PROXY protocol`],
    [1, header, `${silent} waiting for request`],
    [2, 'x\r\n', 'broken header: "x" while reading PROXY protocol'],
    [2, header + hello, 'routines::unexpected message) while SSL handshaking'],
    ['plain', '', `${silent} waiting for request`],
    ['tls', hello, 'routines::unexpected message) while SSL handshaking'],
    ['tls', '', `${silent} SSL handshaking`],
    ['proxied', 'x\r\n', 'broken header: "x" while reading PROXY protocol'],
  ] as const) {
    const unix = typeof target === 'string';
    const client = await RawClient.connect(unix ? `${s.dir}/${target}` : s.port(target));
    client.send(Buffer.from(sent, 'latin1')).end();
    await client.closed();
    const address = unix ? `unix:${s.dir}/${target}` : `127.0.0.1:${s.port(target)}`;
    await s.logged(`${line}, client: ${unix ? 'unix:' : '127.0.0.1'}, server: ${address}`);
  }
});

t.test('debug: a request can be followed', async (t) => {
  const s = await startServer(t, {
    logLevel: 'debug',
    files: { 'html/there.html': 'x' },
    conf: serverConf(
      `location / { }
       location /try { try_files $uri /missing/ /there.html; }
       location /rewrite { rewrite ^/rewrite/(.*)$ /$1; }
       location /set { set $x 1; if ($arg_y) { return 201; } return 204; }
       location /limited { limit_req zone=rate; limit_conn count 3; error_page 404 = @other; }
       location @other { return 204; }
       location /cached { proxy_pass http://group; proxy_cache one; proxy_cache_valid 1m; proxy_http_version 1.1; proxy_set_header Connection ""; }
       location /dead { proxy_pass http://127.0.0.1:%%PORT_2%%; }
       location ~ ^/(?:pattern|other) { return 204; }
       location /mirrored { mirror /set; }`,
      `proxy_cache_path %%DIR%%/cache keys_zone=one:1m;
       proxy_temp_path %%DIR%%/temp;
       limit_req_zone $binary_remote_addr zone=rate:1m rate=1000r/s;
       limit_conn_zone $binary_remote_addr zone=count:1m;
       upstream group { server 127.0.0.1:%%PORT_1%%; keepalive 2; }
       server { listen 127.0.0.1:%%PORT_1%%; location / { return 200 body; } }`,
    ),
  });
  /** The lines that one request brings. */
  const ask = async (path: string): Promise<string> => {
    const before = s.log().length;
    await httpGet(s, path);
    await httpGet(s, '/end');
    await s.logged(/http close request[\s\S]*$/);
    return s.log().slice(before);
  };
  const follows = async (path: string, ...lines: readonly (string | RegExp)[]): Promise<void> => {
    const log = await ask(path);
    for (const line of lines) {
      t.match(log, line, path);
    }
  };
  await follows(
    '/there.html?a=b',
    'http process request line',
    'http process request header line',
    'http args: "a=b"',
    'test location: "/"',
  );
  await follows(
    '/there.html',
    'http cl:-1 max:1048576',
    / content phase: \d/,
    `http filename: "${s.dir}/html/there.html"`,
    'HTTP/1.1 200 OK',
  );
  await follows('/there.html', 'http output filter "/there.html?"', 'http close request');
  await follows('/try/x', 'try files handler', `trying to use file: "/try/x" "${s.dir}/html/try/x"`);
  await follows('/try/x', `trying to use dir: "/missing" "${s.dir}/html/missing"`, 'internal redirect: "/there.html?"');
  await follows('/rewrite/there.html', / rewrite phase: \d/, '"^/rewrite/(.*)$" matches "/rewrite/there.html", client:', 'uri changes: ');
  await follows('/rewrite/there.html', 'rewritten data: "/there.html", args: "", client:', 'post rewrite phase: ');
  await follows('/set', 'http script set $x', 'http script if: false');
  await follows('/pattern', 'test location: ~ "^/(?:pattern|other)"');
  await follows('/limited', 'limit_req[0]: 0 0.000', 'http special response: 404', 'using location: @other "/limited?"');
  await follows('/cached', 'http cache key: "', 'http file cache exists: -5', 'http upstream cache: -5', 'http cacheable: 1');
  await follows('/cached?2', 'http init upstream', 'get rr peer, try: 1', 'http upstream send request', 'http proxy status 200 "200 OK"');
  await follows(
    '/cached?3',
    'get keepalive peer: using connection',
    'http upstream process header',
    'free keepalive peer: saving connection',
  );
  await follows('/cached?3', 'http file cache exists: 0 e:1', `cache file: "${s.dir}/cache/`, 'http file cache send: ');
  await follows(
    '/dead',
    /connect to 127\.0\.0\.1:\d+/,
    'http next upstream, 2',
    'finalize http upstream request: 502',
    'http special response: 502',
  );
  await follows('/mirrored', 'http subrequest "/set?', /http (?:posted|run) request: "\/set\?"/);
  if (!againstNginx) {
    t.notMatch(s.log(), 'undefined');
  }
});
