import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { fsPath } from '../../../shared/files/fs-path.js';
import { ErrorLog, type Logger } from '../../../shared/log/error-log.js';
import { openLogFd } from '../../../shared/log/log-fd.js';
import { setTimer } from '../../../shared/time/timer.js';
import { BEAT, HANDLER, NOBODY, type WatchdogData, type WatchdogLog } from './watchdog-data.js';

/** Has a thread of its own end the worker when its thread is held by JavaScript that never waits: nothing in that thread could. */
export class Watchdog {
  readonly #state = new Int32Array(new SharedArrayBuffer(8));
  readonly #thread: Worker;
  readonly #interval: number;
  #handlers = 0;
  #timer: NodeJS.Timeout;

  /** `allowed`: milliseconds for which the worker may be held. To be made before the worker drops its rights. */
  constructor(allowed: number, log: Logger) {
    this.#interval = Math.max(5, Math.min(250, Math.floor(allowed / 4)));
    Atomics.store(this.#state, HANDLER, NOBODY);
    const logs =
      log instanceof ErrorLog ? log.targets.flatMap((target) => (target.path === undefined ? [] : [opened(target.path, target.json)])) : [];
    const workerData: WatchdogData = { state: this.#state, interval: this.#interval, allowed, logs };
    this.#thread = new Worker(readFileSync(new URL('./js-watchdog.js', import.meta.url), 'utf8'), { eval: true, workerData });
    this.#thread.unref();
    this.#timer = this.#wait();
  }

  #wait(): NodeJS.Timeout {
    const timer = setTimer(() => {
      Atomics.add(this.#state, BEAT, 1);
      this.#timer = this.#wait();
    }, this.#interval) as NodeJS.Timeout;
    timer.unref();
    return timer;
  }

  /** Makes a handler known by its name; returns its number. */
  add(name: string): number {
    this.#thread.postMessage(name);
    return this.#handlers++;
  }

  /** A handler begins to run; returns the one that ran before, to be given to {@link leave}. */
  enter(handler: number): number {
    const before = this.#state[HANDLER]!;
    this.#state[HANDLER] = handler;
    return before;
  }

  leave(before: number): void {
    this.#state[HANDLER] = before;
  }

  close(): void {
    clearTimeout(this.#timer);
    void this.#thread.terminate();
  }
}

function opened(path: string, json: boolean): WatchdogLog {
  return { path: fsPath(path).toString(), fd: path === '' ? 2 : openLogFd(path).fd, json };
}
