import t from 'tap';
import { TurnEnd } from '../../../src/worker/io/turn-end.js';

t.test('tasks run once, in order, when the turn is over', async (t) => {
  const turn = new TurnEnd();
  const ran: string[] = [];
  turn.ask({ turnEnded: () => void ran.push('a') });
  turn.ask({
    turnEnded() {
      ran.push('b');
      turn.ask({ turnEnded: () => void ran.push('c') });
    },
  });
  t.same(ran, []);
  await new Promise(setImmediate);
  t.same(ran, ['a', 'b']);
  await new Promise(setImmediate);
  t.same(ran, ['a', 'b', 'c']);
});

t.test('a task that throws keeps no other from its turn', async (t) => {
  const turn = new TurnEnd();
  const ran: string[] = [];
  const boom = (): void => {
    throw new Error('boom');
  };
  turn.ask({ turnEnded: () => void ran.push('a') });
  turn.ask({ turnEnded: boom });
  turn.ask({ turnEnded: () => void ran.push('b') });
  t.throws(() => turn.run(), /boom/);
  t.same(ran, ['a']);
  await new Promise(setImmediate);
  t.same(ran, ['a', 'b']);
});
