import { setTimer } from '../../shared/time/timer.js';

/** Who knows which entries are locked. */
interface Locks {
  isLocked(hash: string): boolean;
}

/** How often (milliseconds) locks of other processes are looked at. */
const POLL_MS = 20;

/** A request that waits for another one to fill an entry. */
export interface LockWaiter {
  readonly hash: string;
  /** Monotonic milliseconds at which it waits no longer. */
  readonly deadline: number;
  /** Called once: the lock is free, or the time is over. */
  wake(timedOut: boolean): void;
}

/**
 * Requests of this process that wait for cache locks. A lock that this process releases wakes them at once; a timer looks at the locks of
 * other processes. nginx: ngx_http_file_cache_lock_wait.
 */
export class LockWaiters {
  readonly #index: Locks;
  readonly #waiting = new Map<string, LockWaiter[]>();
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(index: Locks) {
    this.#index = index;
  }

  add(waiter: LockWaiter): void {
    const queue = this.#waiting.get(waiter.hash);
    if (queue === undefined) {
      this.#waiting.set(waiter.hash, [waiter]);
    } else {
      queue.push(waiter);
    }
    this.#timer ??= setTimer(this.#poll, POLL_MS);
  }

  /** The entry's lock was given back. */
  wake(hash: string): void {
    const queue = this.#waiting.get(hash);
    if (queue === undefined) {
      return;
    }
    this.#waiting.delete(hash);
    for (const waiter of queue) {
      waiter.wake(false);
    }
  }

  readonly #poll = (): void => {
    this.#timer = undefined;
    const now = performance.now();
    for (const [hash, queue] of [...this.#waiting]) {
      if (!this.#index.isLocked(hash)) {
        this.wake(hash);
        continue;
      }
      const late = queue.filter((waiter) => waiter.deadline <= now);
      if (late.length === 0) {
        continue;
      }
      const rest = queue.filter((waiter) => waiter.deadline > now);
      if (rest.length === 0) {
        this.#waiting.delete(hash);
      } else {
        this.#waiting.set(hash, rest);
      }
      for (const waiter of late) {
        waiter.wake(true);
      }
    }
    if (this.#waiting.size > 0) {
      this.#timer ??= setTimer(this.#poll, POLL_MS);
    }
  };

  close(): void {
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }
}
