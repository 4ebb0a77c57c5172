import { constants, PerformanceObserver } from 'node:perf_hooks';
import t from 'tap';
import { giveSpareMemoryBack } from '../../../src/shared/native/spare-memory.js';

t.test('a process that does nothing collects all of its garbage once', async (t) => {
  let majors = 0;
  const collected = new Promise<void>((done) => {
    const observer = new PerformanceObserver((list) => {
      // That of a last resort is two in a row.
      const entries = list.getEntries() as unknown as { readonly detail: { readonly kind: number } }[];
      majors += entries.filter(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR).length;
      if (majors >= 2) {
        observer.disconnect();
        done();
      }
    });
    observer.observe({ entryTypes: ['gc'] });
  });
  let asked = 0;
  const work = (): number => {
    asked++;
    return 0;
  };
  giveSpareMemoryBack(work, false, 1500);
  const alive = setInterval(() => {}, 1000);
  await collected;
  clearInterval(alive);
  t.equal(asked, 1);
});
