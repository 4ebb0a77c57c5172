import { isBusy } from '../support/processes.js';

/** Milliseconds between two looks. */
const TICK = 50;
/** Milliseconds by everybody's clock that the longest wait takes: a server may be at work without an end. */
const LONGEST = 300_000;

interface Alarm {
  left: number;
  readonly until: number;
  readonly ring: () => void;
}

/**
 * A clock by which somebody waits for a server. It goes by turns of this process's event loop, and stands while a process of the server
 * runs or waits for a processor: what is late by it is not late since the machine is busy. Nobody waits for longer than five minutes,
 * though.
 */
export class ServerClock {
  /** The ids of the processes that serve. */
  processes: readonly number[] = [];
  readonly #alarms = new Set<Alarm>();
  #ticking: ReturnType<typeof setTimeout> | undefined;

  /** Calls `ring` after so many milliseconds, unless what it returns is called before. */
  after(milliseconds: number, ring: () => void): () => void {
    const alarm = { left: milliseconds, until: performance.now() + LONGEST, ring };
    this.#alarms.add(alarm);
    this.#ticking ??= setTimeout(() => this.#tick(), TICK);
    return () => void this.#alarms.delete(alarm);
  }

  #tick(): void {
    this.#ticking = undefined;
    const passed = this.processes.some(isBusy) ? 0 : TICK;
    const now = performance.now();
    for (const alarm of this.#alarms) {
      alarm.left -= passed;
      if (alarm.left <= 0 || now > alarm.until) {
        this.#alarms.delete(alarm);
        alarm.ring();
      }
    }
    if (this.#alarms.size > 0) {
      this.#ticking ??= setTimeout(() => this.#tick(), TICK);
    }
  }
}
