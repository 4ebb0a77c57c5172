import t from 'tap';
import { giveSpareMemoryBack } from '../../../src/shared/native/spare-memory.js';

/** Longer than large arrays are taken for young ones, which V8 itself collects soon; shorter than from one look to the next. */
const AGE = 2000;

t.test('a process at work collects its garbage when there is much of it', async (t) => {
  let requests = 0;
  let looks = 0;
  let kept: number[][] = [];
  const collected = new Promise<number>((done) => {
    const garbage = new FinalizationRegistry(() => done(looks));
    const work = (): number => {
      looks++;
      if (looks === 1) {
        setImmediate(() => {
          kept = Array.from({ length: 80 }, (_, i) => new Array(50_000).fill(i));
          garbage.register(kept[0]!, undefined);
        });
        setTimeout(() => {
          kept = [];
        }, AGE);
      }
      requests += 1_000_000;
      return requests;
    };
    giveSpareMemoryBack(work, false, 1500);
  });
  const alive = setInterval(() => {}, 1000);
  // It begins with the second look, and is over before the third.
  t.equal(await collected, 2);
  t.equal(kept.length, 0);
  clearInterval(alive);
});
