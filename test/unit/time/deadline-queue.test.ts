import t from 'tap';
import { DeadlineQueue, type Queued } from '../../../src/worker/time/deadline-queue.js';

/** Runs a test with a clock of its own: `pass` lets so many milliseconds go by, and returns who was due, in order. */
function makeClock(t: { teardown(then: () => void): unknown }): {
  queue: DeadlineQueue;
  make(name: string, then?: () => void): Queued;
  pass(ms: number): string;
  readonly timers: number;
} {
  let time = 1000;
  let seen: string[] = [];
  const timers = new Map<object, { at: number; fire(): void }>();
  const { setTimeout, clearTimeout } = globalThis;
  const { now } = performance;
  t.teardown(() => Object.assign(globalThis, { setTimeout, clearTimeout }));
  t.teardown(() => Object.assign(performance, { now }));
  performance.now = () => time;
  globalThis.setTimeout = ((then: (arg: unknown) => void, ms: number, arg: unknown) => {
    const timer = {};
    timers.set(timer, { at: time + Math.trunc(ms), fire: () => then(arg) });
    return timer;
  }) as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((timer: object) => void timers.delete(timer)) as typeof clearTimeout;
  return {
    queue: new DeadlineQueue(),
    make: (name, then) => ({
      place: -1,
      due() {
        seen.push(name);
        then?.();
      },
    }),
    pass(ms) {
      seen = [];
      for (const until = time + ms; ; ) {
        const [timer, next] = [...timers].sort(([, a], [, b]) => a.at - b.at)[0] ?? [];
        if (timer === undefined || next === undefined || next.at > until) {
          time = until;
          return seen.join(' ');
        }
        timers.delete(timer);
        time = Math.max(time, next.at);
        next.fire();
      }
    },
    get timers() {
      return timers.size;
    },
  };
}

t.test('each is due at its time, behind one timer', async (t) => {
  const clock = makeClock(t);
  const { queue, make, pass } = clock;
  const [a, b, c, d] = [make('a'), make('b'), make('c'), make('d')];
  queue.set(a, 1000, 300);
  queue.set(b, 1000, 100);
  queue.set(c, 1000, 200);
  queue.set(d, 1000, 150);
  t.equal(clock.timers, 1);
  t.equal(pass(99), '');
  t.equal(pass(1), 'b');
  t.notOk(queue.pending(b));
  queue.set(a, 1100, 20);
  queue.set(c, 1100, 400);
  t.ok(queue.pending(c));
  queue.remove(d);
  t.equal(d.place, -1);
  t.equal(pass(399), 'a');
  t.equal(pass(1), 'c');
  t.equal(clock.timers, 0, 'nothing keeps the process');
});

t.test('what is cleared is not due until it is set again', async (t) => {
  const clock = makeClock(t);
  const { queue, make, pass } = clock;
  const a = make('a');
  queue.clear(a);
  queue.set(a, 1000, 100);
  queue.clear(a);
  t.notOk(queue.pending(a));
  t.equal(pass(1000), '');
  t.equal(clock.timers, 0);
  queue.set(a, 2000, 100);
  queue.clear(a);
  queue.set(a, 2000, 200);
  t.equal(pass(199), '');
  t.equal(pass(1), 'a');
});

t.test('a time that is over already is not over at once', async (t) => {
  const { queue, make, pass } = makeClock(t);
  let times = 0;
  const a: Queued = make('a', () => {
    if (++times < 3) {
      queue.set(a, 0, 50);
    }
  });
  queue.set(a, 0, 50);
  t.equal(pass(30), '');
  queue.set(a, 0, 50);
  t.equal(pass(20), 'a', 'it was not put off');
  t.equal(pass(100), 'a a');
});

t.test('one that throws keeps nobody from being due', async (t) => {
  const { queue, make, pass } = makeClock(t);
  const a = make('a', () => {
    throw new Error('a');
  });
  const b = make('b');
  queue.set(a, 1000, 10);
  queue.set(b, 1000, 10);
  t.throws(() => pass(10), { message: 'a' });
  t.equal(pass(1), 'b');
});

t.test('thousands that come, move and go', async (t) => {
  const { queue, make, pass } = makeClock(t);
  let seed = 1;
  const random = (below: number): number => (seed = (seed * 48271) % 0x7fffffff) % below;
  const due = new Map<Queued, number>();
  const late: string[] = [];
  let time = 1000;
  const all = Array.from({ length: 500 }, (_, i) => {
    const each: Queued = make('', () => {
      if (Math.abs(due.get(each)! - performance.now()) > 1) {
        late.push(`${i}: ${due.get(each)} at ${performance.now()}`);
      }
      due.delete(each);
    });
    return each;
  });
  for (let i = 0; i < 20_000; i++) {
    const each = all[random(all.length)]!;
    const what = random(10);
    if (what < 7) {
      const ms = 1 + random(5000);
      queue.set(each, time, ms);
      due.set(each, time + ms);
    } else if (what < 8) {
      queue.clear(each);
      due.delete(each);
    } else {
      queue.remove(each);
      due.delete(each);
    }
    if (i % 10 === 0) {
      const ms = random(20);
      pass(ms);
      time += ms;
    }
  }
  pass(10_000);
  t.strictSame(late, []);
  t.equal(due.size, 0, 'none was forgotten');
});
