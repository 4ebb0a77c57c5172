import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, type Server, serverConf, startServer } from '../support/server.js';

// The content is that of stub_status: the phases before it are what is tested here.

/** Sends requests for a path on so many connections at once; gives how many answers of each status came. */
async function burst(server: Server, path: string, count: number): Promise<Record<number, number>> {
  const clients = await Promise.all(Array.from({ length: count }, () => RawClient.connect(server)));
  for (const client of clients) {
    client.send(requestText('GET', path, { Connection: 'close' }));
  }
  const answers: Record<number, number> = {};
  for (const client of clients) {
    const { status } = await client.response();
    answers[status] = (answers[status] ?? 0) + 1;
    client.destroy();
  }
  return answers;
}

t.test('sixty requests at once over four workers', async (t) => {
  const s = await startServer(t, {
    conf: `worker_processes 4;\n${serverConf(
      `location /burst { limit_req zone=burst burst=5 nodelay; stub_status; }
      location /none { limit_req zone=none; limit_req_status 429; stub_status; }
      location /arg { limit_req zone=arg; stub_status; }`,
      `limit_req_zone $server_name zone=burst:1m rate=1r/m;
      limit_req_zone $server_name zone=none:1m rate=1r/m;
      limit_req_zone $arg_key zone=arg:1m rate=1r/m;`,
    )}`,
  });
  t.strictSame(await burst(s, '/burst', 60), { 200: 6, 503: 54 }, 'a burst of five and one');
  t.strictSame(await burst(s, '/none', 60), { 200: 1, 429: 59 }, 'no burst');
  t.strictSame(await burst(s, '/arg', 10), { 200: 10 }, 'an empty key is not counted');
  t.strictSame(await burst(s, '/arg?key=a', 10), { 200: 1, 503: 9 });
  t.strictSame(await burst(s, '/arg?key=b', 1), { 200: 1 }, 'keys are apart');
  t.match(
    s.log(),
    /\[error\] .*: \*\d+ limiting requests, excess: [56]\.\d{3} by zone "burst", client: 127\.0\.0\.1, server: localhost, request: "GET \/burst HTTP\/1\.1", host: "localhost"/,
  );
});

t.test('statuses, levels and dry runs', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `access_log %%DIR%%/limits.log limits;
      location /plain { limit_req zone=a; limit_req_log_level warn; stub_status; }
      location /delay { limit_req zone=b burst=5; limit_req_log_level notice; stub_status; }
      location /later { limit_req zone=c burst=5 delay=1; stub_status; }
      location /dry { limit_req zone=d burst=1; limit_req_dry_run on; limit_req_log_level info; stub_status; }
      location /none { stub_status; }`,
      `log_format limits "$uri $limit_req_status";
      limit_req_zone $server_name zone=a:1m rate=1r/m;
      limit_req_zone $server_name zone=b:1m rate=30r/m;
      limit_req_zone $server_name zone=c:1m rate=30r/m;
      limit_req_zone $server_name zone=d:1m rate=1r/m;`,
    ),
  });
  for (const path of ['/none', '/plain', '/plain']) {
    await httpGet(s, path);
  }
  const later = Promise.all([1, 2, 3].map(() => httpGet(s, '/later')));
  const both = await Promise.all([httpGet(s, '/delay'), httpGet(s, '/delay')]);
  t.strictSame(
    both.map(({ status }) => status),
    [200, 200],
  );
  await later;
  for (let i = 0; i < 3; i++) {
    t.equal((await httpGet(s, '/dry')).status, 200);
  }
  const lines = s.read('limits.log').trim().split('\n');
  const of = (path: string) =>
    lines
      .filter((line) => line.startsWith(`${path} `))
      .map((line) => line.slice(path.length + 1))
      .sort();
  t.strictSame(of('/none'), ['-']);
  t.strictSame(of('/plain'), ['PASSED', 'REJECTED']);
  t.strictSame(of('/delay'), ['DELAYED', 'PASSED']);
  t.strictSame(of('/later'), ['DELAYED', 'PASSED', 'PASSED']);
  t.strictSame(of('/dry'), ['DELAYED_DRY_RUN', 'PASSED', 'REJECTED_DRY_RUN']);
  t.match(s.log(), /\[warn\] .* limiting requests, excess: [01]\.\d{3} by zone "a", client/);
  t.match(s.log(), /\[info\] .* delaying request, excess: [01]\.\d{3}, by zone "b", client/);
  t.match(s.log(), /\[warn\] .* delaying request, excess: [12]\.\d{3}, by zone "c", client/);
  t.match(s.log(), /\[info\] .* delaying request, dry run, excess: [01]\.\d{3}, by zone "d", client/);
  t.match(s.log(), /\[info\] .* limiting requests, dry run, excess: [12]\.\d{3} by zone "d", client/);
});

t.test('several limits', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `limit_req zone=wide burst=9 nodelay;
      location /both { limit_req zone=wide burst=9 nodelay; limit_req zone=narrow burst=1 nodelay; stub_status; }
      location /inherited { stub_status; }`,
      `limit_req_zone $server_name zone=wide:1m rate=1r/m;
      limit_req_zone $arg_key zone=narrow:1m rate=1r/m;`,
    ),
  });
  t.strictSame(await burst(s, '/both?key=a', 20), { 200: 2, 503: 18 });
  t.match(s.log(), /limiting requests, excess: \d\.\d+ by zone "narrow"/);
  t.strictSame(await burst(s, '/inherited', 20), { 200: 8, 503: 12 }, 'refused requests were not counted in the other zone');
});

t.test('a request that waits for its turn', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `access_log %%DIR%%/limits.log limits;
      location / { limit_req zone=one burst=5; stub_status; }`,
      `log_format limits "$status $limit_req_status";
      limit_req_zone $server_name zone=one:1m rate=1r/m;`,
    ),
  });
  await httpGet(s, '/');
  const client = await RawClient.connect(s);
  client.send(requestText('GET', '/'));
  await s.logged('delaying request');
  client.destroy();
  await s.logged('client prematurely closed connection');
  t.equal((await httpGet(s, '/', {}, { timeout: 1000 }).catch(() => ({ status: 0 }))).status, 0, 'the one that left is counted');
  t.match(s.read('limits.log'), /^499 DELAYED$/m);
});

t.test('429 with a body of its own', { skip: againstNginx && 'ours' }, async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `limit_req_status 429;
      limit_req_retry_after on;
      error_page 429 = @limited;
      location / { limit_req zone=one; stub_status; }
      location /off { limit_req zone=one; limit_req_retry_after off; stub_status; }
      location @limited { default_type application/json; return 429 '{"error":"rate limited","retry_after":$limit_req_retry_after}'; }`,
      'limit_req_zone $server_name zone=one:1m rate=6r/m;',
    ),
  });
  const passed = await httpGet(s, '/');
  t.strictSame([passed.status, passed.header('Retry-After')], [200, undefined]);
  const refused = await httpGet(s, '/');
  t.strictSame([refused.status, refused.header('Content-Type')], [429, 'application/json']);
  const { error, retry_after: wait } = JSON.parse(refused.text);
  t.equal(error, 'rate limited');
  t.ok(wait > 5 && wait <= 10, `ten seconds, less what has passed: ${wait}`);
  t.equal(refused.header('Retry-After'), String(wait));
  t.equal((await httpGet(s, '/off')).header('Retry-After'), undefined);
});

t.test('a full zone forgets the oldest', async (t) => {
  const s = await startServer(t, {
    conf: serverConf('location / { limit_req zone=one; stub_status; }', 'limit_req_zone $arg_key zone=one:32k rate=1r/m;'),
  });
  const ask = async (client: RawClient, key: string) => (await client.send(requestText('GET', `/?key=${key}`)).response()).status;
  const client = await RawClient.connect(s);
  t.equal(await ask(client, 'first'), 200);
  for (let i = 0; i < 150; i++) {
    await ask(client, `a${i}`);
  }
  t.equal(await ask(client, 'first'), 503, 'there is room for them all');
  for (let i = 0; i < 300; i++) {
    t.equal(await ask(client, `b${i}`), 200);
  }
  t.equal(await ask(client, 'first'), 200);
  client.destroy();
});

t.test('keys that are too long are not counted', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      'location / { limit_req zone=one; stub_status; }',
      `large_client_header_buffers 4 32k;
      limit_req_zone $arg_k$arg_k$arg_k$arg_k zone=one:1m rate=1r/m;`,
    ),
    logLevel: 'error',
  });
  const path = `/?k=${'x'.repeat(20_000)}`;
  t.strictSame(await burst(s, path, 3), { 200: 3 });
  t.match(s.log(), /the value of the "\$arg_k\$arg_k\$arg_k\$arg_k" key is more than 65535 bytes: "xxx/);
});

t.test('over a reload', async (t) => {
  const conf = (zone: string) => serverConf('location / { limit_req zone=one; stub_status; }', `limit_req_zone ${zone} rate=1r/m;`);
  const s = await startServer(t, { conf: conf('$server_name zone=one:1m') });
  t.strictSame([(await httpGet(s, '/')).status, (await httpGet(s, '/')).status], [200, 503]);
  await s.reload();
  t.equal((await httpGet(s, '/')).status, 503, 'the zone is kept');
  await t.rejects(
    s.reload(conf('$host zone=one:1m')),
    /limit_req "one" uses the "\$host" key while previously it used the "\$server_name" key/,
  );
  t.equal((await httpGet(s, '/')).status, 503, 'a refused configuration changes nothing');
  await s.reload(conf('$server_name zone=one:2m'));
  t.strictSame([(await httpGet(s, '/')).status, (await httpGet(s, '/')).status], [200, 503], 'another size is another zone');
});

t.test('messages', async (t) => {
  for (const [http, server, expected] of [
    ['limit_req_zone $uri zone=one:1m rate=1r/s', 'limit_req zone=one burst=3 delay=1', undefined],
    ['limit_req_zone $uri zone=one:1m', '', 'invalid number of arguments in "limit_req_zone" directive in %%FILE%%:7'],
    ['limit_req_zone $uri zone=one rate=1r/s', '', 'invalid zone size "zone=one" in %%FILE%%:7'],
    ['limit_req_zone $nothing zone=one rate=x y', '', 'invalid number of arguments in "limit_req_zone" directive in %%FILE%%:7'],
    ['limit_req_zone $uri zone=one:x rate=1r/s', '', 'invalid zone size "zone=one:x" in %%FILE%%:7'],
    ['limit_req_zone $uri zone=one:31k rate=1r/s', '', 'zone "zone=one:31k" is too small in %%FILE%%:7'],
    ['limit_req_zone $uri zone=:1m rate=1r/s', '', '"limit_req_zone" must have "zone" parameter in %%FILE%%:7'],
    ['limit_req_zone $uri rate=1r/s rate=1r/s', '', '"limit_req_zone" must have "zone" parameter in %%FILE%%:7'],
    ['limit_req_zone $uri zone=one:1m rate=0r/s', '', 'invalid rate "rate=0r/s" in %%FILE%%:7'],
    ['limit_req_zone $uri zone=one:1m rate=1r/h', '', 'invalid rate "rate=1r/h" in %%FILE%%:7'],
    ['limit_req_zone $uri zone=one:1m sync', '', 'invalid parameter "sync" in %%FILE%%:7'],
    ['limit_req_zone $no_such_variable zone=one:1m rate=1r/s', '', 'unknown "no_such_variable" variable'],
    [
      'limit_req_zone $uri zone=one:1m rate=1r/s; limit_req_zone $host zone=one:1m rate=1r/s',
      '',
      'limit_req_zone "one" is already bound to key "$uri" in %%FILE%%:7',
    ],
    [
      'limit_req_zone $uri zone=one:1m rate=1r/s; limit_req_zone $uri zone=one:2m rate=1r/s',
      '',
      'the size 2097152 of shared memory zone "one" conflicts with already declared size 1048576 in %%FILE%%:7',
    ],
    ['', 'limit_req zone=one', 'zero size shared memory zone "one"'],
    [
      'limit_conn_zone $uri zone=one:1m',
      'limit_req zone=one',
      'the shared memory zone "one" is already declared for a different use in %%FILE%%:11',
    ],
    ['', 'limit_req burst=1', '"limit_req" must have "zone" parameter in %%FILE%%:11'],
    ['', 'limit_req zone=one burst=0', 'invalid burst value "burst=0" in %%FILE%%:11'],
    ['', 'limit_req zone=one delay=x', 'invalid delay value "delay=x" in %%FILE%%:11'],
    ['', 'limit_req zone=one none', 'invalid parameter "none" in %%FILE%%:11'],
    [
      'limit_req_zone $uri zone=one:1m rate=1r/s',
      'limit_req zone=one; limit_req zone=one',
      '"limit_req" directive is duplicate in %%FILE%%:11',
    ],
    ['', 'limit_req_status 399', 'value must be between 400 and 599 in %%FILE%%:11'],
    ['', 'limit_req_log_level debug', 'invalid value "debug" in %%FILE%%:11'],
  ] as const) {
    const conf = httpConf(`\n${http};\nserver {\nlisten 127.0.0.1:%%PORT_0%%;\n\n${server};\n}`).replaceAll(/^;$/gm, '');
    t.equal(await configMessage(t, conf), expected, http || server);
  }
});
