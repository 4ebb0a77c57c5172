// The event loop waits in the ring: one system call submits, waits, and brings what is complete. libuv has its turn when it has
// something to do.

import type { EventLoop } from '../../native/event-loop.js';
import { endOfTick } from '../../time/end-of-tick.js';
import { setTimer } from '../../time/timer.js';

/** How many turns without anything to do, one after the other, are no chance: the event loop spins. */
const SPINNING = 1000;

/** For how long libuv is not asked while the ring has work all the time, in milliseconds. */
const ALONE_MS = 1;

/** A ring in which the event loop can wait. */
export interface WaitedRing {
  /** There is something to take. */
  readonly busy: boolean;
  /** There is something to submit in the next tick. */
  readonly waitsForTick: boolean;
  beginTick(): void;
  /** Serves what is complete, once, and waits for it for so many milliseconds; 0 for not at all, -1 without an end. */
  serve(most: number): void;
  /** Calls back once, when the descriptor can be read. */
  watch(fd: number, readable: () => void): void;
  /** The event loop waits elsewhere from now on: in another ring, or in libuv since `why`. */
  left(why?: string): void;
}

let turns: Turns | undefined;

/** Has the event loop wait in a ring from now on, and no more in the one before. */
export function waitIn(ring: WaitedRing, loop: EventLoop): void {
  if (turns === undefined) {
    turns = new Turns(ring, loop);
  } else {
    turns.change(ring);
  }
}

/** Serves a ring from an immediate in each iteration of the event loop, which waits there and not in libuv. */
class Turns {
  #ring: WaitedRing;
  readonly #loop: EventLoop;
  /** The ring watches libuv's descriptor. */
  #watched = false;
  /** libuv has something to do. */
  #called = false;
  /** When libuv had its turn, and when the last wait was over: milliseconds of the monotonic clock. */
  #began = 0;
  #awake = 0;
  #hasWaited = false;
  /** How many turns had nothing to do since there was something, or since the loop waited. */
  #useless = 0;
  /** How many events libuv had served when that was looked at. */
  #events = 0;
  /** Set once the event loop waits in libuv for good. */
  #over = '';

  constructor(ring: WaitedRing, loop: EventLoop) {
    this.#ring = ring;
    this.#loop = loop;
    endOfTick.drive();
    // The ring is none of libuv's handles, without which libuv would not wait.
    setTimer(nothing, Number.POSITIVE_INFINITY);
    setImmediate(this.#turn);
  }

  change(ring: WaitedRing): void {
    if (this.#over !== '') {
      ring.left(this.#over);
      return;
    }
    const before = this.#ring;
    this.#ring = ring;
    this.#watched = false;
    before.left();
  }

  readonly #turn = (): void => {
    // Node has libuv not wait until the last immediate is over: without this it would say so of the turn itself.
    clearImmediate(setImmediate(nothing));
    this.#called = false;
    this.#hasWaited = false;
    this.#began = performance.now();
    this.#awake = this.#began;
    this.#ring.beginTick();
    this.#useless++;
    try {
      this.#endTick();
      while (this.#round()) {
        this.#endTick();
      }
      this.#endTick();
    } finally {
      // While this is asked for, libuv looks at what there is and does not wait. What asked for an immediate before has its turn before.
      if (this.#useless < SPINNING || !this.#spins()) {
        setImmediate(this.#turn);
      } else {
        this.#leave('its event loop does not wait there');
      }
    }
  };

  /** Whether libuv says that it would not wait, although it had nothing to do in so many turns either, and nobody wants an immediate. */
  #spins(): boolean {
    this.#useless = 0;
    const { events } = performance.nodeTiming.uvMetricsInfo;
    const few = events - this.#events < SPINNING / 10;
    this.#events = events;
    return few && !process.getActiveResourcesInfo().includes('Immediate');
  }

  #leave(why: string): void {
    this.#over = why;
    endOfTick.drive(false);
    this.#ring.left(why);
  }

  #endTick(): void {
    this.#loop.endCallback();
    if (endOfTick.due) {
      endOfTick.run();
      this.#loop.endCallback();
    }
  }

  /** Serves the ring once, and waits for it if there is nothing else to do. Returns false when it is libuv's turn. */
  #round(): boolean {
    const ring = this.#ring;
    const now = performance.now();
    if (this.#hasWaited) {
      this.#hasWaited = false;
      this.#awake = now;
    }
    if (ring.busy || endOfTick.due) {
      this.#useless = 0;
      ring.serve(0);
      return !this.#called && !ring.waitsForTick && now - this.#awake < ALONE_MS;
    }
    // libuv's clock stands still in between.
    const timeout = this.#loop.timeout();
    const most = timeout < 0 ? timeout : Math.max(0, timeout - (now - this.#began));
    if (most === 0 || ring.waitsForTick) {
      ring.serve(0);
      return false;
    }
    if (!this.#watched) {
      this.#watched = true;
      ring.watch(this.#loop.fd, this.#call);
    }
    ring.serve(most);
    this.#useless = 0;
    this.#hasWaited = true;
    return !this.#called;
  }

  readonly #call = (): void => {
    this.#watched = false;
    this.#called = true;
  };
}

function nothing(): void {
  // That it is called is enough.
}
