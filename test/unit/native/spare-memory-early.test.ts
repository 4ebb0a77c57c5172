import t from 'tap';
import { giveSpareMemoryBack } from '../../../src/shared/native/spare-memory.js';

const HOUR = 3_600_000;

t.test('a heap that grows soon after the start is looked at before the first look is due', async () => {
  const grown: number[][] = [];
  const alive = setInterval(() => {}, 1000);
  await new Promise<void>((done) => {
    const work = (): number => {
      done();
      return 0;
    };
    giveSpareMemoryBack(work, false, HOUR);
    grown.push(...Array.from({ length: 80 }, (_, i) => new Array(50_000).fill(i)));
  });
  clearInterval(alive);
});
