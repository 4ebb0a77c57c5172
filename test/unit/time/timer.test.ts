import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { setTimer } from '../../../src/shared/time/timer.js';

const DAY = 86_400_000;

/** Lets every timer fire after a millisecond; returns how long those that were set should have waited. */
function hurry(t: Test): number[] {
  const real = globalThis.setTimeout;
  const asked: number[] = [];
  globalThis.setTimeout = ((then: (...args: unknown[]) => void, ms: number, ...args: unknown[]) => {
    asked.push(ms);
    return real(then, 1, ...args);
  }) as typeof setTimeout;
  t.teardown(() => {
    globalThis.setTimeout = real;
  });
  return asked;
}

t.test('a usual time is one of Node timers, arguments included', async (t) => {
  const asked = hurry(t);
  t.same(await new Promise((done) => setTimer((...args: number[]) => done(args), 5000, 1, 2, 3, 4)), [1, 2, 3, 4]);
  t.same(asked, [5000]);
});

t.test('a longer time is waited for in parts, none of which Node refuses', async (t) => {
  const asked = hurry(t);
  let refreshed = 0;
  const what = await new Promise((done) => {
    const timer = setTimer(done, 100 * DAY, 'done');
    const { refresh } = timer;
    timer.refresh = () => {
      refreshed++;
      return refresh.call(timer);
    };
  });
  t.equal(what, 'done');
  t.equal(asked.length, 1);
  t.ok(asked[0]! < 2 ** 31);
  t.equal(refreshed, 4);
  t.ok(asked[0]! * (refreshed + 1) >= 100 * DAY);
});

t.test('a longer time can be given up in any of its parts', async (t) => {
  hurry(t);
  const timer = setTimer(() => t.fail('given up'), Number.POSITIVE_INFINITY);
  t.ok(timer.hasRef());
  await new Promise((done) => {
    const { refresh } = timer;
    timer.refresh = () => {
      refresh.call(timer);
      setImmediate(done);
      return timer;
    };
  });
  clearTimeout(timer);
  await sleep(20);
});
