// The event loop waits in the ring: one system call submits, waits, and brings what is complete. libuv has its turn when it has something to do.

import { endOfTick } from '../../lib/end-of-tick.js';
import type { EventLoop } from '../../lib/native/event-loop.js';
import { setTimer } from '../../lib/timer.js';
import { type Endpoint, Kind, type UringEngine } from './engine.js';

/** For how long libuv is not asked while the ring has work all the time, in milliseconds. */
const ALONE_MS = 1;

let turns: Turns | undefined;

/** Has the event loop wait in a ring from now on. Returns the one in which it has waited so far, which nobody serves any more. */
export function waitIn(engine: UringEngine, loop: EventLoop): UringEngine | undefined {
  if (turns === undefined) {
    turns = new Turns(engine, loop);
    return undefined;
  }
  return turns.change(engine);
}

/** Serves a ring from an immediate in each iteration of the event loop, which waits there and not in libuv. */
class Turns implements Endpoint {
  #engine: UringEngine;
  #index: number;
  readonly #loop: EventLoop;
  /** The ring watches libuv's descriptor. */
  #watched = false;
  /** libuv has something to do. */
  #called = false;
  /** When libuv had its turn, and when the last wait was over: milliseconds of the monotonic clock. */
  #began = 0;
  #awake = 0;
  #hasWaited = false;

  constructor(engine: UringEngine, loop: EventLoop) {
    this.#engine = engine;
    this.#index = engine.add(this);
    this.#loop = loop;
    endOfTick.drive();
    // The ring is none of libuv's handles, without which libuv would not wait.
    setTimer(nothing, Number.POSITIVE_INFINITY);
    setImmediate(this.#turn);
  }

  change(engine: UringEngine): UringEngine {
    const before = this.#engine;
    this.#engine = engine;
    this.#index = engine.add(this);
    this.#watched = false;
    return before;
  }

  readonly #turn = (): void => {
    // Node has libuv not wait until the last immediate is over: without this it would say so of the turn itself.
    clearImmediate(setImmediate(nothing));
    this.#called = false;
    this.#hasWaited = false;
    this.#began = performance.now();
    this.#awake = this.#began;
    this.#engine.beginTick();
    try {
      this.#endTick();
      while (this.#round()) {
        this.#endTick();
      }
      this.#endTick();
    } finally {
      // While this is asked for, libuv looks at what there is and does not wait. What asked for an immediate before has its turn before.
      setImmediate(this.#turn);
    }
  };

  #endTick(): void {
    this.#loop.endCallback();
    if (endOfTick.due) {
      endOfTick.run();
      this.#loop.endCallback();
    }
  }

  /** Serves the ring once, and waits for it if there is nothing else to do. Returns false when it is libuv's turn. */
  #round(): boolean {
    const engine = this.#engine;
    const now = performance.now();
    if (this.#hasWaited) {
      this.#hasWaited = false;
      this.#awake = now;
    }
    if (engine.busy || endOfTick.due) {
      engine.serve(0);
      return !this.#called && !engine.waitsForTick && now - this.#awake < ALONE_MS;
    }
    // libuv's clock stands still in between.
    const timeout = this.#loop.timeout();
    const most = timeout < 0 ? timeout : Math.max(0, timeout - (now - this.#began));
    if (most === 0 || engine.waitsForTick) {
      engine.serve(0);
      return false;
    }
    if (!this.#watched) {
      this.#watched = true;
      engine.ring.awaitReadable(this.#loop.fd, engine.tag(Kind.LOOP, this.#index), engine.generation(this.#index));
    }
    engine.serve(most);
    this.#hasWaited = true;
    return !this.#called;
  }

  completed(): void {
    this.#watched = false;
    this.#called = true;
  }

  submit(): void {
    // It never asks.
  }
}

function nothing(): void {
  // That it is called is enough.
}
