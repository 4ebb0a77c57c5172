import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { systemCrypt } from '../../src/worker/password/system-crypt.js';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { frame, Http2Client, request, T } from '../support/http2-client.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { httpConf, type Server, serverConf, startServer } from '../support/server.js';

/** `secret` in every scheme. */
const users = `# comment:{PLAIN}secret
plain:{PLAIN}secret
sha:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=
ssha:{SSHA}gVK8WC9YyFT1gMsQHTGCgT3sSv5zYWx0
des:abNANd1rDfiNc
md5:$1$saltsalt$9xy1btjgzLYfb7hivXtC//
sha256:$5$saltstring$C3o4O1TC6aRHF4FI.QSZMXtHbaj2gSXr4sUc/3NcUi.
sha512:$6$saltstring$AIsRs/Ee56G/tC8MEHhvReZTfx8u3rXXMl6eYrjCG9ibix19DxoMBLogdTET5Ukw9Sf7eZTITsuk0Ry5qulYz.
bcrypt:$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW
bytes:$2b$04$abcdefghijklmnopqrstuu5liWEdkO/MrA11WLV1f1pIWUPO3JuVS
apr1:$apr1$saltsalt$LrttParrLPdxvgutaSXWJ0
comment:{PLAIN}secret:with a comment
twice:{PLAIN}secret
twice:{PLAIN}other
empty:
`;

const basic = (user: string, password = 'secret') => ({
  Authorization: `Basic ${Buffer.from(`${user}:${password}`, 'latin1').toString('base64')}`,
});

const status = async (s: Server, path: string, headers: Readonly<Record<string, string>> = {}) => (await httpGet(s, path, headers)).status;

t.test('users and password schemes', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      auth_basic "closed site"; auth_basic_user_file users;
      location / { try_files /none @ok; }
      location @ok { auth_basic off; return 200 "$remote_user"; }`),
    files: { users, 'users-last': 'last:{PLAIN}secret' },
  });
  for (const user of ['plain', 'sha', 'ssha', 'des', 'md5', 'sha256', 'sha512', 'bcrypt', 'apr1', 'comment', 'twice']) {
    const right = await httpGet(s, '/', basic(user));
    t.strictSame([right.status, right.text], [200, user], user);
    t.equal(await status(s, '/', basic(user, 'Secret')), 401, `${user}, wrong password`);
    t.equal(await status(s, '/', basic(user)), 200, `${user}, again`);
  }
  t.equal(await status(s, '/', basic('bytes', 'p\xe9\xff')), 200, 'a password that is no UTF-8');
  t.equal(await status(s, '/', basic('bytes', 'p\xc3\xa9\xc3\xbf')), 401, 'the same letters as UTF-8');
  const none = await httpGet(s, '/');
  t.strictSame([none.status, none.header('WWW-Authenticate')], [401, 'Basic realm="closed site"']);
  t.equal(await status(s, '/', basic('twice', 'other')), 401, "a user's first line counts");
  t.equal(await status(s, '/', basic('empty', '')), 401);
  t.equal(await status(s, '/', basic('# comment')), 401);
  t.equal(await status(s, '/', basic('nobody')), 401);
  for (const header of ['Basic', 'Basic ', 'Basic !!!', 'Bearer abc', `Basic ${Buffer.from('nocolon').toString('base64')}`]) {
    t.equal(await status(s, '/', { Authorization: header }), 401, header);
  }
  t.equal(await status(s, '/', { Authorization: `bASIC   ${Buffer.from('plain:secret').toString('base64')}` }), 200);
  const log = s.log();
  t.match(log, /\[error\] .*user "plain": password mismatch, client: 127\.0\.0\.1, server: localhost, request: "GET \/ HTTP\/1\.1"/);
  t.match(log, `user "nobody" was not found in "${s.dir}/users"`);
  t.match(log, /\[info\] .*no user\/password was provided for basic authentication/);
  await s.write('users', 'new:{PLAIN}secret');
  t.equal(await status(s, '/', basic('new')), 200, 'a changed file counts at once');
  t.equal(await status(s, '/', basic('plain')), 401);
});

/** `secret` in schemes that only the system's libcrypt knows. */
const ofSystem = `yescrypt:$y$j9T$abcdefgh$IUWJt2doU4Kf6E/JP1UkAT3S5O3Q7SSA8SJirXIlEu9
gost:$gy$j9T$abcdefgh$Fi3mUfLMwr2ZyDlmydp6rw5RwzYJnsb1LquZlQ2CYq0
scrypt:$7$CU..../....abcdefgh$XWs9HxtpA2.6U5CDBBbcW.h3o9pYlC.MIIb8JqMgZx6
sha1:$sha1$1000$abcdefgh$ji8ESnkwjcTjo4hThodnLYyi.3yG
bsdi:_J9..abcd/H6HLCcf7nw
`;
const libcrypt = againstNginx || systemCrypt() !== undefined;

t.test("the system's schemes", { skip: !libcrypt && 'no libcrypt' }, async (t) => {
  const s = await startServer(t, {
    conf: serverConf('location / { auth_basic x; auth_basic_user_file users; try_files /none =204; }'),
    files: { users: `${ofSystem}bad:$y$j9T$abc\nunknown:$9$x$\nlocked:!!\n` },
  });
  const names = ofSystem.match(/^\w+/gm) ?? [];
  for (const user of names) {
    t.equal(await status(s, '/', basic(user)), 204, user);
    t.equal(await status(s, '/', basic(user, 'Secret')), 401, `${user}, wrong password`);
    t.equal(await status(s, '/', basic(user, 'secret\0more')), 204, 'to C, it ends there');
  }
  for (const user of ['bad', 'unknown', 'locked']) {
    t.equal(await status(s, '/', basic(user)), 401, user);
  }
  const many = await Promise.all(
    Array.from({ length: 30 }, (_, i) => status(s, '/', basic(names[i % 3]!, i % 2 === 0 ? 'secret' : `${i}`))),
  );
  t.same(
    many,
    many.map((_, i) => (i % 2 === 0 ? 204 : 401)),
  );
});

t.test('many requests with one slow hash', async (t) => {
  const s = await startServer(t, {
    conf: serverConf('location / { auth_basic x; auth_basic_user_file users; try_files /none @ok; } location @ok { return 200 ok; }'),
    files: { users },
  });
  const codes = await Promise.all(Array.from({ length: 30 }, (_, i) => status(s, '/', basic('sha512', i % 3 === 0 ? 'wrong' : 'secret'))));
  t.same(
    codes,
    codes.map((_, i) => (i % 3 === 0 ? 401 : 200)),
  );
});

t.test('passwords of requests that were given up are not hashed', { skip: againstNginx }, async (t) => {
  const s = await startServer(t, {
    conf: serverConf('http2 on; location / { auth_basic x; auth_basic_user_file users; stub_status; }'),
    files: { users: `${users}slow:$6$rounds=50000$abcdefgh$never\n` },
  });
  const c = await Http2Client.connect(t, s.port(0));
  const credentials = (user: string, password: string): readonly [string, string] => ['authorization', basic(user, password).Authorization];
  for (let id = 1; id < 80; id += 2) {
    c.request(id, request('GET', '/', credentials('slow', `password ${id}`)));
    c.send(frame(T.RST, 0, id, Buffer.from([0, 0, 0, 8])));
  }
  c.request(81, request('GET', '/', credentials('sha512', 'secret')));
  t.equal((await c.response(81)).status, '200');
  t.notMatch(s.log(), /user "slow": password mismatch/);
});

t.test('realms, files and levels', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `
      location /off { auth_basic off; try_files /none @ok; }
      location /variable { auth_basic "for $arg_x"; auth_basic_user_file $document_root/../$arg_f; try_files /none @ok; }
      location /variable-off { auth_basic $arg_x; try_files /none @ok; }
      location /missing { auth_basic_user_file missing; try_files /none @ok; }
      location /folder { auth_basic_user_file html; try_files /none @ok; }
      location /below-a-file { auth_basic_user_file users/x; try_files /none @ok; }
      location /method { limit_except GET { auth_basic_user_file other; } try_files /none @ok; }
      location /any { satisfy any; deny all; try_files /none @ok; }
      location /any-open { satisfy any; allow all; try_files /none @ok; }
      location /all { deny all; try_files /none @ok; }
      location @ok { auth_basic off; return 200 ok; }`,
      'auth_basic outer; auth_basic_user_file users;',
    ),
    files: { users, other: 'other:{PLAIN}secret', 'html/index.html': '' },
  });
  t.equal(await status(s, '/off'), 200);
  const variable = await httpGet(s, '/variable?x=you&f=users');
  t.strictSame([variable.status, variable.header('WWW-Authenticate')], [401, 'Basic realm="for you"']);
  t.equal(await status(s, '/variable?f=other', basic('other')), 200);
  t.equal(await status(s, '/variable?f=users', basic('other')), 401);
  t.equal(await status(s, '/variable-off?x=off'), 200);
  t.equal(await status(s, '/variable-off?x=on'), 401);
  t.equal(await status(s, '/missing'), 401);
  t.equal(await status(s, '/missing', basic('plain')), 403);
  t.match(s.log(), /\[error\] .*open\(\) ".*\/missing" failed \(2: No such file or directory\)/);
  t.equal(await status(s, '/folder', basic('plain')), 500);
  t.match(s.log(), /\[crit\] .*read\(\) ".*\/html" failed \(21: Is a directory\)/);
  t.equal(await status(s, '/below-a-file', basic('plain')), 500);
  t.match(s.log(), /\[crit\] .*open\(\) ".*\/users\/x" failed \(20: Not a directory\)/);
  t.equal(await status(s, '/method', basic('plain')), 200);
  t.equal((await http(s, requestText('POST', '/method', basic('plain'), 'x'))).status, 401);
  t.equal((await http(s, requestText('POST', '/method', basic('other'), 'x'))).status, 404, 'let in, where nothing answers a POST');
  t.equal(await status(s, '/any'), 401);
  t.equal(await status(s, '/any', basic('sha512')), 200, 'satisfy any');
  const open = await httpGet(s, '/any-open', basic('plain', 'wrong'));
  t.strictSame([open.status, open.header('WWW-Authenticate')], [200, undefined]);
  t.equal(await status(s, '/all', basic('plain')), 403);
});

t.test("a challenge stands beside a backend's, and the log says nothing of what was done for the backend", async (t) => {
  const origin = await startOrigin(t, { status: 401, headers: { 'WWW-Authenticate': ['One', 'Two'] } });
  const s = await startServer(t, {
    conf: serverConf(`
      location / { proxy_pass http://127.0.0.1:${origin.port}; proxy_intercept_errors on; error_page 401 /own; }
      location = /own { auth_basic own; auth_basic_user_file %%DIR%%/none; }`),
  });
  t.strictSame((await httpGet(s, '/')).all('WWW-Authenticate'), ['One', 'Two', 'Basic realm="own"']);
  t.notMatch(await s.logged('no user/password was provided for basic authentication'), / while /);
});

t.test('auth_delay', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      auth_basic x; auth_basic_user_file users; auth_delay 50ms;
      error_page 401 /sorry;
      location / { try_files /none @ok; }
      location = /sorry { auth_basic off; return 401 sorry; }
      location @ok { auth_basic off; return 200 ok; }`),
    files: { users },
  });
  t.equal(await status(s, '/', basic('plain')), 200);
  t.notMatch(s.log(), 'delaying');
  const refused = await httpGet(s, '/', basic('md5', 'wrong'));
  t.strictSame([refused.status, refused.text], [401, 'sorry']);
  t.match(s.log(), /\[info\] .*delaying unauthorized request/);
});

t.test('messages', async (t) => {
  for (const [lines, message] of [
    ['auth_basic a; auth_basic b;', '"auth_basic" directive is duplicate in %%FILE%%:6'],
    ['auth_basic_user_file a; auth_basic_user_file b;', '"auth_basic_user_file" directive is duplicate in %%FILE%%:6'],
    ['auth_delay x;', '"auth_delay" directive invalid value in %%FILE%%:6'],
    ['server { location / { if ($uri) { auth_basic x; } } }', '"auth_basic" directive is not allowed here in %%FILE%%:6'],
  ] as const) {
    t.equal(await configMessage(t, httpConf(lines)), message, lines);
  }
});

t.test('a password that cannot be hashed for want of memory', { skip: againstNginx }, async (t) => {
  // Under the test's own user, which may limit it.
  const s = await startServer(t, {
    conf: serverConf('auth_basic x; auth_basic_user_file users; location / { try_files /none =204; }'),
    files: { users },
    asRoot: true,
  });
  const [worker] = s.workers();
  t.equal(await status(s, '/', basic('md5')), 204, 'the thread is there');
  const size = Number(/^VmSize:\s*(\d+) kB/m.exec(readFileSync(`/proc/${worker}/status`, 'utf8'))?.[1]) * 1024;
  execFileSync('prlimit', ['--pid', `${worker}`, `--as=${size + 1024 ** 3}:`]);
  t.equal(await status(s, '/', basic('bcrypt')), 500);
  await s.logged(/\[crit\] .*crypt_r\(\) failed \(12: Cannot allocate memory\), client/);
  t.equal(await status(s, '/', basic('sha512')), 204, 'another scheme');
  execFileSync('prlimit', ['--pid', `${worker}`, '--as=unlimited:']);
  t.equal(await status(s, '/', basic('bcrypt')), 204);
});
