import t from 'tap';
import type { Sql, ZoneRef } from '../../../src/shared/zone/kind.js';
import { LruTable, lruDdl } from '../../../src/shared/zone/lru-table.js';
import { SqliteZoneStore } from '../../../src/shared/zone/store.js';

const log = { level: 8 as const, log: () => {} };

/** A table in memory that holds `slots` entries with keys of up to 48 bytes. */
function open(t: { teardown(f: () => void): void }, bytes: number) {
  let run!: (work: () => void) => void;
  let rows!: () => number;
  const kind = {
    id: 'test',
    ddl: lruDdl(['a', 'b']),
    open(sql: Sql, ref: ZoneRef<LruTable, null>) {
      const count = sql.prepare<number>('SELECT count(*) FROM entries');
      run = (work) => void sql.now(work);
      rows = () => count.get()!;
      return new LruTable(sql, ['a', 'b'], ref.bytes, 80);
    },
    stats: (table: LruTable) => table.stats(),
  };
  const ref = { name: 'x', kind, bytes, data: null };
  const store = new SqliteZoneStore({ directory: undefined, files: {} }, [ref], 1, log);
  t.teardown(() => store.close());
  const table = store.open(ref);
  const use = (key: string): void => {
    const entry = table.get(key);
    if (entry === undefined) {
      table.add(key, [1, 2]);
    } else {
      table.save(entry);
    }
  };
  const has = (key: string): boolean => {
    let found = false;
    run(() => {
      found = table.get(key) !== undefined;
    });
    return found;
  };
  return { table, run, rows, use, has, stats: () => store.stats()[0]!.stats };
}

t.test('values are kept, changed and found again', async (t) => {
  const { table, run } = open(t, 32768);
  run(() => {
    t.equal(table.get('k'), undefined);
    table.add('k', [5, -6]);
    t.same(table.get('k')!.values, [5, -6], 'inside its transaction');
  });
  run(() => {
    const entry = table.get('k')!;
    t.same(entry.values, [5, -6]);
    entry.values[0] = 7;
    table.save(entry);
  });
  run(() => t.same(table.get('k')!.values, [7, -6]));
});

t.test('keys are bytes', async (t) => {
  const { table, run } = open(t, 32768);
  const keys = ['\n\0\0\x01', '\n\0\0\x02', '\n', '\n\0', '\xff\xfe\0', '\xc3\xbf', 'é', 'É'];
  run(() => keys.forEach((key, i) => void table.add(key, [i, 0])));
  run(() => keys.forEach((key, i) => void t.equal(table.get(key)!.values[0], i)));
});

t.test('a full table forgets exactly the least recently used', async (t) => {
  const { use, run, has, stats, table } = open(t, 32768);
  const slots = table.capacity / 128;
  for (let i = 0; i < slots; i++) {
    run(() => use(`k${i}`));
  }
  t.ok(has('k0'), 'it just fits');
  t.match(stats(), { entries: slots, used: table.capacity, evictions: 0 });
  run(() => use('more'));
  t.notOk(has('k0'));
  t.ok(has('k1'));
  run(() => use('k1'));
  for (let i = 0; i < slots - 1; i++) {
    run(() => use(`l${i}`));
  }
  t.ok(has('k1'), 'used again, it outlives those that were added after it');
  t.notOk(has('k2'));
  run(() => use('last'));
  t.notOk(has('k1'));
});

t.test('a table that is not full forgets nothing', async (t) => {
  const { use, run, has, table } = open(t, 32768);
  const keys = Array.from({ length: table.capacity / 128 }, (_, i) => `k${i}`);
  run(() => use('idle'));
  for (let round = 0; round < 20; round++) {
    run(() => keys.slice(1).forEach(use));
  }
  t.ok(has('idle'));
});

t.test('a hundred times as many keys as fit leave the table bounded', async (t) => {
  const { use, run, rows, stats, table } = open(t, 32768);
  const slots = table.capacity / 128;
  let most = 0;
  for (let i = 0; i < slots * 100; i += 8) {
    run(() => {
      for (let j = 0; j < 8; j++) {
        use(`${(i + j) * 7919}`);
      }
    });
    most = Math.max(most, rows());
  }
  t.ok(most <= slots * 1.6, `at most ${most} rows for ${slots} entries`);
  t.match(stats(), { entries: slots });
  t.ok(Math.abs(stats().evictions - slots * 99) < slots, 'evictions are counted');
});

t.test('keys of all lengths share the room, and one larger than the zone is not taken', async (t) => {
  const { table, run, has, use } = open(t, 32768);
  run(() => t.equal(table.add('x'.repeat(65535), [0, 0]), undefined));
  run(() => use('small'));
  run(() => use('x'.repeat(16000)));
  t.ok(has('small'));
  run(() => use('y'.repeat(16000)));
  t.notOk(has('small'), 'two keys of four pages each leave no room for more');
  t.ok(has('y'.repeat(16000)));
});
