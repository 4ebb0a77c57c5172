import t from 'tap';
import { Lru } from '../../../src/shared/collection/lru.js';

t.test('the least recently used entry goes first', async (t) => {
  const evicted: string[] = [];
  const lru = new Lru<number>(3, (key, value) => evicted.push(`${key}=${value}`));
  lru.set('a', 1);
  lru.set('b', 2);
  lru.set('c', 3);
  t.equal(lru.get('a'), 1);
  t.equal(lru.peek('b'), 2, 'peek does not count as use');
  lru.set('d', 4);
  t.same(evicted, ['b=2']);
  t.equal(lru.get('b'), undefined);
  t.equal(lru.size, 3);
  t.equal(lru.oldestKey(), 'c');
  lru.get('c');
  lru.set('e', 5);
  t.same(evicted, ['b=2', 'a=1']);
});

t.test('weights bound the total', async (t) => {
  const lru = new Lru<string>(100);
  t.ok(lru.set('a', 'x', 60));
  t.ok(lru.set('b', 'y', 40));
  t.equal(lru.weight, 100);
  t.ok(lru.set('c', 'z', 1));
  t.equal(lru.peek('a'), undefined);
  t.equal(lru.weight, 41);
  t.ok(lru.set('b', 'yy', 50), 'a replaced entry counts once');
  t.equal(lru.weight, 51);
  t.notOk(lru.set('b', 'big', 101), 'heavier than the limit');
  t.equal(lru.peek('b'), undefined, 'the stale value is gone');
  t.equal(lru.weight, 1);
});

t.test('delete, replace and clear', async (t) => {
  const evicted: string[] = [];
  const lru = new Lru<string>(2, (key, value) => evicted.push(key + value));
  lru.set('a', '1');
  lru.set('a', '2');
  t.same(evicted, ['a1'], 'a replaced value is handed to onEvict');
  lru.set('b', '1');
  t.ok(lru.delete('a'));
  t.notOk(lru.delete('a'));
  lru.set('c', '1');
  lru.set('d', '1');
  t.same(evicted, ['a1', 'b1']);
  lru.clear();
  t.equal(lru.size, 0);
  t.equal(lru.weight, 0);
  t.equal(lru.oldestKey(), undefined);
  lru.set('x', '1');
  t.equal(lru.get('x'), '1');
});
