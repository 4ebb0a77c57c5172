import { readFileSync, statSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { answer, bodyOf, files, startCache, status } from '../support/cache.js';
import { startOrigin } from '../support/origin.js';
import { isAlive, titleOf } from '../support/processes.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

t.test('damaged files are never served', async (t) => {
  const origin = await startOrigin(t, answer);
  const s = await startCache(t, origin);
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

t.test('kill -9 of all processes but the master: contents survive', { timeout: 60_000 }, async (t) => {
  const origin = await startOrigin(t, answer);
  const s = await startCache(t, origin, { workers: 2, alerts: /exited on signal 9|zone/ });
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
  const [worker] = s.workers().filter((pid) => titleOf(pid).includes('worker process'));
  process.kill(worker!, 'SIGKILL');
  await lost;
  origin.answer((request) => ({ headers: { 'X-Accel-Expires': '60' }, body: `${request.target} 2` }));
  await waitFor(() => s.workers().some((pid) => pid !== worker && titleOf(pid).includes('worker process')));
  t.equal((await httpGet(s, '/r')).text, '/r 2');
  t.equal(await status(s, '/r'), 'HIT');
});
