import { isBusy } from '../support/processes.js';

/** Milliseconds between two looks. */
const TICK = 50;

interface Alarm {
  left: number;
  readonly ring: () => void;
}

/**
 * A clock by which somebody waits for a server. It goes by turns of this process's event loop, and stands while a process of the server
 * runs or waits for a processor: what is late by it is not late since the machine is busy.
 */
export class ServerClock {
  /** The ids of the processes that serve. */
  processes: readonly number[] = [];
  readonly #alarms = new Set<Alarm>();
  #ticking: ReturnType<typeof setTimeout> | undefined;

  /** Calls `ring` after so many milliseconds, unless what it returns is called before. */
  after(milliseconds: number, ring: () => void): () => void {
    const alarm = { left: milliseconds, ring };
    this.#alarms.add(alarm);
    this.#ticking ??= setTimeout(() => this.#tick(), TICK);
    return () => void this.#alarms.delete(alarm);
  }

  #tick(): void {
    this.#ticking = undefined;
    if (!this.processes.some(isBusy)) {
      for (const alarm of this.#alarms) {
        alarm.left -= TICK;
        if (alarm.left <= 0) {
          this.#alarms.delete(alarm);
          alarm.ring();
        }
      }
    }
    if (this.#alarms.size > 0) {
      this.#ticking ??= setTimeout(() => this.#tick(), TICK);
    }
  }
}
