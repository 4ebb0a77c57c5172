import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { frame, Http2Client, number32, request, T } from '../support/http2-client.js';
import { startOrigin } from '../support/origin.js';
import { killWorkers } from '../support/processes.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

// A held request waits, after it was let in, for an answer to its auth request, whose own turn does not come.
const HELD = 'auth_request /turn; stub_status';
const TURN = `location /turn { limit_req zone=turns burst=1000; stub_status; }
  location /first { limit_req zone=turns burst=1000; stub_status; }`;
const TURNS = 'limit_req_zone $server_name zone=turns:1m rate=1r/m; limit_req_log_level notice;';

const delayed = (server: Server): number => server.log().split('delaying request').length - 1;

/** Sends so many requests at once; gives those that are under way then, and how many of the others got each status. */
async function holders(server: Server, path: string, count: number): Promise<{ held: RawClient[]; refused: Record<number, number> }> {
  const before = delayed(server);
  const clients = await Promise.all(Array.from({ length: count }, () => RawClient.connect(server)));
  for (const client of clients) {
    client.send(requestText('GET', path, { Connection: 'close' }));
  }
  const answered = () => clients.filter((client) => client.received !== '');
  await waitFor(() => answered().length + delayed(server) - before === count);
  const refused: Record<number, number> = {};
  const held = clients.filter((client) => client.received === '');
  for (const client of answered()) {
    const { status } = await client.response();
    refused[status] = (refused[status] ?? 0) + 1;
    client.destroy();
  }
  return { held, refused };
}

/** Lets the requests go, and waits until a new one finds room. */
async function release(server: Server, held: readonly RawClient[], path: string): Promise<void> {
  for (const client of held) {
    client.destroy();
  }
  await waitFor(async () => (await httpGet(server, path)).status === 200);
}

t.test('ten at once over four workers', { timeout: 300_000 }, async (t) => {
  const s = await startServer(t, {
    conf: `worker_processes 4;\n${serverConf(
      `${TURN}
      location /three { limit_conn one 3; ${HELD}; }
      location /quick { limit_conn one 1; stub_status; }`,
      `${TURNS} limit_conn_zone $server_name zone=one:1m;`,
    )}`,
    expectAlerts: /exited on signal 9/,
  });
  await httpGet(s, '/first');
  const { held, refused } = await holders(s, '/three', 10);
  t.equal(held.length, 3);
  t.strictSame(refused, { 503: 7 });
  t.match(
    s.log(),
    /\[error\] .*: \*\d+ limiting connections by zone "one", client: 127\.0\.0\.1, server: localhost, request: "GET \/three HTTP\/1\.1"/,
  );
  t.equal((await httpGet(s, '/quick')).status, 503, 'one zone, two limits');
  await release(s, held, '/quick');
  for (let i = 0; i < 50; i++) {
    t.equal((await httpGet(s, '/quick')).status, 200, 'one after the other');
  }

  const second = await holders(s, '/three', 3);
  t.equal(second.held.length, 3);
  if (againstNginx) {
    return;
  }
  const workers = s.workers();
  await killWorkers(workers);
  await waitFor(() => s.workers().length === 4);
  const third = await holders(s, '/three', 10);
  t.equal(third.held.length, 3, 'killed workers keep no places');
  for (const client of [...second.held, ...third.held]) {
    client.destroy();
  }
});

t.test('statuses, levels and dry runs', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `${TURN}
      access_log %%DIR%%/limits.log limits;
      location /held { limit_conn one 1; ${HELD}; }
      location /two { limit_conn one 2; limit_conn other 1; limit_conn_status 429; limit_conn_log_level warn; ${HELD}; }
      location /dry { limit_conn one 1; limit_conn_dry_run on; limit_conn_log_level info; stub_status; }
      location /empty { limit_conn empty 1; ${HELD}; }
      location /none { stub_status; }`,
      `${TURNS} log_format limits "$uri $limit_conn_status";
      limit_conn_zone $server_name zone=one:1m;
      limit_conn_zone $server_name zone=other:1m;
      limit_conn_zone $arg_key zone=empty:1m;`,
    ),
  });
  await httpGet(s, '/first');
  await httpGet(s, '/none');
  const first = await holders(s, '/held', 1);
  t.equal((await httpGet(s, '/held')).status, 503);
  t.equal((await httpGet(s, '/dry')).status, 200);
  const two = await holders(s, '/two', 2);
  t.equal(two.held.length, 1);
  t.strictSame(two.refused, { 429: 1 });
  const empty = await holders(s, '/empty', 3);
  t.equal(empty.held.length, 3, 'an empty key is not counted');
  for (const client of [...first.held, ...two.held, ...empty.held]) {
    client.destroy();
  }
  const passed = await waitFor(() => /^\/held PASSED$/m.test(s.read('limits.log')) && s.read('limits.log'));
  t.match(passed, /^\/none -$/m);
  t.match(passed, /^\/held REJECTED$/m);
  t.match(passed, /^\/dry REJECTED_DRY_RUN$/m);
  t.match(s.log(), /\[info\] .* limiting connections, dry run, by zone "one", client/);
  t.match(s.log(), /\[warn\] .* limiting connections by zone "(one|other)", client/);
});

t.test('a request that one zone refuses takes no place in another', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `${TURN}
      location /a { limit_conn a 1; limit_conn b 1; ${HELD}; }
      location /b { limit_conn b 1; ${HELD}; }
      location /free { limit_conn a 1; stub_status; }`,
      `${TURNS} limit_conn_zone $server_name zone=a:1m; limit_conn_zone $server_name zone=b:1m;`,
    ),
  });
  await httpGet(s, '/first');
  const b = await holders(s, '/b', 1);
  t.equal((await httpGet(s, '/a')).status, 503);
  t.equal((await httpGet(s, '/free')).status, 200);
  for (const client of b.held) {
    client.destroy();
  }
});

t.test('over HTTP/2 a request waits for what goes on behind a response that has ended', async (t) => {
  let release: (() => void) | undefined;
  const origin = await startOrigin(t, async ({ method }, reply) => {
    if (method === 'HEAD') {
      return { headers: { 'Content-Length': '4' } };
    }
    await reply.write('HTTP/1.1 200 OK\r\nContent-Length: 8\r\nCache-Control: max-age=100\r\n\r\nhalf');
    await new Promise<void>((done) => (release = done));
    return reply.end('half');
  });
  const s = await startServer(t, {
    conf: serverConf(
      `http2 on;
      location /fill { limit_conn one 1; proxy_cache c; proxy_pass http://127.0.0.1:${origin.port}; }
      location /two { limit_conn one 1; limit_conn two 1; limit_conn_status 429; stub_status; }`,
      `proxy_cache_path %%DIR%%/cache keys_zone=c:1m; limit_conn_zone $server_name zone=one:1m; limit_conn_zone $server_name zone=two:1m;`,
    ),
  });
  const client = await Http2Client.connect(t, s.port(0));
  for (const id of [1, 11, 21]) {
    release = undefined;
    t.equal((await client.request(id, request('HEAD', `/fill/${id}`)).response(id)).status, '200');
    const go = await waitFor(() => release);
    client.request(id + 2, request('GET', '/two'));
    client.request(id + 4, request('GET', '/two')).send(frame(T.RST, 0, id + 4, number32(8)));
    await client.ping();
    const refused = await httpGet(s, '/two', { Connection: 'close' });
    t.equal(refused.status, 429, 'another connection does not wait');
    go();
    t.equal((await client.response(id + 2)).status, '200', 'behind a response that had ended');
  }
});

t.test('a full zone refuses new keys', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `${TURN}
      location / { limit_conn one 1; ${HELD}; }`,
      `${TURNS} large_client_header_buffers 4 16k;
      limit_conn_zone $arg_key zone=one:32k;`,
    ),
  });
  // Keys of up to 255 bytes take 512 bytes each, so some fifty fill the zone.
  const keys = Array.from({ length: 70 }, (_, i) => `${i}`.padStart(250, 'x'));
  await httpGet(s, '/first');
  const clients = await Promise.all(keys.map(() => RawClient.connect(s)));
  for (const [i, client] of clients.entries()) {
    client.send(requestText('GET', `/?key=${keys[i]}`));
  }
  await waitFor(() => clients.filter((client) => client.received !== '').length + delayed(s) === keys.length);
  const refused = clients.filter((client) => client.received.includes(' 503 ')).length;
  t.ok(refused > 5 && refused < 40, `${refused} of 70 found no room`);
  t.match(s.log(), /\[crit\] .*ngx_slab_alloc\(\) failed: no memory in limit_conn_zone "one"/);
  for (const client of clients) {
    client.destroy();
  }
});

t.test('messages', async (t) => {
  for (const [http, server, expected] of [
    ['limit_conn_zone $uri zone=one:1m', 'limit_conn one 65535', undefined],
    ['limit_conn_zone $uri one:1m', '', 'invalid parameter "one:1m" in %%FILE%%:7'],
    ['limit_conn_zone $nothing one:1m x', '', 'invalid number of arguments in "limit_conn_zone" directive in %%FILE%%:7'],
    ['limit_conn_zone $uri zone=one', '', 'invalid zone size "zone=one" in %%FILE%%:7'],
    ['limit_conn_zone $uri zone=one:32767', '', 'zone "zone=one:32767" is too small in %%FILE%%:7'],
    ['limit_conn_zone $uri zone=:1m', '', '"limit_conn_zone" must have "zone" parameter in %%FILE%%:7'],
    [
      'limit_conn_zone $uri zone=one:1m; limit_conn_zone $host zone=one:1m',
      '',
      'limit_conn_zone "one" is already bound to key "$uri" in %%FILE%%:7',
    ],
    ['', 'limit_conn one 1', 'zero size shared memory zone "one"'],
    ['', 'limit_conn one 0', 'invalid number of connections "0" in %%FILE%%:11'],
    ['', 'limit_conn one many', 'invalid number of connections "many" in %%FILE%%:11'],
    ['', 'limit_conn one 65536', 'connection limit must be less 65536 in %%FILE%%:11'],
    ['limit_conn_zone $uri zone=one:1m', 'limit_conn one 1; limit_conn one 2', '"limit_conn" directive is duplicate in %%FILE%%:11'],
    ['', 'limit_conn_status 600', 'value must be between 400 and 599 in %%FILE%%:11'],
  ] as const) {
    const conf = httpConf(`\n${http};\nserver {\nlisten 127.0.0.1:%%PORT_0%%;\n\n${server};\n}`).replaceAll(/^;$/gm, '');
    t.equal(await configMessage(t, conf), expected, http || server);
  }
});
