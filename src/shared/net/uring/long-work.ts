/** Work between two waits that takes so many milliseconds keeps waiting who comes meanwhile. */
const LONG_MS = 20;
/** For so many milliseconds after that, more such work is expected. */
const BUSY_MS = 1000;

/** Who accepts connections, and leaves them to others while its process is busy: see {@link LongWork.isExpected}. */
export interface Yielding {
  yieldTurn(): void;
}

/** Notices that a process works for long between two waits of its event loop, and tells who accepts connections. */
export class LongWork {
  /** When the last wait was over, in milliseconds of the monotonic clock; infinite before the first one, as a start takes long. */
  #since = Number.POSITIVE_INFINITY;
  /** When the last long piece of work was over. */
  #last = Number.NEGATIVE_INFINITY;
  readonly #listeners = new Set<Yielding>();

  /** The process has worked for long at a time a short while ago, and so may keep others waiting. */
  get isExpected(): boolean {
    return performance.now() - this.#last < BUSY_MS;
  }

  /** Has a listener told of long work, until {@link forget}. */
  tell(listener: Yielding): void {
    this.#listeners.add(listener);
  }

  forget(listener: Yielding): void {
    this.#listeners.delete(listener);
  }

  /** The process is about to wait. */
  ends(): void {
    const now = performance.now();
    if (now - this.#since > LONG_MS) {
      this.#last = now;
      for (const listener of this.#listeners) {
        listener.yieldTurn();
      }
    }
  }

  /** The wait is over. */
  begins(): void {
    this.#since = performance.now();
  }
}
