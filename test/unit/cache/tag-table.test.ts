import t from 'tap';
import { EMERG } from '../../../src/shared/log/level.js';
import { SqliteZoneStore } from '../../../src/shared/zone/store.js';
import type { CacheDef } from '../../../src/worker/cache/cache-def.js';
import { type CacheIndex, cacheZones } from '../../../src/worker/cache/index-zone.js';
import { hasTag, MAX_TAG_LENGTH, MAX_TAGS, readTags, roomOf } from '../../../src/worker/cache/tags.js';

const pace = { files: 1, sleep: 1, threshold: 1 };
const def: CacheDef = {
  directive: 'proxy_cache_path',
  path: '/nowhere',
  levels: [],
  useTempPath: true,
  inactive: 600,
  maxSize: Number.POSITIVE_INFINITY,
  minFree: 0,
  loader: pace,
  manager: pace,
  purger: undefined,
  sync: false,
};

/** An index of this process alone. */
function open(bytes: number): CacheIndex {
  const ref = { name: 'z', kind: cacheZones.proxy, bytes, data: def };
  const store = new SqliteZoneStore({ directory: undefined, files: {} }, [ref], 1, { level: EMERG, log: () => {} });
  t.teardown(() => store.close());
  return store.open(ref);
}

const hashOf = (n: number): string => n.toString(16).padStart(32, '0');
const rowOf = (n: number, tags: readonly string[]) => ({ hash: hashOf(n), key: `/${n}`, main: null, size: 4096, tags });

t.test('tags of texts', async (t) => {
  t.strictSame(readTags(['a, b\tc,,d', '', ' e\n', 'a']), { tags: ['a', 'b', 'c', 'd', 'e'], dropped: 0 });
  t.strictSame(readTags(['a\0b\x1fc\x7fd']).tags, ['a', 'b', 'c', 'd']);
  t.strictSame(readTags([' ,']), { tags: [], dropped: 0 });
  t.equal(readTags([Array.from({ length: MAX_TAGS + 5 }, (_, i) => i).join()]).dropped, 5);
  t.strictSame(readTags(['x'.repeat(MAX_TAG_LENGTH), 'y'.repeat(MAX_TAG_LENGTH + 1)]), { tags: ['x'.repeat(MAX_TAG_LENGTH)], dropped: 1 });
  t.ok(hasTag('a bc d', 'bc') && hasTag('a', 'a') && !hasTag('a bc d', 'b') && !hasTag('', ''));
  t.equal(roomOf(['a', 'x'.repeat(1024)]), 10);
});

t.test('an index with many tags: a purge reads the entries of its tag', async (t) => {
  const index = open(1024 * 1024 * 1024);
  index.sql.now(() => {
    const victims: string[] = [];
    for (let n = 0; n < 2000; n++) {
      index.store(
        rowOf(
          n,
          Array.from({ length: 20 }, (_, i) => (i === 0 ? `one-${n % 200}` : `t-${n}-${i}`)),
        ),
        n,
        1,
        victims,
      );
    }
  });
  t.strictSame(index.tags.hashesAfter('one-7', '', 1000).length, 10);
  t.strictSame(index.tags.hashesAfter('one-7', hashOf(7), 2), [hashOf(207), hashOf(407)]);
  const plan = (text: string): string =>
    index.sql.read(() =>
      index.sql
        .prepare<[number, number, number, string]>(`EXPLAIN QUERY PLAN ${text}`)
        .all('x', 'y')
        .map((row) => row[3])
        .join(),
    )!;
  t.match(plan('SELECT hash FROM tags WHERE tag = ? AND hash > ? ORDER BY hash'), /^SEARCH tags USING PRIMARY KEY \(tag=\? AND hash>\?\)$/);
  t.match(plan('DELETE FROM tags WHERE hash = ? OR hash = ?'), /USING (?:COVERING )?INDEX by_hash \(hash=\?\)/);
  t.match(
    plan('SELECT soft FROM marks WHERE what = ? AND text = ? AND at >= 1 ORDER BY soft LIMIT 1'),
    /^SEARCH marks USING (?:COVERING )?INDEX \S+ \(what=\? AND text=\?\)$/,
  );
});

t.test('what goes and what is replaced takes its tags along', async (t) => {
  const index = open(64 * 1024);
  const victims: string[] = [];
  const room = () => index.sql.read(() => index.stats().used)! / 128;
  index.sql.now(() => {
    index.store(rowOf(1, ['a', 'b']), 1, 1, victims);
    index.store(rowOf(2, ['a']), 2, 1, victims);
    index.store(rowOf(3, []), 3, 1, victims);
  });
  t.equal(room(), 6);
  index.sql.now(() => void index.store(rowOf(1, ['c']), 4, 1, victims));
  t.strictSame([index.tags.hashesAfter('a', '', 9), index.tags.hashesAfter('b', '', 9)], [[hashOf(2)], []]);
  index.sql.now(() => void index.store(rowOf(1, []), 4, 1, victims));
  t.strictSame(index.tags.hashesAfter('c', '', 9), []);
  index.sql.now(() => index.load(rowOf(1, ['old']), 4, victims));
  t.strictSame(index.tags.hashesAfter('old', '', 9), [], 'what a worker has stored counts more than what was read before');
  index.sql.now(() => index.remove(hashOf(2)));
  t.strictSame(index.tags.hashesAfter('a', '', 9), []);
  t.equal(room(), 2);
  const many = Array.from({ length: 300 }, (_, i) => `m${i}`);
  index.sql.now(() => {
    for (let n = 10; n < 30; n++) {
      index.store(rowOf(n, many), n, 1, victims);
    }
  });
  t.ok(room() <= 2 * 301 && room() > 300, `${room()} places: no more than the zone has, but for the newest`);
  t.equal(index.tags.hashesAfter('m7', '', 99).length * 301, room());
});

t.test('the purges that are remembered are bounded, and what is older counts as purged', async (t) => {
  const index = open(1024 * 1024);
  const since = (key: string, tags: readonly string[], asked: number) => index.marks.readSince(key, tags, asked);
  const note = (what: 'key' | 'prefix' | 'tag', text: string, soft: boolean, at: number) =>
    index.sql.now(() => index.marks.note({ what, text, soft }, at));
  t.equal(since('/a', [], 1), 'no');
  note('tag', 'x', true, 10);
  t.strictSame([since('/a', ['x'], 10), since('/a', ['x'], 10.001), since('/a', ['y'], 1), since('/x', [], 1)], ['soft', 'no', 'no', 'no']);
  note('tag', 'x', false, 5);
  t.strictSame([since('/a', ['y', 'x'], 5), since('/a', ['x'], 6)], ['hard', 'soft'], 'the harder of two');
  note('prefix', '/a', true, 20);
  note('key', '/ab', false, 21);
  t.strictSame([since('/a', [], 20), since('/ab', [], 20), since('/ab', [], 22), since('/b', [], 1)], ['soft', 'hard', 'no', 'no']);
  index.sql.now(() => {
    for (let i = 0; i < 5000; i++) {
      index.marks.note({ what: 'key', text: `/${i}`, soft: false }, 100 + i);
    }
  });
  t.equal(since('/other', [], 100), 'hard', 'who knows');
  t.equal(since('/other', [], 2000), 'no');
  t.equal(since('/4999', [], 2000), 'hard');
  t.strictSame(
    index.marks.counts().map(({ purges }) => purges),
    [5001, 0, 0, 1, 1, 1],
  );
});
