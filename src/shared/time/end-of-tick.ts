import { emptyList } from '../collection/empty-list.js';

/** What is done at the end of a tick, an iteration of the event loop, in this order. nginx: its posted events. */
export const AtTickEnd = {
  /** Transactions over shared zones; requests go on with what was decided. */
  ZONES: 0,
  /** Readers of much go on with a new share. */
  READS: 1,
  /** A few of the subrequests that wait begin. */
  SUBREQUESTS: 2,
  /** What waited for more to take along leaves: joined pieces of bodies, then response heads. */
  JOINED: 3,
  SENDS: 4,
  /** What was put into queues that are shared with the kernel is submitted. */
  SUBMITS: 5,
  /** Lines of logs are written. */
  LOGS: 6,
  /** What was true for the requests of one tick counts no longer. */
  FORGET: 7,
} as const;
const STEPS = 8;

/** What has something to do once a tick is over. */
export interface TickTask {
  tickEnded(): void;
}

/**
 * Calls tasks at the end of the tick in which they asked for it: one immediate for all of them, since each costs more than most tasks. A
 * task that asks while the steps run is called in the same tick if its step is still to come, else in the next one.
 */
export class EndOfTick {
  #due: TickTask[][] = Array.from({ length: STEPS }, () => []);
  #spare: TickTask[] = [];
  #waiting = 0;
  #asked = false;
  #running = false;
  #driven = false;

  /** `step`: one of {@link AtTickEnd}. The task is called once for each time it asks. */
  ask(step: number, task: TickTask): void {
    this.#due[step]!.push(task);
    this.#waiting++;
    this.#askForTurn();
  }

  /** From now on the caller sees to it that {@link run} is called in each tick, or does so no longer. */
  drive(driven = true): void {
    this.#driven = driven;
    if (this.#waiting > 0) {
      this.#askForTurn();
    }
  }

  /** Something waits for the end of the tick. */
  get due(): boolean {
    return this.#waiting > 0;
  }

  /** Runs all that is due, in order. */
  run(): void {
    this.#asked = false;
    this.#running = true;
    try {
      for (let step = 0; step < STEPS && this.#waiting > 0; step++) {
        if (this.#due[step]!.length > 0) {
          this.#runStep(step);
        }
      }
    } finally {
      this.#running = false;
      // What asked too late, and what a task that threw has kept from its call.
      if (this.#waiting > 0) {
        this.#askForTurn();
      }
    }
  }

  #runStep(step: number): void {
    const tasks = this.#due[step]!;
    this.#due[step] = this.#spare;
    let next = 0;
    try {
      while (next < tasks.length) {
        tasks[next++]!.tickEnded();
      }
    } finally {
      this.#waiting -= next;
      while (next < tasks.length) {
        this.#due[step]!.push(tasks[next++]!);
      }
      emptyList(tasks);
      this.#spare = tasks;
    }
  }

  #askForTurn(): void {
    if (!this.#asked && !this.#running && !this.#driven) {
      this.#asked = true;
      setImmediate(run, this);
    }
  }
}

function run(endOfTick: EndOfTick): void {
  endOfTick.run();
}

/** A process has one event loop, hence one of these. */
export const endOfTick = new EndOfTick();
