// What is measured. A row is one configuration and one kind of request, the same for every server. `server` goes into
// the server block, `http` around it, and `stream` into a server of stream in place of both; %%BACKEND%% is the address of a small nginx
// that answers proxied requests, with the files under /files/; %%SINK%% that of a server that reads uploads and echoes WebSockets,
// %%FASTCGI%% that of a small FastCGI responder, %%CONF%% the folder of shipped configuration.
// `body` is what each request of a row for HTTP/2 posts.
// `main` goes into the main context; %%STORE%% is the address of a Redis.
// %%ECHO%% is the address of a backend that sends datagrams back.
// `nginxLoses`: the share of requests that nginx may fail.
// `workers`: how many there are, on all cores, where one on the first core is not the matter. `neighbour`: clients come one after another
// while a worker is busy.
// `expect` names what the answer must have (status 200 unless told). `goal` is the ratio of CPU time to nginx's that docs/performance.md
// aims at; `slowest`: the ratio of what the slowest hundredth of requests waits. `only`: what stands in the configuration of one server in
// place of the row's. `prepare` writes files.
// `http3`: how many connections of HTTP/3 there are, and requests at a time on each; `each`: one request a connection; `idle`: in place of
// time, the memory of so many connections on which nothing moves.
// `seconds`: a round takes at least so long.

import { http3Rows } from './http3-rows.mjs';
import { tokenRows } from './token-rows.mjs';

const KB = 1024;

/** Words in a fixed, shuffled order between tags: compresses about as well as a real page. */
function text(length) {
  const syllables = ['ka', 'lo', 'mi', 'ne', 'ru', 'sta', 'ver', 'do', 'pe', 'qui', 'an', 'tor', 'el', 'sub', 'ri', 'gen'];
  let seed = 12345;
  const next = (below) => ((seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) >> 16) % below;
  let out = '';
  while (out.length < length) {
    let word = '';
    for (let n = 1 + next(4); n > 0; n--) {
      word += syllables[next(syllables.length)];
    }
    out += next(12) === 0 ? `</p>\n<p class="${word}">` : `${word} `;
  }
  return out.slice(0, length);
}

/** Files under the root, by name. */
export const files = {
  '1k.html': text(KB),
  '10k.html': text(10 * KB),
  '64k.bin': text(64 * KB),
  '20m.bin': text(64 * KB).repeat(320),
  ...Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`many/${i}.html`, text(KB)])),
};

/** Written only when the row is asked for: it is large. */
export const largeFile = { name: '100m.bin', length: 100 * KB * KB };

/** The date of all files, for the conditional request. */
export const modified = new Date('2024-05-06T07:08:09Z');

const toBackend = (address) => `proxy_pass http://${address}; proxy_http_version 1.1; proxy_set_header Connection "";`;
const toSecureBackend = (address) => toBackend(address).replace('http:', 'https:');
const keptSecureBackend = 'upstream backend { server %%SECURE%%; keepalive 64; }';
const keptBackend = 'upstream backend { server %%BACKEND%%; keepalive 64; }';
const keptResponder = 'upstream responder { server %%FASTCGI%%; keepalive 64; }';
const toResponder = 'include %%CONF%%/fastcgi.conf; fastcgi_pass responder; fastcgi_keep_conn on;';
const rateZones = (key) => `limit_req_zone ${key} zone=rate:10m rate=1000000r/s; limit_conn_zone ${key} zone=count:10m;`;
const inZones = 'limit_req zone=rate burst=100000 nodelay; limit_conn count 10000;';

const certificate = 'ssl_certificate %%DIR%%/tls.crt; ssl_certificate_key %%DIR%%/tls.key;';

/** A JSON Web Token that `jwt` of handlers.js accepts. */
export const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSIsImV4cCI6NDAwMDAwMDAwMH0.SxycXOe7P3mVqATbGnQIDiAFT7slLPiXFmZy9PMw3os';

/** A row about JavaScript; an nginx may have no njs. */
const javaScript = (name, what, goal) => ({
  name,
  what,
  goal,
  optional: true,
  http: 'js_import bench from %%BENCH%%/handlers.js; js_set $value bench.value;',
  paths: ['/'],
});

export const rows = [
  {
    name: 'return200',
    what: 'return 200',
    goal: 1,
    slowest: 1.1,
    server: 'location / { return 200 ok; }',
    caddy: 'respond ok',
    haproxy: 'http-request return status 200 content-type text/plain string ok',
    paths: ['/'],
  },
  { name: 'static1k', what: 'static file of 1 KB', goal: 0.8, server: 'location / { }', caddy: 'file_server', paths: ['/1k.html'] },
  {
    name: 'static1k300',
    what: '300 different files of 1 KB',
    goal: 0.9,
    server: 'location / { }',
    caddy: 'file_server',
    paths: Array.from({ length: 300 }, (_, i) => `/many/${i}.html`),
  },
  { name: 'static64k', what: 'static file of 64 KB', goal: 0.9, server: 'location / { }', caddy: 'file_server', paths: ['/64k.bin'] },
  {
    name: 'static100m',
    what: 'static file of 100 MB (CPU per MB)',
    goal: 1.1,
    server: 'location / { }',
    caddy: 'file_server',
    paths: ['/100m.bin'],
    connections: 8,
    perMegabyte: true,
  },
  {
    name: 'notmod304',
    what: 'conditional request answered 304',
    goal: 1,
    server: 'location / { }',
    caddy: 'file_server',
    paths: ['/1k.html'],
    headers: { 'If-Modified-Since': modified.toUTCString() },
    expect: { status: 304 },
  },
  {
    name: 'gzip10k',
    what: '10 KB page with gzip',
    goal: 0.7,
    server: 'gzip on; location / { }',
    caddy: 'encode gzip\n  file_server',
    paths: ['/10k.html'],
    headers: { 'Accept-Encoding': 'gzip' },
    expect: { 'content-encoding': 'gzip' },
  },
  {
    name: 'proxy',
    what: 'proxied small response, kept connections',
    goal: 0.95,
    http: keptBackend,
    server: `location / { ${toBackend('backend')} }`,
    caddy: 'reverse_proxy %%BACKEND%%',
    haproxy: 'default_backend backend\nbackend backend\n  server one %%BACKEND%%',
    paths: ['/'],
  },
  {
    name: 'proxy-http2',
    what: 'proxied small response, HTTP/2 to the backend',
    goal: 1.2,
    http: keptBackend,
    server: 'location / { proxy_pass http://backend; proxy_http_version 2; }',
    paths: ['/'],
  },
  {
    name: 'grpc',
    what: 'unary call of gRPC',
    goal: 1.2,
    // A frame of a call that is over, on a connection that is kept, fails the next call there: "frame for unknown stream".
    nginxLoses: 0.001,
    http2: true,
    connections: 16,
    http: 'upstream backend { server %%BACKEND%%; keepalive 512; }',
    server: 'http2 on; keepalive_requests 100000000; location / { grpc_pass backend; }',
    paths: ['/grpc'],
    body: '\0\0\0\0\x05hello',
    headers: { 'Content-Type': 'application/grpc', TE: 'trailers' },
    expect: { 'content-type': 'application/grpc' },
  },
  {
    name: 'proxy64k',
    what: 'proxied response of 64 KB',
    goal: 1,
    http: keptBackend,
    server: `location / { ${toBackend('backend')} }`,
    caddy: 'reverse_proxy %%BACKEND%%',
    haproxy: 'default_backend backend\nbackend backend\n  server one %%BACKEND%%',
    paths: ['/files/64k.bin'],
  },
  {
    name: 'proxy-tls',
    what: 'proxied small response, TLS to the backend, kept connections',
    goal: 1.1,
    http: keptSecureBackend,
    server: `location / { ${toSecureBackend('backend')} }`,
    paths: ['/'],
  },
  {
    name: 'proxy64k-tls',
    what: 'proxied response of 64 KB, the same',
    goal: 1.1,
    http: keptSecureBackend,
    server: `location / { ${toSecureBackend('backend')} }`,
    paths: ['/files/64k.bin'],
  },
  {
    name: 'proxy-resumption',
    what: 'proxied small response, each with a TLS handshake to the backend that resumes a session',
    goal: 1.3,
    server: 'location / { proxy_pass https://%%SECURE%%; proxy_http_version 1.0; }',
    paths: ['/'],
  },
  {
    name: 'proxy100m',
    what: 'proxied response of 100 MB (CPU per MB)',
    goal: 0.9,
    http: keptBackend,
    server: `location / { ${toBackend('backend')} }`,
    caddy: 'reverse_proxy %%BACKEND%%',
    haproxy: 'default_backend backend\nbackend backend\n  server one %%BACKEND%%',
    paths: ['/files/100m.bin'],
    connections: 8,
    perMegabyte: true,
  },
  {
    name: 'proxy-gzip',
    what: 'proxied page of 10 KB with gzip',
    goal: 1.1,
    http: keptBackend,
    server: `gzip on; gzip_proxied any; location / { ${toBackend('backend')} }`,
    caddy: 'encode gzip\n  reverse_proxy %%BACKEND%%',
    paths: ['/files/10k.html'],
    headers: { 'Accept-Encoding': 'gzip' },
    expect: { 'content-encoding': 'gzip' },
  },
  {
    name: 'proxy-brotli',
    what: 'the same with brotli, where nginx has the module',
    goal: 1.1,
    optional: true,
    http: keptBackend,
    server: `brotli on; location / { ${toBackend('backend')} }`,
    paths: ['/files/10k.html'],
    headers: { 'Accept-Encoding': 'br' },
    expect: { 'content-encoding': 'br' },
  },
  ...[
    ['upload1m', 'upload of 1 MB to a backend', 1, ''],
    ['upload1m-raw', 'the same without buffering', 1, 'proxy_request_buffering off;'],
    ['upload100m', 'upload of 100 MB to a backend (CPU per MB)', 100, ''],
    ['upload100m-raw', 'the same without buffering', 100, 'proxy_request_buffering off;'],
  ].map((/** @type {any[]} */ [name, what, megabytes, buffering]) => ({
    name,
    what,
    goal: 1.1,
    http: 'upstream sink { server %%SINK%%; keepalive 64; }',
    server: `client_max_body_size 0; location / { ${toBackend('sink')} ${buffering} }`,
    caddy: 'reverse_proxy %%SINK%%',
    haproxy: 'default_backend sink\nbackend sink\n  server one %%SINK%%',
    paths: ['/'],
    upload: megabytes * KB * KB,
    connections: megabytes > 1 ? 2 : 8,
    seconds: megabytes > 1 ? 5 : 1,
    perMegabyte: megabytes > 1,
  })),
  ...[1, 64].map((size) => ({
    name: `websocket${size}k`,
    what: `WebSocket message of ${size} KB, echoed by a backend`,
    goal: 1.1,
    server: `location / { proxy_pass http://%%SINK%%; proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection upgrade; }`,
    caddy: 'reverse_proxy %%SINK%%',
    haproxy: 'default_backend sink\nbackend sink\n  server one %%SINK%%',
    paths: ['/'],
    message: size * KB,
  })),
  {
    name: 'fastcgi',
    what: 'small response of a FastCGI responder, kept connections',
    goal: 1.1,
    http: keptResponder,
    server: `location / { ${toResponder} }`,
    caddy: 'reverse_proxy %%FASTCGI%% {\n    transport fastcgi {\n      root /\n    }\n  }',
    paths: ['/index.php?a=b'],
  },
  {
    name: 'fastcgi-gzip',
    what: 'page of 10 KB of a FastCGI responder, with gzip',
    goal: 1.1,
    http: keptResponder,
    server: `gzip on; location / { ${toResponder} }`,
    caddy: 'encode gzip\n  reverse_proxy %%FASTCGI%% {\n    transport fastcgi {\n      root /\n    }\n  }',
    paths: ['/10k.html'],
    headers: { 'Accept-Encoding': 'gzip' },
    expect: { 'content-encoding': 'gzip' },
  },
  {
    name: 'cachehit',
    what: 'cache HIT of 600 bytes',
    goal: 0.7,
    http: 'proxy_cache_path %%DIR%%/cache keys_zone=bench:10m;',
    server: 'location / { proxy_pass http://%%BACKEND%%; proxy_cache bench; proxy_cache_valid 200 1h; }',
    haproxy: `http-request cache-use bench
http-response cache-store bench
http-response set-header Cache-Control max-age=3600
default_backend backend
cache bench
  total-max-size 10
  max-age 3600
backend backend
  server one %%BACKEND%%`,
    paths: ['/600'],
  },
  {
    name: 'limits',
    what: 'limit_req and limit_conn on a file of 1 KB',
    goal: 1.1,
    http: rateZones('$binary_remote_addr'),
    server: `location / { ${inZones} }`,
    paths: ['/1k.html'],
  },
  {
    name: 'limits1000',
    what: 'the same with a thousand keys in turn',
    goal: 1.1,
    http: rateZones('$arg_k'),
    server: `location / { ${inZones} }`,
    paths: Array.from({ length: 1000 }, (_, i) => `/1k.html?k=10.${(i * 7919) % 1000}`),
  },
  {
    name: 'limits-fleet',
    what: 'limit_req of a thousand keys, which sluice shares with other machines; nginx counts for itself',
    goal: 1.4,
    optional: true,
    http: 'limit_req_zone $arg_k zone=rate:10m rate=1000000r/s;',
    server: 'location / { limit_req zone=rate burst=100000 nodelay; }',
    only: {
      sluice: {
        main: 'shared_store bench { server %%STORE%%; timeout 1s; }',
        http: 'limit_req_zone $arg_k zone=rate:10m rate=1000000r/s sync;',
      },
    },
    paths: Array.from({ length: 1000 }, (_, i) => `/1k.html?k=10.${(i * 7919) % 1000}`),
  },
  ...[
    ['small', 'js_content: a small answer', 0.5],
    ['json', 'js_content: writes and reads JSON of 90 KB', 0.1],
    ['jwt', 'js_content: checks a JSON Web Token', 0.1],
    ['template', 'js_content: a page of 200 lines from a template', 0.1],
  ].map(([name, what, goal]) => ({
    ...javaScript(`js-${name}`, what, goal),
    server: `location / { js_content bench.${name}; }`,
    ...(name === 'jwt' ? { headers: { Authorization: `Bearer ${token}` } } : {}),
  })),
  {
    ...javaScript('js-set', 'return 200 with a variable of js_set', 1.25),
    server: 'location / { return 200 $value; }',
  },
  {
    name: 'js-fetch',
    what: 'Hono; beside node: on node:http with @hono/node-server',
    optional: true,
    http: 'js_import app from %%BENCH%%/app.cjs;',
    server: 'location / { js_content app; }',
    node: 'app.cjs',
    paths: ['/'],
  },
  ...tokenRows,
  {
    name: 'jsonlog',
    what: 'file of 1 KB with a JSON access log',
    goal: 1.1,
    http: `log_format json escape=json '{"time":"$time_iso8601","addr":"$remote_addr","request":"$request","status":$status,"bytes":$body_bytes_sent,'
      '"referer":"$http_referer","agent":"$http_user_agent","seconds":$request_time}';`,
    server: 'access_log %%DIR%%/access.log json; location / { }',
    caddy: 'log {\n    output file %%DIR%%/access.log\n    format json\n  }\n  file_server',
    paths: ['/1k.html'],
    headers: { 'User-Agent': 'bench "quoted"', Referer: 'http://localhost/' },
  },
  {
    name: 'tls',
    what: 'file of 1 KB over TLS',
    goal: 1.1,
    tls: 'ecdsa',
    server: `${certificate} location / { }`,
    caddy: 'file_server',
    haproxy: 'http-request return status 200 content-type text/html file %%DOCS%%/1k.html',
    paths: ['/1k.html'],
  },
  ...['ecdsa', 'rsa'].flatMap((key) => [
    {
      name: `handshake-${key}`,
      what: `a full TLS handshake and one request, ${key === 'rsa' ? 'RSA of 2048 bits' : 'ECDSA P-256'}`,
      goal: 1.3,
      tls: key,
      server: `${certificate} ssl_session_tickets off; keepalive_timeout 0; location / { }`,
      caddy: 'file_server',
      haproxy: 'http-request return status 200 content-type text/html file %%DOCS%%/1k.html',
      paths: ['/1k.html'],
      headers: { Connection: 'close' },
    },
  ]),
  {
    name: 'resumption',
    what: 'a TLS handshake that resumes a session, and one request',
    goal: 1.2,
    tls: 'ecdsa',
    resumes: true,
    server: `${certificate} ssl_session_cache shared:tls:10m; keepalive_timeout 0; location / { }`,
    caddy: 'file_server',
    haproxy: 'http-request return status 200 content-type text/html file %%DOCS%%/1k.html',
    paths: ['/1k.html'],
  },
  ...[
    ['h2-return200', 'return 200 over HTTP/2, 16 connections of 32 streams', 1.3, undefined, 'location / { return 200 ok; }', '/'],
    ['h2-tls1k', 'the same, a file of 1 KB over TLS', 1.2, 'ecdsa', 'location / { }', '/1k.html'],
    ['h2-static64k', 'the same, a file of 64 KB', 1.2, undefined, 'location / { }', '/64k.bin'],
    ['h2-proxy', 'the same, a small response of a backend', 1.2, undefined, `location / { ${toBackend('backend')} }`, '/'],
    [
      'h2-idle100',
      'h2-return200 beside a connection with 100 streams on which nothing moves',
      1.3,
      undefined,
      `location / { return 200 ok; } location /wait { client_body_timeout 1h; ${toBackend('backend')} }`,
      '/',
      { count: 100, path: '/wait' },
    ],
  ].map(([name, what, goal, tls, location, path, idleStreams]) => ({
    name,
    what,
    goal,
    ...(tls === undefined ? {} : { tls }),
    http2: true,
    ...(idleStreams === undefined ? {} : { idleStreams }),
    connections: 16,
    http: 'upstream backend { server %%BACKEND%%; keepalive 512; }',
    server: `${tls === undefined ? '' : certificate} http2 on; keepalive_requests 100000000; ${location}`,
    paths: [path],
  })),
  ...http3Rows(certificate),
  {
    ...javaScript('busy-neighbour', 'new connections while one of two workers computes: p50 and p99 count', 1.5),
    server: 'location / { return 200 ok; } location = /busy { js_content bench.busy; }',
    neighbour: true,
    workers: 2,
    seconds: 5,
  },
  {
    name: 'udp',
    what: 'a datagram of 64 bytes there and back, in sessions that last',
    goal: 2,
    udp: true,
    stream: 'proxy_pass %%ECHO%%;',
    paths: [],
  },
  {
    name: 'udpsession',
    what: 'a datagram there and back, each in a session of its own',
    goal: 2,
    udp: true,
    stream: 'proxy_pass %%ECHO%%; proxy_responses 1;',
    paths: [],
  },
  {
    name: 'stream',
    what: 'a small exchange through a proxy of TCP, kept connections',
    goal: 1.3,
    stream: 'proxy_pass %%BACKEND%%;',
    paths: ['/'],
  },
  {
    name: 'stream1m',
    what: '1 MB through a proxy of TCP (CPU per MB)',
    goal: 1.3,
    stream: 'proxy_pass %%BACKEND%%;',
    paths: ['/1m.bin'],
    connections: 8,
    perMegabyte: true,
  },
  {
    name: 'stream-connect',
    what: 'a connection through a proxy of TCP, set up, used once and torn down',
    goal: 1.5,
    stream: 'proxy_pass %%BACKEND%%;',
    paths: ['/'],
    headers: { Connection: 'close' },
  },
  {
    name: 'stream-tls',
    what: 'a small exchange, its TLS taken off',
    goal: 1.2,
    tls: 'ecdsa',
    stream: `${certificate} proxy_pass %%BACKEND%%;`,
    paths: ['/'],
  },
  {
    name: 'stream-tls1m',
    what: '1 MB, TLS put on (CPU per MB)',
    goal: 1.2,
    tls: 'ecdsa',
    stream: `${certificate} proxy_pass %%BACKEND%%;`,
    paths: ['/1m.bin'],
    connections: 8,
    perMegabyte: true,
  },
];
