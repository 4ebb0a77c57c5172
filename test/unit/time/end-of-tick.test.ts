import t from 'tap';
import { AtTickEnd, EndOfTick } from '../../../src/shared/time/end-of-tick.js';

const nextTick = (): Promise<void> => new Promise(setImmediate);

t.test('tasks run once, by their steps and then in the order in which they asked', async (t) => {
  const end = new EndOfTick();
  const ran: string[] = [];
  const task = (name: string) => ({ tickEnded: () => void ran.push(name) });
  end.ask(AtTickEnd.LOGS, task('line'));
  end.ask(AtTickEnd.ZONES, task('first job'));
  end.ask(AtTickEnd.SENDS, task('head'));
  end.ask(AtTickEnd.ZONES, task('second job'));
  t.same(ran, []);
  await nextTick();
  t.same(ran, ['first job', 'second job', 'head', 'line']);
  await nextTick();
  t.equal(ran.length, 4);
});

t.test('who asks while they run is called in this tick for a later step, in the next one for an earlier', async (t) => {
  const end = new EndOfTick();
  const ran: string[] = [];
  const task = (name: string) => ({ tickEnded: () => void ran.push(name) });
  end.ask(AtTickEnd.READS, {
    tickEnded() {
      ran.push('reader');
      end.ask(AtTickEnd.ZONES, task('job'));
      end.ask(AtTickEnd.READS, task('next reader'));
      end.ask(AtTickEnd.LOGS, task('line'));
    },
  });
  await nextTick();
  t.same(ran, ['reader', 'line']);
  await nextTick();
  t.same(ran, ['reader', 'line', 'job', 'next reader']);
});

t.test('a task that throws keeps no other from its call', async (t) => {
  const end = new EndOfTick();
  const ran: string[] = [];
  const task = (name: string) => ({ tickEnded: () => void ran.push(name) });
  end.ask(AtTickEnd.SENDS, task('a'));
  end.ask(AtTickEnd.SENDS, {
    tickEnded() {
      throw new Error('boom');
    },
  });
  end.ask(AtTickEnd.SENDS, task('b'));
  end.ask(AtTickEnd.LOGS, task('c'));
  t.throws(() => end.run(), /boom/);
  t.same(ran, ['a']);
  await nextTick();
  t.same(ran, ['a', 'b', 'c']);
});
