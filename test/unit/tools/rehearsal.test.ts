import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { loadConfiguration } from '../../../src/tools/configuration.js';
import { Rehearsal } from '../../../src/tools/rehearsal/rehearsal.js';

/** Compiles a configuration's `http` block; `DIR` in the text is a folder of its own, which has `html/index.html`. */
async function rehearsalOf(t: Test, http: string): Promise<{ rehearsal: Rehearsal; dir: string }> {
  const dir = mkdtempSync(join(tmpdir(), 'rehearsal-'));
  mkdirSync(`${dir}/html`);
  writeFileSync(`${dir}/html/index.html`, 'index\n');
  writeFileSync(`${dir}/x.conf`, `events {}\nhttp {\n${http.replaceAll('DIR', dir)}\n}\n`);
  const prefix = `${dir}/`;
  const configuration = await loadConfiguration({
    prefix,
    entry: `${dir}/x.conf`,
    confPrefix: prefix,
    globals: '',
    pid: 'x.pid',
    errorLog: '',
    signalling: false,
  });
  const rehearsal = new Rehearsal(configuration.snapshot);
  t.teardown(() => {
    rehearsal.close();
    rmSync(dir, { recursive: true });
  });
  return { rehearsal, dir };
}

t.test('a file is served, and nothing is written', async (t) => {
  const { rehearsal, dir } = await rehearsalOf(
    t,
    `access_log DIR/access.log; error_log DIR/error.log;
    server { listen 80; server_name a.example; location / { root DIR/html; add_header X-A b; } }`,
  );
  const { response, logLines, location, uri, server } = await rehearsal.run({ target: '/', headers: [['Host', 'a.example']] });
  t.equal(response.status, 200);
  t.equal(response.body.toString(), 'index\n');
  t.ok(response.headers.some(([name, value]) => name === 'X-A' && value === 'b'));
  t.match([location, uri, server], ['/', '/index.html', 'a.example']);
  t.equal(logLines.length, 1);
  t.equal(logLines[0]!.path, `${dir}/access.log`);
  t.match(logLines[0]!.line, /^127\.0\.0\.1 - - .*"GET \/ HTTP\/1\.1" 200 6 /);
  t.strictSame(readdirSync(dir).sort(), ['html', 'x.conf']);
});

const PASSES: readonly (readonly [string, string, string])[] = [
  ['http', 'proxy_pass http://10.1.2.3:8080;', '10.1.2.3:8080'],
  ['http', 'proxy_pass https://10.1.2.3; proxy_ssl_verify off;', '10.1.2.3:443'],
  ['http2', 'proxy_pass http://10.1.2.3:8080; proxy_http_version 2;', '10.1.2.3:8080'],
  ['http2', 'grpc_pass 10.1.2.3:9;', '10.1.2.3:9'],
  [
    'fastcgi',
    'fastcgi_pass unix:/run/php.sock; fastcgi_param REQUEST_METHOD $request_method; fastcgi_param REQUEST_URI $uri;',
    'unix:/run/php.sock',
  ],
  [
    'scgi',
    'scgi_pass 10.1.2.3:9; scgi_param REQUEST_METHOD $request_method; scgi_param REQUEST_URI $uri; scgi_param CONTENT_LENGTH $content_length;',
    '10.1.2.3:9',
  ],
  [
    'uwsgi',
    'uwsgi_pass 10.1.2.3:9; uwsgi_param REQUEST_METHOD $request_method; uwsgi_param REQUEST_URI $uri; uwsgi_param CONTENT_LENGTH $content_length;',
    '10.1.2.3:9',
  ],
];

for (const [protocol, pass, peer] of PASSES) {
  t.test(`a stub answers in place of ${peer}: ${protocol}`, async (t) => {
    const { rehearsal } = await rehearsalOf(t, `server { listen 80; location / { ${pass} } }`);
    const outcome = await rehearsal.run(
      { method: 'POST', target: '/a', body: 'x'.repeat(100_000) },
      { stub: () => ({ status: 201, headers: [['X-Stub', 'yes']], body: 'hello' }) },
    );
    t.equal(outcome.response.status, 201);
    t.equal(outcome.response.body.toString(), 'hello');
    t.ok(outcome.response.headers.some(([name, value]) => name.toLowerCase() === 'x-stub' && value === 'yes'));
    const [request] = outcome.upstreamRequests;
    t.equal(outcome.upstreamRequests.length, 1);
    t.match(request, { protocol, peer, method: 'POST', uri: '/a' });
    t.equal(request!.body.length, 100_000);
    t.equal(outcome.upstream?.peer, peer);
  });
}

t.test('memcached', async (t) => {
  const { rehearsal } = await rehearsalOf(
    t,
    'server { listen 80; location / { set $memcached_key k$uri; memcached_pass 10.1.2.3:11211; } }',
  );
  const found = await rehearsal.run({ target: '/a' }, { stub: () => ({ body: 'value' }) });
  t.equal(found.response.body.toString(), 'value');
  t.match(found.upstreamRequests, [{ protocol: 'memcached', uri: 'k/a' }]);
  const missing = await rehearsal.run({ target: '/a' }, { stub: () => ({ status: 404 }) });
  t.equal(missing.response.status, 404);
});

t.test('backends that refuse, break off and never answer', async (t) => {
  const server = 'server { listen 80; location / { proxy_pass http://app; proxy_read_timeout 50m; } }';
  const { rehearsal } = await rehearsalOf(
    t,
    `upstream app { server 10.0.0.1:80; server 10.0.0.2:80; } upstream one { server 10.0.0.3; }
    ${server} ${server.replace('80', '81').replace('app', 'one')}`,
  );
  const next = await rehearsal.run(
    { target: '/' },
    { stub: (peer) => (peer === '10.0.0.1:80' ? { fails: 'refused' } : { body: 'second' }) },
  );
  t.equal(next.response.body.toString(), 'second');
  t.strictSame(next.upstream, { group: 'app', peer: '10.0.0.2:80' });
  t.ok(next.errors.some(({ message }) => message.startsWith('connect() failed (111: Connection refused)')));
  for (const [fails, status] of [
    ['reset', 502],
    ['timeout', 504],
  ] as const) {
    const { response } = await rehearsal.run(
      { target: '/' },
      { port: 81, stub: (_peer, request) => (request === undefined ? {} : { fails }) },
    );
    t.equal(response.status, status);
  }
});

t.test('zones count from one request to the next, delays take no time, and the clock can be set', async (t) => {
  const { rehearsal } = await rehearsalOf(
    t,
    `limit_req_zone $binary_remote_addr zone=z:1m rate=1r/s; log_format t '$request_time $time_iso8601';
    server { listen 80; access_log DIR/a.log t; location / { root DIR/html; limit_req zone=z burst=1; } }`,
  );
  const now = Date.UTC(2030, 0, 1);
  const lines: (string | undefined)[] = [];
  for (const at of [now, now, now, now + 300_000]) {
    const { response, logLines } = await rehearsal.run({ target: '/' }, { now: at });
    lines.push(`${response.status} ${logLines[0]?.line.replace(/[+-]\d\d:\d\d$/, '')}`);
  }
  const [first, second] = [new Date(now), new Date(now + 1000)].map((date) => {
    const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
    return local.toISOString().slice(0, 19);
  });
  t.equal(lines[0], `200 0.000 ${first}`);
  t.equal(lines[1], `200 1.000 ${second}`);
  t.equal(lines[2], `200 1.000 ${second}`);
  t.match(lines[3], /^200 0\.000 /);
  t.ok(Date.now() < now, 'the process has its own clock again');
});

t.test('names are looked up nowhere', async (t) => {
  const { rehearsal } = await rehearsalOf(
    t,
    'resolver 10.0.0.53; server { listen 80; location / { set $b app.example; proxy_pass http://$b:81; } }',
  );
  const found = await rehearsal.run({ target: '/' }, { resolve: (name) => (name === 'app.example' ? ['10.9.9.9'] : []) });
  t.equal(found.upstreamRequests[0]?.peer, '10.9.9.9:81');
  const missing = await rehearsal.run({ target: '/' }, { resolve: () => [] });
  t.equal(missing.response.status, 502);
  t.ok(missing.errors.some(({ message }) => message === 'app.example could not be resolved (3: Host not found)'));
});

t.test('dav says what it would do', async (t) => {
  const { rehearsal, dir } = await rehearsalOf(
    t,
    'server { listen 80; location / { root DIR/html; dav_methods PUT DELETE MKCOL COPY MOVE; } }',
  );
  const status = async (method: string, target: string, headers: [string, string][] = []): Promise<number> =>
    (await rehearsal.run({ method, target, headers: [['Host', 'h'], ...headers], body: method === 'PUT' ? 'x' : '' })).response.status;
  t.equal(await status('PUT', '/new'), 201);
  t.equal(await status('PUT', '/index.html'), 204);
  t.equal(await status('DELETE', '/index.html'), 204);
  t.equal(await status('DELETE', '/none'), 404);
  t.equal(await status('MKCOL', '/folder/'), 201);
  t.equal(await status('MOVE', '/index.html', [['Destination', '/other.html']]), 204);
  t.strictSame(readdirSync(`${dir}/html`), ['index.html']);
});

t.test('a response that would be cached is not', async (t) => {
  const { rehearsal, dir } = await rehearsalOf(
    t,
    `proxy_cache_path DIR/cache keys_zone=c:1m; server { listen 80; location / {
      proxy_pass http://10.0.0.1; proxy_cache c; proxy_cache_valid 1h; proxy_cache_key "k$uri"; } }`,
  );
  for (let i = 0; i < 2; i++) {
    const { response, upstreamRequests } = await rehearsal.run({ target: '/a' }, { stub: () => ({ body: 'b' }) });
    t.equal(response.body.toString(), 'b');
    t.equal(upstreamRequests.length, 1);
  }
  t.notOk(existsSync(`${dir}/cache`));
});

t.test('TLS, servers by their names, and addresses that nobody listens on', async (t) => {
  const { rehearsal } = await rehearsalOf(
    t,
    `server { listen 80; server_name a; return 200 a; }
    server { listen 80; server_name b; location / { return 200 "b $scheme $remote_addr $server_addr:$server_port"; } }`,
  );
  const b = await rehearsal.run({ target: '/', headers: [['Host', 'b']] }, { address: '203.0.113.9', host: '10.0.0.1' });
  t.equal(b.response.body.toString(), 'b http 203.0.113.9 10.0.0.1:80');
  await t.rejects(rehearsal.run({ target: '/' }, { port: 81 }), { message: 'nothing listens on localhost:81' });
  const [one, two] = await Promise.all([rehearsal.run({ target: '/' }), rehearsal.run({ target: '/', headers: [['Host', 'b']] })]);
  t.equal(one.response.body.toString(), 'a');
  t.match(two.response.body.toString(), /^b/);
});

t.test('a request that cannot be read', async (t) => {
  const { rehearsal } = await rehearsalOf(t, 'server { listen 80; location / { return 200; } }');
  const { response, server, logLines } = await rehearsal.run({ target: '/ x y z', headers: [] });
  t.equal(response.status, 400);
  t.equal(server, '');
  t.match(logLines, [{ line: /" 400 / }]);
});

t.test('the trace names decisions and their lines', async (t) => {
  const { rehearsal, dir } = await rehearsalOf(
    t,
    `map $uri $kind { default page; ~x script; }
limit_req_zone $http_x zone=z:1m rate=1r/s;
add_header X-Outer 1;
server { listen 80; server_name b; }
server { listen 80; server_name *.example.com;
location / { return 404; }
location ~ \\.txt$ {
  rewrite ^/old/(.*)$ /new/$1 last;
  return 200 $kind;
  add_header X-Inner 2; }
location = /new/x.txt { limit_req zone=z; deny all; }
location ^~ /new/ { allow all; limit_req zone=z; proxy_pass http://10.0.0.1; proxy_set_header X-A b; }
}`,
  );
  const host: [string, string] = ['Host', 'www.example.com'];
  const { trace } = await rehearsal.run({ target: '/old/a.txt', headers: [host, ['X', 'me']] });
  const steps = trace.map(({ kind, text, file, line }) => `${kind} ${text} ${file === `${dir}/x.conf` ? line : ''}`);
  for (const wanted of [
    'server server *.example.com on *:80: the wildcard fits the host "www.example.com" 7',
    'location location ~ \\.txt$ for "/old/a.txt": the first regular expression that matches 9',
    'rewrite rewrite "^/old/(.*)$": "/old/a.txt" becomes "/new/a.txt", last 10',
    'location location ^~ /new/ for "/new/a.txt": the longest prefix, with ^~ 14',
    'limit limit_req zone z, key me: passed, excess 0.000 14',
    'access allow all: 127.0.0.1 is let in 14',
    'upstream backend 10.0.0.1:80 of "10.0.0.1" 14',
    'backend-request http://10.0.0.1:80/new/a.txt 14',
    'backend-response 10.0.0.1:80 answers 200 ',
    'header X-Outer: 1 5',
  ]) {
    t.ok(steps.includes(wanted), wanted);
  }
  t.match(trace.find(({ kind }) => kind === 'location')!.data.looked as [], [
    { location: '/', verdict: 'a regular expression comes before a prefix', won: false },
    { location: '~ \\.txt$', won: true },
    { location: '= /new/x.txt', verdict: 'it is not the URI' },
    { location: '^~ /new/', verdict: 'the URI does not begin so' },
  ]);
  const plain = await rehearsal.run({ target: '/x.txt', headers: [host] });
  t.equal(plain.response.body.toString(), 'script');
  t.match(
    plain.trace.find(({ kind }) => kind === 'lost-header'),
    { text: /^add_header X-Outer "1" is lost/, line: 5 },
  );
  t.match(
    plain.trace.find(({ text }) => text.startsWith('$kind')),
    { kind: 'variable', text: '$kind is "script", by map $uri', line: 3 },
  );
  t.strictSame((await rehearsal.run({ target: '/new/b', headers: [host, ['X', 'me']] })).limitKeys, [
    { zone: 'z', key: 'me', outcome: 'refused' },
  ]);
});
