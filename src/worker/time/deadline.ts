import { deadlines, type Queued } from './deadline-queue.js';

/** What can run out. `expired` is called once, when the time set last has passed. */
export interface Expiring {
  expired(): void;
}

/**
 * A timeout that is moved often and runs out seldom. Moving it later costs one assignment: it is looked at when it would have run out
 * first, and waits on.
 */
export class Deadline implements Queued {
  place = -1;
  #owner: Expiring;

  constructor(owner: Expiring) {
    this.#owner = owner;
  }

  /** Another is told from now on; what runs goes on. */
  passTo(owner: Expiring): void {
    this.#owner = owner;
  }

  /** Runs out `ms` milliseconds after `now` (monotonic). */
  set(now: number, ms: number): void {
    deadlines.set(this, now, ms);
  }

  /** Does not run out any more. */
  clear(): void {
    deadlines.clear(this);
  }

  /** Clears, and frees what it takes for good. */
  close(): void {
    deadlines.remove(this);
  }

  get pending(): boolean {
    return deadlines.pending(this);
  }

  due(): void {
    this.#owner.expired();
  }
}
