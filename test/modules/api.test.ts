import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs, pem } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, type Server, serverConf, startServer } from '../support/server.js';
import { echo, startTcpBackend } from '../support/tcp-backend.js';
import { settled, waitFor } from '../support/wait.js';

const skip = againstNginx && 'nginx sells it';

// biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes
const json = async (s: Server, path: string): Promise<any> => JSON.parse((await httpGet(s, path)).text);
const send = (s: Server, method: string, path: string, body = '') => http(s, requestText(method, path, { Connection: 'close' }, body));

t.test('paths and shapes', { skip }, async (t) => {
  const s = await startServer(t, {
    conf: `worker_processes 2;\n${serverConf('location /api { api; } location ~ ^/re/ { api; }')}`,
  });
  t.strictSame(await json(s, '/api'), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  t.strictSame(await json(s, '/api/'), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const root = ['nginx', 'processes', 'connections', 'slabs', 'http', 'resolvers', 'ssl', 'workers', 'js'];
  t.strictSame(await json(s, '/api/9/'), root);
  t.strictSame(await json(s, '/re/9'), root);
  t.strictSame((await json(s, '/api/9/http')).slice(0, 2), ['requests', 'server_zones']);
  t.match(await json(s, '/api/9/nginx'), {
    version: /^\d+\.\d+\.\d+/,
    build: /^sluice/,
    address: '127.0.0.1',
    generation: 1,
    load_timestamp: /^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z$/,
    ppid: s.pid,
  });
  t.strictSame(Object.keys(await json(s, '/api/9/nginx?fields=version,build')), ['version', 'build']);
  const { accepted, dropped, active, idle } = await settled(
    () => json(s, '/api/9/connections'),
    (now) => now.active === 1 && now.idle === 0,
  );
  t.strictSame([accepted > 3, dropped, active, idle], [true, 0, 1, 0]);
  const requests = await settled(
    () => json(s, '/api/9/http/requests'),
    ({ current }) => current === 1,
  );
  t.match(requests, { total: Number, current: 1 });
  t.match(await json(s, '/api/9/ssl'), { handshakes: 0, verify_failures: { no_cert: 0 } });
  t.strictSame(await json(s, '/api/9/http/server_zones?fields='), ['localhost']);
  const workers = await json(s, '/api/9/workers/');
  t.match([workers.length, workers.map(({ id }: { id: number }) => id)], [2, [0, 1]], 'a list');
  t.strictSame(await json(s, '/api/9/workers?fields=id'), [{ id: 0 }, { id: 1 }]);
  t.match(await json(s, '/api/9/workers/0'), { id: 0, pid: Number, connections: { idle: Number }, http: { requests: { total: Number } } });
  for (const [path, code] of [
    ['/api/10/', 'UnknownVersion'],
    ['/api/9/http/server_zones/none', 'ServerZoneNotFound'],
    ['/api/9/http/server_zones/toString', 'ServerZoneNotFound'],
    ['/api/9/http/caches/none', 'CacheNotFound'],
    ['/api/9/workers/7', 'WorkerNotFound'],
    ['/api/9/nothing', 'PathNotFound'],
  ] as const) {
    const answer = await httpGet(s, path);
    t.match(JSON.parse(answer.text), { error: { status: 404, code }, request_id: /^[0-9a-f]+$/, href: /^https:/ }, path);
    t.equal(answer.status, 404);
  }
  t.equal((await send(s, 'HEAD', '/api/9/nginx')).status, 200);
  t.equal((await send(s, 'PUT', '/api/9/nginx')).status, 405);
  const refused = await send(s, 'DELETE', '/api/9/http/requests');
  t.match([refused.status, JSON.parse(refused.text)], [405, { error: { code: 'MethodDisabled' } }]);
});

t.test('write=on begins counters anew', { skip }, async (t) => {
  const s = await startServer(t, { conf: serverConf('location /api { api write=on; } location / { return 200; }') });
  await httpGet(s, '/');
  t.equal((await send(s, 'DELETE', '/api/9/http/requests')).status, 204);
  t.equal((await json(s, '/api/9/http/requests')).total, 1);
  t.equal((await send(s, 'DELETE', '/api/9/connections')).status, 204);
  t.equal((await json(s, '/api/9/connections')).accepted, 1);
  t.equal((await send(s, 'DELETE', '/api/9/http/server_zones/localhost')).status, 204);
  t.match(await json(s, '/api/9/http/server_zones/localhost'), { requests: 2, responses: { codes: { 204: 1 } } });
  for (const [path, code] of [
    ['http/server_zones', 'ServerZoneNotFound'],
    ['http/location_zones', 'LocationZoneNotFound'],
    ['http/caches', 'CacheNotFound'],
    ['http/limit_reqs', 'LimitReqNotFound'],
    ['http/limit_conns', 'LimitConnNotFound'],
    ['http/upstreams', 'UpstreamNotFound'],
    ['http/keyvals', 'KeyvalNotFound'],
    ['resolvers', 'ResolverZoneNotFound'],
    ['slabs', 'SlabNotFound'],
    ['workers', 'WorkerNotFound'],
    ['js/handlers', 'JsHandlerNotFound'],
  ]) {
    for (const name of ['none', 'constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      for (const method of ['GET', 'DELETE']) {
        const answer = await send(s, method, `/api/9/${path}/${name}`);
        t.match([answer.status, JSON.parse(answer.text).error.code], [404, code], `${method} ${path}/${name}`);
      }
    }
  }
  t.equal((await send(s, 'DELETE', '/api/9/processes')).status, 204);
});

for (const workers of [1, 3]) {
  t.test(`groups that wait for servers, as nginx-plus-go-client fills them, with ${workers} workers`, { skip }, async (t) => {
    const [one, two] = [await startOrigin(t, () => ({ body: 'one' })), await startOrigin(t, () => ({ body: 'two' }))];
    const methods = [
      '',
      'hash $uri;',
      'hash $uri consistent;',
      'ip_hash;',
      'least_conn;',
      'random two;',
      'least_time header;',
      'sticky cookie s;',
    ];
    const s = await startServer(t, {
      conf: `worker_processes ${workers};
        stream { upstream tcp { zone tcp 64k; } server { listen 127.0.0.1:%%PORT_1%%; proxy_pass tcp; health_check; } }
        ${serverConf(
          `location /api { api write=on; } ${methods.map((_, i) => `location /${i} { proxy_pass http://u${i}; }`).join('\n')}`,
          methods.map((method, i) => `upstream u${i} { zone groups 256k; ${method} }`).join('\n'),
        )}`,
    });
    const ask = async (method: string, path: string, body?: object) => {
      const answer = await send(s, method, `/api/9/${path}`, body === undefined ? '' : JSON.stringify(body));
      return [answer.status, JSON.parse(answer.text)];
    };
    // What the client sends: all fields that it read, the slash at the end.
    const defaults = { max_conns: 0, max_fails: 1, backup: false, down: false, weight: 1, fail_timeout: '10s', slow_start: '0s' };
    for (const i of methods.keys()) {
      const servers = `http/upstreams/u${i}/servers`;
      t.strictSame(await ask('GET', servers), [200, []]);
      t.equal((await httpGet(s, `/${i}`)).status, 503, methods[i]!);
      const [status, added] = await ask('POST', `${servers}/`, { server: `127.0.0.1:${one.port}` });
      t.match([status, added], [201, { server: `127.0.0.1:${one.port}`, ...defaults }]);
      t.equal((await httpGet(s, `/${i}`)).text, 'one');
      const changed = { ...defaults, server: `127.0.0.1:${two.port}`, slow_start: '30s', max_conns: 5, fail_timeout: '15s' };
      t.match(await ask('PATCH', `${servers}/${added.id}/`, changed), [200, { ...changed, id: added.id }]);
      t.match(await ask('GET', servers), [200, [{ ...changed, id: added.id }]]);
      for (let n = 0; n < 2 * workers; n++) {
        t.equal((await httpGet(s, `/${i}`)).text, 'two', 'no worker asks the old address');
      }
      t.match(await ask('DELETE', `${servers}/${added.id}/`), [200, []]);
      t.equal((await httpGet(s, `/${i}`)).status, 503);
      const [, again] = await ask('POST', servers, { server: `127.0.0.1:${two.port}` });
      t.match(again, defaults, 'nothing is left of the one before');
      t.not(again.id, added.id, 'nor is its id given again');
      t.match(await ask('PATCH', `${servers}/${again.id}`, { server: `127.0.0.1:${one.port}`, weight: 3, slow_start: '1500ms' }), [
        200,
        { weight: 3, slow_start: '1500ms' },
      ]);
      t.match(await ask('PATCH', `${servers}/${again.id}`, { server: `127.0.0.1:${two.port}`, weight: 2 }), [200, { weight: 2 }]);
      t.match(await ask('GET', servers), [200, [{ weight: 2, server: `127.0.0.1:${two.port}` }]]);
    }
    t.match(await ask('POST', 'http/upstreams/u0/servers', { server: '127.0.0.1:9', backup: true, down: true }), [
      201,
      { backup: true, down: true },
    ]);
    t.equal((await ask('POST', 'http/upstreams/u1/servers', { server: '127.0.0.1:9', backup: true }))[1].error.code, 'UpstreamNoBackup');
    const tcp = 'stream/upstreams/tcp/servers';
    const [, stream] = await ask('POST', `${tcp}/`, { server: `127.0.0.1:${one.port}` });
    t.match(await ask('PATCH', `${tcp}/${stream.id}/`, { ...defaults, server: `127.0.0.1:${two.port}`, slow_start: '30s' }), [
      200,
      { server: `127.0.0.1:${two.port}`, slow_start: '30s' },
    ]);
    await waitFor(async () => (await ask('GET', 'stream/upstreams/tcp'))[1].peers[0].health_checks.last_passed === true);
    t.match(await ask('GET', 'slabs'), [200, { groups: { pages: { used: Number, free: Number } }, tcp: { pages: { used: 1 } } }]);
  });
}

t.test('a group without servers needs an API that can add them', { skip }, async (t) => {
  const group = 'upstream u { zone u 64k; }';
  const said = (http: string) => configMessage(t, serverConf(http, group));
  t.match(await said('location / { proxy_pass http://u; }'), /no servers are inside upstream/);
  t.match(await said('location / { api; }'), /no servers are inside upstream/, 'one that may write');
  t.match(await configMessage(t, serverConf('location / { api write=on; }', 'upstream u { }')), /no servers are inside upstream/, 'a zone');
  t.equal(await said('location / { api write=on; }'), undefined);
});

t.test('wrong arguments', { skip }, async (t) => {
  t.match(await configMessage(t, serverConf('location / { api write=maybe; }')), /invalid parameter "write=maybe"/);
});

for (const workers of [1, 3]) {
  t.test(`servers are added, changed and removed with ${workers} workers`, { skip }, async (t) => {
    const [one, two] = [await startOrigin(t, () => ({ body: 'one' })), await startOrigin(t, () => ({ body: 'two' }))];
    const s = await startServer(t, {
      conf: `worker_processes ${workers};\n${serverConf(
        'location /api { api write=on; } location /read { api; } location / { proxy_pass http://app; } location /fixed { proxy_pass http://fixed; }',
        `upstream app { zone app 64k; server 127.0.0.1:${one.port} weight=2; } upstream fixed { server 127.0.0.1:${one.port}; }
        upstream hashed { zone hashed 64k; hash $uri; server 127.0.0.1:${one.port}; }`,
      )}`,
    });
    const servers = '/api/9/http/upstreams/app/servers';
    const ask = async (method: string, path: string, body: object | string = '') => {
      const answer = await send(s, method, path, typeof body === 'string' ? body : JSON.stringify(body));
      const value = JSON.parse(answer.text);
      return [answer.status, value.error === undefined ? value : value.error.code];
    };
    const many = async (): Promise<string> => {
      const bodies = [];
      for (let i = 0; i < 9; i++) {
        bodies.push((await httpGet(s, '/')).text);
      }
      return [...new Set(bodies)].sort().join(' ');
    };
    const first = { id: 0, server: `127.0.0.1:${one.port}`, weight: 2, max_conns: 0, max_fails: 1, fail_timeout: '10s', slow_start: '0s' };
    t.match(await ask('GET', `${servers}/`), [200, [{ ...first, route: '', backup: false, down: false }]]);
    t.equal(await many(), 'one');
    const [status, added] = await ask('POST', servers, { server: `127.0.0.1:${two.port}`, weight: 3, fail_timeout: '1m' });
    t.match([status, added], [201, { server: `127.0.0.1:${two.port}`, weight: 3, fail_timeout: '60s', down: false }]);
    t.equal(await many(), 'one two', 'all workers know it');
    t.match(await ask('PATCH', `${servers}/${added.id}`, { down: true }), [200, { down: true }]);
    t.equal(await many(), 'one');
    t.match(await ask('PATCH', `${servers}/${added.id}`, { down: false, max_conns: 7 }), [200, { down: false, max_conns: 7 }]);
    t.equal(await many(), 'one two');
    t.match(await ask('DELETE', `${servers}/0`), [200, [{ id: added.id }]]);
    t.equal(await many(), 'two');
    t.match((await json(s, '/api/9/http/upstreams/app')).peers, [{ id: added.id, state: 'up', weight: 3 }]);
    t.match(await ask('POST', servers, { server: `127.0.0.1:${one.port}`, drain: true }), [201, { drain: true }]);
    t.equal(await many(), 'two');
    for (const [method, path, body, code, status] of [
      ['POST', servers, { server: `127.0.0.1:${two.port}` }, 'EntryExists', 409],
      ['POST', servers, { weight: 1 }, 'UpstreamConfFormatError', 400],
      ['POST', servers, { server: 'name.example' }, 'UpstreamBadAddress', 400],
      ['POST', '/api/9/http/upstreams/hashed/servers', { server: '127.0.0.9:1', backup: true }, 'UpstreamNoBackup', 400],
      ['POST', servers, { server: '127.0.0.9:1', weight: 0 }, 'UpstreamBadWeight', 400],
      ['POST', servers, { server: '127.0.0.9:1', none: 0 }, 'UpstreamConfFormatError', 400],
      ['POST', servers, { server: '127.0.0.9:1', weight: [1] }, 'UpstreamConfFormatError', 400],
      ['POST', servers, 'no json', 'JsonError', 415],
      ['PATCH', `${servers}/${added.id}`, { server: 'name.example' }, 'UpstreamBadAddress', 400],
      ['PATCH', `${servers}/${added.id}`, { server: `127.0.0.1:${one.port}` }, 'EntryExists', 409],
      ['PATCH', `${servers}/${added.id}`, { server: '' }, 'UpstreamConfFormatError', 400],
      ['PATCH', `${servers}/${added.id}`, { route: 'r'.repeat(33) }, 'UpstreamBadRoute', 400],
      ['PATCH', `${servers}/${added.id}`, { backup: true }, 'UpstreamConfFormatError', 400],
      ['PATCH', `${servers}/${added.id}`, { id: 3 }, 'UpstreamConfFormatError', 400],
      ['PATCH', `${servers}/${added.id}`, { slow_start: 'soon' }, 'UpstreamBadSlowStart', 400],
      ['PATCH', `${servers}/77`, { down: true }, 'UpstreamServerNotFound', 404],
      ['DELETE', `${servers}/x`, '', 'UpstreamBadServerId', 400],
      ['DELETE', servers, '', 'MethodDisabled', 405],
      ['GET', '/api/9/http/upstreams/none/servers', '', 'UpstreamNotFound', 404],
      ['GET', '/api/9/http/upstreams/fixed/servers', '', 'UpstreamStatic', 400],
      ['POST', '/read/9/http/upstreams/app/servers', { server: '127.0.0.9:1' }, 'MethodDisabled', 405],
    ] as const) {
      t.strictSame(await ask(method, path, body), [status, code], `${method} ${JSON.stringify(body)}`);
    }
  });
}

t.test('stream', { skip }, async (t) => {
  const [one, two] = [await startTcpBackend(t, echo), await startTcpBackend(t, echo)];
  const s = await startServer(t, {
    conf: `worker_processes 2;
      ${httpConf('server { listen 127.0.0.1:%%PORT_0%%; location /api { api write=on; } }')}
      stream {
        limit_conn_zone $remote_addr zone=conns:32k;
        upstream app { zone app 64k; server 127.0.0.1:${one.port}; }
        server { listen 127.0.0.1:%%PORT_1%%; status_zone front; limit_conn conns 9; proxy_pass app; }
        server { listen 127.0.0.1:%%PORT_2%%; return gone; }
      }`,
  });
  const talk = async (): Promise<string> => {
    const client = await RawClient.connect(s.port(1));
    const text = await client.send('hello').take(5);
    await client.end().closed();
    return text;
  };
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await send(s, method, `/api/9/stream/${path}`, body === undefined ? '' : JSON.stringify(body));
    const value = answer.text === '' ? '' : JSON.parse(answer.text);
    return [answer.status, value.error === undefined ? value : value.error.code];
  };
  t.strictSame(await ask('GET', ''), [200, ['server_zones', 'limit_conns', 'keyvals', 'upstreams']]);
  t.ok((await json(s, '/api/9/')).includes('stream'));
  t.equal(await talk(), 'hello');
  t.equal(await talk(), 'hello');
  await RawClient.connect(s.port(2)).then((client) => client.rest());
  const front = await settled(
    () => ask('GET', 'server_zones/front'),
    ([, { processing, sessions }]) => processing === 0 && sessions.total === 2,
  );
  t.match(front, [
    200,
    { processing: 0, connections: 2, sessions: { '2xx': 2, '4xx': 0, '5xx': 0, total: 2 }, discarded: 0, received: 10, sent: 10 },
  ]);
  const gone = await settled(
    () => ask('GET', `server_zones/127.0.0.1:${s.port(2)}`),
    ([, { sessions }]) => sessions?.total === 1,
  );
  t.match(gone, [200, { sessions: { total: 1 }, sent: 4 }]);
  t.match(await ask('GET', 'limit_conns'), [200, { conns: { passed: 2, rejected: 0, rejected_dry_run: 0 } }]);
  const [, { peers, zone }] = await ask('GET', 'upstreams/app');
  t.equal(zone, 'app');
  t.match(peers, [
    {
      id: 0,
      server: `127.0.0.1:${one.port}`,
      state: 'up',
      active: 0,
      connections: 2,
      connect_time: Number,
      first_byte_time: Number,
      response_time: Number,
      sent: 10,
      received: 10,
      fails: 0,
      health_checks: { checks: 0 },
    },
  ]);
  t.notOk('requests' in peers[0] || 'responses' in peers[0] || 'ssl' in peers[0]);
  const servers = 'upstreams/app/servers';
  t.strictSame(await ask('POST', servers, { server: '127.0.0.1' }), [400, 'UpstreamBadAddress']);
  t.strictSame(await ask('POST', servers, { server: '127.0.0.1:1', drain: true }), [400, 'UpstreamConfFormatError']);
  const [status, added] = await ask('POST', servers, { server: `127.0.0.1:${two.port}` });
  t.strictSame([status, 'route' in added], [201, false]);
  t.match(await ask('PATCH', `${servers}/0`, { down: true }), [200, { down: true }]);
  t.equal(await talk(), 'hello');
  t.equal(two.sockets.length, 1);
  t.match(await ask('DELETE', `${servers}/0`), [200, [{ id: added.id }]]);
  t.strictSame(await ask('DELETE', 'server_zones/front'), [204, '']);
  t.match(await ask('GET', 'server_zones/front'), [200, { connections: 0, sessions: { total: 0 } }]);
  t.strictSame(await ask('DELETE', 'upstreams/app'), [204, '']);
  t.match(await ask('GET', 'upstreams/app'), [200, { peers: [{ connections: 0 }] }]);
  t.strictSame(await ask('GET', 'zone_sync'), [404, 'PathNotFound']);
  t.strictSame(await ask('GET', 'upstreams/none'), [404, 'UpstreamNotFound']);
});

t.test('handshakes with backends', { skip }, async (t) => {
  const { ca, rsa, other } = certs();
  const origin = await startOrigin(t, () => ({ body: 'secret' }), { tls: { cert: pem(rsa.cert), key: pem(rsa.key) } });
  const plain = await startTcpBackend(t, (socket) => void socket.end('this is no TLS'));
  const s = await startServer(t, {
    conf: serverConf(
      `location /api { api write=on; }
       location / { proxy_pass https://app; }
       location /name { proxy_pass https://app; proxy_ssl_verify on; proxy_ssl_trusted_certificate ${ca.cert}; proxy_ssl_name other.example; }
       location /trust { proxy_pass https://app; proxy_ssl_verify on; proxy_ssl_trusted_certificate ${other.cert}; proxy_ssl_name localhost; }
       location /plain { proxy_pass https://127.0.0.1:${plain.port}; }`,
      `upstream app { server 127.0.0.1:${origin.port} max_fails=0; keepalive 0; }`,
    ),
  });
  t.equal((await httpGet(s, '/')).text, 'secret');
  t.equal((await httpGet(s, '/')).text, 'secret');
  const [peer] = (await json(s, '/api/9/http/upstreams/app')).peers;
  t.match(peer.ssl, { handshakes: 2, handshakes_failed: 0, session_reuses: 1, verify_failures: { hostname_mismatch: 0, other: 0 } });
  for (const path of ['/name', '/trust', '/plain']) {
    t.equal((await httpGet(s, path)).status, 502, path);
  }
  t.match((await json(s, '/api/9/http/upstreams/app')).peers[0].ssl, {
    handshakes: 4,
    verify_failures: { hostname_mismatch: 1, other: 1 },
  });
  t.match(await json(s, '/api/9/ssl'), {
    handshakes: 4,
    handshakes_failed: 1,
    session_reuses: 1,
    no_common_protocol: 1,
    verify_failures: { no_cert: 0, hostname_mismatch: 1, other: 1 },
  });
  t.equal((await send(s, 'DELETE', '/api/9/ssl')).status, 204);
  t.match(await json(s, '/api/9/ssl'), { handshakes: 0, handshakes_failed: 0 });
});
