import { existsSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isAlive, killWorkers } from '../support/processes.js';
import { http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';
import { fileHarms, insideHarms, zoneFiles } from '../support/zone-harm.js';

const conf = `worker_processes 2; zone_directory %%DIR%%/zones;\n${serverConf(
  'location / { limit_req zone=one burst=1000 nodelay; limit_conn two 1000; stub_status; }',
  'limit_req_zone $server_name zone=one:1m rate=1r/m; limit_conn_zone $server_name zone=two:1m;',
)}`;

/** The run directories of services in the folder for zones. */
const runs = (server: Server): string[] => readdirSync(`${server.dir}/zones`).map((name) => join(server.dir, 'zones', name));

t.test('the folder of a service', async (t) => {
  const s = await startServer(t, { conf, files: { 'zones/other.txt': 'not ours' }, asRoot: true });
  t.equal((await httpGet(s, '/')).status, 200);
  const run = runs(s).find((path) => !path.endsWith('other.txt'))!;
  t.equal(statSync(run).mode & 0o777, 0o700);
  const files = readdirSync(run);
  for (const zone of ['one', 'two', '_counters']) {
    t.ok(
      files.some((file) => file.startsWith(`${zone}-`)),
      zone,
    );
  }
  for (const file of files) {
    t.equal(statSync(join(run, file)).mode & 0o777, 0o600, file);
  }
  await s.stop('QUIT');
  t.strictSame(runs(s), [`${s.dir}/zones/other.txt`], 'a clean stop leaves nothing of ours');
});

t.test('workers without rights', { skip: process.getuid?.() !== 0 && 'only root can give them to another user' }, async (t) => {
  const s = await startServer(t, { conf, expectAlerts: /exited on signal 9/ });
  t.equal((await httpGet(s, '/')).status, 200);
  const run = runs(s)[0]!;
  t.not(statSync(run).uid, 0);
  for (const file of readdirSync(run)) {
    t.equal(statSync(join(run, file)).uid, statSync(run).uid, file);
  }
  await killWorkers(s.workers());
  await waitFor(() => s.workers().length === 2);
  t.equal((await httpGet(s, '/')).status, 200);
});

t.test('requests go on while zone files come to harm', async (t) => {
  const s = await startServer(t, { conf, asRoot: true, expectAlerts: /zone "(one|two)"/ });
  t.equal((await httpGet(s, '/')).status, 200);
  const run = runs(s)[0]!;
  for (const zone of ['one', 'two']) {
    const file = readdirSync(run).find((name) => new RegExp(`^${zone}-\\d+\\.\\d+$`).test(name))!;
    writeFileSync(join(run, file), Buffer.alloc(20_000, 0xa5));
    writeFileSync(join(run, `${file}-wal`), Buffer.alloc(20_000, 0x5a));
    const statuses = new Set<number>();
    await waitFor(async () => {
      statuses.add((await httpGet(s, '/')).status);
      return !existsSync(join(run, file));
    });
    for (let i = 0; i < 50; i++) {
      statuses.add((await httpGet(s, '/')).status);
    }
    t.strictSame([...statuses], [200], zone);
  }
  t.match(s.log(), /\[alert\] .* zone "one": ".*\/one-\d+\.0" is damaged \(.*\), started anew/);
});

t.test('a worker that another process kills by cutting its index of the log', async (t) => {
  const s = await startServer(t, { conf, asRoot: true, expectAlerts: /zone "(one|two|_counters)"|exited on signal 7/ });
  t.equal((await httpGet(s, '/')).status, 200);
  const [run] = runs(s);
  const before = s.workers();
  // SQLite maps this file; touching a page that is gone is SIGBUS, which no process survives.
  for (const file of readdirSync(run!)) {
    if (/^(one|two)-.*-shm$/.test(file)) {
      truncateSync(join(run!, file), 0);
    }
  }
  const asked = async (): Promise<number> => {
    try {
      return (await httpGet(s, '/')).status;
    } catch {
      return 0; // Its worker died of it.
    }
  };
  await waitFor(async () => {
    await asked();
    return before.some((pid) => !isAlive(pid));
  });
  t.match(await s.logged(/exited on signal 7/), '[alert]');
  // The other worker may fall too when its turn comes; after that nothing is wrong any more.
  let inARow = 0;
  await waitFor(async () => {
    inARow = (await asked()) === 200 ? inARow + 1 : 0;
    return inARow === 50;
  });
  await waitFor(() => s.workers().length === 2);
});

t.test('a folder that cannot be used', async (t) => {
  const s = await startServer(t, { conf, files: { zones: 'a file' }, expectAlerts: /shared zones cannot be stored/, asRoot: true });
  t.equal((await httpGet(s, '/')).status, 200, 'each worker counts for itself');
  t.match(s.log(), /\[alert\] .* shared zones cannot be stored \(ENOTDIR.*\), each worker counts for itself/);
  await s.reload();
  t.equal((await httpGet(s, '/')).status, 200);
});

t.test('a group that was changed over the API, and its zone comes to harm', async (t) => {
  const s = await startServer(t, {
    conf: `worker_processes 2; zone_directory %%DIR%%/zones;\n${serverConf(
      `add_header X-Pid $pid;
      location /api { api write=on; } location /app { proxy_pass http://app/who; }
      location = /who { return 200 $server_port; }`,
      'upstream app { zone app 64k; server 127.0.0.1:%%PORT_0%%; }',
    )}`,
    asRoot: true,
    expectAlerts: /zone "app"/,
  });
  const [run] = runs(s);
  const servers = '/api/9/http/upstreams/app/servers/';
  const workers = s.workers();
  // A connection to each worker: one that has nothing to do would take all new ones.
  const clients = new Map<string, RawClient>();
  await waitFor(async () => {
    const client = await RawClient.connect(s);
    const pid = (await client.send(requestText('GET', '/who')).response()).header('x-pid')!;
    if (clients.has(pid)) {
      client.destroy();
    } else {
      clients.set(pid, client);
      t.teardown(() => client.destroy());
    }
    return clients.size === 2;
  });
  const both = [...clients.values()] as [RawClient, RawClient];
  const count = async (client: RawClient): Promise<number> =>
    (JSON.parse((await client.send(requestText('GET', servers)).response()).text) as unknown[]).length;
  const counts = (): Promise<number[]> => Promise.all(both.map(count));
  let added = 1;
  const add = async (client: RawClient): Promise<void> => {
    const body = JSON.stringify({ server: `127.0.0.${++added}:${s.port(0)}`, down: true });
    const request = requestText('POST', servers.slice(0, -1), { 'Content-Type': 'application/json' }, body);
    const answer = await client.send(request, 'POST').response();
    t.equal(answer.status, 201, answer.text);
  };
  const file = (): string | undefined => readdirSync(run!).find((name) => /^app-\d+\.\d+$/.test(name));
  await add(both[0]);
  t.strictSame(await counts(), [added, added]);
  for (const [harm, act] of Object.entries(fileHarms)) {
    for (const [first, second] of [both, [both[1], both[0]]] as const) {
      const before = file()!;
      act(join(run!, before));
      await waitFor(
        async () => {
          await Promise.all(both.map((client) => client.send(requestText('GET', '/app')).response()));
          return file() !== undefined && file() !== before;
        },
        { timeout: 10_000, what: () => `${harm}: another file than ${before}: ${readdirSync(run!).join()} ${s.log()}` },
      );
      t.strictSame(await counts(), [added, added], harm);
      // The second one has not yet looked whether its file is still there.
      rmSync(join(run!, file()!));
      await add(first);
      await add(second);
      t.strictSame(await counts(), [added, added], `${harm}: the group can be changed`);
    }
  }
  t.strictSame(s.workers(), workers, 'no worker has ended');
});

t.test('harm inside the files of all kinds of zones', async (t) => {
  const s = await startServer(t, {
    conf: `worker_processes 2; zone_directory %%DIR%%/zones;\n${serverConf(
      `location /api { api write=on; }
      location /app { limit_req zone=req burst=1000 nodelay; limit_conn conn 1000; proxy_cache files; proxy_cache_lock on; proxy_pass http://app/who; }
      location = /who { add_header Set-Cookie sid=$request_id; expires 1s; return 200 $server_port; }
      location = /kv { return 200 "[$kv]"; }
      location = /js { js_content main.js; }
      status_zone here;`,
      `upstream app { zone app 64k; server 127.0.0.1:%%PORT_0%%; sticky learn create=$upstream_cookie_sid lookup=$cookie_sid zone=learned:64k; }
      limit_req_zone $server_name zone=req:1m rate=1r/m; limit_conn_zone $server_name zone=conn:1m;
      proxy_cache_path cache keys_zone=files:1m;
      keyval_zone zone=pairs:64k; keyval $arg_k $kv zone=pairs;
      js_shared_dict_zone zone=dict:64k; js_path %%DIR%%; js_import main from main.js;`,
    )}`,
    files: {
      'main.js':
        'export default { js: (r) => r.return(200, `${ngx.shared.dict.set("a", "b").get("a")} ${ngx.shared.dict.freeSpace() > 0}`) };',
    },
    asRoot: true,
    expectAlerts: /zone "[^"]+"/,
  });
  const [run] = runs(s);
  const servers = '/api/9/http/upstreams/app/servers';
  const change = async (method: string, path: string, body: object): Promise<number> =>
    (await http(s, requestText(method, path, { Connection: 'close', 'Content-Type': 'application/json' }, JSON.stringify(body)))).status;
  let last = 9;
  const use = async (what: string): Promise<void> => {
    const answers: string[] = [];
    for (let i = 0; i < 12; i++) {
      for (const path of [
        `/app?${i % 3}`,
        '/kv?k=a',
        '/js',
        '/api/9/http/upstreams',
        '/api/9/http/keyvals/pairs',
        '/api/9/slabs',
        '/api/9/http/server_zones',
      ]) {
        const { status, text } = await httpGet(s, path, { Cookie: 'sid=known' });
        if (status !== 200) {
          answers.push(`${path} ${status} ${text}`);
        }
      }
    }
    t.strictSame(answers, [], what);
    // Within some tries, since a worker holds a zone for some milliseconds while it starts it anew.
    last++;
    let posted: unknown;
    await waitFor(async () => (posted = await change('POST', servers, { server: `127.0.0.${last}:${s.port(0)}`, down: true })) === 201, {
      what: () => `${what}: POST (${posted}) ${s.log()}`,
    });
    // A pair that came to harm is none, and can be made again.
    const patched = await change('PATCH', '/api/9/http/keyvals/pairs', { a: what });
    t.ok(patched === 204 || (await change('POST', '/api/9/http/keyvals/pairs', { a: what })) === 201, `${what}: ${patched}`);
    await waitFor(async () => (await httpGet(s, '/kv?k=a')).text === `[${what}]`, { what: `${what}: the pair` });
    t.equal((await httpGet(s, '/js')).text, 'b true', what);
    t.notMatch(s.log(), /worker process \d+ exited|exception/, `${what}: no worker has ended`);
  };
  await change('POST', '/api/9/http/keyvals/pairs', { a: '0' });
  await use('before');
  for (const [what, harm] of Object.entries(insideHarms)) {
    zoneFiles(run!).forEach(harm);
    await use(what);
  }
  await s.reload();
  t.equal((await httpGet(s, '/app')).status, 200, 'after a reload');
});
