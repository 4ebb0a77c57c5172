import t from 'tap';
import { redactConfiguration, redactLine } from '../../../src/shared/config/redact.js';

t.test('what is a secret by its name or its looks is not shown, and lines stay where they are', async (t) => {
  const secrets = [
    'set $api_token "hunter2";',
    'proxy_set_header Authorization "Basic aHVudGVyMjpodW50ZXIy";',
    'proxy_set_header X-Api-Key hunter2;',
    'proxy_set_header Cookie # of the old one\n  "session=hunter2";',
    'fastcgi_param DB_PASSWORD hunter2;',
    'env DB_PASSWORD=hunter2;',
    'env DATABASE_URL=postgres://user:hunter2@db/name;',
    'shared_store redis://:hunter2@127.0.0.1:6379;',
    'shared_store 127.0.0.1:6379 password=hunter2;',
    'client_secret hunter2;',
    'secure_link_secret hunter2;',
    'secure_link_md5 "$secure_link_expires$uri hunter2";',
    'auth_api_key hunter2 key=$http_x;',
    'explain_token hunter2;',
    'external_account_key kid hunter2;',
    'otel_exporter { header Authorization "Api hunter2"; }',
    'js_fetch_proxy http://user:hunter2@proxy.example.com:3128;',
    'proxy_set_header "Authorization" \'Custom hunter2\';',
    'location / { set $x "{"; proxy_set_header Cookie hunter2; }',
    'ssl_certificate_key "data:-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----";',
    'proxy_pass http://app/?access_token=hunter2;',
    'if ($http_x_token = "hunter2") { return 200; }',
    'if ($arg_secret != hunter2) { return 403; }',
    '# the password is hunter2',
    '#proxy_set_header Authorization "Bearer hunter2";',
    'map $http_x_api_key $user { default ""; hunter2 alice; "~hunter2" bob; }',
    'map $host $upstream_secret { default hunter2; a.example hunter2; }',
    'js_var $js_secret hunter2;',
    'more "with Bearer hunter2 in it";',
    "set $a_password 'hunter2",
  ];
  for (const text of secrets) {
    const shown = redactConfiguration(`events { }\n${text}\n# end`);
    t.notMatch(shown, /hunter2|aHVudGVyMjpodW50ZXIy/, text);
    t.match(shown, '(hidden)');
    t.equal(shown.split('\n').length, text.split('\n').length + 2, 'as many lines');
  }
  for (const key of [
    '5f4dcc3b5aa765d61d8327deb882cf99',
    'AKIAIOSFODNN7EXAMPLE',
    'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
  ]) {
    t.notMatch(redactConfiguration(`set $x ${key};`), key);
    t.notMatch(redactConfiguration(`geo $x { default ${key}; }`), key);
    t.notMatch(redactConfiguration(`# ${key}`), key);
  }
});

t.test('what is none stays as it is', async (t) => {
  const plain = `user www-data;
http {
  include mime.types; # types
  server_tokens off;
  limit_req_zone $http_authorization zone=one:10m rate=1r/s;
  proxy_cache_key $scheme$host$request_uri;
  log_format main '$remote_addr - $remote_user [$time_local] "$request" $status';
  map $http_upgrade $connection_upgrade { default upgrade; '' close; }
  map $http_x_api_key $user { default $http_x; }
  server {
    listen 127.0.0.1:8443 ssl;
    server_name example.com ~^www\\d+\\.example\\.com$;
    ssl_certificate /etc/ssl/certs/example2026.pem;
    ssl_certificate_key /etc/ssl/private/example2026.key;
    ssl_password_file /etc/ssl/passwords;
    auth_basic "closed area";
    auth_basic_user_file users.htpasswd;
    location ~ ^/(?<name>[a-z0-9-]{20,})/$ { proxy_pass http://app2$uri; proxy_set_header Authorization ""; proxy_set_header X-Token $http_x_token; }
    location / { root /srv/www/2026-11-25/site; add_header Cache-Control "public, max-age=31536000" always; }
  }
}
`;
  t.equal(redactConfiguration(plain), plain);
  t.equal(redactConfiguration(''), '');
});

t.test('lines of a log', async (t) => {
  t.equal(
    redactLine('open() failed, request: "GET /a?token=abc&page=2 HTTP/1.1", upstream: "http://u:p@h/x", referrer: "https://h/?code=1&x=2"'),
    'open() failed, request: "GET /a?token=(hidden)&page=2 HTTP/1.1", upstream: "http://(hidden)@h/x", referrer: "https://h/?code=(hidden)&x=2"',
  );
  t.equal(redactLine('plain text, client: 127.0.0.1'), 'plain text, client: 127.0.0.1');
});

t.test('a long text takes no longer for its length', async (t) => {
  const text = `map $a $b { ${'"~^x(a|b)*$" c=dddddddddddddddddddddddd/1; '.repeat(20_000)} }\n${'a'.repeat(200_000)}`;
  t.ok(redactConfiguration(text).length > 100_000);
  t.ok(redactLine(`${'token=://:'.repeat(50_000)}data:`).length > 0);
  t.ok(redactLine(`?${'token'.repeat(100_000)} ${'-----BEGIN '.repeat(20_000)}${'://a'.repeat(50_000)}`).length > 0);
  t.ok(redactConfiguration(`set $token${' "token'.repeat(50_000)}`).length > 0);
});
