import type { Level } from '../../shared/log/level.js';
import type { LogSubject } from '../../shared/log/log-line.js';
import type { Subject } from '../../shared/value/subject.js';
import type { Work } from './at-work.js';
import type { Client } from './client.js';
import type { Result } from './codes.js';
import type { ProtocolRuntime } from './protocol-runtime.js';
import type { TaskTrace } from './task-trace.js';

/**
 * What a client wants done: a request of `http`, or a session of `stream`. Rooms and modules that serve both protocols know no more of
 * it than this.
 */
export interface ClientTask extends Subject, LogSubject, Work {
  readonly connection: Client;
  /** The block it is served in. */
  readonly protocol: ProtocolRuntime;
  /** The client's own request; the task itself unless it is a subrequest. */
  readonly main: ClientTask;
  /** State of modules that belongs to the task as a whole; see {@link lastingSlot}. */
  lasting: unknown[] | null;
  /** Of the client's own task: it is traced. */
  readonly spans: TaskTrace | null;
  /** The task is over. */
  readonly finished: boolean;
  /** Whether lines of level debug are written: asked by callers whose lines take work to build. */
  readonly debugging: boolean;
  /** Writes a line to the error log that is in force for it. */
  log(level: Level, message: string): void;
  /** Runs a callback when the task ends, however it ends. The latest added runs first. */
  onFinish(callback: () => void): void;
  /** Goes on after a handler returned AGAIN, with the code it would have returned. */
  resume(code: Result): void;
}

let lastingSlots = 0;
/** A slot under which a module keeps what belongs to the client's task as a whole: redirects keep it, and subrequests share it. */
export function lastingSlot<T>(): { get(task: ClientTask): T | undefined; set(task: ClientTask, value: T): void } {
  let slot = -1;
  return {
    get: (task) => (slot === -1 || task.main.lasting === null ? undefined : (task.main.lasting[slot] as T | undefined)),
    set: (task, value) => {
      if (slot === -1) {
        slot = lastingSlots++;
      }
      task.main.lasting ??= [];
      task.main.lasting[slot] = value;
    },
  };
}
