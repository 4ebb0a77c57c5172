import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { exchange, http, httpGet } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

// Which location a request gets.

t.test('precedence', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location / { return 200 "/"; }
      location /a { return 200 "/a"; }
      location /a/b { return 200 "/a/b"; }
      location = /a/exact { return 200 "= /a/exact"; }
      location = / { return 200 "= /"; }
      location ^~ /static/ { return 200 "^~ /static/"; }
      location /static/img/ { return 200 "/static/img/"; }
      location ~ \\.php$ { return 200 "~ php"; }
      location ~* \\.(JPG|png)$ { return 200 "~* jpg"; }
      location ~ ^/static { return 200 "~ static"; }
      location ~ "^/(?<word>[a-z]{3})/(\\d+)$" { return 200 "~ $word $2"; }
      location ~ \\.PNG$ { return 200 "never"; }`),
  });
  const rows: readonly [path: string, location: string][] = [
    ['/', '= /'],
    ['/?x', '= /'],
    ['/x', '/'],
    ['/a', '/a'],
    ['/abc', '/a'],
    ['/a/b', '/a/b'],
    ['/a/bc/d', '/a/b'],
    ['/a/exact', '= /a/exact'],
    ['/a/exact/', '/a'],
    ['/a/exact?q', '= /a/exact'],
    ['/a/x.php', '~ php'],
    ['/a/x.PHP', '/a'],
    ['/a/x.jpg', '~* jpg'],
    ['/a/x.PNG', '~* jpg'],
    ['/static/x.php', '^~ /static/'],
    ['/static/img/x.php', '~ php'],
    ['/static/img/x', '~ static'],
    ['/staticx', '~ static'],
    ['/abc/12', '~ abc 12'],
    ['/ABC/12', '/'],
    ['/A', '/'],
    ['/%61', '/a'],
    ['/x/../a/exact', '= /a/exact'],
  ];
  for (const [path, location] of rows) {
    t.equal((await httpGet(s, path)).text, location, path);
  }
});

t.test('nested locations', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location ~ \\.html$ { return 200 "html"; }
      location /a/ {
        location /a/b/ { return 200 "/a/b/"; }
        location = /a/c { return 200 "= /a/c"; }
        location ~ \\.txt$ { return 200 "txt in /a/"; }
        return 200 "/a/";
      }
      location ^~ /d/ {
        location ~ \\.txt$ { return 200 "txt in /d/"; }
        return 200 "/d/";
      }
      location ~ ^/e/ {
        location ~ \\.txt$ { return 200 "txt in /e/"; }
        return 200 "/e/";
      }`),
  });
  const rows: readonly [path: string, location: string][] = [
    ['/a/x', '/a/'],
    ['/a/b/x', '/a/b/'],
    ['/a/c', '= /a/c'],
    ['/a/x.txt', 'txt in /a/'],
    ['/a/b/x.txt', 'txt in /a/'],
    ['/a/x.html', 'html'],
    ['/d/x', '/d/'],
    ['/d/x.txt', 'txt in /d/'],
    ['/d/x.html', '/d/'],
    ['/e/x', '/e/'],
    ['/e/x.txt', 'txt in /e/'],
    ['/e/x.html', 'html'],
  ];
  for (const [path, location] of rows) {
    t.equal((await httpGet(s, path)).text, location, path);
  }
});

t.test('locations inherit from their server and parent', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `default_type text/outer;
      location / { }
      location /inner/ { default_type text/inner; root %%DIR%%/other; location /inner/deep/ { } }`,
    ),
    files: { 'html/f': 'outer', 'other/inner/f': 'inner', 'other/inner/deep/f': 'deep' },
  });
  for (const [path, type, text] of [
    ['/f', 'text/outer', 'outer'],
    ['/inner/f', 'text/inner', 'inner'],
    ['/inner/deep/f', 'text/inner', 'deep'],
  ] as const) {
    const response = await httpGet(s, path);
    t.strictSame([response.header('Content-Type'), response.text], [type, text], path);
  }
});

t.test('normalised paths', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server { listen 127.0.0.1:%%PORT_0%%; location / { return 200 "$uri"; } location /index { return 200 "$uri?$args"; } }
      server { listen 127.0.0.1:%%PORT_1%%; merge_slashes off; location / { return 200 "$uri"; } }`),
  });
  const rows: readonly [path: string, uri: string | number, unmerged?: string][] = [
    ['/a/./b', '/a/b'],
    ['/a/.', '/a/'],
    ['/a/..', '/'],
    ['/a/b/../c', '/a/c'],
    ['/a/b/..', '/a/'],
    ['/a/b/../..', '/'],
    ['/..', 400],
    ['/../', 400],
    ['/a/../../b', 400],
    ['/%2e%2e/', 400],
    ['/%2E%2E', 400],
    ['/a/%2e%2e/b', '/b'],
    ['/a/%2e/b', '/a/b'],
    ['/a/.%2e/b', '/b'],
    ['/a/..%2fb', '/b'],
    ['/a%2f..%2fb', '/b'],
    ['/a%2F%2Fb', '/a/b', '/a//b'],
    ['//a///b//', '/a/b/', '//a///b//'],
    ['/a//../b', '/b', '/a/b'],
    ['/a/...', '/a/...'],
    ['/a/..b', '/a/..b'],
    ['/a/.b', '/a/.b'],
    ['/%41%62', '/Ab'],
    ['/%252e', '/%2e'],
    ['/a%20b+c', '/a b+c'],
    ['/a%3Fb', '/a?b'],
    ['/a%23b', '/a#b'],
    ['/%00', 400],
    ['/a%0ab', '/a\nb'],
    ['/%', 400],
    ['/%4', 400],
    ['/%zz', 400],
    ['/%ff\xfe', '/\xff\xfe'],
    ['/a\\b', '/a\\b'],
    ['/a#fragment', '/a'],
    ['/a?b#c', '/a'],
    ['/index?a=%2e%2e/..//', '/index?a=%2e%2e/..//'],
    ['/index?', '/index?'],
    ['/index??x', '/index??x'],
    ['/a\x01b', 400],
    ['/a\x7fb', 400],
    ['/a"<>b', '/a"<>b'],
  ];
  for (const [path, uri, unmerged = uri] of rows) {
    for (const [port, wanted] of [
      [s.port(0), uri],
      [s.port(1), unmerged],
    ] as const) {
      if (port === s.port(1) && path.startsWith('/index')) {
        continue;
      }
      const response = await http(port, `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      t.equal(response.status === 200 ? response.text : response.status, wanted, port === s.port(0) ? path : `${path}, slashes kept`);
    }
  }
});

t.test('no path leaves its root', async (t) => {
  const s = await startServer(t, {
    conf: serverConf('location / { } location /alias/ { alias %%DIR%%/html/; } location /cut { alias %%DIR%%/html; }'),
    files: { 'html/index.html': 'inside', secret: 'outside', 'html-secret': 'outside' },
  });
  const ways = ['..', '%2e%2e', '.%2e', '%2e.', '..%2f', '%2e%2e%2f', '..%5c', '..\\', '....//', '%252e%252e', '..;', '%c0%ae%c0%ae'];
  for (const start of ['/', '/alias/', '/alias', '/cut', '/cut/', '//', '/x/']) {
    for (const way of ways) {
      for (const count of [1, 2]) {
        const path = `${start}${`${way}/`.repeat(count)}secret`;
        const answer = await exchange(s, `GET ${path} HTTP/1.0\r\n\r\n`);
        t.notMatch(answer, 'outside', path);
      }
    }
  }
});

t.test('locations that stand there twice', async (t) => {
  for (const [lines, message] of [
    ['location /a { }\nlocation ^~ /a { }', 'duplicate location "/a" in %%FILE%%:12'],
    ['location = /a { }\nlocation =/a { }', 'duplicate location "/a" in %%FILE%%:12'],
    ['location / {\nlocation /a { }\nlocation /a { }\n}', 'duplicate location "/a" in %%FILE%%:13'],
    ['location /a { }\nlocation = /a { }', undefined],
    ['location @a { }\nlocation @a { }', undefined],
    ['location ~ /a { }\nlocation ~ /a { }', undefined],
    ['location /a { }\nlocation /a { }\nlocation a b c { }', 'invalid number of arguments in "location" directive in %%FILE%%:13'],
  ] as const) {
    t.equal(await configMessage(t, serverConf(lines)), message, lines);
  }
});

t.test('listen ... quic', async (t) => {
  const { cert, key } = certs().rsa;
  const pair = `ssl_certificate ${cert}; ssl_certificate_key ${key};`;
  const server = (listens: string): string => httpConf(`server { ${listens} ${pair} }`);
  t.equal(await configMessage(t, server('listen 127.0.0.1:19444 quic reuseport; listen 127.0.0.1:19444 ssl reuseport;')), undefined);
  t.equal(
    await configMessage(t, server('listen 127.0.0.1:19444 quic;\nlisten 127.0.0.1:19444 quic;')),
    'a duplicate listen 127.0.0.1:19444 in %%FILE%%:7',
  );
  t.match(
    await configMessage(t, httpConf('server { listen 127.0.0.1:19444 quic; }')),
    'no "ssl_certificate" is defined for the "listen ... quic" directive in %%FILE%%:6',
  );
  if (againstNginx) {
    return;
  }
  const s = await startServer(t, {
    conf: httpConf(`
      server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% quic; ${pair} return 200 ok; }`),
  });
  t.equal((await httpGet(s, '/')).text, 'ok');
  await t.rejects(httpGet(s.port(1), '/'), /ECONNREFUSED/, 'nothing listens on a port of UDP alone');
});
