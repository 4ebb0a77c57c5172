import { turnDelay } from '../../../shared/system/turn-delay.js';

/** A run that nobody waits for any more. */
export class LeavingRun {
  readonly name: string;
  /** The system's number of the thread. */
  readonly #thread: number;
  /** Milliseconds that it has to come to its end. */
  readonly #grace: number;
  readonly #since = performance.now();
  /** Milliseconds that the thread had waited for a processor by then. */
  readonly #delayBefore: number;
  /** Whether it was over its time at the last look. */
  #late = false;

  constructor(name: string, thread: number, grace: number) {
    this.name = name;
    this.#thread = thread;
    this.#grace = grace;
    this.#delayBefore = turnDelay(thread);
  }

  /** Looks whether it goes on although its time is over. The first look says no: that it has ended may be yet to be read. */
  goesOn(): boolean {
    const over = performance.now() - this.#since - this.#grace;
    if (over <= 0 || over <= turnDelay(this.#thread) - this.#delayBefore) {
      return false;
    }
    const late = this.#late;
    this.#late = true;
    return late;
  }
}
