import { JS } from '../../../shared/zone/meter-kinds.js';
import type { Meter } from '../../../shared/zone/meters.js';
import type { Watchdog } from './watchdog.js';

/** Counts the runs of one handler and the time that JavaScript takes, which nothing else of the worker runs in. */
export class HandlerStats {
  readonly name: string;
  readonly #meter: Meter;
  readonly #watchdog: Watchdog | undefined;
  readonly #number: number;

  constructor(name: string, meter: Meter, watchdog: Watchdog | undefined) {
    this.name = name;
    this.#meter = meter;
    this.#watchdog = watchdog;
    this.#number = watchdog?.add(name) ?? 0;
  }

  /** A run of code with its time; what it throws is thrown on. */
  timed<T>(action: () => T): T {
    return this.#timed(action, [], false);
  }

  /** `counts`: what it throws is a failure of the handler's. */
  #timed<A extends readonly unknown[], T>(action: (...args: A) => T, args: A, counts: boolean): T {
    const before = this.#watchdog?.enter(this.#number);
    const start = performance.now();
    try {
      return action(...args);
    } catch (error) {
      if (counts) {
        this.failed();
      }
      throw error;
    } finally {
      this.ran(performance.now() - start);
      if (before !== undefined) {
        this.#watchdog!.leave(before);
      }
    }
  }

  /** A run has returned, or waits for something, after `ms` milliseconds. */
  ran(ms: number): void {
    const { values } = this.#meter;
    values[JS.runs]!++;
    values[JS.time]! += ms;
    if (ms > values[JS.longest]!) {
      values[JS.longest] = ms;
    }
    this.#meter.touch();
  }

  /** A run has failed. */
  failed(): void {
    this.#meter.count(JS.errors);
  }

  /** A run took longer than `js_timeout`. */
  timedOut(): void {
    this.#meter.count(JS.timeouts);
  }

  /** A function with its runs counted; what it throws is counted and thrown on. */
  counted<F extends (...args: never[]) => unknown>(run: F): F {
    return ((...args: never[]): unknown => this.#timed(run, args, true)) as F;
  }
}
