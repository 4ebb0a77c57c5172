import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { answer, bodyOf, fileOf, files, purge, startCache, status } from '../support/cache.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { runCli } from '../support/run-cli.js';

t.test('what is kept, why something is not, and what is said of it', async (t) => {
  const origin = await startOrigin(t, (request) => {
    const { target } = request;
    const headers: Record<string, string> = { 'Cache-Control': 'max-age=600' };
    if (target.startsWith('/cookie')) {
      headers['Set-Cookie'] = 'a=b';
    }
    if (target.startsWith('/vary')) {
      headers.Vary = '*';
    }
    if (target.startsWith('/none')) {
      delete headers['Cache-Control'];
    }
    if (target.startsWith('/no-store')) {
      headers['Cache-Control'] = 'no-store';
    }
    return { headers, body: bodyOf(target) };
  });
  const s = await startCache(t, origin, {
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

t.test("a key that looks like the name of another key's variant", async (t) => {
  const origin = await startOrigin(t, ({ body, header }) => ({
    headers: { 'Cache-Control': 'max-age=600', Vary: 'X-Kind' },
    body: `${body.toString('hex')} ${header('X-Kind')}`,
  }));
  const s = await startCache(t, origin, {
    location: 'proxy_cache_key $request_body; proxy_cache_methods POST; client_body_in_single_buffer on;',
  });
  const post = (key: string, kind: string) => http(s, requestText('POST', '/', { 'X-Kind': kind, 'Content-Length': `${key.length}` }, key));
  await post('a', '1');
  await post('a', '2');
  // What changed a moment ago is read again: only then it stays in memory.
  await sleep(100);
  const kept = await post('a', '2');
  t.strictSame([kept.header('x-status'), kept.text], ['HIT', '61 2']);
  const main = createHash('md5').update('a').digest();
  const variant = createHash('md5').update(main).update('x-kind:2\r\n').digest('hex');
  const other = await post(`\0${variant}`, '2');
  t.equal(other.header('x-status'), 'MISS');
  t.equal(other.text, `${Buffer.from(`\0${variant}`).toString('hex')} 2`);
  t.ok(existsSync(fileOf(s.dir, `\0${variant}`)), 'its response is kept under its own name');
});

t.test('a purge in one worker is seen by all', async (t) => {
  const origin = await startOrigin(t, (request) => ({
    headers: { 'Cache-Control': 'max-age=600', Vary: 'X-V' },
    body: `${request.target} ${request.header('x-v')} ${origin.requests.length}`,
  }));
  const s = await startCache(t, origin, { workers: 3 });
  for (let round = 0; round < 3; round++) {
    for (const v of ['1', '2']) {
      const made = (await httpGet(s, '/a', { 'X-V': v })).text;
      for (let i = 0; i < 12; i++) {
        t.equal((await httpGet(s, '/a', { 'X-V': v })).text, made);
      }
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
  const s = await startCache(t, origin, { workers: 4, location: 'proxy_cache_lock on;' });
  const answers = await Promise.all(Array.from({ length: 100 }, () => httpGet(s, '/cold')));
  t.equal(origin.requests.length, 1);
  t.ok(answers.every(({ text }) => text === bodyOf('/cold')));
});

t.test('large bodies, and parts of them', async (t) => {
  const whole = Buffer.from(Array.from({ length: 400_000 }, (_, i) => (i * 7 + (i >> 8)) & 255));
  const big = Buffer.concat([whole, whole, whole, whole]);
  const origin = await startOrigin(t, (request) => ({
    headers: { 'Cache-Control': 'max-age=600', 'Accept-Ranges': 'bytes' },
    body: request.target === '/big' ? big : whole,
  }));
  const s = await startCache(t, origin);
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
  const s = await startCache(t, origin, { workers: 2, path: 'max_size=200k' });
  for (let i = 0; i < 150; i++) {
    await httpGet(s, `/f/${i}`);
  }
  t.ok(files(s).length <= 52, `${files(s).length} files of 4k`);
  t.ok(files(s).length >= 45);
  t.equal(await status(s, '/f/149'), 'HIT');
});

t.test('sluice cache', async (t) => {
  const origin = await startOrigin(t, answer);
  const s = await startCache(t, origin);
  for (const path of ['/a', '/b/1', '/b/2']) {
    await httpGet(s, path);
  }
  const run = (...args: string[]) => runCli(['cache', ...args, '-p', `${s.dir}/`, '-c', `${s.dir}/sluice.conf`]);
  t.equal((await run('list')).stdout.trim().split('\n').length, 3);
  t.match((await run('inspect', '--key', '/a')).stdout, /key: \/a\n.*\nstatus: 200\n/);
  t.match((await run('purge', '--prefix', '/b/')).stdout, /^2 entries purged/);
  t.equal(await status(s, '/b/1'), 'MISS');
  t.equal(await status(s, '/a'), 'HIT');
  t.match((await run('purge', '--key', '/none')).stdout, /^0 entries purged/);
});
