import t from 'tap';
import { ScriptTimers } from '../../../src/worker/js/script-timers.js';
import { enter, leave } from '../../../src/worker/task/at-work.js';

/** Lets the machine be busy for so many milliseconds. */
function busy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until) {}
}

/** Does work of one event, as a request's. */
function inOneEvent(work: () => void): void {
  const before = enter({ giveUp() {}, breakOff() {} });
  work();
  leave(before);
}

const after = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

t.test('timers of one event run out in the order of their times, however busy the machine is', async (t) => {
  const timers = new ScriptTimers();
  const called: string[] = [];
  inOneEvent(() => {
    for (const [name, ms] of [
      ['e', 40],
      ['d', 20],
      ['b', 1],
      ['a', 0],
      ['c', 1],
    ] as const) {
      timers.start(() => called.push(name), ms);
      busy(30);
    }
  });
  await after(120);
  t.equal(called.join(''), 'abcde');
});

t.test('what is taken back is not called, and holds nothing else up', async (t) => {
  const timers = new ScriptTimers();
  const called: number[] = [];
  const handles = new Map<number, NodeJS.Timeout>();
  inOneEvent(() => {
    for (const ms of [50, 5, 30, 4, 20, 3]) {
      handles.set(
        ms,
        timers.start(() => called.push(ms), ms),
      );
      busy(4);
    }
    t.ok(timers.stop(handles.get(4)!));
    t.ok(timers.stop(handles.get(50)!));
    t.notOk(timers.stop(handles.get(50)!), 'only once');
  });
  await after(150);
  t.strictSame(called, [3, 5, 20, 30]);
  t.notOk(timers.stop(handles.get(3)!), 'it was called');
});

t.test('what another one goes before may be taken back then', async (t) => {
  const timers = new ScriptTimers();
  const called: string[] = [];
  inOneEvent(() => {
    const late = timers.start(() => called.push('late'), 40);
    busy(60);
    timers.start(() => {
      called.push('first');
      t.ok(timers.stop(late));
    }, 0);
  });
  timers.start(() => called.push('last'), 50);
  await after(150);
  t.strictSame(called, ['first', 'last']);
});

t.test('many, of which a script takes half back', async (t) => {
  const timers = new ScriptTimers();
  const called: number[] = [];
  let seed = 7;
  inOneEvent(() => {
    const handles = Array.from({ length: 5000 }, () => {
      seed = (seed * 48271) % 2147483647;
      const ms = seed % 50;
      return timers.start(() => called.push(ms), ms);
    });
    for (let i = 0; i < handles.length; i += 2) {
      timers.stop(handles[i]!);
    }
  });
  await after(300);
  t.equal(called.length, 2500);
  t.strictSame(
    called,
    [...called].sort((a, b) => a - b),
  );
  const rest = new ScriptTimers();
  rest.start(() => t.fail('closed'), 1);
  rest.close();
  await after(20);
});
