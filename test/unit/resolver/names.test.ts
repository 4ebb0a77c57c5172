import t from 'tap';
import { Names } from '../../../src/worker/resolver/names.js';
import { NameNode } from '../../../src/worker/resolver/node.js';

/** A name that has an answer which was used last at `now`. */
function answered(names: Names, name: string, now: number): NameNode {
  const node = new NameNode(name, [], []);
  names.ask(node);
  names.use(node, now);
  return node;
}

t.test('an answer is kept for half a minute after its last use', async (t) => {
  const names = new Names();
  const first = answered(names, 'a', 100);
  const second = answered(names, 'b', 101);
  names.expire(130);
  t.equal(names.size, 2);
  names.use(first, 110);
  names.expire(132);
  t.equal(names.get('a'), first, 'used again');
  t.equal(names.get('b'), undefined);
  names.forget(second);
  names.expire(141);
  t.equal(names.size, 0);
});

t.test('expiring costs little, however many names there are', async (t) => {
  const names = new Names();
  let looks = 0;
  for (let i = 0; i < 1000; i++) {
    const node = answered(names, `${i}`, 100);
    const { keepUntil } = node;
    Object.defineProperty(node, 'keepUntil', {
      get: () => {
        looks++;
        return keepUntil;
      },
    });
  }
  names.expire(120);
  t.equal(looks, 1, 'nothing is due');
  looks = 0;
  names.expire(200);
  t.equal(looks, 2, 'two at once');
  t.equal(names.size, 998);
});

t.test('a name that is being asked for stays', async (t) => {
  const names = new Names();
  const node = new NameNode('a', undefined, []);
  node.query = Buffer.from([1, 2]);
  names.ask(node);
  names.expire(1e9);
  t.equal(names.get('a'), node);
  t.equal(names.askedAs(0x102), node);
  t.equal(names.askedAs(0x103), undefined);
  names.use(node, 100);
  t.equal(names.askedAs(0x102), undefined, 'its answer has come');
});

t.test('a name that was replaced is not taken for the one that is there now', async (t) => {
  const names = new Names();
  const old = answered(names, 'a', 100);
  const next = new NameNode('a', undefined, []);
  names.ask(next);
  names.forget(old);
  t.equal(names.get('a'), next);
});
