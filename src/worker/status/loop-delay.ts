import { setTimer } from '../../shared/time/timer.js';
import { monotonicMs } from '../../shared/zone/monotonic.js';
import type { WorkerEnv } from '../env.js';
import { runtimePart } from '../task/protocol-runtime.js';

/** Milliseconds between two samples; so many are kept, and after so many more they are published. */
const EVERY = 100;
const KEPT = 300;
const PUBLISHED = 10;

/**
 * Measures how late a timer comes: so long anything else that a worker has to do waited, too. What is published are the last half minute's
 * worst sample and the one that 99 of 100 do not exceed. Only workers that show their status are watched, since it wakes them up.
 */
class LoopDelay {
  readonly #samples = new Float64Array(KEPT);
  #taken = 0;
  #watching = false;

  start(env: WorkerEnv): void {
    if (this.#watching || env.rehearsing) {
      return;
    }
    this.#watching = true;
    let due = monotonicMs() + EVERY;
    const timer = setTimer(() => {
      const now = monotonicMs();
      this.#samples[this.#taken++ % KEPT] = Math.max(0, now - due);
      due = now + EVERY;
      if (this.#taken % PUBLISHED === 0) {
        this.#publish(env);
      }
      timer.refresh();
    }, EVERY).unref();
    env.onClose(() => clearTimeout(timer));
  }

  #publish(env: WorkerEnv): void {
    const sorted = this.#samples.slice(0, Math.min(this.#taken, KEPT)).sort();
    const of99 = sorted[Math.ceil(sorted.length * 0.99) - 1]!;
    env.zones.counters.loopDelay(sorted.at(-1)! * 1000, of99 * 1000);
  }
}

const loopDelayOf = runtimePart(() => new LoopDelay());

/** Has this worker watch how late its event loop is, for whoever shows its status. */
export function watchLoopDelay(runtime: Parameters<typeof loopDelayOf>[0]): void {
  loopDelayOf(runtime).start(runtime.env);
}
