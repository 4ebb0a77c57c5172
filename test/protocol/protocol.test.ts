import t from 'tap';
import { readCases } from './cases.js';
import { eventLog } from './event-log.js';

for (const [name, cases] of readCases(new URL('.', import.meta.url))) {
  t.test(name, async (t) => {
    for (const { title, meta, input, log } of cases) {
      t.strictSame(eventLog(input, meta, Math.max(1, input.length)), log, title);
      for (const size of [1, 2, 3, 7, 31]) {
        t.strictSame(eventLog(input, meta, size), log, `${title}, in pieces of ${size}`);
      }
    }
  });
}
