import t, { type Test } from 'tap';
import { loadConfiguration } from '../../src/tools/configuration.js';
import { Rehearsal } from '../../src/tools/rehearsal/rehearsal.js';
import { againstNginx } from '../support/binary.js';
import { type ComparedRequest, compareExplain, RealBackend, TOKEN } from '../support/compare-explain.js';
import { makePrefix } from '../support/prefix.js';
import { type CliResult, runCli } from '../support/run-cli.js';
import { startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx && 'nginx has no such command';

const CONF = `events {}
http {
  add_header X-Outer 1;
  upstream app { server 10.0.0.1:8080; }
  log_format short '$remote_addr "$request" $status $host';
  access_log x.log short;
  server {
    listen 8080;
    server_name www.example.com;
    location / { proxy_pass http://app; proxy_set_header X-Path $uri; add_header X-Inner 2; }
    location /private { deny 10.9.8.7; try_files /none =404; }
    location /old { return 301 /new; }
  }
  server { listen 8443 ssl; server_name secure.example.com; ssl_reject_handshake on; location / { return 200 "$scheme $host\\n"; } }
}
`;

async function explain(t: Test, ...args: string[]): Promise<CliResult> {
  const { dir } = await makePrefix(t, { 'x.conf': CONF });
  return runCli(['explain', '-p', `${dir}/`, '-c', 'x.conf', ...args]);
}

t.test('the text', { skip }, async (t) => {
  const { code, stdout, stderr } = await explain(t, 'http://www.example.com:8080/a?b=c', '-H', 'X-Mine: d');
  t.equal(stderr, '');
  t.equal(code, 0);
  const lines = stdout.split('\n').map((line) => line.replace(/\s+/g, ' ').trim());
  for (const wanted of [
    'GET http://www.example.com:8080/a?b=c to port 8080, from 127.0.0.1',
    'server server www.example.com on *:8080: it is the only one there x.conf:7',
    'location location / for "/a": the longest prefix, and no regular expression matches x.conf:10',
    'not /private, /old: the URI does not begin so',
    'backend backend 10.0.0.1:8080 of "app" x.conf:10',
    'X-Path: /a x.conf:10',
    'X-Mine: d from the client',
    'answered 10.0.0.1:8080 answers 200',
    'X-Inner: 2 x.conf:10',
    'lost add_header X-Outer "1" is lost: an inner level has add_header lines of its own x.conf:3',
    'log 127.0.0.1 "GET /a?b=c HTTP/1.1" 200 www.example.com x.conf:6',
  ]) {
    t.ok(lines.includes(wanted), wanted);
  }
  t.notMatch(stdout, '\x1b');
  t.match((await explain(t, '/', '--color')).stdout, '\x1b[36mserver');
});

t.test('a command of curl, and JSON', { skip }, async (t) => {
  const curl = ['curl', '-sk', 'http://www.example.com:8080/private', '-H', 'X-A: b', '--data-raw', 'hello', '-o', '/dev/null'];
  const { code, stdout } = await explain(t, '--json', '--address', '10.9.8.7', ...curl);
  t.equal(code, 0);
  const told = JSON.parse(stdout);
  t.match(told.request, { method: 'POST', target: '/private', body: 'hello', to: { port: 8080, tls: false }, from: '10.9.8.7' });
  t.match(told, { response: { status: 403 }, location: '/private', server: 'www.example.com', uri: '/private' });
  t.match(
    told.steps.find(({ kind }: { kind: string }) => kind === 'access'),
    { text: 'deny 10.9.8.7: 10.9.8.7 is refused with 403', line: 11 },
  );
});

t.test('a line of a log, a backend that is not there, and TLS', { skip }, async (t) => {
  const logged = await explain(t, '--json', '--backend', 'refused', '--from', '10.1.1.1 "GET /x?y HTTP/1.1" 200 www.example.com:8080');
  t.match(JSON.parse(logged.stdout), { request: { target: '/x?y', from: '10.1.1.1' }, response: { status: 502 } });
  const secure = await explain(t, '--json', 'https://secure.example.com:8443/');
  t.match(JSON.parse(secure.stdout), { response: { status: 200 }, server: 'secure.example.com' });
});

t.test("what the configuration's scripts fetch is not sent", { skip }, async (t) => {
  const { dir } = await makePrefix(t, {
    'x.conf':
      'events {} http { js_path .; js_import x from x.js; server { listen 80; resolver 127.0.0.1; location / { js_content x.get; } } }',
    'x.js':
      'export default { get: async (r) => { const a = await ngx.fetch("http://api.example/a?b"); r.return(a.status, await a.text()); } };',
  });
  const { stdout, stderr } = await runCli(['explain', '-p', `${dir}/`, '-c', 'x.conf', '--json', '--backend', '418', '/']);
  t.equal(stderr, '');
  t.match(JSON.parse(stdout), { response: { status: 418 }, upstreamRequests: [{ peer: 'api.example', method: 'GET', uri: '/a?b' }] });
});

t.test('what cannot be explained', { skip }, async (t) => {
  for (const [args, code, message] of [
    [[], 2, /there is no request/],
    [['http://www.example.com:81/'], 1, /nothing listens on www.example.com:81/],
    [['--trace', 'nonsense'], 2, /no value of X-Sluice-Trace/],
  ] as const) {
    const result = await explain(t, ...args);
    t.equal(result.code, code, args.join(' '));
    t.match(result.stderr, message);
  }
});

/** Configurations of which the server and the command must say the same. */
const COMPARED = `
upstream app { server 127.0.0.1:%%BACKEND%%; keepalive 4; }
map $uri $kind { default page; ~\\.php$ script; /exact exact; }
map $http_user_agent $bot { default 0; ~*bot 1; }
geo $inside { default 0; 127.0.0.0/8 1; }
split_clients $request_uri $half { 50% a; * b; }
limit_req_zone $binary_remote_addr zone=z:1m rate=1000r/s;
limit_conn_zone $server_name zone=c:1m;
proxy_cache_path %%DIR%%/cache keys_zone=k:1m;
explain_token ${TOKEN};
log_format compare '$remote_addr $remote_port "$request" $status $body_bytes_sent $host $uri $args $kind $bot $inside $half $upstream_status '
  '$upstream_cache_status $limit_req_status $sent_http_location $request_completion';
access_log %%DIR%%/compare.log compare;
server { listen 127.0.0.1:%%PORT_0%%; server_name static.example; root %%DIR%%/html; index index.html; gzip on; gzip_min_length 1; gzip_vary on;
  location ~* \\.css$ { expires 1h; add_header X-Css 1; }
  location = /exact { return 200 "exact $kind\\n"; }
  location /try { try_files $uri $uri/ /index.html =404; }
  error_page 404 /404.html;
  location = /404.html { internal; return 404 "lost $request_uri\\n"; } }
server { listen 127.0.0.1:%%PORT_0%%; server_name *.app.example; client_max_body_size 20;
  location / { proxy_pass http://app; proxy_set_header X-Real-IP $remote_addr; proxy_set_header Host $host; add_header X-Kind $kind always; }
  location /api/ { proxy_pass http://app/v1/; proxy_intercept_errors on; error_page 404 500 = @fallback; }
  location @fallback { return 503 "down $upstream_status"; }
  location /cached { proxy_pass http://app; proxy_cache k; proxy_cache_valid 200 1h; proxy_cache_key $uri; add_header X-Cache $upstream_cache_status; } }
server { listen 127.0.0.1:%%PORT_0%%; server_name ~^(?<sub>.+)\\.regex\\.example$;
  set $target $sub;
  if ($bot) { return 403 "no bots"; }
  rewrite ^/old/(.*)$ /new/$1?from=old last;
  rewrite ^/moved(.*)$ https://$host/there$1 permanent;
  location /new { return 200 "$target $uri $args"; }
  location / { if ($request_method = POST) { return 405; } return 302 /new$uri; } }
server { listen 127.0.0.1:%%PORT_0%%; server_name access.example;
  location /limited { limit_req zone=z burst=5; limit_conn c 10; root %%DIR%%/html; try_files /index.html =404; }
  location /denied { deny all; }
  location /any { satisfy any; allow 127.0.0.1; deny all; root %%DIR%%/html; try_files /index.html =404; }
  location /auth { auth_request /check; proxy_pass http://app; }
  location = /check { internal; proxy_pass http://app/check; proxy_pass_request_body off; proxy_set_header Content-Length ""; }
  location /closed { return 444; } }
server { listen 127.0.0.1:%%PORT_0%%; server_name other.example;
  location /fcgi { fastcgi_pass 127.0.0.1:%%BACKEND%%; fastcgi_param REQUEST_METHOD $request_method; fastcgi_param REQUEST_URI $request_uri;
    fastcgi_param QUERY_STRING $query_string; }
  location /uwsgi { uwsgi_pass 127.0.0.1:%%BACKEND%%; uwsgi_param REQUEST_METHOD $request_method; uwsgi_param REQUEST_URI $request_uri; }
  location /scgi { scgi_pass 127.0.0.1:%%BACKEND%%; scgi_param REQUEST_METHOD $request_method; scgi_param REQUEST_URI $request_uri;
    scgi_param CONTENT_LENGTH $content_length; }
  location /grpc { grpc_pass 127.0.0.1:%%BACKEND%%; }
  location /two { proxy_pass http://127.0.0.1:%%BACKEND%%; proxy_http_version 2; }
  location /sub { proxy_pass http://app; sub_filter backend BACKEND; sub_filter_once off; sub_filter_types *; }
  location /dir { alias %%DIR%%/html/; autoindex on; } }
`;

const HOSTS = ['static.example', 'a.app.example', 'b.regex.example', 'access.example', 'other.example', 'unknown.example'];
const PATHS = [
  ...[
    '/',
    '/a.css',
    '/missing.css',
    '/exact',
    '/try/x',
    '/try/index.html',
    '/index.html',
    '/404.html',
    '/x.php?y=1',
    '/%2e%2e/x',
    '/folder',
  ],
  ...[
    '/api/1',
    '/api/teapot',
    '/cached/1',
    '/cached/1',
    '/old/a/b',
    '/moved/x?y=z',
    '/new',
    '/limited',
    '/denied',
    '/any',
    '/auth/x',
    '/check',
    '/closed',
  ],
  ...['/fcgi/a?b=c', '/uwsgi/a', '/scgi/a', '/two/a', '/sub/a', '/dir/', '/dir'],
];

t.test('the server and the command agree', { skip }, async (t) => {
  const answers = ({ uri, method }: { uri: string; method: string }) => ({
    status: uri.includes('teapot') ? 404 : uri.includes('moved') ? 302 : 200,
    headers: [
      ['Content-Type', 'text/plain'],
      ['X-Powered-By', 'backend'],
    ] as const,
    body: method === 'HEAD' ? '' : `backend says ${uri}`,
  });
  const real = new RealBackend(answers);
  const port = await real.listen();
  t.teardown(() => real.close());
  const conf = `worker_processes 1;\nuser root;\nevents { worker_connections 256; }\nhttp { ${COMPARED.replaceAll('%%BACKEND%%', `${port}`)} }\n`;
  const s = await startServer(t, {
    conf,
    files: { 'html/index.html': 'index '.repeat(50), 'html/a.css': 'a{}'.repeat(100), 'html/folder/x': 'x' },
  });
  const prefix = `${s.dir}/`;
  const options = { prefix, entry: `${s.dir}/sluice.conf`, confPrefix: prefix, globals: '', pid: 'x.pid', errorLog: '', signalling: false };
  const rehearsal = new Rehearsal((await loadConfiguration(options)).snapshot);
  t.teardown(() => rehearsal.close());
  const requests: ComparedRequest[] = [];
  for (const [i, target] of PATHS.entries()) {
    for (const [j, host] of HOSTS.entries()) {
      if ((i + j) % 2 === 0) {
        continue;
      }
      const method = ['GET', 'GET', 'HEAD', 'POST', 'GET', 'OPTIONS', 'GET'][(i * 2 + j) % 7]!;
      const headers: [string, string][] = [
        ['Host', host],
        ['Connection', 'close'],
        ['User-Agent', (i * j) % 5 === 4 ? 'Googlebot' : 'test'],
      ];
      if ((i + j) % 3 === 0) {
        headers.push(['Accept-Encoding', 'gzip'], ['Cookie', 'a=b']);
      }
      if ((i + j) % 4 === 0) {
        headers.push(['Authorization', 'Basic dTpw']);
      }
      requests.push({ port: s.port(0), method, target, headers, ...(method === 'POST' ? { body: `body ${'x'.repeat(i)}` } : {}) });
    }
  }
  t.ok(requests.length >= 90);
  const lines = () => s.read('compare.log').split('\n').slice(0, -1);
  const differences = await compareExplain(rehearsal, requests, { real, answers }, async (count) => {
    await waitFor(() => lines().length >= count);
    return lines();
  });
  t.strictSame(differences.slice(0, 3), []);
  t.equal(differences.length, 0);
});
