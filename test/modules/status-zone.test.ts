import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { killWorkers } from '../support/processes.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { settled, waitFor } from '../support/wait.js';

const skip = againstNginx && 'nginx sells it';

// biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes
const api = async (s: Server, path: string): Promise<any> => JSON.parse((await httpGet(s, `/api/9/${path}`)).text);

t.test('requests are counted by server and location', { skip }, async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `
      location /api { api; }
      location /a { status_zone alpha; return 200 "0123456789";
        location /a/off { status_zone off; return 204; }
        location /a/in { return 404; } }
      location /r { rewrite ^ /a last; }
      location /quiet { return 444; }
      location /if { if ($arg_x) { status_zone branch; return 202; } return 201; }`,
      'server { listen 127.0.0.1:%%PORT_0%%; server_name two.example; status_zone second; location / { return 301 /x; } }',
    ),
  });
  for (const path of ['/a', '/a/off', '/a/in', '/r', '/if', '/if?x=1']) {
    await httpGet(s, path);
  }
  await http(s, requestText('POST', '/a', { Connection: 'close' }, 'x'));
  await http(s, requestText('GET', '/quiet', { Connection: 'close' })).catch(() => undefined);
  await http(s, requestText('GET', '/', { Host: 'two.example', Connection: 'close' }));
  const zones = await api(s, 'http/location_zones/');
  t.match(zones.alpha, { requests: 4, responses: { '2xx': 3, '4xx': 1, codes: { 200: 3, 404: 1 }, total: 4 }, discarded: 0 });
  t.match(zones.branch, { requests: 1, responses: { codes: { 202: 1 } } });
  t.strictSame(Object.keys(zones).sort(), ['alpha', 'branch']);
  const servers = await api(s, 'http/server_zones');
  // The answer before this one has been counted, too.
  t.match(servers.localhost, { processing: 1, requests: 10, discarded: 1, responses: { total: 8, codes: { 201: 1, 204: 1 } } });
  t.ok(servers.localhost.sent > 10);
  t.match(servers.second, { processing: 0, requests: 1, responses: { '3xx': 1 } });
  const { text } = await httpGet(s, '/api/9/http/server_zones/second?fields=requests');
  t.equal(text, '{"requests":1}');
});

t.test('numbers are exact over workers, reloads and killed workers', { skip }, async (t) => {
  const conf = `worker_processes 3;\n${serverConf('location /api { api; } location / { status_zone all; return 200; }')}`;
  const s = await startServer(t, { conf, expectAlerts: /exited on signal 9/ });
  const total = (expected: number): Promise<number> =>
    settled(
      async () => (await api(s, 'http/location_zones/all')).requests,
      (n) => n === expected,
    );
  const many = (n: number) => Promise.all(Array.from({ length: n }, () => httpGet(s, '/')));
  await many(60);
  t.equal(await total(60), 60);
  await s.reload();
  await many(30);
  t.equal(await total(90), 90);
  await waitFor(() => s.workers().length === 3, { what: 'the end of the old workers' });
  // What was told has been published.
  await killWorkers([s.workers()[0]!]);
  await waitFor(() => s.workers().length === 3);
  await many(10);
  t.equal(await total(100), 100);
  t.match(await api(s, 'nginx'), { generation: 2 });
  // The master forks before it counts.
  const respawned = await settled(
    async () => (await api(s, 'processes')).respawned,
    (n) => n > 0,
  );
  t.equal(respawned, 1);
});

t.test('peers, caches and limits are counted by their names', { skip }, async (t) => {
  const origin = await startOrigin(t, ({ target }) => ({ status: target === '/bad' ? 503 : 200, body: 'body' }));
  const s = await startServer(t, {
    conf: serverConf(
      `location /api { api write=on; }
      location / { proxy_pass http://back; }
      location /cached { proxy_pass http://back; proxy_cache pages; proxy_cache_valid 200 1m; }
      location /limited { limit_req zone=one; limit_conn conns 5; try_files /none =404; }`,
      `upstream back { server 127.0.0.1:${origin.port}; }
      proxy_cache_path %%DIR%%/cache keys_zone=pages:1m max_size=1m;
      limit_req_zone $arg_k zone=one:1m rate=1r/m;
      limit_conn_zone $arg_k zone=conns:1m;`,
    ),
  });
  for (const path of ['/x', '/bad', '/cached', '/cached', '/limited?k=1', '/limited?k=1']) {
    await httpGet(s, path);
  }
  const { peers } = await api(s, 'http/upstreams/back');
  t.match(peers, [
    { id: 0, server: `127.0.0.1:${origin.port}`, state: 'up', active: 0, requests: 3, responses: { codes: { 200: 2, 503: 1 }, total: 3 } },
  ]);
  t.equal(peers[0].response_time_hist.count, 3);
  t.equal(
    Object.values<number>(peers[0].response_time_hist.buckets).reduce((a, b) => a + b),
    3,
  );
  t.match((await api(s, 'http/caches/')).pages, {
    max_size: 1048576,
    hit: { responses: 1, bytes: 4 },
    miss: { responses: 1, bytes: 4, responses_written: 1, bytes_written: 4 },
  });
  t.match(await api(s, 'http/limit_reqs/one'), { passed: 1, delayed: 0, rejected: 1 });
  t.match(await api(s, 'http/limit_conns/conns'), { passed: 1, rejected: 0 });
  await http(s, requestText('DELETE', '/api/9/http/upstreams/back', { Connection: 'close' }));
  t.match((await api(s, 'http/upstreams/back')).peers[0], { requests: 0, responses: { total: 0 } });
  await httpGet(s, '/x');
  t.match((await api(s, 'http/upstreams/back')).peers[0], { requests: 1, responses: { codes: { 200: 1 } } });
});

t.test('status_zones off counts what has a zone of its own', { skip }, async (t) => {
  const s = await startServer(t, {
    conf: serverConf(' location /api { api; } location /a { status_zone a; return 200; }', 'status_zones off;'),
  });
  await httpGet(s, '/a');
  t.strictSame(Object.keys(await api(s, 'http/server_zones')), []);
  t.match(await api(s, 'http/location_zones'), { a: { requests: 1 } });
});

t.test('requests of a location can be left out of what is counted', { skip }, async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`location /api { api; status_zone none; }
      location /a { status_zone alpha; return 200 x;
        location /a/none { status_zone none; return 404; location /a/none/in { return 204; } } }
      location /bad { status_zone none; proxy_pass http://127.0.0.1:1; }
      location /metrics { sluice_status; status_zone none; }`),
  });
  for (const path of ['/a', '/a/none', '/a/none/in', '/bad', '/a']) {
    await httpGet(s, path);
  }
  // The request that asks is being processed.
  t.match((await api(s, 'http/server_zones')).localhost, { requests: 3, processing: 1, responses: { total: 2 } });
  t.match(await api(s, 'http/location_zones'), { alpha: { requests: 2 } });
  t.match((await httpGet(s, '/metrics?format=prometheus')).text, /^sluice_http_requests_processing\{server="localhost"\} 1$/m, 'this one');
});

t.test('wrong arguments', { skip }, async (t) => {
  t.match(await configMessage(t, serverConf('status_zone a; status_zone b;')), /"status_zone" directive is duplicate/);
  t.match(await configMessage(t, serverConf('location / { status_zone ""; }')), /invalid zone name/);
  t.match(await configMessage(t, serverConf('status_zone none;')), /invalid zone name "none": a server is not counted with "off"/);
});
