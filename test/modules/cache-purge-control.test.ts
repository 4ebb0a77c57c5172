// Purges by the API, and what the metrics, the log and `explain` tell of purges.
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { files, purge, startCache, status } from '../support/cache.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { runCli } from '../support/run-cli.js';

const skip = againstNginx && 'ours';

t.test('purges by the API, counted and told', { skip }, async (t) => {
  const origin = await startOrigin(t, ({ target }) => ({
    headers: { 'Cache-Control': 'max-age=600', 'Cache-Tag': target.slice(1).split('/').join(' ') },
    body: target,
  }));
  const s = await startCache(t, origin, {
    workers: 2,
    location: 'proxy_cache_tag $upstream_http_cache_tag;',
    http: 'proxy_cache_path %%DIR%%/unused keys_zone=unused:1m; error_log %%DIR%%/notices.log notice;',
    more: `location /api/ { api write=on; } location /shown/ { api; } location /metrics { sluice_status; }
      location /posted/ { PASS proxy_cache_purge PURGE from 127.0.0.1; proxy_cache_key $uri; }`,
  });
  const ask = async (said: unknown, path = '/api/9/http/caches/Z/purge', headers: Record<string, string> = {}) => {
    const body = typeof said === 'string' ? said : JSON.stringify(said);
    const response = await http(
      s,
      requestText('POST', path, { Connection: 'close', 'Content-Type': 'application/json', ...headers }, body),
    );
    return { status: response.status, body: JSON.parse(response.text) };
  };
  const fill = async () => {
    for (const path of ['/a/one', '/a/two', '/b/one']) {
      await httpGet(s, path);
    }
  };
  await fill();
  t.match(await ask({ tag: 'one', soft: true }), { status: 200, body: { entries: 2 } });
  t.strictSame([await status(s, '/a/one'), await status(s, '/a/two'), await status(s, '/b/one')], ['EXPIRED', 'HIT', 'EXPIRED']);
  t.match(await ask({ tags: ['two', 'b'] }), { status: 200, body: { entries: 2 } });
  t.match(await ask({ key: '/a/one' }), { body: { entries: 1 } });
  t.equal(files(s).length, 0);
  await fill();
  t.match(await ask({ prefix: '/a/', soft: false }), { body: { entries: 2 } });
  t.match(await ask({ tag: 'none' }), { status: 200, body: { entries: 0 } });
  for (const [said, path, status, code] of [
    [{ tag: 'one' }, '/api/9/http/caches/none/purge', 404, 'CacheNotFound'],
    [{ tag: 'one' }, '/api/9/http/caches/unused/purge', 400, 'CacheUnused'],
    [{ tag: 'one' }, '/shown/9/http/caches/Z/purge', 405, 'MethodDisabled'],
    [{}, undefined, 400, 'PurgeFormatError'],
    [[], undefined, 400, 'PurgeFormatError'],
    ['{', undefined, 415, 'JsonError'],
    [{ tag: 'one', key: 'x' }, undefined, 400, 'PurgeFormatError'],
    [{ tag: 7 }, undefined, 400, 'PurgeFormatError'],
    [{ tags: 'one' }, undefined, 400, 'PurgeFormatError'],
    [{ tags: [] }, undefined, 400, 'PurgeFormatError'],
    [{ tag: ' , ' }, undefined, 400, 'PurgeFormatError'],
    [{ tag: 'one', soft: 1 }, undefined, 400, 'PurgeFormatError'],
    [{ tag: 'one', other: 1 }, undefined, 400, 'PurgeFormatError'],
    [{ tags: Array.from({ length: 513 }, (_, i) => `${i}`) }, undefined, 400, 'PurgeFormatError'],
  ] as const) {
    t.match(await ask(said, path), { status, body: { error: { code } } }, JSON.stringify(said).slice(0, 60));
  }
  t.equal((await ask({ tag: 'one' }, undefined, { 'Sec-Fetch-Site': 'cross-site' })).status, 403);
  t.equal((await httpGet(s, '/api/9/http/caches/Z/purge')).status, 405);
  t.equal(files(s).length, 1, 'nothing of that has purged');
  t.equal(await purge(s, '/b/*'), 204);
  const { purges } = JSON.parse((await httpGet(s, '/api/9/http/caches/Z')).text);
  const counted = { key: [1, 1], soft_key: [0, 0], prefix: [2, 3], soft_prefix: [0, 0], tag: [3, 2], soft_tag: [1, 2] };
  t.strictSame(purges, Object.fromEntries(Object.entries(counted).map(([way, [n, entries]]) => [way, { purges: n, entries }])));
  const metrics = (await httpGet(s, '/metrics?format=prometheus', { Accept: 'text/plain' })).text;
  t.match(metrics, 'sluice_cache_purges_total{cache="Z",by="tag",mode="soft"} 1');
  t.match(metrics, 'sluice_cache_purged_entries_total{cache="Z",by="prefix",mode="hard"} 3');
  await httpGet(s, '/posted/a');
  t.equal(await purge(s, '/posted/a'), 200);
  for (const line of [
    /\[notice\].*the API purges cache "Z" by tag "one", softly: 2 entries/,
    /the API purges cache "Z" by tag "two"; tag "b": 2 entries/,
    /\[notice\].*cache "Z" is purged by prefix "\/b\/": 1 entry, client: 127\.0\.0\.1/,
    /cache "Z" is purged by key "\/posted\/a": 1 entry/,
  ]) {
    t.match(s.read('notices.log'), line);
  }
  await fill();
  const explain = async (...args: string[]) =>
    (await runCli(['explain', '-p', `${s.dir}/`, '-c', `${s.dir}/sluice.conf`, '--all', ...args])).stdout;
  const url = `http://127.0.0.1:${s.port(0)}`;
  t.match(await explain('-X', 'PURGE', `${url}/a/one`), /cache Z is purged by key "\/a\/one"/);
  t.match(
    await explain('-X', 'PURGE', '-H', 'Cache-Tag: a, b', '-H', 'Soft-Purge: 1', `${url}/`),
    /cache Z is purged by tag "a", softly; tag "b", softly/,
  );
  t.strictSame([await status(s, '/a/one'), await status(s, '/b/one')], ['HIT', 'HIT'], 'explain purges nothing');
  t.equal(files(s).length, 3);
});
