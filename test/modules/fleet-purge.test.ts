import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { type Redis, startRedis, withoutEngine } from '../support/redis.js';
import { runCli } from '../support/run-cli.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx ? 'sluice alone has a shared store' : withoutEngine;

function startMachine(t: Test, redis: Redis, node: string, origin: { port: number }): Promise<Server> {
  return startServer(t, {
    conf: `worker_processes 2;\nshared_store fleet { server 127.0.0.1:${redis.port}; timeout 2s; node ${node}; }\n${serverConf(
      `location / {
        proxy_pass http://127.0.0.1:${origin.port}; proxy_cache z; proxy_cache_key $uri; proxy_cache_valid 10m; cache_status_header on;
        proxy_cache_purge $purge; proxy_cache_tag $upstream_http_cache_tag; add_header X-Status $upstream_cache_status;
      }
      location /other/ {
        proxy_pass http://127.0.0.1:${origin.port}; proxy_cache own; proxy_cache_key $uri; proxy_cache_valid 10m; cache_status_header on;
        proxy_cache_purge $purge;
      }`,
      `proxy_cache_path %%DIR%%/cache levels=1 keys_zone=z:1m sync; proxy_cache_path %%DIR%%/own keys_zone=own:1m;
      map $request_method $purge { PURGE 1; default 0; }`,
    )}`,
  });
}

const status = async (s: Server, path: string): Promise<string | undefined> =>
  (await httpGet(s, path)).header('cache-status') ?? (await httpGet(s, path)).header('x-cache-status');
const purge = async (s: Server, path: string): Promise<number> =>
  (await http(s, requestText('PURGE', path, { Connection: 'close' }))).status;

t.test('purges reach all machines', { skip }, async (t) => {
  const redis = await startRedis(t);
  const origin = await startOrigin(t, () => ({ body: 'x' }));
  const [a, b] = (await Promise.all([startMachine(t, redis, 'a', origin), startMachine(t, redis, 'b', origin)])) as [Server, Server];
  await Promise.all([a, b].map((s) => s.logged('shared store "fleet" is connected')));
  const hit = async (s: Server, path: string) => /hit/i.test((await status(s, path)) ?? '');
  const store = async (s: Server, ...paths: string[]) => {
    for (const path of paths) {
      await httpGet(s, path);
      await waitFor(() => hit(s, path), { what: `${path} to be stored` });
    }
  };
  /** Whether a request goes to the backend. */
  const gone = async (s: Server, path: string): Promise<boolean> => {
    const asked = origin.requests.length;
    await httpGet(s, path);
    return origin.requests.length > asked;
  };
  for (const s of [a, b]) {
    await store(s, '/one', '/two', '/dir/1', '/dir/2', '/other/1');
  }
  t.equal(await purge(a, '/one'), 204);
  t.equal(await gone(a, '/one'), true);
  await waitFor(() => gone(b, '/one'), { what: '/one to be gone' });
  t.equal(await purge(b, '/dir/*'), 204);
  await waitFor(() => gone(a, '/dir/1'), { what: '/dir/1 to be gone' });
  t.equal(await gone(a, '/two'), false, 'the rest stays');
  t.equal(await purge(a, '/late'), 404, 'one that is stored later');
  t.equal(await purge(a, '/nothing'), 404, 'one that is not here may be there');
  t.equal(await purge(a, '/other/1'), 204);
  t.equal(await gone(b, '/other/1'), false, 'a cache without sync');
  // When a purge was made, another machine knows to some milliseconds.
  const purged = Date.now();
  await waitFor(() => Date.now() > purged + 1000);
  await store(b, '/late', '/dir/1', '/dir/2');
  // A machine that is away, and one that asks nobody.
  await b.stop();
  t.equal(await purge(a, '/two'), 204);
  await purge(a, '/dir/*');
  await waitFor(async () => (await redis.ask('HLEN', 'sluice:{fleet}:pairs')) === '5');
  await b.start();
  await waitFor(() => gone(b, '/two'), { what: '/two to be gone after the start' });
  await waitFor(() => gone(b, '/dir/1'), { what: '/dir/1 to be gone after the start' });
  t.equal(await gone(b, '/late'), false, 'what was stored after its purge stays');
  await redis.freeze();
  await store(a, '/two');
  await store(b, '/two');
  await purge(a, '/two');
  redis.thaw();
  await waitFor(() => gone(b, '/two'), { what: '/two to be gone after the break' });
});

t.test('tags and soft purges reach all machines, and what is on its way', { skip }, async (t) => {
  const redis = await startRedis(t);
  let gate: Promise<void> | undefined;
  const origin = await startOrigin(t, async ({ target }) => {
    await gate;
    return { headers: { 'Cache-Tag': target.slice(1) }, body: 'x' };
  });
  const [a, b] = (await Promise.all([startMachine(t, redis, 'a', origin), startMachine(t, redis, 'b', origin)])) as [Server, Server];
  await Promise.all([a, b].map((s) => s.logged('shared store "fleet" is connected')));
  const state = async (s: Server, path: string) => (await httpGet(s, path)).header('x-status');
  const purges = async (s: Server, headers: Record<string, string>, path = '/') => {
    const { status } = await http(s, requestText('PURGE', path, { ...headers, Connection: 'close' }));
    t.ok(status === 204 || status === 404);
  };
  const fill = async (s: Server, ...paths: string[]) => {
    for (const path of paths) {
      await httpGet(s, path);
      await waitFor(async () => (await state(s, path)) === 'HIT', { what: `${path} to be stored` });
    }
  };
  /** Looks until a purge has come; the look that finds it stores the response anew. */
  const comes = (s: Server, path: string, wanted: string) =>
    waitFor(
      async () => {
        const found = await state(s, path);
        return found !== 'HIT' && t.equal(found, wanted, `${path}: ${wanted}`);
      },
      { what: `the purge of ${path} to come` },
    );
  await fill(a, '/t');
  await fill(b, '/t', '/k', '/p/1', '/c', '/stay');
  await purges(a, { 'Cache-Tag': 't other', 'Soft-Purge': '1' });
  t.equal(await state(a, '/t'), 'EXPIRED');
  await comes(b, '/t', 'EXPIRED');
  await purges(a, { 'Cache-Tag': 't' });
  await comes(b, '/t', 'MISS');
  await purges(a, { 'Soft-Purge': '1' }, '/k');
  await comes(b, '/k', 'EXPIRED');
  await purges(a, { 'Soft-Purge': '1' }, '/p/*');
  await comes(b, '/p/1', 'EXPIRED');
  const shell = await runCli([
    'cache',
    'purge',
    '--tag',
    'c',
    '-p',
    `${a.dir}/`,
    '-c',
    `${a.dir}/sluice.conf`,
    '-g',
    `pid ${a.dir}/server.pid;`,
  ]);
  t.equal(shell.stdout, '0 entries purged\n');
  await comes(b, '/c', 'MISS');
  // A response that this machine asked for before another one made a purge, and that comes after it.
  let open = (): void => {};
  gate = new Promise((done) => {
    open = done;
  });
  const asked = origin.requests.length;
  const late = httpGet(b, '/late');
  await origin.received(asked + 1);
  await purges(a, { 'Cache-Tag': 'late' });
  await purges(a, { 'Cache-Tag': 'stay' });
  gate = undefined;
  open();
  await late;
  await comes(b, '/stay', 'MISS');
  await comes(b, '/late', 'MISS');
  // A machine that is away. What it stored right after another purge might go with that one: clocks agree to some milliseconds.
  await fill(b, '/u', '/v', '/w');
  await b.stop();
  await purges(a, { 'Cache-Tag': 'u', 'Soft-Purge': '1' });
  await purges(a, { 'Cache-Tag': 'v' });
  await b.start();
  await comes(b, '/u', 'EXPIRED');
  await comes(b, '/v', 'MISS');
  t.equal(await state(b, '/w'), 'HIT');
});
