import t from 'tap';
import { snapshotSources } from '../../../../src/shared/config/sources.js';
import { type LintFinding, lintConfiguration, rules } from '../../../../src/tools/lint/lint.js';

function lint(conf: string, files: Readonly<Record<string, string>> = {}): readonly LintFinding[] {
  const snapshot = { entry: '/e/main.conf', prefix: '/e/', confPrefix: '/e/', globals: '', globs: {}, named: {}, hosts: {} };
  return lintConfiguration(snapshotSources({ ...snapshot, files: { '/e/main.conf': conf, ...files } }));
}

const names = (findings: readonly LintFinding[]): readonly string[] => findings.map(({ rule, line }) => `${rule}:${line}`);
const inServer = (text: string): string => `http { server {\n${text}\n} }`;
const withLogin = (line: string, server = 'listen 443 ssl;'): string =>
  inHttp(`oidc_provider idp { issuer https://i.example; ${line} }\nserver { ${server} location / { auth_oidc idp; } }`);
const inHttp = (text: string): string => `http {\n${text}\n}`;

/** For each rule what it finds (each on line 2) and what it must leave alone. */
const cases: Readonly<Record<string, { readonly bad: readonly string[]; readonly good: readonly string[] }>> = {
  'alias-slash': {
    bad: [
      inServer('location /i { alias /data/; }'),
      inServer('location ^~ /i { alias /data/; }'),
      inServer('location /i/ { alias /data; }'),
    ],
    good: [
      inServer('location /i/ { alias /data/; } location /j { alias /data; } location = /k { alias /data/; }'),
      inServer('location ~ ^/i(.*)$ { alias /data/$1; } location /u/ { alias /home/$user; }'),
    ],
  },
  'proxy-slash': {
    bad: [inServer('location /api { proxy_pass http://b/; }'), inServer('location /api/ { proxy_pass http://b/v1; }')],
    good: [
      inServer('location /api/ { proxy_pass http://b/; } location /v { proxy_pass http://b/w; } location / { proxy_pass http://b; }'),
      inServer('location /u { proxy_pass http://unix:/run/a.sock; } location /v { proxy_pass http://unix:/run/a.sock:/v; }'),
      inServer(
        'location = /a { proxy_pass http://b/; } location /q/ { proxy_pass http://b/x?y=; } location /v/ { proxy_pass http://b$uri; }',
      ),
    ],
  },
  'decoded-redirect': {
    bad: [
      inServer('return 301 https://$host$uri;'),
      inServer('return https://$host${document_uri};'),
      inServer('rewrite ^ https://a.example$uri permanent;'),
      inServer('add_header X-Path $uri;'),
    ],
    good: [inServer('return 301 https://$host$request_uri;'), inServer('rewrite ^/a(.*)$ /b$uri last; return 200 $uri;')],
  },
  'spoofed-host': {
    bad: [inServer('return 301 https://$http_host/;'), inServer('location / { proxy_set_header Host $http_host; proxy_pass http://b; }')],
    good: [
      inServer('return 301 https://$host/;'),
      inServer('if ($http_host !~ ^a\\.example$) { return 444; } proxy_set_header Host $http_host;'),
      inServer('proxy_set_header X-Host $http_host;'),
    ],
  },
  'open-proxy': {
    bad: [
      inServer('resolver 127.0.0.1; location / { proxy_pass http://$arg_host; }'),
      inServer('resolver 127.0.0.1; location ~ ^/to/([^/]+)/ { proxy_pass http://$1; }'),
      inServer('resolver 127.0.0.1; location / { proxy_pass http://$http_x_backend:8080/; }'),
    ],
    good: [
      inServer('location / { internal; proxy_pass http://$arg_host; }'),
      inServer('location ~ ^/(.*)$ { proxy_pass http://b/$1?x=$arg_host; }'),
    ],
  },
  'tags-without-cache': {
    bad: [
      inServer('location / { proxy_pass http://b; proxy_cache_tag a; }'),
      inServer('location / { fastcgi_pass b:1; proxy_cache z; fastcgi_cache_tag a; proxy_cache_tag off; }'),
    ],
    good: [
      inServer('proxy_cache_tag a; location / { proxy_pass http://b; proxy_cache z; }'),
      inServer('proxy_cache z; location / { proxy_pass http://b; proxy_cache_tag a; } location /b { proxy_cache_tag off; }'),
    ],
  },
  'tags-of-request': {
    bad: [inServer('proxy_cache z; proxy_cache_tag all $http_cache_tag;'), inServer('proxy_cache z; proxy_cache_tag "a ${arg_tag}";')],
    good: [inServer('proxy_cache z; proxy_cache_tag $upstream_http_cache_tag $host;')],
  },
  'open-purge': {
    bad: [
      inServer('location / { proxy_pass http://b; proxy_cache z; proxy_cache_purge PURGE from all; }'),
      inServer('location / { proxy_pass http://b; proxy_cache z; proxy_cache_purge $request_method; }'),
    ],
    good: [
      inServer('allow 127.0.0.1; deny all; location / { proxy_pass http://b; proxy_cache z; proxy_cache_purge PURGE from all; }'),
      inServer('location / { proxy_pass http://b; proxy_cache z; proxy_cache_purge PURGE from 127.0.0.1; }'),
      inServer('location / { proxy_pass http://b; proxy_cache z; proxy_cache_purge $purge; }'),
    ],
  },
  'loose-origin': {
    bad: [
      inServer('if ($http_origin ~ example\\.com) { set $ok 1; }'),
      inServer('if ($http_origin ~* "^https?://(www\\.)?example\\.com") { set $ok 1; }'),
      inHttp('map $http_origin $ok { ~example\\.com$ 1; }'),
    ],
    good: [
      inServer('if ($http_origin ~ "^https://example\\.com$") { set $ok 1; }'),
      inServer('if ($http_referer ~ "^https?://example\\.com/") { set $ok 1; }'),
      inHttp('map $http_referer $bad { "~(casino|poker)" 1; }'),
      inHttp('map $http_origin $ok { https://example.com 1; }'),
    ],
  },
  'slow-pattern': {
    bad: [inServer('location ~ ^/(a+)+$ { }'), inServer('rewrite ^/((\\w+)*)x$ /y;'), inHttp('map $uri $x { ~^/(a|a)*b 1; }')],
    good: [inServer('location ~ ^/(?:[a-z]+/)+$ { } rewrite "^/a(/?)+$" /b; location ~ \\.php(/|$) { }'), inServer('location ~ ( { }')],
  },
  'bare-dot': {
    bad: [inServer('location ~ .php$ { }'), inServer('location ~* ^/files/.*.(?:jpg|png)$ { }')],
    good: [inServer('location ~ \\.php$ { } location ~* \\.(jpg|png)$ { } location ~ ^/.well-known/ { } location /a.php { }')],
  },
  'lost-headers': {
    bad: [
      inHttp('server { location / {\nadd_header B 2; } add_header A 1; }').replace('\nadd_header B', 'add_header B'),
      inHttp('proxy_set_header Host $host; server { proxy_set_header Upgrade $http_upgrade; }'),
    ],
    good: [
      inHttp('add_header A 1; server { add_header a 2; add_header B 3; }'),
      inHttp('add_header A 1; server { add_header_inherit merge; add_header B 3; }'),
      inHttp('add_header A 1; server { location / { } }'),
    ],
  },
  'two-cache-controls': {
    bad: [inServer('expires 1d; add_header Cache-Control "max-age=1";')],
    good: [
      inServer('expires 1d; add_header Cache-Control public;'),
      inServer('expires off; add_header Cache-Control "max-age=1";'),
      inServer('add_header Cache-Control no-store;'),
    ],
  },
  'evil-if': {
    bad: [
      inServer('location / { try_files $uri =404; if ($arg_a) { add_header A 1; } }'),
      inServer('location / { if ($arg_a) { add_header A 1; } if ($arg_b) { add_header B 1; } }'),
    ],
    good: [
      inServer('location / { if ($arg_a) { add_header A 1; } }'),
      inServer('location / { try_files $uri =404; if ($arg_a) { return 403; } if ($arg_b) { set $x 1; } }'),
      inServer('location / { if ($request_method = GET) { expires 1; } if ($request_method = POST) { expires 2; } }'),
      inServer('location / { if ($request_method = OPTIONS) { add_header A 1; return 204; } if ($arg_b) { expires 2; } }'),
      inServer('try_files $uri =404; if ($arg_a) { add_header A 1; }'),
    ],
  },
  'if-file': {
    bad: [
      inServer('if (!-e $request_filename) { rewrite ^ /index.php last; }'),
      inServer('if ( !-f $request_filename ) { rewrite ^/(.*)$ /index.php?q=$1 last; }'),
    ],
    good: [
      inServer('if (-f $document_root/down.html) { return 503; } if (!-e $request_filename) { rewrite ^/a/(.*)$ /b/$1 last; }'),
      inServer('if (!-e $request_filename) { rewrite ^ /a last; set $x 1; }'),
    ],
  },
  'unreachable-location': {
    bad: [
      inServer('location /a { } return 301 https://example.com$request_uri;'),
      inServer('location ~ \\.png$ { } location ~* \\.jpe?g$ { }').replace('png', '(png|jpe?g|jpg)').replace('~ ', '~* '),
      inServer('location ~ { } location ~ ^/a { }'),
    ],
    good: [
      inServer('if ($arg_x) { return 403; } location / { }'),
      inServer('location ~ \\.png$ { } location ~* \\.png$ { } location ~ \\.(png|gif)$ { }'),
      inServer('location @x { } return 301 /; error_page 404 = @x;'),
    ],
  },
  'return-before-access': {
    bad: [
      inServer('location / { return 200 ok; deny all; }'),
      inServer('location / { auth_basic x; if ($arg_a) { return 403; } return 200 ok; }'),
      inServer('limit_req zone=a; return 301 /;'),
      inServer('location / { auth_jwt x; return 200 ok; }'),
      inServer('location /a { js_access main.f; return 204; }'),
    ],
    good: [
      inServer('location / { if ($arg_a) { return 403; } deny all; }'),
      inServer('location / { auth_jwt off; return 200 ok; }'),
      inServer('auth_basic x; location /up { return 200 ok; } location /b { auth_basic off; allow all; return 204; }'),
      inServer('location / { break; return 200 ok; deny all; }'),
      inServer('location / { rewrite ^/a /b break; return 404; deny all; }'),
    ],
  },
  'pattern-without-tilde': {
    bad: [
      inServer('location (^/x) { }'),
      inServer('location ^/x { }'),
      inServer('location /a/(b|c)/ { }'),
      inServer('location /a/.* { }'),
      inServer('location = /a\\.php { }'),
      inServer('location /a$ { }'),
      inServer('location ^~ /x/[0-9]+/ { }'),
    ],
    good: [
      inServer('location / { } location /a(1)/ { } location ~ ^/x { } location @x { } location = /a.b { } location /.well-known { }'),
      inServer('location /[x]/ { } location /a+b/ { } location ~* \\.png$ { }'),
    ],
  },
  'end-inside': {
    bad: [
      inServer('location ~ ^/a$/ { }'),
      inServer('rewrite ^/$/x /y;'),
      inServer('if ($uri ~ ^/$host/x) { return 403; }'),
      inServer('if ($uri ~* "(a$b)") { return 403; }'),
      inHttp('map $uri $x { ~^/a$b 1; }'),
    ],
    good: [
      inServer('location ~ (^/a$|b)c? { } location ~ ^/a\\$/ { } location ~ [$]/ { } rewrite ^/(a$)? /b; if ($uri ~ ^/a$) { return 403; }'),
      inServer('if ($a = b$c) { return 403; } location ~ "a$(?!b)" { }'),
    ],
  },
  'dead-access-rule': {
    bad: [inServer('deny all; allow 10.0.0.0/8;'), inServer('location / { allow all; deny 10.0.0.1; }')],
    good: [inServer('allow 10.0.0.0/8; deny all; location / { deny 10.0.0.1; allow all; }')],
  },
  'missing-resolver': {
    bad: [inServer('location / { set $b backend.example:80; proxy_pass http://$b; }')],
    good: [
      inHttp('resolver 127.0.0.1; server { location / { set $b backend.example; proxy_pass http://$b; } }'),
      inHttp('upstream one { server 127.0.0.1; } server { location / { set $b one; proxy_pass http://$b; } }'),
      inServer('location / { set $b 127.0.0.1:80; proxy_pass http://$b; }'),
    ],
  },
  'no-default-server': {
    bad: [inHttp('server { listen 80; server_name a.example; } server { listen *:80; server_name b.example; }')],
    good: [
      inHttp('server { listen 80; server_name a.example; } server { listen 80 default_server; return 444; }'),
      inHttp('server { listen 80; server_name _; } server { listen 80; server_name b.example; }'),
      inHttp('server { listen 80; server_name a.example; } server { listen 81; server_name b.example; }'),
    ],
  },
  'odd-server-name': {
    bad: [
      inServer('server_name https://a.example;'),
      inServer('server_name a.example:8080;'),
      inServer('server_name a.example,b.example;'),
    ],
    good: [inServer('server_name a.example *.b.example ~^[a-z/]+$ "" [::1] $hostname;')],
  },
  'plain-443': {
    bad: [inServer('listen 443; ssl_certificate a; ssl_certificate_key b;')],
    good: [inServer('listen 443 ssl; ssl_certificate a;'), inServer('listen 443; proxy_pass http://b;')],
  },
  'weak-tls': {
    bad: [inServer('ssl_protocols TLSv1 TLSv1.2;'), inServer('ssl_ciphers HIGH:RC4-SHA;'), inServer('proxy_ssl_protocols SSLv3;')],
    good: [
      inServer('ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers HIGH:!aNULL:!MD5:!RC4;'),
      inServer('ssl_ciphers ECDHE-RSA-AES128-GCM-SHA256;'),
    ],
  },
  'error-log-off': { bad: [inServer('error_log off;')], good: [inServer('error_log /dev/null crit; access_log off;')] },
  'token-for-anybody': {
    bad: [
      inServer('auth_jwt x; location / { auth_jwt_require $jwt_claim_sub; }'),
      inHttp('auth_jwt x; map $jwt_claim_aud $us { a 1; } server { location / { } }'),
    ],
    good: [
      inServer('auth_jwt off;'),
      inServer('auth_jwt x; auth_jwt_require $jwt_claim_aud;'),
      inServer('auth_jwt x; location / { if ($jwt_claim_AUD != us) { return 403; } }'),
      inServer('auth_jwt x; location / { js_access a.b; }'),
      inHttp('map ${jwt_claim_aud} $one { a 1; } map $one $us { 1 1; } server { location / { auth_jwt x; } auth_require $us; }'),
      inHttp('auth_jwt_claim_set $to aud; map $to $us { a 1; } server { auth_jwt x; auth_jwt_require "${us}"; }'),
    ],
  },
  'plain-token-keys': {
    bad: [inServer('auth_jwt_key_url http://login.example.com/keys;'), inServer('auth_jwt_key_url HTTP://localhost.example.com/;')],
    good: [
      inServer(
        'auth_jwt_key_url https://login.example.com/keys; auth_jwt_key_url http://127.0.0.1:8180/; auth_jwt_key_url http://localhost/;',
      ),
    ],
  },
  'token-in-url': {
    bad: [inServer('auth_jwt x token=$arg_t;'), inServer('auth_api_key x key=${arg_key};')],
    good: [inServer('auth_jwt x token=$cookie_t; auth_jwt "token=$arg_t"; auth_api_key "x" key=$http_x_key;')],
  },
  'login-without-pkce': { bad: [withLogin('pkce off;')], good: [withLogin('pkce on;'), withLogin('')] },
  'login-without-tls': {
    bad: [
      inHttp('server { listen 80; location / { auth_oidc idp; } } oidc_provider idp { }'),
      inHttp('server { location / { auth_oidc idp; } } oidc_provider idp { redirect_uri /x; }'),
      inHttp('server { auth_oidc idp; listen 443 ssl; listen [::]:80; } oidc_provider idp { }'),
    ],
    good: [
      withLogin(''),
      withLogin('redirect_uri https://app.example/back;', 'listen 80;'),
      withLogin('', 'listen 127.0.0.1:8080;'),
      withLogin('', 'listen unix:/run/x;'),
      withLogin('', 'https auto;'),
      inHttp('oidc_provider idp { } server { listen 80; auth_oidc off; }'),
    ],
  },
  'login-on-other-host': {
    bad: [
      withLogin('redirect_uri https://other.example/back;', 'server_name app.example;'),
      withLogin('redirect_uri https://example/back;', 'server_name *.example;'),
    ],
    good: [
      withLogin('redirect_uri https://APP.example:8443/back;', 'server_name x app.example;'),
      withLogin('redirect_uri https://app.example/back;', 'server_name .example;'),
      withLogin('redirect_uri https://app.example/back;', 'server_name *.example;'),
      withLogin('redirect_uri https://app.example/back;', 'server_name ~^app;'),
      withLogin('redirect_uri https://app.example/back;'),
      withLogin('redirect_uri /back;', 'server_name app.example;'),
      inHttp('oidc_provider idp { redirect_uri https://other.example/back; } server { auth_oidc $idp; server_name app.example; }'),
    ],
  },
  'shared-redirect': {
    bad: [
      inHttp('oidc_provider b { redirect_uri /oidc_callback; } oidc_provider a { }')
        .replace('oidc_provider a', '\noidc_provider a')
        .replace('{\no', '{ o'),
    ],
    good: [inHttp('oidc_provider a { } oidc_provider b { redirect_uri /other; }'), withLogin('')],
  },
  'long-login': { bad: [withLogin('session_timeout 365d;')], good: [withLogin('session_timeout 30d;'), withLogin('session_timeout $x;')] },
  'login-of-any-tenant': {
    bad: [
      inHttp('oidc_provider x { issuer https://login.microsoftonline.com/common/v2.0; }'),
      inHttp('oidc_provider x { issuer https://login.microsoftonline.com/organizations/v2.0; } map $oidc_claim_sub $y { a 1; }'),
    ],
    good: [
      inHttp('oidc_provider x { issuer https://login.microsoftonline.com/1-2/v2.0; }'),
      inHttp('oidc_provider x { issuer https://login.microsoftonline.com/common/v2.0; } map $oidc_claim_tid $ours { a 1; }'),
    ],
  },
  'short-client-secret': {
    bad: [
      withLogin('id_token_signed_response_alg HS256; client_secret short;'),
      withLogin(`id_token_signed_response_alg HS512; client_secret ${'x'.repeat(63)};`),
    ],
    good: [
      withLogin('client_secret short;'),
      withLogin('id_token_signed_response_alg ES256; client_secret short;'),
      withLogin(`id_token_signed_response_alg HS256; client_secret ${'x'.repeat(32)};`),
    ],
  },
  'loose-signature': {
    bad: [inServer('auth_signature_components date;'), inServer('auth_signature_components @method @path;')],
    good: [inServer('auth_signature x;'), inServer('auth_signature_components @method @target-uri content-digest;')],
  },
};

// What it says of modules that are there, the command's test has: it wants the built parser.
const elsewhere = new Set(['shared-state', 'weak-token-key', 'readable-secret']);

for (const rule of rules.filter(({ name }) => !elsewhere.has(name))) {
  t.test(rule.name, async (t) => {
    const { bad, good } = cases[rule.name]!;
    for (const conf of bad) {
      t.ok(names(lint(conf)).includes(`${rule.name}:2`), `found: ${conf}`);
    }
    for (const conf of good) {
      t.notOk(
        lint(conf).some((finding) => finding.rule === rule.name),
        `left alone: ${conf}`,
      );
    }
  });
}

t.test('a finding shows its place, why, and what to write', async (t) => {
  t.strictSame(lint('http {\n  server { error_log off; }\n}\n'), [
    {
      rule: 'error-log-off',
      file: '/e/main.conf',
      line: 2,
      column: 22,
      problem: '`off` is a file name here: errors are written to a file that is called so',
      remedy: '`error_log /dev/null crit;`, or leave the line out',
      excerpt: '    2 |   server { error_log off; }\n      |                      ^^^\n',
    },
  ]);
});

t.test('files are looked at as included, and reported once', async (t) => {
  const files = { '/e/headers.conf': 'add_header B 1;\n', '/e/off.conf': 'error_log off;\n' };
  const found = lint('http { add_header A 1;\nserver { include headers.conf; include off.conf; }\nserver { include off.conf; } }', files);
  t.same(
    found.map(({ file, rule }) => `${file} ${rule}`),
    ['/e/headers.conf lost-headers', '/e/off.conf error-log-off'],
  );
});

t.test('a comment with a reason silences a rule', async (t) => {
  t.same(names(lint(inServer('# lint-ignore error-log-off: a file of this name is what we want\nerror_log off;'))), []);
  t.same(names(lint(inServer('error_log off; # lint-ignore weak-tls, error-log-off: wanted'))), []);
  t.same(names(lint(inServer('# lint-ignore weak-tls: another rule\nerror_log off;'))), ['error-log-off:3']);
  t.same(names(lint(inServer('# lint-ignore error-log-off: the next directive only\nerror_log a;\nerror_log off;'))), ['error-log-off:4']);
  t.same(names(lint(inServer('error_log off; # lint-ignore error-log-off'))), ['lint-ignore:2', 'error-log-off:2'], 'no reason');
  t.same(names(lint(inServer('# lint-ignore no-such-rule: because\nroot /a;'))), ['lint-ignore:2'], 'no such rule');
});

t.test('what cannot be parsed is left to -t', async (t) => {
  t.same(names(lint('http { server { error_log off; ')), ['error-log-off:1']);
  t.same(names(lint('http { include missing.conf; include main.conf; }')), []);
});
