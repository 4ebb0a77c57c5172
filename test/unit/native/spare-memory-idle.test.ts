import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { giveSpareMemoryBack } from '../../../src/shared/native/spare-memory.js';

/** The looks of a process that does nothing are 2, 4, 8 times as far apart; one with a collection is followed by another after 1.5 s. */
const SHORTEST = 1000;

t.test('a heap that has grown is collected although no request and no connection was counted', async (t) => {
  let looks = 0;
  const waiting = new Map<number, () => void>();
  const look = (number: number): Promise<void> => new Promise((done) => waiting.set(number, done));
  const [second, third, fourth] = [look(2), look(3), look(4)];
  const alive = setInterval(() => {}, 1000);
  giveSpareMemoryBack(
    () => {
      waiting.get(++looks)?.();
      return 0;
    },
    false,
    500,
    SHORTEST,
  );
  // The first look collects, and the second one sees what that has left.
  await second;
  const kept = Array.from({ length: 80 }, (_, i) => new Array(50_000).fill(i));
  await third;
  await Promise.race([fourth, sleep(5 * SHORTEST, undefined, { ref: false })]);
  t.equal(looks, 4, 'the third has begun a collection');
  t.equal(kept.length, 80);
  clearInterval(alive);
});
