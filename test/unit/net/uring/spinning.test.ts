import t from 'tap';
import { waitIn } from '../../../../src/shared/net/uring/turns.js';
import { AtTickEnd, endOfTick } from '../../../../src/shared/time/end-of-tick.js';

/** A ring with nothing to do, and how often it was served. */
function idleRing() {
  let leave: (why: string | undefined) => void = () => {};
  const left = new Promise<string | undefined>((done) => {
    leave = done;
  });
  const ring = {
    served: 0,
    busy: false,
    waitsForTick: false,
    beginTick() {},
    serve() {
      ring.served++;
    },
    watch() {},
    left: (why?: string) => leave(why),
  };
  return { ring, left };
}

/** Node's loop as it would look if it could not be told that nobody wants an immediate. */
const loop = { fd: 0, timeout: () => 0, endCallback: (process as unknown as { _tickCallback(): void })._tickCallback };

t.test('a loop that would spin waits in libuv again', async (t) => {
  const { ring, left } = idleRing();
  // Somebody who wants an immediate in each turn has his reasons.
  let wanted = 5000;
  const want = (): void => void (--wanted > 0 && setImmediate(want));
  want();
  waitIn(ring, loop);
  const why = await left;
  t.equal(why, 'its event loop does not wait there');
  t.ok(wanted <= 0, 'after that');
  const { served } = ring;
  await new Promise<void>((done) => endOfTick.ask(AtTickEnd.LOGS, { tickEnded: done }));
  t.equal(ring.served, served, 'the end of a tick comes without the ring');

  const second = idleRing();
  waitIn(second.ring, loop);
  t.equal(await second.left, why, 'as it does with another ring');
});

t.teardown(() => process.exit());
