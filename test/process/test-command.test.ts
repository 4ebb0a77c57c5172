import { readFileSync, writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { makePrefix } from '../support/prefix.js';
import { runCli } from '../support/run-cli.js';

if (againstNginx) {
  t.bailout('nginx has no such command');
}

const root = new URL('../../', import.meta.url).pathname;

const SITE = `
events {}
http {
    limit_req_zone $remote_addr zone=login:1m rate=1r/m;
    upstream app { server 10.0.0.1:80; }
    upstream two { server 10.0.0.2:80; server 10.0.0.3:80; }
    log_format mine '$status $request_uri $upstream_addr';
    server { listen 80 default_server; return 444; }
    server { listen 80; server_name example.com; return 301 https://www.example.com$request_uri; }
    server {
        listen 443 ssl;
        server_name www.example.com;
        ssl_certificate ${certs().rsa.cert};
        ssl_certificate_key ${certs().rsa.key};
        access_log a.log mine;
        add_header X-Frame-Options DENY;
        location / { root html; try_files $uri @app; }
        location @app { add_header X-App 1; proxy_set_header X-Real-IP $remote_addr; proxy_pass http://app; }
        location /login { limit_req zone=login; limit_req_status 429; proxy_pass http://app; }
        location /two { proxy_pass http://two; }
        location /img/ { rewrite ^/img/(\\d+)x(\\d+)/(.*)$ /i/$3?w=$1&h=$2 last; }
        location /i/ { internal; proxy_pass http://app; }
        location /late { expires 1d; return 200 late; }
    }
}`;

const CASES = `
base https://www.example.com;
case "plain text is redirected" {
    request http://example.com/a?b=c;
    expect { status 301; header Location "https://www.example.com/a?b=c"; }
}
case "unknown names are closed" { request http://other.example/; expect status 0; }
case "the host of the case counts" { request http://other.example/x; host example.com; expect status 301; }
case "files" { request /a.txt; expect { status 200; body "hi\\n"; body !~ "^x"; header X-Frame-Options DENY; backend none; } }
case "everything else is the application's" {
    request POST "/x?y=1";
    address 203.0.113.9;
    header X-One 1;
    body text;
    backend { status 404; header X-Made-By app; body nothing; }
    expect {
        status 404; server www.example.com; location @app; upstream app; peer 10.0.0.1:80; body nothing;
        no_header X-Frame-Options; header x-made-by ~* ^APP$;
        backend { method POST; uri "/x?y=1"; header X-Real-IP 203.0.113.9; header X-One 1; no_header X-Two; body text; }
        log "404 /x?y=1 10.0.0.1:80";
    }
}
case "images" { request /img/10x20/a.png; expect { uri /i/a.png; args "w=10&h=20"; backend { uri "/i/a.png?w=10&h=20"; } } }
case "logins are limited" { request /login; repeat 2; expect { status 429; limit login refused; limit_key login 127.0.0.1; backend none; } }
case "each case begins anew" { request /login; expect status 200; }
case "the first of two" { request /two; expect peer 10.0.0.2:80; }
case "and again" { request /two; expect peer 10.0.0.2:80; }
case "one of two is down" { request /two; backend 10.0.0.2:80 { fails refused; } expect { status 200; peer 10.0.0.3:80; } }
case "a backend that is down" { request /x; backend { fails refused; } expect { status 502; error ~ "Connection refused"; } }
case "a backend that never answers" { request /x; backend { fails timeout; } expect status 504; }
case "time" { request /late; now 2027-01-31T12:00:00Z; expect header Expires "Mon, 01 Feb 2027 12:00:00 GMT"; }
`;

const prefixOf = (t: Test, cases: string): Promise<{ dir: string }> =>
  makePrefix(t, { 'site.conf': SITE, 'site.test.conf': cases, 'html/a.txt': 'hi\n' });

t.test('cases that pass', async (t) => {
  const { dir } = await prefixOf(t, CASES);
  const where = ['-p', dir, '-c', 'site.conf'];
  const { code, stdout, stderr } = await runCli(['test', ...where]);
  t.match(stdout, /^14 cases passed in \d+ ms\n$/);
  t.same([code, stderr], [0, '']);
  const tap = await runCli(['test', ...where, '--tap', '--junit', `${dir}/report.xml`]);
  t.match(tap.stdout, /^TAP version 13\n1\.\.14\nok 1 - plain text is redirected\n/);
  t.match(
    readFileSync(`${dir}/report.xml`, 'utf8'),
    /<testsuite name="sluice test" tests="14" failures="0" time="[\d.]+">\n {2}<testcase /,
  );
});

t.test('cases that fail say what came, and which line made it so', async (t) => {
  const cases =
    'base https://www.example.com;\ncase "wrong & <odd>" {\n request /x;\n expect {\n  status 201;\n  header X-Frame-Options DENY;\n }\n}\n';
  const { dir } = await prefixOf(t, cases);
  const { code, stdout } = await runCli(['test', '-p', dir, '-c', 'site.conf', '--junit', `${dir}/report.xml`]);
  t.equal(code, 1);
  t.equal(
    stdout.replace(/in \d+ ms/, 'in N ms'),
    `not ok  wrong & <odd>  ${dir}/site.test.conf:2
        ${dir}/site.test.conf:5: expected status "201"
          got "200"
          because 10.0.0.1:80 answers 200
        ${dir}/site.test.conf:6: expected header X-Frame-Options "DENY"
          got no header X-Frame-Options
          because add_header X-Frame-Options "DENY" is lost: an inner level has add_header lines of its own (${dir}/site.conf:16)

0 cases passed, 1 failed in N ms
`,
  );
  t.match(readFileSync(`${dir}/report.xml`, 'utf8'), 'name="wrong &amp; &lt;odd&gt;"');
  const { stdout: tap } = await runCli(['test', '-p', dir, '-c', 'site.conf', '--tap']);
  t.match(tap, /^not ok 1 - wrong & <odd>\n {2}---\n {2}at: .*:2\n {2}message: \|\n {4}.*expected status "201"\n/m);
});

const WRONG: readonly (readonly [cases: string, message: string])[] = [
  ['case x { request /; expect statu 1; }', 'nothing can be expected of "statu" in '],
  ['case x { request /; expect { status 1; }', 'unexpected end of file, expecting "}" in '],
  ['case x { expect status 1; }', 'the case "x" lacks a "request" in '],
  ['case x { request /; }', 'the case "x" expects nothing: give it an "expect" block in '],
  ['case x { request /; expect body ~ "("; }', 'Invalid regular expression: /(/'],
  ['case x { request /; expect status is 1; }', '"is" is none of = ~ ~* !~ !~* in '],
  ['case x { request /; repeat 0; expect status 1; }', '"repeat" is a number from 1 to 10000 in '],
  ['case x { request /; now soon; expect status 1; }', '"now" is a time such as '],
  ['case x { request /; tls maybe; expect status 1; }', '"tls" is "on" or "off" in '],
  ['case x { request /; http 3; expect status 1; }', '"http" is 1.0 or 1.1 in '],
  ['case x { request /; backend { fails soon; } expect status 1; }', '"fails" is refused, timeout or reset in '],
  ['case x { request /; backend { size 1; } expect status 1; }', 'unknown directive "size" in "backend" in '],
  ['case x { request a b c; expect status 1; }', '"request" takes 1 to 2 arguments in '],
  ['case x { request /; tsl on; expect status 1; }', 'unknown directive "tsl" in '],
  ['base example.com;', '"base" is a URL without a path, such as '],
  ['case x { request /; expect status 1; } case x { request /; expect status 1; }', 'there is another case "x" in '],
];

t.test('files of cases that are wrong', async (t) => {
  const { dir } = await prefixOf(t, '');
  for (const [text, message] of WRONG) {
    writeFileSync(`${dir}/site.test.conf`, text);
    const { code, stderr } = await runCli(['test', '-p', dir, '-c', 'site.conf']);
    t.match([code, stderr], [2, `sluice: test: ${message}`], text);
  }
  t.match((await runCli(['test', '-p', dir, '-c', 'site.conf', `${dir}/html`])).stderr, 'there is no file *.test.conf in ');
  t.match((await runCli(['test', '-p', dir, '-c', 'missing.conf'])).code, 78);
});

t.test('what happens today becomes a case, and passes', async (t) => {
  const { dir } = await prefixOf(t, '');
  const where = ['-p', dir, '-c', 'site.conf'];
  const log = [
    '"GET /a.txt HTTP/1.1" 200 3',
    '"GET /a.txt HTTP/1.1" 200 3',
    '"GET /b?c=%22d HTTP/1.1" 200 0',
    '"GET https://www.example.com/late HTTP/1.1" 200 4',
    'no such line',
  ];
  writeFileSync(`${dir}/a.log`, log.map((line) => `203.0.113.7 - - [23/Nov/2026:04:29:36 +0000] ${line} "-" "-"\n`).join(''));
  const ofLog = await runCli(['test', ...where, '--from', `${dir}/a.log`]);
  t.equal(ofLog.stdout.match(/^case /gm)?.length, 3);
  const ofRequest = await runCli(['test', ...where, '--record', 'https://www.example.com/img/1x2/z.png']);
  t.match(ofRequest.stdout, /location \/i\/;\n[\s\S]*backend \{\n +uri \/i\/z\.png\?w=1&h=2;/);
  writeFileSync(`${dir}/site.test.conf`, ofLog.stdout + ofRequest.stdout);
  t.match(await runCli(['test', ...where]), { code: 0, stdout: /^4 cases passed/ });
});

t.test('the shipped cases', async (t) => {
  // As README has it, in a fresh checkout: without options, with all files of cases there are.
  t.match(await runCli(['test', '-p', root]), { code: 0, stdout: /^18 cases passed/ });
});

t.test('a file of cases names its configuration', async (t) => {
  const one = (port: number, text: string) => `events {}\nhttp { server { listen ${port}; return 200 ${text}; } }\n`;
  const expects = (text: string) => `case "it says ${text}" { request /; expect body ${text}; }\n`;
  const { dir } = await makePrefix(t, {
    'site.conf': one(8001, 'site'),
    'site.test.conf': `configuration site.conf;\n${expects('site')}`,
    'other/own.conf': 'events {}\nhttp { include part/server.conf; }\n',
    'other/part/server.conf': 'server { listen 8002; root html; index a.txt; }\n',
    'other/html/a.txt': 'own',
    'own.test.conf': `configuration other/own.conf;\n${expects('own')}`,
    'plain.test.conf': expects('site'),
  });
  const where = ['-p', `${dir}/`, '-c', 'site.conf'];
  t.match(await runCli(['test', ...where]), { code: 0, stdout: /^3 cases passed/ });
  t.match(await runCli(['test', ...where, `${dir}/own.test.conf`]), { code: 0, stdout: /^1 case passed/ });
  const wrong = async (text: string) => {
    writeFileSync(`${dir}/wrong.test.conf`, text);
    const { code, stderr } = await runCli(['test', ...where, `${dir}/wrong.test.conf`]);
    return [code, stderr];
  };
  t.match(await wrong(`${expects('a')}configuration site.conf;\n`), [2, '"configuration" stands once, before all cases in ']);
  t.match(await wrong(`configuration a b;\n${expects('a')}`), [2, '"configuration" takes 1 argument']);
  t.match(await wrong(`configuration none.conf;\n${expects('a')}`), [78, /open\(\) ".*none\.conf" failed/]);
});
