import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Origin, type OriginRequest, startOrigin } from '../support/origin.js';
import { isAlive, titleOf } from '../support/processes.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { runCli } from '../support/run-cli.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const bodyOf = (target: string): string => `${target}|`.repeat(100).slice(0, 600);
const answer = (request: OriginRequest): { headers: Record<string, string>; body: string } => ({
  headers: { 'Cache-Control': 'max-age=600' },
  body: bodyOf(request.target),
});

/** A server with a cache in front of the origin; `more` are further locations. */
function start(
  t: Test,
  origin: Origin,
  options: { location?: string; path?: string; workers?: number; more?: string; alerts?: RegExp } = {},
): Promise<Server> {
  const pass = `proxy_pass http://127.0.0.1:${origin.port}; proxy_cache Z; proxy_cache_key $uri$is_args$args;
    add_header X-Status $upstream_cache_status; add_header X-Reason $upstream_cache_reason; add_header X-Key $proxy_cache_key;`;
  return startServer(t, {
    conf: httpConf(
      `proxy_temp_path %%DIR%%/temp;
       proxy_cache_path %%DIR%%/cache levels=1:2 keys_zone=Z:1m ${options.path ?? ''};
       map $request_method $purge { default 0; PURGE 1; }
       server { listen 127.0.0.1:%%PORT_0%%;
         location / { ${pass} proxy_cache_purge $purge; ${options.location ?? ''} }
         ${(options.more ?? '').replaceAll('PASS', pass)} }`,
      `worker_processes ${options.workers ?? 1};`,
    ),
    ...(options.alerts === undefined ? {} : { expectAlerts: options.alerts }),
  });
}

const status = async (server: Server, path: string, headers: Record<string, string> = {}): Promise<string | undefined> =>
  (await httpGet(server, path, headers)).header('x-status');
const purge = async (server: Server, path: string): Promise<number> =>
  (await http(server, requestText('PURGE', path, { Connection: 'close' }))).status;

function files(server: Server): string[] {
  return (readdirSync(join(server.dir, 'cache'), { recursive: true }) as string[])
    .map((name) => join(server.dir, 'cache', name))
    .filter((path) => statSync(path).isFile());
}

t.test('what is kept, why something is not, and what is said of it', async (t) => {
  const origin = await startOrigin(t, (request) => {
    const { target } = request;
    const headers: Record<string, string> = { 'Cache-Control': 'max-age=600' };
    if (target.startsWith('/cookie')) headers['Set-Cookie'] = 'a=b';
    if (target.startsWith('/vary')) headers.Vary = '*';
    if (target.startsWith('/none')) delete headers['Cache-Control'];
    if (target.startsWith('/no-store')) headers['Cache-Control'] = 'no-store';
    return { headers, body: bodyOf(target) };
  });
  const s = await start(t, origin, {
    location: 'proxy_cache_bypass $arg_fresh; proxy_no_cache $arg_secret; cache_status_header on;',
    more: 'location /twice/ { PASS proxy_cache_min_uses 2; }',
  });
  const reason = async (path: string): Promise<string | undefined> => (await httpGet(s, path)).header('x-reason');
  const first = await httpGet(s, '/a?b=c');
  t.equal(first.header('x-key'), '/a?b=c');
  t.equal(first.header('cache-status'), 'sluice; fwd=uri-miss; fwd-status=200; detail="not in cache"');
  const second = await httpGet(s, '/a?b=c');
  t.equal(second.header('x-status'), 'HIT');
  t.match(second.header('cache-status'), /^sluice; hit; ttl=(600|599)$/);
  t.equal(second.text, bodyOf('/a?b=c'));
  t.equal(await reason('/cookie'), 'set-cookie');
  t.equal(await status(s, '/cookie'), 'MISS');
  t.equal(await reason('/vary'), 'vary: *');
  t.equal(await reason('/no-store'), 'no-store');
  t.equal(await reason('/b?fresh=1'), 'bypass: $arg_fresh');
  t.equal(await status(s, '/b?fresh=1'), 'BYPASS');
  t.equal(await reason('/twice/a'), 'min_uses 1/2');
  t.equal(await status(s, '/twice/a'), 'MISS');
  t.equal(await status(s, '/twice/a'), 'HIT');
  for (const path of ['/none', '/c?secret=1']) {
    await httpGet(s, path);
    t.equal(await status(s, path), 'MISS', path);
  }
  const posted = await http(s, requestText('POST', '/a?b=c', { Connection: 'close' }));
  t.equal(posted.header('cache-status'), 'sluice; fwd=method; fwd-status=200');
});

t.test('a purge in one worker is seen by all', async (t) => {
  const origin = await startOrigin(t, (request) => ({
    headers: { 'Cache-Control': 'max-age=600', Vary: 'X-V' },
    body: `${request.target} ${request.header('x-v')} ${origin.requests.length}`,
  }));
  const s = await start(t, origin, { workers: 3 });
  for (let round = 0; round < 3; round++) {
    for (const v of ['1', '2']) {
      const made = (await httpGet(s, '/a', { 'X-V': v })).text;
      for (let i = 0; i < 12; i++) t.equal((await httpGet(s, '/a', { 'X-V': v })).text, made);
    }
    t.equal(await purge(s, '/a'), 204);
    t.equal(await purge(s, '/a'), 404);
  }
  t.equal(origin.requests.length, 6, 'the variants went with the key');
  await httpGet(s, '/p/1');
  await httpGet(s, '/p/2');
  await httpGet(s, '/q');
  t.equal(await purge(s, '/p/*'), 204);
  t.equal(await purge(s, '/p/*'), 404);
  t.equal(await status(s, '/p/1'), 'MISS');
  t.equal(await status(s, '/q'), 'HIT');
});

t.test('one of a hundred requests for a cold key reaches the backend', async (t) => {
  const origin = await startOrigin(t, async (request, reply) => {
    await reply.sleep(200);
    return answer(request);
  });
  const s = await start(t, origin, { workers: 4, location: 'proxy_cache_lock on;' });
  const answers = await Promise.all(Array.from({ length: 100 }, () => httpGet(s, '/cold')));
  t.equal(origin.requests.length, 1);
  t.ok(answers.every(({ text }) => text === bodyOf('/cold')));
});

t.test('damaged files are never served', async (t) => {
  const origin = await startOrigin(t, answer);
  const s = await start(t, origin);
  const paths = Array.from({ length: 40 }, (_, i) => `/d/${i}`);
  for (const path of paths) await httpGet(s, path);
  files(s).forEach((file, i) => {
    const bytes = readFileSync(file);
    const at = (i * 37) % bytes.length;
    if (i % 3 === 0) bytes[at]! ^= 1 << (i % 8);
    writeFileSync(file, i % 3 === 1 ? bytes.subarray(0, at) : i % 3 === 2 ? '' : bytes);
  });
  for (const path of paths) {
    const response = await httpGet(s, path);
    t.equal(response.header('x-status'), 'MISS', path);
    t.equal(response.text, bodyOf(path));
    t.equal(await status(s, path), 'HIT', path);
  }
  t.match(s.log(), /\[crit\] .* cache file ".*" is too small/);
});

t.test('large bodies, and parts of them', async (t) => {
  const whole = Buffer.from(Array.from({ length: 400_000 }, (_, i) => (i * 7 + (i >> 8)) & 255));
  const big = Buffer.concat([whole, whole, whole, whole]);
  const origin = await startOrigin(t, (request) => ({
    headers: { 'Cache-Control': 'max-age=600', 'Accept-Ranges': 'bytes' },
    body: request.target === '/big' ? big : whole,
  }));
  const s = await start(t, origin);
  for (const [path, body] of [
    ['/mid', whole],
    ['/big', big],
  ] as const) {
    for (const expected of ['MISS', 'HIT']) {
      const response = await httpGet(s, path);
      t.equal(response.header('x-status'), expected);
      t.ok(response.body.equals(body), `${path} ${expected}`);
    }
    const part = await httpGet(s, path, { Range: 'bytes=65000-200000' });
    t.equal(part.status, 206);
    t.ok(part.body.equals(body.subarray(65_000, 200_001)));
    const end = await httpGet(s, path, { Range: 'bytes=-10' });
    t.ok(end.body.equals(body.subarray(-10)));
  }
});

t.test('max_size holds while the cache fills', async (t) => {
  const origin = await startOrigin(t, answer);
  const s = await start(t, origin, { workers: 2, path: 'max_size=200k' });
  for (let i = 0; i < 150; i++) await httpGet(s, `/f/${i}`);
  t.ok(files(s).length <= 52, `${files(s).length} files of 4k`);
  t.ok(files(s).length >= 45);
  t.equal(await status(s, '/f/149'), 'HIT');
});

t.test('kill -9 of all processes but the master: contents survive', { timeout: 60_000 }, async (t) => {
  const origin = await startOrigin(t, answer);
  const s = await start(t, origin, { workers: 2, alerts: /exited on signal 9|zone/ });
  const paths = Array.from({ length: 30 }, (_, i) => `/k/${i}`);
  for (const path of paths) await httpGet(s, path);
  for (const pid of s.workers().filter((pid) => titleOf(pid).includes('worker') || titleOf(pid).includes('cache')))
    process.kill(pid, 'SIGKILL');
  await waitFor(() => s.workers().filter((pid) => isAlive(pid) && titleOf(pid).includes('worker process')).length === 2);
  const before = origin.requests.length;
  for (const path of paths) {
    const response = await httpGet(s, path);
    t.equal(response.header('x-status'), 'HIT');
    t.equal(response.text, bodyOf(path));
  }
  t.equal(origin.requests.length, before);
});

t.test('what a killed server left half written is removed at the start', async (t) => {
  const half = '0123456789abcdef0123456789abcdef.4194304.0.tmp';
  const s = await startServer(t, {
    conf: httpConf('proxy_cache_path %%DIR%%/cache levels=1:2 keys_zone=Z:1m; server { listen 127.0.0.1:%%PORT_0%%; }'),
    files: { [`cache/f/de/${half}`]: 'half', 'cache/f/de/0123456789abcdef0123456789abcdef': 'no entry' },
    asRoot: true,
  });
  await waitFor(() => files(s).length === 0);
  t.match(s.log(), /cache file ".*" is damaged, removed/);
});

t.test('a refresher that dies leaves nothing locked', { timeout: 60_000 }, async (t) => {
  const origin = await startOrigin(t, (request) => ({ headers: { 'X-Accel-Expires': '1' }, body: `${request.target} 1` }));
  const s = await start(t, origin, { location: 'proxy_cache_use_stale updating;', alerts: /exited on signal 9/ });
  await httpGet(s, '/r');
  await waitFor(async () => {
    origin.answer(async (_request, reply) => {
      await reply.gone();
      return undefined;
    });
    return statSync(files(s)[0]!).mtimeMs < Date.now() - 2100;
  });
  // This one refreshes the entry, and never comes back.
  const lost = httpGet(s, '/r').catch(() => undefined);
  await origin.received(2);
  t.equal(await status(s, '/r'), 'UPDATING');
  const [worker] = s.workers().filter((pid) => titleOf(pid).includes('worker process'));
  process.kill(worker!, 'SIGKILL');
  await lost;
  origin.answer((request) => ({ headers: { 'X-Accel-Expires': '60' }, body: `${request.target} 2` }));
  await waitFor(() => s.workers().some((pid) => pid !== worker && titleOf(pid).includes('worker process')));
  t.equal((await httpGet(s, '/r')).text, '/r 2');
  t.equal(await status(s, '/r'), 'HIT');
});

t.test('sluice cache', async (t) => {
  const origin = await startOrigin(t, answer);
  const s = await start(t, origin);
  for (const path of ['/a', '/b/1', '/b/2']) await httpGet(s, path);
  const run = (...args: string[]) => runCli(['cache', ...args, '-p', `${s.dir}/`, '-c', `${s.dir}/sluice.conf`]);
  t.equal((await run('list')).stdout.trim().split('\n').length, 3);
  t.match((await run('inspect', '--key', '/a')).stdout, /key: \/a\n.*\nstatus: 200\n/);
  t.match((await run('purge', '--prefix', '/b/')).stdout, /^2 entries purged/);
  t.equal(await status(s, '/b/1'), 'MISS');
  t.equal(await status(s, '/a'), 'HIT');
  t.match((await run('purge', '--key', '/none')).stdout, /^0 entries purged/);
});
