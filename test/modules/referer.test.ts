import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

t.test('valid_referers', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server {
        listen 127.0.0.1:%%PORT_0%%;
        server_name localhost www.own.example *.own.example ~^re\\d+\\.example$;
        location / { return 200 "$invalid_referer"; }
        location /exact { valid_referers example.com; return 200 "$invalid_referer"; }
        location /none { valid_referers none example.com; return 200 "$invalid_referer"; }
        location /blocked { valid_referers blocked example.com; return 200 "$invalid_referer"; }
        location /wildcards { valid_referers *.example.com www.example.*; return 200 "$invalid_referer"; }
        location /path { valid_referers example.com/gallery/ example.org; return 200 "$invalid_referer"; }
        location /names { valid_referers server_names; return 200 "$invalid_referer"; }
        location /regex { valid_referers ~\\.google\\. ~^only\\.example/a; return 200 "$invalid_referer"; }
        location /if { valid_referers none example.com; if ($invalid_referer) { return 403; } return 200 ok; }
        location /outer { valid_referers example.com; location /outer/inner { return 200 "$invalid_referer"; } return 200 x; }
      }
      server {
        listen 127.0.0.1:%%PORT_1%%;
        valid_referers server_names ~inherited;
        location / { return 200 "$invalid_referer"; }
        location /more { valid_referers example.com; return 200 "$invalid_referer"; }
      }`),
  });
  for (const [path, referer, invalid] of [
    ['/', 'http://anything.example/', ''],
    ['/exact', 'http://example.com/', ''],
    ['/exact', 'https://EXAMPLE.com:8080/x', ''],
    ['/exact', 'http://example.com', ''],
    ['/exact', 'http://www.example.com/', '1'],
    ['/exact', 'ftp://example.com/', '1'],
    ['/exact', 'example.com', '1'],
    ['/exact', undefined, '1'],
    ['/exact', `http://${'a'.repeat(300)}.example.com/`, '1'],
    ['/none', undefined, ''],
    ['/none', '-', '1'],
    ['/blocked', 'stripped', ''],
    ['/blocked', 'http://x', ''],
    ['/blocked', undefined, '1'],
    ['/blocked', 'http://other.example/', '1'],
    ['/wildcards', 'http://a.b.example.com/', ''],
    ['/wildcards', 'http://example.com/', '1'],
    ['/wildcards', 'http://www.example.org/', ''],
    ['/path', 'http://example.com/gallery/1', ''],
    ['/path', 'http://example.com:80/gallery/1', ''],
    ['/path', 'http://example.com/other', '1'],
    ['/path', 'http://example.com', '1'],
    ['/path', 'http://example.org/other', ''],
    ['/names', 'http://www.own.example/', ''],
    ['/names', 'http://x.own.example/', ''],
    ['/names', 'http://re12.example/', ''],
    ['/names', 'http://re.example/', '1'],
    ['/regex', 'http://www.GOOGLE.com/search', ''],
    ['/regex', 'http://only.example/a?b', ''],
    ['/regex', 'http://not.only.example/a', '1'],
    ['/outer/inner', 'http://other.example/', '1'],
    ['/outer/inner', 'http://example.com/', ''],
  ] as const) {
    const response = await httpGet(s, path, referer === undefined ? {} : { Referer: referer });
    t.equal(response.text, invalid, `${path} ${referer}`);
  }
  t.equal((await httpGet(s, '/if', { Referer: 'http://other.example/' })).status, 403);
  t.equal((await httpGet(s, '/if')).status, 200);
  t.equal((await httpGet(s.port(1), '/', { Referer: 'http://example.com/inherited' })).text, '');
  t.equal((await httpGet(s.port(1), '/', { Referer: 'http://example.com/other' })).text, '1');
  t.equal(
    (await httpGet(s.port(1), '/more', { Referer: 'http://example.org/inherited' })).text,
    '',
    'expressions of the outer block count on',
  );
});

t.test('messages', async (t) => {
  for (const [lines, message] of [
    ['valid_referers "";', 'invalid referer "" in %%FILE%%:7'],
    ['valid_referers a.com A.com;', 'conflicting parameter "a.com" in %%FILE%%:7'],
    ['valid_referers a*.com;', 'invalid hostname or wildcard "a*.com" in %%FILE%%:7'],
    ['valid_referers ~;', 'empty regex in "~" in %%FILE%%:7'],
    ['valid_referers ~(;', 'pcre2_compile() failed: missing closing parenthesis in "(" in %%FILE%%:7'],
    [
      'valid_referers none blocked;',
      'the "none" or "blocked" referers are specified in the "valid_referers" directive without any valid referer',
    ],
    ['server_name a.com; valid_referers server_names a.com;', 'conflicting parameter "a.com" in %%FILE%%:9'],
    ['referer_hash_max_size x;', '"referer_hash_max_size" directive invalid number in %%FILE%%:7'],
    ['referer_hash_bucket_size 128; valid_referers none a.com;', undefined],
  ] as const) {
    t.equal(await configMessage(t, httpConf(`server {\n${lines}\n}`)), message, lines);
  }
});

t.test('an expression that gives up', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server {
        listen 127.0.0.1:%%PORT_0%%;
        server_name localhost ~^(b+)+\\1c$;
        location / { valid_referers ~^(a+)+\\1b; return 200 "<$invalid_referer>"; }
        location /names { valid_referers server_names; return 200 "<$invalid_referer>"; }
      }`),
    expectAlerts: /pcre2?_match\(\) failed/,
  });
  const [a, b] = ['a', 'b'].map((letter) => letter.repeat(40));
  t.equal((await httpGet(s, '/', { Referer: 'http://aaabcdefg' })).text, '<>');
  t.equal((await httpGet(s, '/', { Referer: `http://${a}!b` })).text, '<>', 'the variable has no value then');
  t.match(s.log(), `pcre2_match() failed: -47 on "${a}!b" using "^(a+)+\\1b"`);
  t.equal((await httpGet(s, '/names', { Referer: `http://${b}!c` })).text, '<>');
  t.match(s.log(), `pcre2_match() failed: -47 on "${b}!c" using "^(b+)+\\1c$"`);
});
