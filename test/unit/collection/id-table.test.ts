import t from 'tap';
import { IdTable } from '../../../src/shared/collection/id-table.js';

t.test('a table of streams does what a Map does', async (t) => {
  const table = new IdTable<{ readonly id: number }>();
  const map = new Map<number, { readonly id: number }>();
  t.equal(table.get(0), undefined);
  t.notOk(table.has(0) || table.delete(0));
  // Numbers that look random and are the same each time.
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  let id = -1;
  let differences = 0;
  let most = 0;
  for (let i = 0; i < 20_000; i++) {
    if (random(100) < (i % 4000 < 2000 ? 60 : 40)) {
      id += 2 * (1 + random(5));
      const stream = { id };
      table.set(id, stream);
      map.set(id, stream);
    } else {
      const known = [...map.keys()];
      const one = known[random(known.length + 1)] ?? id + 2;
      differences += table.delete(one) === map.delete(one) ? 0 : 1;
    }
    most = Math.max(most, map.size);
    const asked = 1 + 2 * random(id + 2);
    differences += table.get(asked) === map.get(asked) && table.has(asked) === map.has(asked) && table.size === map.size ? 0 : 1;
  }
  t.equal(differences, 0);
  t.ok(most > 100);
  t.strictSame(table.all(), [...map.values()]);
  for (const stream of table.all()) {
    table.delete(stream.id);
  }
  t.equal(table.size, 0);
  t.strictSame(table.all(), []);
});
