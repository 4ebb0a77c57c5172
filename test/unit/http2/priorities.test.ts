import t from 'tap';
import { DEFAULT_DEPENDENCY, type Dependency, DependencyTree } from '../../../src/worker/http/http2/dependency-tree.js';
import { Scheduler, type WaitingStream } from '../../../src/worker/http/http2/scheduler.js';
import { parsePriority } from '../../../src/worker/http/multiplexed/priority.js';

t.test('priority fields', async (t) => {
  const cases: readonly (readonly [string, number, boolean])[] = [
    ['', 3, false],
    ['u=0', 0, false],
    ['u=7, i', 7, true],
    ['i', 3, true],
    ['i=?1', 3, true],
    ['i=?0', 3, false],
    ['i;x=y, u=5', 5, true],
    ['u=5;x', 5, false],
    ['u=1, u=2', 2, false],
    ['u=8', 3, false],
    ['u=-1', 3, false],
    ['u="1"', 3, false],
    ['U=1', 3, false],
    ['uu=1, xi', 3, false],
    ['a=(u=1), , u=4', 4, false],
    ['\xff=u=1', 3, false],
  ];
  for (const [text, urgency, incremental] of cases) {
    t.strictSame(parsePriority(text), { urgency, incremental }, text);
  }
});

const before = (tree: DependencyTree, a: number, b: number): boolean => {
  const [x, y] = [tree.place(a), tree.place(b)];
  return x.rank < y.rank || (x.rank === y.rank && x.weight > y.weight);
};

t.test('streams that depend on others come behind them', async (t) => {
  const tree = new DependencyTree();
  t.equal(tree.place(1), DEFAULT_DEPENDENCY);
  tree.depend(3, 0, false, 16);
  tree.depend(1, 3, false, 16);
  t.ok(before(tree, 3, 1));
  tree.depend(5, 3, false, 200);
  t.ok(before(tree, 5, 1), 'of one rank the heavier comes first');
  tree.depend(7, 3, true, 1);
  t.strictSame([tree.place(7).rank, tree.place(5).rank, tree.place(1).rank], [2, 3, 3], 'an exclusive one takes the others over');
  tree.depend(9, 77, false, 16);
  t.equal(tree.place(9).rank, 1, 'a stream that nobody knows');
});

t.test('circles are untied', async (t) => {
  const tree = new DependencyTree();
  tree.depend(1, 0, false, 16);
  tree.depend(3, 1, false, 16);
  tree.depend(5, 3, false, 16);
  tree.depend(1, 5, false, 16);
  t.strictSame(
    [1, 3, 5].map((id) => tree.place(id).rank),
    [2, 3, 1],
  );
  tree.depend(5, 1, true, 16);
  t.strictSame(
    [1, 3, 5].map((id) => tree.place(id).rank),
    [1, 3, 2],
  );
});

t.test('it does not grow without end, and stays a tree', async (t) => {
  const tree = new DependencyTree();
  let seed = 1;
  const random = (n: number): number => (seed = (seed * 48271) % 0x7fffffff) % n;
  for (let i = 0; i < 20_000; i++) {
    const id = random(200) * 2 + 1;
    const on = random(200) * 2 + 1;
    if (id !== on) {
      tree.depend(id, random(9) === 0 ? 0 : on, random(4) === 0, 1 + random(256));
    }
    if (random(5) === 0) {
      tree.opened(random(20) * 2 + 1);
    }
    if (random(3) === 0) {
      tree.closed(random(20) * 2 + 1);
    }
    const { rank, weight } = tree.place(id);
    if (!(rank >= 1 && rank <= 60 && weight >= 0 && weight <= 1)) {
      t.fail(`${rank} ${weight}`);
    }
  }
  t.ok(tree.size <= 32 + 20, String(tree.size));
});

class Stream implements WaitingStream {
  readonly streamId: number;
  readonly urgency: number;
  readonly incremental: boolean;
  readonly place: Dependency;
  left: number;
  constructor(streamId: number, left: number, urgency = 3, incremental = true, place = DEFAULT_DEPENDENCY) {
    this.streamId = streamId;
    this.left = left;
    this.urgency = urgency;
    this.incremental = incremental;
    this.place = place;
  }
}

function order(streams: readonly Stream[], ordered: boolean): string {
  const scheduler = new Scheduler<Stream>();
  scheduler.ordered = ordered;
  for (const stream of streams) {
    scheduler.add(stream);
  }
  let seen = '';
  for (let stream = scheduler.next(); stream !== undefined; stream = scheduler.next()) {
    seen += stream.streamId;
    if (--stream.left > 0) {
      scheduler.add(stream);
    }
  }
  return seen;
}

t.test('whose turn it is', async (t) => {
  t.equal(order([new Stream(1, 2), new Stream(3, 3), new Stream(5, 1)], false), '135133', 'by turns');
  t.equal(order([new Stream(1, 2), new Stream(3, 3), new Stream(5, 1)], true), '135133');
  t.equal(order([new Stream(1, 2, 5), new Stream(3, 2, 0), new Stream(5, 2)], true), '335511', 'the urgent ones first');
  t.equal(order([new Stream(5, 2, 3, false), new Stream(3, 2, 3, false)], true), '3355', 'one after another');
  t.equal(order([new Stream(1, 2), new Stream(3, 2, 3, false)], true), '3311');
  const light = { rank: 1, weight: 0.01 };
  t.equal(order([new Stream(1, 1, 3, true, light), new Stream(3, 1, 3, true, { rank: 2, weight: 1 }), new Stream(5, 1)], true), '513');
  const many = Array.from({ length: 600 }, (_, i) => new Stream(i, 2));
  t.equal(
    order(many, false).length,
    order(
      many.map(({ streamId }) => new Stream(streamId, 2)),
      true,
    ).length,
  );
});

t.test('a stream that is over is taken out', async (t) => {
  const scheduler = new Scheduler<Stream>();
  const [a, b] = [new Stream(1, 1), new Stream(3, 1)];
  scheduler.add(a);
  scheduler.add(b);
  scheduler.remove(a);
  t.equal(scheduler.next(), b);
  t.ok(scheduler.empty);
  scheduler.remove(b);
  t.equal(scheduler.next(), undefined);
});
