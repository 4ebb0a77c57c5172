import type { Role } from '../../shared/ipc/messages.js';
import { BROKEN_RING_EXIT, ROLE_NAMES } from '../../shared/ipc/role.js';
import type { Logger } from '../../shared/log/error-log.js';
import { WARN } from '../../shared/log/level.js';
import { forgoNative } from '../../shared/native/native.js';
import { numberOfSignal } from '../../shared/system/signal.js';

/** Signals that end a process whose ring is forbidden, or whose memory or calls of the kernel went wrong. */
const SIGNALS: ReadonlySet<NodeJS.Signals> = new Set(['SIGSYS', 'SIGSEGV', 'SIGBUS']);
/** How many processes may end because their io_uring broke; then no process makes one, until the master is started again. */
const MOST = 3;

/** How a process has ended. */
export interface ProcessEnd {
  readonly role: Role;
  readonly pid: number;
  /** The process had an io_uring, or was about to make one. */
  readonly ring: boolean;
  /** The process has served. */
  readonly ready: boolean;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Counts the processes that their io_uring has ended, and has the others do without. */
export class BrokenRings {
  readonly #log: Logger;
  #count = 0;
  #lost = false;
  #noNative = '';

  constructor(log: Logger) {
    this.#log = log;
  }

  /** No process is to make a ring any more. */
  get lost(): boolean {
    return this.#lost;
  }

  /** Why no process is to call the system by koffi any more; empty where each may. */
  get noNative(): string {
    return this.#noNative;
  }

  /** A process has ended. Returns whether it may have ended of its ring before it served, and would not without one. */
  ended({ role, pid, ring, ready, code, signal }: ProcessEnd): boolean {
    const killed = ring && signal !== null && SIGNALS.has(signal);
    if (!killed && code !== BROKEN_RING_EXIT) {
      return false;
    }
    this.#count++;
    if (!this.#lost && killed && !ready) {
      const which = `${ROLE_NAMES[role]} ${pid}`;
      if (signal !== 'SIGSYS') {
        // Nothing forbids the ring: what calls the kernel may have gone wrong, which is used for more.
        this.#noNative = `a process was ended by signal ${numberOfSignal(signal)} when it began to use koffi`;
        forgoNative(this.#noNative);
      }
      this.#lose(`${which} was ended by signal ${numberOfSignal(signal)} while it began to use io_uring`);
    } else if (!this.#lost && this.#count >= MOST) {
      const last = killed ? ` or were ended by signals, the latest by signal ${numberOfSignal(signal)}` : '';
      this.#lose(`${MOST} processes ended because their io_uring broke${last}`);
    }
    return killed && !ready;
  }

  #lose(why: string): void {
    this.#lost = true;
    this.#log.log(WARN, `${why}, using "libuv" from now on`);
  }
}
