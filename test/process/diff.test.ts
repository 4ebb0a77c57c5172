import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs, pem } from '../support/certs.js';
import { makePrefix } from '../support/prefix.js';
import { runCli } from '../support/run-cli.js';

if (againstNginx) {
  t.bailout('nginx has no such command');
}

/** What `sluice diff` says about two `http` blocks, without the lines that name the files. */
async function diff(t: Test, before: string, after: string, files: Readonly<Record<string, string>> = {}) {
  const conf = (http: string) => (http.includes('events') ? http : `events {}\nhttp {\n${http}\n}\n`);
  const { dir } = await makePrefix(t, { ...files, 'old.conf': conf(before), 'new.conf': conf(after) });
  const { code, stdout, stderr } = await runCli(['diff', '-c', 'new.conf', '--against', 'old.conf'], { cwd: dir });
  t.equal(stderr, '');
  const lines = stdout.split('\n').filter((line) => line !== '' && !/^(---|\+\+\+|Compared|\d+ changes?$)/.test(line));
  return { code, lines, dir };
}

t.test('what means the same is no change', async (t) => {
  const before = `
    map $uri $x { default 0; /a 1; /b 2; }
    upstream b { server 127.0.0.1:1; server 127.0.0.1:2; }
    proxy_read_timeout 1m;
    add_header A 1; add_header B 2;
    server { listen 127.0.0.1:81; server_name a b; gzip off; location / { proxy_pass http://b; } location /x { return 204; } }
    server { listen 127.0.0.1:82; include inc.conf; location / { sendfile on; root /r; } location /y { sendfile on; root /r; } }`;
  const after = `
    upstream b { server 127.0.0.1:2; server 127.0.0.1:1; }
    include map.conf;
    server { location /y { root "/r"; } location / { root /r; } sendfile on; listen 127.0.0.1:82; error_page 404 /e; }
    server { server_name b a; listen 127.0.0.1:81; include head.conf;
      location /x { return 204; } location / { proxy_pass http://b; proxy_read_timeout 60s; } }
    add_header B 2; add_header A 1;`;
  const files = {
    'inc.conf': 'error_page 404 /e;',
    'map.conf': 'map $uri $x { include lines.conf; /a 1; default 0; }',
    'lines.conf': '/b 2;',
    'head.conf': '# a comment\n',
  };
  const { code, lines } = await diff(t, before, after, files);
  t.strictSame([code, lines.map((line) => line.replace(/ to .*/, ''))], [0, ['A reload']]);
});

t.test('inherited values are those in force', async (t) => {
  const before = 'server { listen 127.0.0.1:81; add_header A 1; location /a { root /x; } location /b { root /x; } }';
  const after = 'server { listen 127.0.0.1:81; add_header A 1; location /a { root /x; add_header B 2; } location /b { root /x; } }';
  const { code, lines } = await diff(t, before, after);
  t.equal(code, 1);
  t.strictSame(lines, ['server 127.0.0.1:81', '  location /a', '    - response header is gone: A 1', '    + response header is new: B 2']);
});

t.test('what all locations and all servers have is told once', async (t) => {
  const servers = (own: string) => `
    server { listen 127.0.0.1:81; server_name a; location / { root /a; } location /b { root /b; ${own} } }
    server { listen 127.0.0.1:81; server_name c; location / { root /c; } }`;
  const moved = await diff(t, `gzip on;${servers('')}`, servers(''));
  t.strictSame(moved.lines, ['every server', '  - gzip: the default (off) instead of on']);
  const overridden = await diff(t, `gzip on;${servers('gzip on;')}`, servers('gzip on;'));
  t.strictSame(overridden.lines, [
    'server a (127.0.0.1:81)',
    '  location /',
    '    - gzip: the default (off) instead of on',
    'server c (127.0.0.1:81)',
    '  - gzip: the default (off) instead of on',
  ]);
});

t.test('servers, locations, listeners, groups, limits, steps and tables', async (t) => {
  const before = `
    limit_req_zone $uri zone=one:1m rate=1r/s;
    map $uri $x { default 0; /a 1; ~^/b 2; ~^/c 3; }
    upstream b { server 127.0.0.1:1 weight=2; }
    upstream gone { server 127.0.0.1:1; }
    server { listen 127.0.0.1:81; server_name a; location / { rewrite ^/a /b; set $v 1; } location ~ x { return 204; } location ~ y { return 204; } }
    server { listen 127.0.0.1:82; server_name old; }`;
  const after = `
    limit_req_zone $uri zone=one:1m rate=2r/s;
    map $uri $x { default 0; /a 7; ~^/c 3; ~^/b 2; /n 4; }
    upstream b { server 127.0.0.1:1 weight=3; server 127.0.0.1:2 backup; }
    upstream fresh { server 127.0.0.1:3; }
    server { listen 127.0.0.1:81; listen 127.0.0.1:83 ssl; ssl_certificate c.pem; ssl_certificate_key k.pem; server_name a n;
      location / { set $v 1; rewrite ^/a /b; deny all; } location ~ y { return 204; } location ~ x { return 204; } location = /e { return 200; } }`;
  const { cert, key } = certs().rsa;
  const { code, lines } = await diff(t, before, after, { 'c.pem': pem(cert), 'k.pem': pem(key) });
  t.equal(code, 1);
  t.strictSame(lines, [
    'listener',
    '  - 127.0.0.1:82 is closed',
    '  + 127.0.0.1:83 is opened',
    'http',
    '  ~ zone for limits of requests zone=one:1m: $uri rate=1r/s becomes $uri rate=2r/s',
    '  ~ map $uri $x: /a gives 7 instead of 1',
    '  + map $uri $x: /n gives 4',
    '  ~ map $uri $x: its patterns are tried in another order: ~^/c ~^/b',
    'upstream b',
    '  ~ server 127.0.0.1:1: weight=2 becomes weight=3',
    '  + server is new: 127.0.0.1:2 backup',
    'upstream gone',
    '  - is gone',
    'upstream fresh',
    '  + is new: server 127.0.0.1:3',
    'server old (127.0.0.1:82)',
    '  - is gone',
    'server a (127.0.0.1:81, 127.0.0.1:83)',
    '  + name is new: n',
    '  + address is new: 127.0.0.1:83 ssl',
    '  + certificate is new: c.pem',
    '  + key of a certificate is new: k.pem',
    '  + location = /e is new: return 200',
    '  ~ patterns are tried in another order: location ~ y, location ~ x',
    '  location /',
    '    ~ the order of steps is now: set $v 1; rewrite ^/a /b',
    '    + access rule is new: deny all',
  ]);
});

t.test('blocks of the processes and of stream', async (t) => {
  const before = 'worker_processes 1; events { worker_connections 100; } stream { server { listen 127.0.0.1:91; return a; } }';
  const after =
    'worker_processes 2; events { worker_connections 100; multi_accept on; } stream { server { listen 127.0.0.1:91; return b; } }';
  const { lines } = await diff(t, before, after);
  t.strictSame(lines, ['processes', '  ~ worker_processes: 1 becomes 2', 'stream server 127.0.0.1:91', '  ~ return: a becomes b']);
});

t.test('JSON, and what cannot be said', async (t) => {
  const { dir } = await makePrefix(t, {
    'old.conf': 'events {} http { server { listen 127.0.0.1:81; root /a; } }',
    'new.conf': 'events {} http { server { listen 127.0.0.1:81; root /b; } }',
    'bad.conf': 'events {} http { rooot /b; }',
  });
  const { code, stdout } = await runCli(['diff', '-c', 'new.conf', '--against', 'old.conf', '--json'], { cwd: dir });
  t.equal(code, 1);
  t.strictSame(JSON.parse(stdout), {
    before: `${dir}/old.conf`,
    after: `${dir}/new.conf`,
    changes: [
      {
        subject: 'server 127.0.0.1:81',
        kind: 'changed',
        name: 'root',
        from: 'root /a',
        to: 'root /b',
        text: 'root: /a becomes /b',
      },
    ],
  });
  const bad = await runCli(['diff', '-c', 'bad.conf', '--against', 'old.conf'], { cwd: dir });
  t.same([bad.code, bad.stdout, bad.stderr], [2, '', `sluice: diff: unknown directive "rooot" in ${dir}/bad.conf:1\n`]);
  const none = await runCli(['diff', '-p', `${dir}/`, '-c', 'new.conf'], { cwd: dir });
  t.equal(none.code, 2);
  t.match(none.stderr, /does not say which configuration serves/);
});
