import { throwLater } from '../system/throw-later.js';
import { AtTickEnd, endOfTick, type TickTask } from '../time/end-of-tick.js';
import { setTimer } from '../time/timer.js';
import type { ZoneJob, ZoneScope } from './kind.js';
import type { ZoneFile } from './zone-file.js';

/**
 * How often a locked zone is tried again in the very next tick, before a timer of a millisecond lets the lock's holder have the
 * processor.
 */
const EAGER_TRIES = 1;

/** So often the jobs that others bring about run within one tick. */
const ROUNDS = 4;

/** Runs the jobs of each tick, one transaction for each scope. One for each process. */
export class TransactionQueue implements TickTask {
  /** Counts the ticks that did something. */
  number = 0;
  #due: TransactionScope[] = [];
  /** Scopes with nothing but deferred jobs. */
  #later: TransactionScope[] = [];
  #spareLater: TransactionScope[] = [];
  #spare: TransactionScope[] = [];
  #asked = false;
  #running = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** Puts a scope into the queue for the end of this tick. */
  add(scope: TransactionScope): void {
    if (this.#closed) {
      return;
    }
    this.#due.push(scope);
    this.#schedule();
  }

  /** Puts a scope into the queue for the end of the next tick. */
  addLater(scope: TransactionScope): void {
    if (this.#closed) {
      return;
    }
    this.#later.push(scope);
    this.#schedule();
  }

  /** Runs what is due and takes no more. */
  close(): void {
    this.number++;
    this.#run();
    this.#takeDeferred();
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#due.length = 0;
  }

  readonly #run = (): void => {
    this.#running = true;
    let eager = true;
    let locked = false;
    // A job's end may bring the next one (a request passes from one limit to another, or gives its place back), which need not wait a
    // tick for it.
    for (let round = 0; round < ROUNDS && this.#due.length > 0 && !locked; round++) {
      const scopes = this.#due;
      this.#due = this.#spare;
      // Every lock is given back before the first request goes on.
      for (let i = 0; i < scopes.length; i++) {
        const scope = scopes[i]!;
        if (scope.transact()) {
          continue;
        }
        this.#due.push(scope);
        locked = true;
        if (scope.tries > EAGER_TRIES) {
          eager = false;
        }
      }
      for (let i = 0; i < scopes.length; i++) {
        scopes[i]!.deliver();
      }
      scopes.length = 0;
      this.#spare = scopes;
    }
    this.#running = false;
    if (this.#later.length > 0 || (this.#due.length > 0 && eager)) {
      this.#schedule();
    } else if (this.#due.length > 0) {
      this.#timer ??= setTimer(this.#expire, 1);
    }
  };

  tickEnded(): void {
    this.#asked = false;
    this.number++;
    this.#run();
    this.#takeDeferred();
  }

  // After the others, since their transactions take deferred jobs of the same zone along.
  #takeDeferred(): void {
    const scopes = this.#later;
    if (scopes.length === 0) {
      return;
    }
    this.#later = this.#spareLater;
    for (let i = 0; i < scopes.length; i++) {
      scopes[i]!.wake();
    }
    scopes.length = 0;
    this.#spareLater = scopes;
    if (this.#due.length > 0) {
      this.#run();
    }
  }

  readonly #expire = (): void => {
    this.#timer = undefined;
    this.#run();
  };

  #schedule(): void {
    if (this.#asked || this.#running) {
      return;
    }
    this.#asked = true;
    endOfTick.ask(AtTickEnd.ZONES, this);
  }
}

/** A queue of jobs that are done in one transaction over one file or several. */
export class TransactionScope implements ZoneScope {
  tries = 0;
  readonly #queue: TransactionQueue;
  readonly #files: readonly ZoneFile[];
  #jobs: ZoneJob[] = [];
  #done: ZoneJob[] = [];
  #queued = false;
  #deferred: ZoneJob[] = [];
  #deferredIn = 0;
  #waiting = false;

  /** All scopes name their files in one order, so that two workers cannot each hold what the other waits for. */
  constructor(queue: TransactionQueue, files: readonly ZoneFile[]) {
    this.#queue = queue;
    this.#files = files;
  }

  submit(job: ZoneJob): void {
    this.#jobs.push(job);
    if (!this.#queued) {
      this.#queued = true;
      this.#queue.add(this);
    }
  }

  defer(job: ZoneJob): void {
    this.#deferred.push(job);
    if (this.#deferred.length === 1) {
      this.#deferredIn = this.#queue.number;
    }
    this.#waitForWake();
  }

  #waitForWake(): void {
    if (this.#waiting) {
      return;
    }
    this.#waiting = true;
    this.#queue.addLater(this);
  }

  /** Deferred jobs of earlier ticks become due. */
  wake(): void {
    this.#waiting = false;
    if (this.#deferred.length === 0 || this.#queued) {
      return;
    }
    if (this.#deferredIn === this.#queue.number) {
      this.#waitForWake();
    } else {
      this.#queued = true;
      this.#queue.add(this);
    }
  }

  /** Does the queued jobs. False when a file is locked: they stay queued. */
  transact(): boolean {
    for (let i = 0; i < this.#deferred.length; i++) {
      this.#jobs.push(this.#deferred[i]!);
    }
    this.#deferred.length = 0;
    if (!allIdle(this.#jobs) && !this.run(this.#jobs)) {
      this.tries++;
      return false;
    }
    this.tries = 0;
    this.#queued = false;
    const jobs = this.#jobs;
    this.#jobs = this.#done;
    this.#done = jobs;
    return true;
  }

  /** Tells the jobs of the last transaction that they are done. */
  deliver(): void {
    const jobs = this.#done;
    for (let i = 0; i < jobs.length; i++) {
      try {
        jobs[i]!.after();
      } catch (error) {
        // One request's error must not keep the others of its tick from going on.
        throwLater(error);
      }
    }
    jobs.length = 0;
  }

  /** One transaction with these jobs, repeated after a repair. False when a file is locked. */
  run(jobs: readonly ZoneJob[]): boolean {
    const files = this.#files;
    for (;;) {
      let open = 0;
      try {
        for (; open < files.length; open++) {
          if (!files[open]!.begin()) {
            while (open-- > 0) {
              files[open]!.rollback();
            }
            return false;
          }
        }
        for (let i = 0; i < files.length; i++) {
          for (const hooks of files[i]!.hooks) {
            hooks.begin?.();
          }
        }
        for (let i = 0; i < jobs.length; i++) {
          jobs[i]!.work();
        }
        for (let i = 0; i < files.length; i++) {
          if (files[i]!.failure !== undefined) {
            // A job took the file's failure for its own.
            throw files[i]!.failure;
          }
        }
        for (let i = 0; i < files.length; i++) {
          for (const hooks of files[i]!.hooks) {
            hooks.end?.();
          }
        }
        for (let i = 0; i < files.length; i++) {
          files[i]!.commit();
        }
        for (let i = 0; i < files.length; i++) {
          for (const hooks of files[i]!.hooks) {
            hooks.committed?.();
          }
        }
        return true;
      } catch (error) {
        for (let i = 0; i < files.length; i++) {
          files[i]!.rollback();
        }
        const failed = files.find((file) => file.failure === error);
        if (failed === undefined) {
          throw error;
        }
        failed.failure = undefined;
        failed.recover(error);
      }
    }
  }
}

function allIdle(jobs: readonly ZoneJob[]): boolean {
  for (let i = 0; i < jobs.length; i++) {
    if (jobs[i]!.idle?.() !== true) {
      return false;
    }
  }
  return true;
}
