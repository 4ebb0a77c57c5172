import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { answer, fileOf, files, purge, startCache, status } from '../support/cache.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { runCli, testConfig } from '../support/run-cli.js';
import { httpConf, type Server } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx && 'nginx has no tags';

/** The status of a PURGE request with headers. */
const purgeWith = async (s: Server, headers: Record<string, string>, path = '/'): Promise<number> =>
  (await http(s, requestText('PURGE', path, { ...headers, Connection: 'close' }))).status;

const TAGGED = 'proxy_cache_tag $upstream_http_cache_tag $upstream_http_surrogate_key;';

/** An origin whose responses have the tags that stand in the query. */
const startTagged = (test: Test) =>
  startOrigin(test, ({ target, header }) => ({
    headers: {
      'Cache-Control': 'max-age=600',
      'Cache-Tag': decodeURIComponent(target.split('?')[1] ?? ''),
      ...(target.startsWith('/vary') ? { Vary: 'X-V' } : {}),
    },
    body: `${target} ${header('x-v') ?? ''}`.padEnd(600, '.'),
  }));

t.test('purges by tag', { skip }, async (t) => {
  const origin = await startTagged(t);
  const s = await startCache(t, origin, {
    workers: 2,
    location: TAGGED,
    more: `location /plain/ { PASS }
      location /page/ { PASS ${TAGGED} proxy_cache_purge PURGE from 127.0.0.1; }
      location = /only { proxy_cache_purge Z $arg_key; }
      location /fixed/ { PASS proxy_cache_tag all "fixed $arg_more"; location /fixed/off/ { PASS proxy_cache_tag off; } }`,
  });
  const fill = async (...paths: string[]): Promise<void> => {
    for (const path of paths) {
      await httpGet(s, path);
    }
  };
  const all = ['/1?a,b', '/2?a%20c', '/3?%20,b,,%09c%20%20', '/4?A', '/5', '/plain/6?a'];
  await fill(...all);
  t.equal(await purgeWith(s, { 'Cache-Tag': 'none' }), 404);
  t.equal(await purgeWith(s, { 'Cache-Tag': 'a' }), 204);
  t.strictSame(
    await Promise.all(all.map((path) => status(s, path))),
    ['MISS', 'MISS', 'HIT', 'HIT', 'HIT', 'HIT'],
    'a whole tag, as it is written',
  );
  t.equal(await purgeWith(s, { 'Surrogate-Key': 'b c' }), 204, 'several tags');
  t.strictSame(await Promise.all(all.slice(0, 4).map((path) => status(s, path))), ['MISS', 'MISS', 'MISS', 'HIT']);
  t.equal(await purgeWith(s, { xkey: 'A' }), 204);
  t.equal(await purgeWith(s, { 'xkey-purge': 'A' }), 404);
  // Both variants; another has other tags.
  for (const v of ['1', '2']) {
    await httpGet(s, '/vary?v', { 'X-V': v });
  }
  t.equal((await http(s, requestText('HEAD', '/vary?v', { 'X-V': '2', Connection: 'close' }))).header('x-status'), 'HIT');
  t.equal(await purgeWith(s, { 'Cache-Tag': 'v' }), 204);
  t.equal(await status(s, '/vary?v', { 'X-V': '2' }), 'MISS');
  t.equal(await status(s, '/vary?v', { 'X-V': '1' }), 'MISS');
  // Texts of the configuration, and none.
  await fill('/fixed/1', '/fixed/2?more=x', '/fixed/off/3');
  t.equal(await purgeWith(s, { 'Cache-Tag': 'x' }), 204);
  t.equal(await status(s, '/fixed/2?more=x'), 'MISS');
  t.equal(await purgeWith(s, { 'Cache-Tag': 'all' }), 204);
  t.equal(await status(s, '/fixed/1'), 'MISS');
  t.equal(await status(s, '/fixed/off/3'), 'HIT');
  // The forms of ngx_cache_purge.
  await fill('/page/1?p1,p2');
  const page = await http(s, requestText('PURGE', '/page/', { 'Cache-Tag': 'p1 <b>', Connection: 'close' }));
  t.match(page, { status: 200, text: /<br>Tag : p1\n<br>Tag : &lt;b&gt;\n/ });
  t.equal(await status(s, '/page/1?p1,p2'), 'MISS');
  t.equal((await httpGet(s, '/only?key=x', { 'Cache-Tag': 'p2' })).status, 200);
  t.equal(await status(s, '/page/1?p1,p2'), 'MISS');
  t.equal((await httpGet(s, '/only?key=/page/1?p1,p2')).status, 200);
});

t.test('tags are those of the response that is kept, over a reload and a restart', { skip }, async (t) => {
  let tags = 'old';
  const origin = await startOrigin(t, () => ({ headers: { 'Cache-Control': 'max-age=600', 'Cache-Tag': tags }, body: 'x' }));
  const s = await startCache(t, origin, { workers: 2, location: `${TAGGED} proxy_cache_bypass $arg_new; proxy_cache_key $uri;` });
  await httpGet(s, '/a');
  await httpGet(s, '/b');
  tags = 'new';
  await httpGet(s, '/a?new=1');
  await s.reload();
  t.equal(await purgeWith(s, { 'Cache-Tag': 'old' }), 204);
  t.strictSame([await status(s, '/a'), await status(s, '/b')], ['HIT', 'MISS']);
  for (const loaded of [false, true]) {
    await s.stop();
    await s.start();
    if (loaded) {
      await s.logged('http file cache: ');
    }
    t.equal(await purgeWith(s, { 'Cache-Tag': 'new' }), 204, `after a restart${loaded ? ', with the index' : ''}`);
    t.strictSame([await status(s, '/a'), await status(s, '/b')], ['MISS', 'MISS']);
  }
});

t.test('hostile tags', { skip }, async (t) => {
  const many = Array.from({ length: 10_000 }, (_, i) => `t${i}`).join(' ');
  const odd = ["';DROP/**/TABLE/**/tags;--", '"', '%00', 'a%', '_', '\xff\xfe', '*', '\\'];
  const origin = await startOrigin(t, ({ target }) => ({
    headers: {
      'Cache-Control': 'max-age=600',
      'Cache-Tag':
        {
          '/many': many,
          '/long': `${'l'.repeat(1025)} ${'k'.repeat(1024)}`,
          '/bytes': Array(20)
            .fill(0)
            .map((_, i) => `${i}`.padEnd(1000, 'y'))
            .join(),
          '/odd': odd.join(' '),
        }[target] ?? '',
    },
    body: 'x',
  }));
  const s = await startCache(t, origin, {
    location: `${TAGGED} proxy_buffer_size 128k; proxy_buffers 4 128k;`,
    http: 'large_client_header_buffers 4 128k;',
  });
  for (const path of ['/many', '/long', '/bytes', '/odd']) {
    await httpGet(s, path);
    t.equal(await status(s, path), 'HIT', path);
  }
  await s.logged(
    /\[warn\].*9488 cache tags are beyond the limits of 512 tags and 16384 bytes, or longer than 1024, and are left out, key "\/many"/,
  );
  await s.logged(/ 1 cache tags are beyond .* key "\/long"/);
  await s.logged(/ 4 cache tags are beyond .* key "\/bytes"/);
  for (const tag of odd) {
    t.equal(await purgeWith(s, { 'Cache-Tag': tag }), 204, tag);
    t.equal(await status(s, '/odd'), 'MISS', tag);
  }
  for (const tags of [many, 'z'.repeat(1025), '', ' , ,']) {
    t.equal(await purgeWith(s, { 'Cache-Tag': tags }), 400);
  }
  t.equal(await purgeWith(s, { 'Cache-Tag': many.slice(0, 60_000), 'Fastly-Soft-Purge': '1' }), 400);
  t.equal(await purgeWith(s, { 'Cache-Tag': 't512' }), 404, 'what was left out');
  t.equal(await purgeWith(s, { 'Cache-Tag': 't511' }), 204);
  t.equal(await purgeWith(s, { 'Cache-Tag': 'l'.repeat(1024) }), 404);
  t.equal(await purgeWith(s, { 'Cache-Tag': 'k'.repeat(1024) }), 204);
});

t.test('tags take room in the zone', { skip }, async (t) => {
  const origin = await startOrigin(t, ({ target }) => ({
    headers: { 'Cache-Control': 'max-age=600', 'Cache-Tag': Array.from({ length: 50 }, (_, i) => `${target}-${i}`).join() },
    body: 'x',
  }));
  const s = await startCache(t, origin, { location: TAGGED, zone: '32k' });
  for (let i = 0; i < 20; i++) {
    await httpGet(s, `/${i}`);
  }
  const left = await waitFor(() => {
    const n = files(s).length;
    return n < 10 && n;
  });
  t.ok(left > 0, `${left} entries with 51 places each`);
  t.equal(await purgeWith(s, { 'Cache-Tag': '/19-7' }), 204, 'the newest stay');
  t.equal(await purgeWith(s, { 'Cache-Tag': '/0-7' }), 404, 'what was evicted has left the index');
});

t.test('soft purges', { skip }, async (t) => {
  let fails = false;
  const origin = await startOrigin(t, ({ target, header }, reply) => {
    if (fails) {
      return reply.end();
    }
    if (header('if-none-match') !== undefined) {
      return { status: 304, headers: { 'Cache-Control': 'max-age=600' } };
    }
    return {
      headers: {
        'Cache-Control': `max-age=600${target.includes('while') ? ', stale-while-revalidate=600' : ''}${target.includes('error') ? ', stale-if-error=600' : ''}`,
        'Cache-Tag': 'tag',
        ETag: '"a"',
        ...(target.includes('vary') ? { Vary: 'X-V' } : {}),
      },
      body: target,
    };
  });
  const s = await startCache(t, origin, {
    workers: 2,
    location: TAGGED,
    more: `location /stale/ { PASS ${TAGGED} proxy_cache_use_stale updating; proxy_cache_background_update on; }
      location /while { PASS ${TAGGED} proxy_cache_background_update on; }
      location /again/ { PASS ${TAGGED} proxy_cache_revalidate on; }
      location /page/ { PASS proxy_cache_purge PURGE from all; }`,
  });
  const soft = { 'Soft-Purge': '1' };
  for (const path of ['/a', '/p/a', '/p/b', '/stale/a', '/while', '/error', '/again/a', '/page/a', '/vary']) {
    await httpGet(s, path);
  }
  await httpGet(s, '/vary', { 'X-V': '1' });
  const count = files(s).length;
  t.equal(await purgeWith(s, soft, '/a'), 204);
  t.equal(await purgeWith(s, soft, '/no'), 404);
  t.equal(await purgeWith(s, soft, '/p/*'), 204);
  t.equal(await purgeWith(s, soft, '/page/a'), 200);
  t.equal(await purgeWith(s, soft, '/vary'), 204);
  t.equal(files(s).length, count, 'nothing was removed');
  for (const path of ['/a', '/p/a', '/p/b', '/page/a', '/vary']) {
    t.equal(await status(s, path), 'EXPIRED', path);
    t.equal(await status(s, path), 'HIT', path);
  }
  t.equal(await status(s, '/vary', { 'X-V': '1' }), 'EXPIRED');
  for (const headers of [
    { 'Cache-Tag': 'tag', ...soft },
    { 'xkey-softpurge': 'tag' },
    { 'Surrogate-Key': 'tag', 'Fastly-Soft-Purge': '1' },
  ]) {
    fails = true;
    t.equal(await purgeWith(s, headers), 204);
    t.equal(await status(s, '/error'), 'STALE', 'stale-if-error');
    t.equal((await httpGet(s, '/a')).status, 502);
    fails = false;
    for (const path of ['/while', '/stale/a']) {
      t.equal(await status(s, path), 'STALE', path);
      await waitFor(async () => (await status(s, path)) === 'HIT');
    }
    t.equal(await status(s, '/again/a'), 'REVALIDATED');
    t.equal(await status(s, '/again/a'), 'HIT');
    t.equal(await status(s, '/a'), 'EXPIRED');
  }
  t.equal(await purgeWith(s, { 'Soft-Purge': '0' }, '/a'), 204, 'hard');
  t.equal(await status(s, '/a'), 'MISS');
});

t.test('remembered errors have tags, too', { skip }, async (t) => {
  const origin = await startOrigin(t, () => ({ status: 404, headers: { 'Cache-Tag': 'gone' }, body: 'no' }));
  const s = await startCache(t, origin, {
    location: `${TAGGED} proxy_cache_valid 404 502 10m; proxy_intercept_errors on; error_page 404 = @page;`,
    more: `location @page { return 200 "page $upstream_cache_status"; }
      location /down { proxy_pass http://127.0.0.1:1; proxy_cache_tag down; proxy_cache_valid 502 10m; proxy_cache_purge $purge; }`,
  });
  for (const expected of ['MISS', 'HIT']) {
    t.equal((await httpGet(s, '/a')).text, `page ${expected}`);
  }
  t.equal(await purgeWith(s, { 'Cache-Tag': 'gone' }), 204);
  t.equal((await httpGet(s, '/a')).text, 'page MISS');
  t.equal((await httpGet(s, '/down')).status, 502);
  t.equal(await purgeWith(s, { 'Cache-Tag': 'down' }), 204);
});

t.test('slices have tags', { skip }, async (t) => {
  const body = Buffer.alloc(2500, 'slice');
  const origin = await startOrigin(t, ({ header }) => {
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(header('range') ?? 'bytes=0-2499')!;
    const part = body.subarray(Number(from), Number(to) + 1);
    return {
      status: 206,
      headers: { 'Content-Range': `bytes ${from}-${Number(from) + part.length - 1}/2500`, 'Cache-Tag': 'film', ETag: '"1"' },
      body: part,
    };
  });
  const s = await startCache(t, origin, {
    location: `${TAGGED} slice 1k; proxy_cache_key $uri$slice_range; proxy_set_header Range $slice_range; proxy_cache_valid 206 1h;`,
  });
  t.equal((await httpGet(s, '/a')).text, body.toString());
  t.equal(files(s).length, 3);
  t.equal(await purgeWith(s, { 'Cache-Tag': 'film' }), 204);
  t.equal(files(s).length, 0);
});

t.test('sluice cache with tags, beside a server and without one', { skip }, async (t) => {
  const origin = await startTagged(t);
  const s = await startCache(t, origin, { workers: 2, location: TAGGED });
  const run = (...args: string[]) =>
    runCli(['cache', ...args, '-p', `${s.dir}/`, '-c', `${s.dir}/sluice.conf`, '-g', `pid ${s.dir}/server.pid;`]);
  const fill = async () => {
    for (const path of ['/1?a,b', '/2?b', '/3?c']) {
      await httpGet(s, path);
    }
  };
  await fill();
  t.match((await run('inspect', '--key', '/1?a,b')).stdout, /^tags: a b$/m);
  t.equal((await run('list', '--tag', 'b')).stdout.trim().split('\n').length, 2);
  t.match(await run('purge', '--tag', 'a', '--soft'), { code: 0, stdout: '1 entry made stale\n' });
  t.match((await run('list', '--tag', 'a')).stdout, /\tstale\t/);
  t.strictSame([await status(s, '/1?a,b'), await status(s, '/2?b')], ['EXPIRED', 'HIT']);
  t.match(await run('purge', '--tag', 'b c', '--zone', 'Z'), { code: 0, stdout: '3 entries purged\n' });
  t.equal(files(s).length, 0);
  await fill();
  t.match(await run('purge', '--prefix', '/2', '--soft'), { stdout: '1 entry made stale\n' });
  t.match(await run('purge', '--key', '/3?c', '--soft'), { stdout: '1 entry made stale\n' });
  t.strictSame([await status(s, '/1?a,b'), await status(s, '/2?b'), await status(s, '/3?c')], ['HIT', 'EXPIRED', 'EXPIRED']);
  t.match(await run('purge', '--tag', 'none'), { code: 1, stdout: '0 entries purged\n' });
  for (const wrong of [
    ['purge', '--tag', ' ,'],
    ['purge', '--tag', 'a', '--key', 'b'],
    ['list', '--soft'],
    ['purge', '--soft'],
  ]) {
    t.equal((await run(...wrong)).code, 2, wrong.join(' '));
  }
  await s.stop();
  t.match(await run('purge', '--tag', 'b', '--soft'), { stdout: '2 entries made stale\n' });
  t.match(await run('purge', '--tag', 'c'), { stdout: '1 entry purged\n' });
  await s.start();
  t.strictSame([await status(s, '/1?a,b'), await status(s, '/3?c')], ['EXPIRED', 'MISS']);
});

t.test('what is wrong with the lines, and what runs without them', { skip }, async (t) => {
  const said = async (text: string): Promise<string> =>
    (
      await testConfig(
        t,
        httpConf(
          `proxy_cache_path %%DIR%%/c keys_zone=Z:1m; server { location / { proxy_pass http://127.0.0.1:1; proxy_cache Z; ${text} } }`,
          'pid %%DIR%%/x.pid;',
        ),
      )
    ).stderr;
  t.match(await said('proxy_cache_tag;'), 'invalid number of arguments in "proxy_cache_tag" directive');
  t.match(await said('proxy_cache_tag $nothing;'), 'unknown "nothing" variable');
  t.match(await said('proxy_cache_tag off; proxy_cache_tag a;'), '"proxy_cache_tag" directive is duplicate');
  t.match(await said('proxy_cache_tag a; proxy_cache_tag off;'), '"proxy_cache_tag" directive is duplicate');
  t.notMatch(await said('proxy_cache_tag a; proxy_cache_tag b c;'), 'emerg');
  const origin = await startOrigin(t, answer);
  const s = await startCache(t, origin);
  await httpGet(s, '/a');
  t.equal(await purge(s, '/a'), 204);
  t.notOk(files(s).includes(fileOf(s.dir, '/a')));
});
