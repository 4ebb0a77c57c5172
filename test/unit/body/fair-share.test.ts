import t from 'tap';
import { FairShare, type SharingReader } from '../../../src/worker/time/fair-share.js';

const PIECE = 128 * 1024;

/** Reads `count` pieces, and notes `name` in `order` for each. */
function reader(turns: FairShare, order: string[], name: string, count: number): SharingReader {
  return {
    readShare(): void {
      while (count > 0) {
        if (turns.over) {
          turns.wait(this);
          return;
        }
        count--;
        order.push(name);
        turns.spend(PIECE);
      }
    },
  };
}

const turnEnd = () => new Promise((resolve) => setImmediate(resolve));

t.test('those who read much take turns, all of them together', async (t) => {
  const turns = new FairShare();
  const order: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    reader(turns, order, name, 12).readShare();
  }
  t.equal(order.join(''), 'a'.repeat(8), 'the first uses up the turn');
  await turnEnd();
  t.equal(order.join('').slice(8), 'aaaabbbb', 'it was the first to wait');
  await turnEnd();
  await turnEnd();
  await turnEnd();
  t.equal(order.join('').slice(16), 'ccccccccbbbbbbbbcccc', 'and the others each wait for their turn');
});

t.test('a little does not end the turn', async (t) => {
  const turns = new FairShare();
  for (let i = 0; i < 4; i++) {
    turns.spend(PIECE);
  }
  await turnEnd();
  t.equal(turns.over, false);
  for (let i = 0; i < 4; i++) {
    turns.spend(PIECE);
  }
  t.equal(turns.over, true);
  await turnEnd();
  t.equal(turns.over, false);
});

t.test('one that throws does not keep the others from their turn', async (t) => {
  const turns = new FairShare();
  const order: string[] = [];
  turns.spend(8 * PIECE);
  turns.wait({
    readShare() {
      throw new Error('of one reader');
    },
  });
  turns.wait(reader(turns, order, 'a', 1));
  const caught = new Promise((resolve) => process.once('uncaughtException', resolve));
  t.match(await caught, { message: 'of one reader' });
  await turnEnd();
  t.equal(order.join(''), 'a');
});
