import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { answer, bodyOf, files, ownFolder, startCache, status } from '../support/cache.js';
import { type OriginRequest, startOrigin } from '../support/origin.js';
import { isAlive, killWorkers, titleOf } from '../support/processes.js';
import { httpGet, type Response } from '../support/raw-client.js';
import type { Server } from '../support/server.js';
import { waitFor } from '../support/wait.js';

/** Keys of the long drill: SLUICE_LONG=1 runs it in full. */
const KEYS = process.env.SLUICE_LONG ? 10_000 : 300;

/** A body of its own for each target: most are small, some need several writes, a few are checked block by block. */
function sizedBody(target: string): string {
  const n = Number(/\d+$/.exec(target)?.[0] ?? 0);
  const size = n % 50 === 49 ? 1_200_000 : n % 10 === 9 ? 150_000 : 600;
  return `${target}|`.repeat(Math.ceil(size / (target.length + 1))).slice(0, size);
}
const sizedAnswer = (request: OriginRequest) => ({ headers: { 'Cache-Control': 'max-age=600' }, body: sizedBody(request.target) });
/** Whether all of a body came. */
const isWhole = (response: Response): boolean => response.header('content-length') === String(response.body.length);

const filesBelow = (folder: string): string[] =>
  (readdirSync(folder, { recursive: true }) as string[]).filter((name) => statSync(join(folder, name)).isFile());
const pidsOf = (s: Server, title: string): number[] => s.workers().filter((pid) => titleOf(pid).includes(title));

t.test('120 damaged files: none is served as it is', { timeout: 300_000 }, async (t) => {
  const origin = await startOrigin(t, sizedAnswer);
  const s = await startCache(t, origin, { location: 'proxy_cache_lock on;' });
  const paths = Array.from({ length: 120 }, (_, i) => `/d/${i}`);
  for (const path of paths) {
    await httpGet(s, path);
  }
  files(s).forEach((file, i) => {
    const bytes = readFileSync(file);
    const kind = i % 4;
    const at = kind === 0 ? (i * 37) % Math.min(bytes.length, 150) : bytes.length - 1 - ((i * 37) % 500);
    if (kind < 2) {
      bytes[at]! ^= 1 << (i % 8);
    }
    writeFileSync(file, kind === 2 ? bytes.subarray(0, at) : kind === 3 ? '' : bytes);
  });
  for (const path of paths) {
    const first = await httpGet(s, path).catch(() => undefined);
    if (first !== undefined && isWhole(first)) {
      t.equal(first.header('x-status'), 'MISS', path);
      t.ok(first.text === sizedBody(path), path);
    } else {
      t.ok(sizedBody(path).length > 1024 * 1024, `${path}: a large body may break off where it is damaged`);
    }
    t.ok((await httpGet(s, path)).text === sizedBody(path), path);
    t.equal(await status(s, path), 'HIT', path);
  }
  const complaints = s.log().match(/\[crit\] .* cache file ".*" (is|has) .*/g) ?? [];
  t.equal(complaints.length, 120, 'a line for each');
});

t.test('kill -9 of a worker, of the manager, of everything, under load', { timeout: 600_000 }, async (t) => {
  const folder = ownFolder(t);
  const origin = await startOrigin(t, sizedAnswer);
  const options = { folder, workers: 2, path: 'inactive=1h', zone: '8m', alerts: /exited on signal 9|zone|worker process/ };
  const first = await startCache(t, origin, options);
  let asked = 0;
  let wrong = 0;
  let stopping = false;
  const clients = Array.from({ length: 8 }, async () => {
    while (!stopping) {
      // Each key is asked for by several clients, and again later.
      const path = `/k/${Math.floor(asked++ / 3) % KEYS}`;
      const response = await httpGet(first, path).catch(() => undefined);
      if (response?.status === 200 && isWhole(response) && response.text !== sizedBody(path)) {
        wrong++;
      }
    }
  });
  const third = KEYS;
  await waitFor(() => asked > third, { timeout: 200_000 });
  const [worker] = pidsOf(first, 'worker process');
  process.kill(worker!, 'SIGKILL');
  const [manager] = pidsOf(first, 'cache manager');
  process.kill(manager!, 'SIGKILL');
  await waitFor(() => asked > 2 * third && !isAlive(worker!) && pidsOf(first, 'cache manager').some((pid) => pid !== manager), {
    timeout: 200_000,
  });
  const all = [first.pid, ...first.workers()];
  for (const pid of all) {
    process.kill(pid, 'SIGKILL');
  }
  stopping = true;
  await Promise.all(clients);
  t.equal(wrong, 0);
  await waitFor(() => !all.some(isAlive));
  writeFileSync(join(folder, 'cache/0123456789abcdef0123456789abcdef.4194304.0.tmp'), 'half');
  const second = await startCache(t, origin, options);
  await second.logged(/http file cache: /);
  t.strictSame(
    filesBelow(folder).filter((name) => name.endsWith('.tmp')),
    [],
  );
  let hits = 0;
  for (let i = 0; i < KEYS; i++) {
    const response = await httpGet(second, `/k/${i}`);
    if (response.header('x-status') === 'HIT') {
      hits++;
    }
    if (response.text !== sizedBody(`/k/${i}`)) {
      wrong++;
    }
  }
  t.equal(wrong, 0);
  t.ok(hits > KEYS / 5, `${hits} hits of ${KEYS}`);
  t.comment(`${hits} hits of ${KEYS}, ${asked} requests`);
});

t.test('kill -9 of all processes but the master: contents survive', { timeout: 300_000 }, async (t) => {
  const origin = await startOrigin(t, answer);
  const s = await startCache(t, origin, { workers: 2, alerts: /exited on signal 9|zone/ });
  const paths = Array.from({ length: 30 }, (_, i) => `/k/${i}`);
  for (const path of paths) {
    await httpGet(s, path);
  }
  await killWorkers([...pidsOf(s, 'worker'), ...pidsOf(s, 'cache')]);
  await waitFor(() => pidsOf(s, 'worker process').length === 2);
  const before = origin.requests.length;
  for (const path of paths) {
    const response = await httpGet(s, path);
    t.equal(response.header('x-status'), 'HIT');
    t.equal(response.text, bodyOf(path));
  }
  t.equal(origin.requests.length, before);
});

t.test('a refresher that dies leaves nothing locked', { timeout: 300_000 }, async (t) => {
  const origin = await startOrigin(t, (request) => ({ headers: { 'X-Accel-Expires': '1' }, body: `${request.target} 1` }));
  const s = await startCache(t, origin, { location: 'proxy_cache_use_stale updating;', alerts: /exited on signal 9/ });
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
  const [worker] = pidsOf(s, 'worker process');
  process.kill(worker!, 'SIGKILL');
  await lost;
  origin.answer((request) => ({ headers: { 'X-Accel-Expires': '60' }, body: `${request.target} 2` }));
  await waitFor(() => pidsOf(s, 'worker process').some((pid) => pid !== worker));
  t.equal((await httpGet(s, '/r')).text, '/r 2');
  t.equal(await status(s, '/r'), 'HIT');
});
