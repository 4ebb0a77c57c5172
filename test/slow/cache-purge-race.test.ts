// What is purged while a response is on its way: what was asked for before a purge is not kept as if it were new.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { files, purge, startCache, status } from '../support/cache.js';
import { type OriginAnswer, type OriginRequest, startOrigin } from '../support/origin.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { runCli } from '../support/run-cli.js';
import type { Server } from '../support/server.js';
import { waitFor } from '../support/wait.js';
import { zoneFiles } from '../support/zone-harm.js';

const skip = againstNginx && 'nginx has no purges';

/** An origin that holds its answers back until it is told to give them. */
async function startGate(test: Test, make: (request: OriginRequest, n: number) => OriginAnswer) {
  let n = 0;
  let gate: Promise<void> | undefined;
  let open = (): void => {};
  const origin = await startOrigin(test, async (request) => {
    const mine = make(request, ++n);
    await gate;
    return mine;
  });
  return {
    origin,
    shut: () => {
      gate = new Promise((done) => {
        open = done;
      });
    },
    open: () => {
      gate = undefined;
      open();
    },
  };
}

const purgeWith = async (s: Server, path: string, headers: Record<string, string>): Promise<number> =>
  (await http(s, requestText('PURGE', path, { ...headers, Connection: 'close' }))).status;

t.test('a response that was asked for before a purge', { skip }, async (t) => {
  const big = 'b'.repeat(200_000);
  const { origin, shut, open } = await startGate(t, ({ target }, n) => ({
    headers: { 'Cache-Control': 'max-age=600', 'Cache-Tag': 'tag other' },
    body: target.startsWith('/big') ? `${n}${big}` : `${n}`,
  }));
  const s = await startCache(t, origin, { workers: 2, location: 'proxy_cache_tag $upstream_http_cache_tag;', path: 'purger=on' });
  const run = (...args: string[]) =>
    runCli(['cache', 'purge', ...args, '-p', `${s.dir}/`, '-c', `${s.dir}/sluice.conf`, '-g', `pid ${s.dir}/server.pid;`]);
  /** Purges while a request is under way; returns its answer, and what the next request finds. */
  const during = async (path: string, make: () => Promise<unknown>) => {
    const asked = origin.requests.length;
    shut();
    const first = httpGet(s, path);
    await origin.received(asked + 1);
    await make();
    open();
    t.equal((await first).status, 200);
    return status(s, path);
  };
  const ways: Record<string, (path: string, soft: Record<string, string>) => Promise<unknown>> = {
    key: (path, soft) => purgeWith(s, path, soft),
    prefix: (_path, soft) => purgeWith(s, '/*', soft),
    tag: (_path, soft) => purgeWith(s, '/', { 'Cache-Tag': 'tag', ...soft }),
  };
  for (const [name, way] of Object.entries(ways)) {
    for (const path of [`/${name}`, `/big/${name}`]) {
      t.equal(await during(path, () => way(path, {})), 'MISS', path);
      t.equal(await status(s, path), 'HIT', `${path}: the next one stays`);
      await purge(s, path);
      t.equal(await during(path, () => way(path, { 'Soft-Purge': '1' })), 'EXPIRED', `${path}, softly`);
      t.equal(await status(s, path), 'HIT');
    }
  }
  t.equal(await during('/else', () => purgeWith(s, '/', { 'Cache-Tag': 'another' })), 'HIT', 'a purge of something else');
  t.equal(await during('/shell', () => run('--tag', 'tag')), 'MISS', 'sluice cache purge');
  t.equal(await during('/shell2', () => run('--key', '/shell2')), 'MISS');
  t.equal(await during('/shell3', () => run('--prefix', '/', '--soft')), 'EXPIRED');
});

t.test('a refresh that was asked for before a purge', { skip }, async (t) => {
  let old = true;
  const { origin, shut, open } = await startGate(t, ({ header }, n) => ({
    status: header('if-none-match') === undefined ? 200 : 304,
    headers: { 'X-Accel-Expires': old ? '@1' : '600', 'Cache-Control': 'stale-while-revalidate=600', 'Cache-Tag': 'tag', ETag: '"a"' },
    body: header('if-none-match') === undefined ? `${n}` : '',
  }));
  const s = await startCache(t, origin, {
    location: 'proxy_cache_tag $upstream_http_cache_tag; proxy_cache_revalidate on;',
    more: 'location /behind/ { PASS proxy_cache_tag $upstream_http_cache_tag; proxy_cache_background_update on; proxy_cache_use_stale updating; }',
  });
  for (const [path, soft, next] of [
    ['/hard', '0', 'MISS'],
    ['/soft', '1', 'REVALIDATED'],
  ] as const) {
    old = true;
    await httpGet(s, path);
    old = false;
    shut();
    const asked = origin.requests.length;
    const first = httpGet(s, path);
    await origin.received(asked + 1);
    t.equal(await purgeWith(s, '/', { 'Cache-Tag': 'tag', 'Soft-Purge': soft }), 204);
    open();
    t.equal((await first).header('x-status'), 'REVALIDATED', 'the request that was there before');
    t.equal(await status(s, path), next, `${path}: what was found unchanged before the purge`);
    t.equal(await status(s, path), 'HIT');
  }
  old = true;
  await httpGet(s, '/behind/a');
  old = false;
  shut();
  const asked = origin.requests.length;
  t.equal((await http(s, requestText('GET', '/behind/a'))).header('x-status'), 'STALE');
  await origin.received(asked + 1);
  t.equal(await purgeWith(s, '/', { 'Cache-Tag': 'tag' }), 204);
  const late = httpGet(s, '/behind/a');
  await origin.received(asked + 2);
  open();
  t.equal((await late).header('x-status'), 'MISS');
  t.equal(await status(s, '/behind/a'), 'HIT', 'the one that was asked for after the purge stays');
});

t.test('those who wait for the lock do not get what was purged meanwhile', { skip }, async (t) => {
  const { origin, shut, open } = await startGate(t, (_request, n) => ({
    headers: { 'Cache-Control': 'max-age=600', 'Cache-Tag': 'tag' },
    body: `${n}`,
  }));
  const s = await startCache(t, origin, {
    workers: 2,
    location: 'proxy_cache_tag $upstream_http_cache_tag; proxy_cache_lock on; proxy_cache_lock_timeout 60s; proxy_cache_lock_age 60s;',
  });
  for (const [path, headers] of [
    ['/a', { 'Cache-Tag': 'tag' }],
    ['/b', {}],
  ] as const) {
    const asked = origin.requests.length;
    shut();
    const first = httpGet(s, path);
    await origin.received(asked + 1);
    const before = httpGet(s, path);
    await purgeWith(s, path, headers);
    const after = Array.from({ length: 5 }, () => httpGet(s, path));
    open();
    t.equal((await first).text, `${asked + 1}`);
    for (const { text } of await Promise.all([before, ...after])) {
      t.equal(text, `${asked + 2}`);
    }
    t.equal(origin.requests.length, asked + 2, 'one of them asked anew');
    t.equal(await status(s, path), 'HIT');
  }
  t.equal(files(s).length, 2);
});

t.test('purges and fills all at once', { skip }, async (t) => {
  let version = 0;
  const origin = await startOrigin(t, () => ({ headers: { 'Cache-Control': 'max-age=600', 'Cache-Tag': 'tag' }, body: `${version}` }));
  const s = await startCache(t, origin, {
    workers: 4,
    location: 'proxy_cache_tag $upstream_http_cache_tag; proxy_cache_min_uses 1; proxy_cache_key /one;',
  });
  let running = true;
  const noise = Array.from({ length: 4 }, async () => {
    while (running) {
      await httpGet(s, '/');
    }
  });
  for (let i = 0; i < 60; i++) {
    version++;
    const soft = i % 3 === 2 ? { 'Soft-Purge': '1' } : {};
    await purgeWith(s, '/', i % 2 === 0 ? { 'Cache-Tag': 'tag', ...soft } : soft);
    const { text } = await httpGet(s, '/');
    t.equal(text, `${version}`, `purge ${i}`);
  }
  running = false;
  await Promise.all(noise);
  await waitFor(async () => (await status(s, '/')) === 'HIT');
});

t.test('a response that comes while another process holds the zone is in place once it may be', { skip }, async (t) => {
  const { origin, shut, open } = await startGate(t, (_request, n) => ({
    headers: { 'Cache-Control': 'max-age=600', 'Cache-Tag': 'tag' },
    body: `${n}`,
  }));
  const s = await startCache(t, origin, {
    location: 'proxy_cache_tag $upstream_http_cache_tag;',
    main: 'zone_directory %%DIR%%/zones;',
  });
  await httpGet(s, '/before');
  t.equal(await purgeWith(s, '/', { 'Cache-Tag': 'tag' }), 204);
  shut();
  const first = httpGet(s, '/a');
  await origin.received(2);
  const zones = join(s.dir, 'zones');
  const [path] = zoneFiles(join(zones, readdirSync(zones)[0]!), 'Z');
  const db = new Database(path!);
  t.teardown(() => db.close());
  db.exec('BEGIN IMMEDIATE');
  open();
  t.equal((await first).text, '2', 'the client does not wait');
  t.equal(files(s).length, 0, 'nobody could say whether it was purged meanwhile');
  db.exec('ROLLBACK');
  await waitFor(() => files(s).length === 1);
  t.equal(await status(s, '/a'), 'HIT');
  t.equal(await purgeWith(s, '/', { 'Cache-Tag': 'tag' }), 204);
  t.equal(files(s).length, 0);
});

t.test('a page for the answer to a purge is no purge, and a purge may come by error_page', { skip }, async (t) => {
  const origin = await startOrigin(t, () => ({ headers: { 'Cache-Control': 'max-age=600' }, body: 'page' }));
  const s = await startCache(t, origin, {
    location: 'error_page 404 /missing.html;',
    more: `location /sent/ { if ($request_method = PURGE) { return 418; } PASS error_page 418 = @purge; }
      location @purge { PASS proxy_cache_purge $purge; }`,
  });
  await httpGet(s, '/missing.html');
  const answer = await http(s, requestText('PURGE', '/nothing', { Connection: 'close' }));
  t.match(answer, { status: 404, text: 'page' });
  t.equal(answer.header('x-status'), 'HIT');
  t.equal(files(s).length, 1, 'the page stays');
  await httpGet(s, '/sent/a');
  t.equal(await purge(s, '/sent/a'), 204);
  t.equal(await purge(s, '/missing.html'), 204);
  t.equal(files(s).length, 0);
});
