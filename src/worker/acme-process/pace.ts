import { setTimer } from '../../shared/time/timer.js';

/** What waits are ended with when there is nothing more to wait for. */
export class Stopped extends Error {}

/** Waits that can be given up all at once. */
export class Pace {
  readonly #waits = new Map<NodeJS.Timeout, (error: Stopped) => void>();
  #stopped = false;

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Resolves after some milliseconds; rejects with {@link Stopped} once the work is to end. */
  wait(ms: number): Promise<void> {
    return new Promise((done, fail) => {
      if (this.#stopped) {
        fail(new Stopped());
        return;
      }
      const timer = setTimer(() => {
        this.#waits.delete(timer);
        done();
      }, ms).unref();
      this.#waits.set(timer, fail);
    });
  }

  stop(): void {
    this.#stopped = true;
    for (const [timer, fail] of this.#waits) {
      clearTimeout(timer);
      fail(new Stopped());
    }
    this.#waits.clear();
  }
}
