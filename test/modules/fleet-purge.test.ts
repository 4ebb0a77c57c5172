import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { type Redis, startRedis, withoutEngine } from '../support/redis.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx ? 'sluice alone has a shared store' : withoutEngine;

function startMachine(t: Test, redis: Redis, node: string, origin: { port: number }): Promise<Server> {
  return startServer(t, {
    conf: `worker_processes 2;\nshared_store fleet { server 127.0.0.1:${redis.port}; timeout 2s; node ${node}; }\n${serverConf(
      `location / {
        proxy_pass http://127.0.0.1:${origin.port}; proxy_cache z; proxy_cache_key $uri; proxy_cache_valid 10m; cache_status_header on;
        proxy_cache_purge $purge;
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
