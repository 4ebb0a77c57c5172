import { setTimer } from '../../shared/lib/timer.js';

/** What can run out. `expired` is called once, when the time set last has passed. */
export interface Expiring {
  expired(): void;
}

/**
 * A timeout that is moved often and runs out seldom. Moving it later costs one assignment: the timer that is running
 * looks at the new time when it fires and sleeps on.
 */
export class Deadline {
  #at = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined = undefined;
  #firesAt = Number.POSITIVE_INFINITY;
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
    const at = now + ms;
    this.#at = at;
    if (this.#firesAt <= at) {
      return;
    }
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer);
    }
    this.#arm(at, ms);
  }

  /** Does not run out any more. */
  clear(): void {
    this.#at = Number.POSITIVE_INFINITY;
  }

  /** Clears, and frees the timer for good. */
  close(): void {
    this.clear();
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer);
    }
    this.#timer = undefined;
    this.#firesAt = Number.POSITIVE_INFINITY;
  }

  get pending(): boolean {
    return this.#at !== Number.POSITIVE_INFINITY;
  }

  #arm(at: number, ms: number): void {
    this.#firesAt = at;
    this.#timer = setTimer(fire, Math.max(ms, 1), this);
  }

  fired(): void {
    this.#timer = undefined;
    this.#firesAt = Number.POSITIVE_INFINITY;
    if (this.#at === Number.POSITIVE_INFINITY) {
      return;
    }
    const left = this.#at - performance.now();
    // Timers may fire a fraction of a millisecond early.
    if (left > 0.5) {
      this.#arm(this.#at, left);
    } else {
      this.#at = Number.POSITIVE_INFINITY;
      this.#owner.expired();
    }
  }
}

function fire(deadline: Deadline): void {
  deadline.fired();
}
