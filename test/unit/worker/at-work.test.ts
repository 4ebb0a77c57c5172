import t from 'tap';
import { RingError } from '../../../src/shared/net/uring/memory.js';
import { endFailedWork, enter } from '../../../src/worker/task/at-work.js';

/** A request that notes why it was given up. */
const work = () => {
  const reasons: string[] = [];
  return { reasons, giveUp: (reason: string) => void reasons.push(reason), breakOff() {} };
};

t.test('an exception ends the work at hand', async (t) => {
  const request = work();
  enter(request);
  t.equal(endFailedWork(new Error('its own')), true);
  t.match(request.reasons, [/its own/]);
  t.equal(endFailedWork(new Error("nobody's")), false);
});

t.test('a broken ring is not the fault of a request', async (t) => {
  const request = work();
  enter(request);
  t.equal(endFailedWork(new RingError('broken')), false);
  t.strictSame(request.reasons, []);
});
