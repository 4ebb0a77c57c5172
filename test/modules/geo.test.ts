import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { httpGet } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

t.test('geo', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `
      location / { return 200 "$client"; }
      location /arg { return 200 "$by_arg"; }
      location /ranges { return 200 "$ranges"; }
      location /proxied { return 200 "$proxied $once"; }
      location /none { return 200 "[$no_default]"; }
      location /live { set $ip 192.0.2.1; set $first $live; set $ip 192.0.2.2; return 200 "$first $live"; }`,
      `
      geo $client { default other; 127.0.0.0/8 local; 127.0.0.1 self; }
      geo $arg_ip $by_arg {
        default none;
        10.0.0.0/8 wide;
        10.1.0.0/16 narrower;
        10.1.2.3 one;
        10.2.0.0/16 gone;
        delete 10.2.0.0/16;
        2001:db8::/32 six;
        2001:db8:1::/48 "six narrower";
        255.255.255.255 nobody;
        include nets.conf;
      }
      geo $arg_ip $ranges {
        ranges;
        default none;
        10.0.0.0-10.2.255.255 a;
        10.1.0.0-10.1.255.255 b;
        10.1.1.0-10.1.1.9 c;
        10.9.0.0-10.9.0.255 gone;
        delete 10.9.0.0-10.9.0.255;
        255.255.0.0-255.255.255.254 last;
      }
      geo $proxied { default none; proxy 127.0.0.1; proxy 192.0.2.0/24; proxy_recursive; 198.51.100.1 client; 192.0.2.1 proxy; }
      geo $once { default none; proxy 127.0.0.1; proxy 192.0.2.0/24; 198.51.100.1 client; 192.0.2.1 proxy; 2001:db8::1 six; }
      geo $arg_ip $no_default { 10.0.0.1 x; }
      geo $ip $live { volatile; 192.0.2.1 one; 192.0.2.2 two; }`,
    ),
    files: { 'nets.conf': '172.16.0.0/12 private;\n' },
  });
  for (const [path, expected] of [
    ['/', 'self'],
    ['/arg?ip=10.1.2.3', 'one'],
    ['/arg?ip=10.1.2.4', 'narrower'],
    ['/arg?ip=10.3.0.0', 'wide'],
    ['/arg?ip=10.2.0.0', 'wide'],
    ['/arg?ip=11.0.0.0', 'none'],
    ['/arg?ip=172.31.255.255', 'private'],
    ['/arg?ip=2001:db8::1', 'six'],
    ['/arg?ip=2001:db8:1::1', 'six narrower'],
    ['/arg?ip=2001:db9::1', 'none'],
    ['/arg?ip=::ffff:10.1.2.3', 'one'],
    ['/arg?ip=nonsense', 'nobody'],
    ['/arg', 'nobody'],
    ['/ranges?ip=10.0.0.0', 'a'],
    ['/ranges?ip=10.1.0.0', 'b'],
    ['/ranges?ip=10.1.1.9', 'c'],
    ['/ranges?ip=10.1.1.10', 'b'],
    ['/ranges?ip=10.2.255.255', 'a'],
    ['/ranges?ip=10.3.0.0', 'none'],
    ['/ranges?ip=10.9.0.1', 'none'],
    ['/ranges?ip=::ffff:10.1.1.1', 'c'],
    ['/ranges?ip=2001:db8::1', 'none'],
    ['/none?ip=10.0.0.1', '[x]'],
    ['/none?ip=10.0.0.2', '[]'],
    ['/live', 'one two'],
  ] as const) {
    t.equal((await httpGet(s, path)).text, expected, path);
  }
  for (const [forwarded, expected] of [
    ['198.51.100.1', 'client client'],
    ['198.51.100.1, 192.0.2.1', 'client proxy'],
    ['198.51.100.1:8080, 192.0.2.1:443', 'client proxy'],
    ['203.0.113.9, 198.51.100.1', 'client client'],
    ['192.0.2.1, bad', 'none none'],
    ['[2001:db8::1]:80', 'none six'],
    ['198.51.100.1,,  192.0.2.7 , ', 'client none'],
  ] as const) {
    t.equal((await httpGet(s, '/proxied', { 'X-Forwarded-For': forwarded })).text, expected, forwarded);
  }
});

t.test('an address that can be written, and not read, may be a proxy', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      'set_real_ip_from 127.0.0.1; location / { return 200 "$remote_addr $client"; }',
      'geo $client { proxy 255.255.255.255; default none; 192.0.2.1 client; }',
    ),
  });
  const { text } = await httpGet(s, '/', { 'X-Real-IP': '::ffff:ffff:ffff', 'X-Forwarded-For': '192.0.2.1' });
  t.equal(text, '::ffff:255.255.255.255 client');
});

t.test('messages', async (t) => {
  for (const [lines, message] of [
    ['geo x { }', 'invalid variable name "x" in %%FILE%%:6'],
    ['geo $x y { }', 'invalid variable name "y" in %%FILE%%:6'],
    ['geo $uri { }', 'the duplicate "uri" variable in %%FILE%%:6'],
    ['geo $x {\nword;\n}', 'invalid number of the geo parameters in %%FILE%%:7'],
    ['geo $x {\n10.0.0.0/8 a;\nranges;\n}', 'the "ranges" directive must be the first directive inside "geo" block in %%FILE%%:8'],
    ['geo $x {\n10.0.0.300 a;\n}', 'invalid network "10.0.0.300" in %%FILE%%:7'],
    ['geo $x {\ndelete a;\n}', 'invalid network "a" in %%FILE%%:7'],
    ['geo $x {\nproxy unix:;\n}', 'invalid network "unix:" in %%FILE%%:7'],
    ['geo $x {\nranges;\n10.0.0.1 a;\n}', 'invalid range "10.0.0.1" in %%FILE%%:8'],
    ['geo $x {\nranges;\n10.0.0.2-10.0.0.1 a;\n}', 'invalid range "10.0.0.2-10.0.0.1" in %%FILE%%:8'],
    [
      'geo $x {\nranges;\n10.0.0.5-10.0.0.9 a;\n10.0.0.1-10.0.0.6 b;\n}',
      'range "10.0.0.1-10.0.0.6" overlaps "10.0.0.5-10.0.0.9" in %%FILE%%:9',
    ],
    [
      'geo $x {\nranges;\n10.0.0.0-10.2.3.4 a;\n10.1.0.0-10.4.0.0 b;\n}',
      'range "10.1.0.0-10.4.0.0" overlaps "10.2.0.0-10.2.3.4" in %%FILE%%:9',
    ],
    ['geo $nowhere $x { }', 'unknown "nowhere" variable'],
    ['geo $x { default 1; 10.0.0.1 2; }\ngeo $x { default 2; }', undefined],
  ] as const) {
    t.equal(await configMessage(t, httpConf(lines)), message, lines);
  }
});

t.test('warnings', async (t) => {
  const { stderr } = await testConfig(
    t,
    httpConf(`geo $x {
      default a;
      default b;
      10.0.0.1/8 c;
      10.0.0.0/8 d;
      delete 192.0.2.0/24;
    }
    geo $y {
      ranges;
      default a;
      default b;
      10.0.0.0-10.0.0.1 c;
      10.0.0.0-10.0.0.1 d;
      delete 10.0.0.0-10.0.0.0;
    }`),
  );
  t.same(
    [...stderr.matchAll(/\[warn\] (.*) in .*:(\d+)$/gm)].map(([, message, line]) => `${message} ${line}`),
    [
      'duplicate network "default", value: "b", old value: "a" 8',
      'duplicate network "default", value: "b", old value: "a" 8',
      'low address bits of 10.0.0.1/8 are meaningless 9',
      'duplicate network "10.0.0.0/8", value: "d", old value: "c" 10',
      'no network "192.0.2.0/24" to delete 11',
      'duplicate default geo range value: "b", old value: "a" 16',
      'duplicate range "10.0.0.0-10.0.0.1", value: "d", old value: "c" 18',
      'no address range "10.0.0.0-10.0.0.0" to delete 19',
    ],
  );
});
