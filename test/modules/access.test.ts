import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

t.test('allow and deny', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `
      location /inherited { try_files /none @ok; }
      location /allowed { allow 127.0.0.1; deny all; try_files /none @ok; }
      location /denied { deny 127.0.0.0/8; allow all; try_files /none @ok; }
      location /first { allow 127.0.0.1; deny 127.0.0.0/8; try_files /none @ok; }
      location /other { deny 192.0.2.0/24; try_files /none @ok; }
      location /six { deny ::/0; try_files /none @ok; }
      location /unix { deny unix:; allow 127.0.0.1; deny all; try_files /none @ok; }
      location /method { limit_except GET { deny all; } try_files /none @ok; }
      location /returned { deny all; return 200 early; }
      location @ok { return 200 ok; }`,
      'deny 127.0.0.2; allow all;',
    ),
    asRoot: true,
  });
  const status = async (path: string, from?: string) => (await httpGet(s, path, {}, from === undefined ? {} : { from })).status;
  t.equal(await status('/inherited'), 200);
  t.equal(await status('/inherited', '127.0.0.2'), 403);
  t.equal(await status('/allowed'), 200);
  t.equal(await status('/allowed', '127.0.0.2'), 403);
  t.equal(await status('/denied'), 403);
  t.equal(await status('/first'), 200);
  t.equal(await status('/first', '127.0.0.3'), 403);
  t.equal(await status('/other', '127.0.0.2'), 200, 'rules of its own replace the outer ones');
  t.equal(await status('/six'), 200);
  t.equal(await status('/unix'), 200);
  t.equal(await status('/method'), 200);
  t.equal((await http(s, requestText('POST', '/method', {}, 'x'))).status, 403);
  t.equal(await status('/returned'), 200, 'rewrite comes first');
  t.match(s.log(), /\[error\] .*access forbidden by rule, client: 127\.0\.0\.1, server: localhost, request: "GET \/denied HTTP\/1\.1"/);
});

t.test('clients of UNIX-domain sockets', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`server { listen unix:%%DIR%%/s.sock;
      location /open { try_files /none @ok; }
      location /denied { deny unix:; try_files /none @ok; }
      location /allowed { allow unix:; deny all; try_files /none @ok; }
      location /address { allow 127.0.0.1; try_files /none @ok; }
      location /all { deny all; try_files /none @ok; }
      location @ok { return 200 ok; } }`),
  });
  for (const [path, status] of [
    ['/open', 200],
    ['/denied', 403],
    ['/allowed', 200],
    ['/address', 200],
    ['/all', 403],
  ] as const) {
    t.equal((await httpGet(`${s.dir}/s.sock`, path)).status, status, path);
  }
});

t.test('an address that can be written, and not read, is no UNIX-domain socket', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `location / { allow unix:; deny 0.0.0.0/0; try_files /none @ok; }
      location /four { deny unix:; allow 0.0.0.0/0; deny all; try_files /none @ok; }
      location @ok { return 200 "$remote_addr"; }`,
      'set_real_ip_from 127.0.0.1;',
    ),
  });
  const client = { 'X-Real-IP': '::ffff:ffff:ffff' };
  t.equal((await httpGet(s, '/', client)).status, 403);
  t.equal((await httpGet(s, '/four', client)).text, '::ffff:255.255.255.255');
});

t.test('thousands of rules', async (t) => {
  const rules = Array.from({ length: 5000 }, (_, i) => `deny 10.${i >> 8}.${i & 255}.0/24;`).join('\n');
  const s = await startServer(t, {
    conf: serverConf(`location / { ${rules} deny 127.0.0.1; allow all; try_files /none @ok; } location @ok { return 200 ok; }`),
  });
  t.equal((await httpGet(s, '/')).status, 403);
});

t.test('messages', async (t) => {
  for (const [lines, message] of [
    ['allow localhost;', 'invalid parameter "localhost" in %%FILE%%:6'],
    ['deny 1.2.3.4/33;', 'invalid parameter "1.2.3.4/33" in %%FILE%%:6'],
    ['deny;', 'invalid number of arguments in "deny" directive in %%FILE%%:6'],
    ['server { if ($uri) { deny all; } }', '"deny" directive is not allowed here in %%FILE%%:6'],
  ] as const) {
    t.equal(await configMessage(t, httpConf(lines)), message, lines);
  }
  const { stderr } = await testConfig(t, httpConf('allow 10.0.0.1/8;'));
  t.match(stderr, /\[warn\] low address bits of 10\.0\.0\.1\/8 are meaningless in .*:6\n/);
});
