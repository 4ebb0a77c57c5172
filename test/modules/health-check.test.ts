import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { block, END_HEADERS, frame, T } from '../support/http2-client.js';
import { answer, dataOf, startHttp2Origin } from '../support/http2-origin.js';
import { type OriginAnswer, startOrigin } from '../support/origin.js';
import { killWorkers } from '../support/processes.js';
import { httpGet } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

interface Peer {
  readonly address: string;
  readonly state: string;
  readonly health_checks?: { readonly checks: number; readonly fails: number; readonly unhealthy: number; readonly last_passed: boolean };
}

const peers = async (s: Server, group: string): Promise<readonly Peer[]> =>
  JSON.parse((await httpGet(s, '/status')).text).upstreams[group].peers;

const states = async (s: Server, group: string): Promise<string> => (await peers(s, group)).map(({ state }) => state).join(' ');

/** Waits until the peers of a group are in these states. */
const reached = (s: Server, group: string, wanted: string): Promise<unknown> =>
  waitFor(async () => (await states(s, group)) === wanted, { what: () => `${wanted} in ${group}\n${s.log()}` });

const STATUS = 'location = /status { sluice_status; }';

t.test('health_check: an unhealthy peer gets no requests until it is healthy again', async (t) => {
  let broken = false;
  const one = await startOrigin(t, ({ target }) => ({ status: broken && target === '/check' ? 500 : 200, body: 'one' }));
  const two = await startOrigin(t, { body: 'two' });
  const s = await startServer(t, {
    conf: serverConf(
      `${STATUS}
      location / {
        proxy_pass http://group;
        proxy_set_header X-Check yes;
        health_check interval=50ms fails=2 passes=2 uri=/check;
      }`,
      `upstream group { zone group 64k; server 127.0.0.1:${one.port}; server 127.0.0.1:${two.port}; }`,
    ),
  });
  await one.received(3);
  const check = one.requests[0]!;
  t.strictSame([check.method, check.target, check.header('host'), check.header('x-check')], ['GET', '/check', 'group', 'yes']);
  t.equal(await states(s, 'group'), 'up up');
  broken = true;
  t.ok(await s.logged(`peer is unhealthy while checking status code, health check of peer 127.0.0.1:${one.port} in upstream "group"`));
  await reached(s, 'group', 'unhealthy up');
  for (let i = 0; i < 3; i++) {
    t.equal((await httpGet(s, '/')).text, 'two');
  }
  const metrics = (await httpGet(s, '/status?format=prometheus')).text;
  t.match(metrics, `sluice_upstream_peer_state{upstream="group",peer="127.0.0.1:${one.port}",state="unhealthy"} 1`);
  t.match(metrics, new RegExp(`sluice_upstream_peer_health_checks_unhealthy_total\\{upstream="group",peer="127.0.0.1:${one.port}"\\} 1`));
  broken = false;
  t.ok(await s.logged(`peer is healthy, health check of peer 127.0.0.1:${one.port} in upstream "group"`));
  await reached(s, 'group', 'up up');
  t.strictSame(new Set([(await httpGet(s, '/')).text, (await httpGet(s, '/')).text]), new Set(['one', 'two']));
  const { health_checks: checks } = (await peers(s, 'group'))[0]!;
  t.ok(checks!.checks > checks!.fails && checks!.fails >= 2 && checks!.unhealthy === 1 && checks!.last_passed, JSON.stringify(checks));
});

t.test('match: what a healthy response looks like', async (t) => {
  const answers: Record<string, OriginAnswer> = {
    '/ok': { headers: { Server: 'test', 'X-Version': '7.1' }, body: 'Welcome to the machine' },
    '/none': { status: 204 },
    '/moved': { status: 301, body: 'Maintenance' },
    '/failed': { status: 503 },
    '/chunked': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nWel\r\n4\r\ncome\r\n0\r\n\r\n',
    '/garbage': 'what?\r\n\r\n',
    '/header': `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(10_000)}\r\n\r\n`,
  };
  const origin = await startOrigin(t, ({ target }) => answers[target]);
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['', '/ok', true],
    ['', '/none', true],
    ['', '/moved', true],
    ['', '/failed', false],
    ['', '/header', false],
    ['status 200;', '/ok', true],
    ['status 200 204;', '/none', true],
    ['status 200-203 205;', '/none', false],
    ['status ! 500-599 300-399;', '/ok', true],
    ['status ! 500-599 300-399;', '/moved', false],
    ['header Server = test; header X-Version ~ "^7\\\\.";', '/ok', true],
    ['header Server != test;', '/ok', false],
    ['header X-Version !~ "^7";', '/ok', false],
    ['header X-Version;', '/ok', true],
    ['header X-Absent;', '/ok', false],
    ['header ! X-Absent;', '/ok', true],
    ['header ! Server;', '/ok', false],
    ['status 200; body ~ "Welcome";', '/ok', true],
    ['body ~ "^Welcome$";', '/chunked', true],
    ['body !~ "Maintenance";', '/moved', false],
    ['require $upstream_http_server $upstream_status;', '/ok', true],
    ['require $upstream_http_x_absent;', '/ok', false],
    ['status 200;', '/garbage', false],
  ];
  const s = await startServer(t, {
    conf: serverConf(
      `${STATUS}
      ${cases
        .map(
          ([match, path], i) =>
            `location /${i} { proxy_pass http://g${i}; health_check interval=1h mandatory uri=${path} ${match === '' ? '' : `match=m${i}`}; }`,
        )
        .join('\n')}`,
      cases.map(([match], i) => `match m${i} { ${match} } upstream g${i} { zone zones 256k; server 127.0.0.1:${origin.port}; }`).join('\n'),
    ),
  });
  for (const [i, [match, path, good]] of cases.entries()) {
    await reached(s, `g${i}`, good ? 'up' : 'unhealthy');
    t.pass(`${match} ${path}`);
  }
});

t.test('health_check mandatory: no requests before the first check is over', async (t) => {
  let answer = (): void => {};
  const held = new Promise<void>((done) => (answer = done));
  const origin = await startOrigin(t, async ({ target }) => {
    if (target === '/check') {
      await held;
    }
    return { body: 'answer' };
  });
  const s = await startServer(t, {
    conf: serverConf(
      `${STATUS} location / { proxy_pass http://group; health_check mandatory persistent uri=/check interval=1h; }`,
      `upstream group { zone group 64k; server 127.0.0.1:${origin.port}; }`,
    ),
  });
  await origin.received(1);
  t.equal(await states(s, 'group'), 'checking');
  t.equal((await httpGet(s, '/')).status, 503);
  answer();
  await reached(s, 'group', 'up');
  t.equal((await httpGet(s, '/')).text, 'answer');
  origin.answer(async (_request, reply) => void (await reply.gone()));
  await s.reload();
  t.equal(await states(s, 'group'), 'up', 'persistent');
});

t.test('health_check port, and peers that cannot be asked', async (t) => {
  const origin = await startOrigin(t, { body: 'data' });
  const monitor = await startOrigin(t, { body: 'well' });
  const silent = await startOrigin(t, async (_request, reply) => void (await reply.gone()));
  const closing = await startOrigin(t, (_request, reply) => reply.end());
  const s = await startServer(t, {
    conf: serverConf(
      `${STATUS}
      location /a { proxy_pass http://a; health_check port=${monitor.port} mandatory interval=1h keepalive_time=1h; }
      location /b { proxy_pass http://b; health_check mandatory interval=1h; }
      location /c { proxy_read_timeout 300ms; proxy_pass http://c; health_check mandatory interval=1h; }
      location /d { proxy_pass http://d; health_check mandatory interval=1h; }`,
      `upstream a { zone z 64k; server 127.0.0.1:${origin.port}; }
      upstream b { zone z; server 127.0.0.1:1; }
      upstream c { zone z; server 127.0.0.1:${silent.port}; }
      upstream d { zone z; server 127.0.0.1:${closing.port}; }`,
    ),
  });
  await reached(s, 'a', 'up');
  t.equal(origin.requests.length, 0);
  for (const group of ['b', 'c', 'd']) {
    await reached(s, group, 'unhealthy');
  }
  t.match(
    s.log(),
    /\[warn\].* peer is unhealthy while connecting to upstream: connect\(\) failed \(111: Connection refused\), health check of/,
  );
  t.match(s.log(), /unhealthy while reading response header from upstream: upstream timed out \(110: Connection timed out\), health/);
  t.match(s.log(), /unhealthy while reading response header from upstream: upstream prematurely closed connection, health/);
});

t.test('health_check keepalive_time: checks share a connection', async (t) => {
  const origin = await startOrigin(t, { body: 'well' });
  await startServer(t, {
    conf: serverConf(
      `location / { proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://a; health_check interval=20ms keepalive_time=1h; }`,
      `upstream a { zone z 64k; server 127.0.0.1:${origin.port}; }`,
    ),
  });
  t.equal((await origin.received(3)).connection, 1);
  origin.answer('HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  await waitFor(() => origin.connections() > 2, { what: () => 'other connections, since bytes are behind the response' });
});

t.test('one of several workers makes the checks, and another one when it dies', async (t) => {
  let status = 200;
  const one = await startOrigin(t, () => ({ status, body: 'one' }));
  const two = await startOrigin(t, { body: 'two' });
  const s = await startServer(t, {
    conf: `worker_processes 3;\n${serverConf(
      `${STATUS}
      location / { proxy_pass http://group; proxy_set_header X-Pid $pid; health_check interval=50ms; }
      location /plain { proxy_pass http://group/; }`,
      `upstream group { zone group 64k; server 127.0.0.1:${one.port}; server 127.0.0.1:${two.port}; }`,
    )}`,
    expectAlerts: /exited on signal 9/,
  });
  await one.received(5);
  const checkers = (from: number): Set<string | undefined> => new Set(one.requests.slice(from).map((request) => request.header('x-pid')));
  t.equal(checkers(0).size, 1);
  status = 500;
  await reached(s, 'group', 'unhealthy up');
  // Whichever worker accepts a connection knows it.
  const answers = await Promise.all(Array.from({ length: 12 }, async () => (await httpGet(s, '/plain')).text));
  t.strictSame(new Set(answers), new Set(['two']));
  const [leader] = checkers(0);
  const before = one.requests.length;
  await killWorkers([Number(leader)]);
  status = 200;
  await reached(s, 'group', 'up up');
  t.ok(await waitFor(() => [...checkers(before)].some((pid) => pid !== undefined && pid !== leader)));
});

t.test('what -t refuses', async (t) => {
  const message = (location: string, http: string): Promise<string | undefined> =>
    configMessage(t, serverConf(`location / { ${location} }`, http));
  const group = 'upstream g { zone z 64k; server 127.0.0.1; }';
  t.equal(await message('proxy_pass http://g; health_check;', group), undefined);
  t.match(
    await message('proxy_pass http://g; health_check;', 'upstream g { server 127.0.0.1; }'),
    /"health_check" requires upstream "g" to be in shared memory/,
  );
  t.match(
    await message('health_check;', group),
    /"health_check" requires a "proxy_pass" or "grpc_pass" without variables in the same location/,
  );
  t.match(await message('proxy_pass http://g; health_check match=none;', group), /match "none" is not defined/);
  t.match(await message('proxy_pass http://g; health_check interval=0;', group), /invalid parameter "interval=0"/);
  t.match(await message('proxy_pass http://g; health_check persistent;', group), /invalid parameter "persistent"/);
  t.match(await message('proxy_pass http://g; health_check type=uwsgi;', group), /unsupported type of health checks "uwsgi"/);
  t.match(await message('', `${group} match m { status 20; }`), /invalid status "20"/);
  t.match(await message('', `${group} match m { header A B C; }`), /invalid operator "B"/);
  t.match(await message('', `${group} match m { status 200; } match m { status 200; }`), /duplicate match "m"/);
});

t.test('type=grpc asks for the health of a service', async (t) => {
  let serving = 1;
  let status = '0';
  const origin = await startHttp2Origin(t, (got) => {
    const body = Buffer.from([0, 0, 0, 0, 2, 8, serving]);
    const headers = [['content-type', 'application/grpc']] as const;
    if (status === '0') {
      answer(got, { headers, body, trailers: [['grpc-status', '0']] });
    } else {
      answer(got, { headers: [...headers, ['grpc-status', status]] });
    }
  });
  const s = await startServer(t, {
    conf: serverConf(
      `${STATUS}
      location / { grpc_pass grpc://group; grpc_set_header X-Check yes; health_check interval=50ms type=grpc grpc_service=my.Service grpc_status=12; }
      location /kept { grpc_pass grpc://kept; health_check interval=50ms keepalive_time=1h type=grpc; }`,
      `upstream group { zone group 64k; server 127.0.0.1:${origin.port}; } upstream kept { zone kept 64k; server 127.0.0.1:${origin.port}; }`,
    ),
  });
  const check = await waitFor(() => origin.requests.find(({ fields }) => fields.get('x-check') === 'yes'));
  t.strictSame(
    [':method', ':path', ':authority', 'content-type', 'te'].map((name) => check.fields.get(name)),
    ['POST', '/grpc.health.v1.Health/Check', 'group', 'application/grpc', 'trailers'],
  );
  await waitFor(() => dataOf(check).length === 17);
  t.equal(dataOf(check), '\0\0\0\0\x0c\x0a\x0amy.Service');
  serving = 2;
  t.ok(await s.logged(/peer is unhealthy while checking the status NOT_SERVING, health check of peer .* in upstream "group"/));
  await reached(s, 'group', 'unhealthy');
  status = '12';
  await reached(s, 'group', 'up');
  await reached(s, 'kept', 'unhealthy');
  t.ok(await s.logged(/while checking grpc-status 12, health check of peer .* in upstream "kept"/));
  const kept = origin.requests.filter(({ fields }) => fields.get(':authority') === 'kept');
  t.equal(new Set(kept.map(({ nth }) => nth)).size, 1, 'one connection serves the checks');
  await origin.stop();
  await reached(s, 'group', 'unhealthy');
});

t.test('backends over HTTP/2 are asked over HTTP/2', async (t) => {
  let broken = false;
  const origin = await startHttp2Origin(t, (got) => answer(got, { status: broken ? 503 : 200, body: 'all is well' }));
  const s = await startServer(t, {
    conf: serverConf(
      `${STATUS} location / { proxy_pass http://group; proxy_http_version 2; health_check interval=50ms uri=/check match=well; }`,
      `match well { status 200; body ~ well; } upstream group { zone group 64k; server 127.0.0.1:${origin.port}; }`,
    ),
  });
  t.equal((await origin.received(2)).fields.get(':path'), '/check');
  await reached(s, 'group', 'up');
  broken = true;
  await reached(s, 'group', 'unhealthy');
});

t.test('what type=grpc goes with', async (t) => {
  const message = (location: string): Promise<string | undefined> =>
    configMessage(t, serverConf(`location / { ${location} }`, 'upstream g { zone g 64k; server 127.0.0.1:1; }'));
  t.match(
    await message('proxy_pass http://g; health_check type=grpc;'),
    /requires "type=grpc" where there is a "grpc_pass", and only there/,
  );
  t.match(await message('grpc_pass g; health_check;'), /requires "type=grpc" where there is a "grpc_pass", and only there/);
  t.match(await message('grpc_pass g; health_check grpc_status=1;'), /invalid parameter "grpc_status=1"/);
  t.match(await message('grpc_pass g; health_check uri=/x type=grpc;'), /"type=grpc" is not compatible with "uri" and "match"/);
});

t.test('interim responses before that of a check are passed over, as many as a request may meet', async (t) => {
  let interims = 3;
  const one = await startOrigin(t, (_request, reply) => {
    reply.socket.end('HTTP/1.1 103 Early Hints\r\nX-A: b\r\n\r\n'.repeat(interims) + 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    return undefined;
  });
  const hint = block([[':status', '103']]);
  const two = await startHttp2Origin(t, (got) => {
    got.connection.send(...Array.from({ length: interims }, () => frame(T.HEADERS, END_HEADERS, got.id, hint)));
    answer(got, {});
  });
  const s = await startServer(t, {
    conf: serverConf(
      `${STATUS} location / { proxy_pass http://one; proxy_http_version 1.1; health_check interval=50ms; }
       location /two { proxy_pass http://two; proxy_http_version 2; health_check interval=50ms; }`,
      `upstream one { zone one 64k; server 127.0.0.1:${one.port}; } upstream two { zone two 64k; server 127.0.0.1:${two.port}; }`,
    ),
  });
  await one.received(2);
  await two.received(2);
  t.equal(await states(s, 'one'), 'up');
  t.equal(await states(s, 'two'), 'up');
  interims = 1001;
  for (const group of ['one', 'two']) {
    await reached(s, group, 'unhealthy');
    await s.logged(new RegExp(`upstream sent too many interim responses.*in upstream "${group}"`));
  }
});
