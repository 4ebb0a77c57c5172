// Over 400 lines: a run of a handler with all the ways in which it ends, and what is said of its exceptions.
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { fileURLToPath } from 'node:url';
import { ERROR, type Level } from '../../shared/log/level.js';
import { stackOf } from '../../shared/text/error-text.js';
import type { ClientTask } from '../task/client-task.js';
import type { FetchScope } from './fetch-settings.js';
import { isTooEarly, lookedAfter, runPutOff } from './put-off.js';
import { isPromise, outcomeOf } from './script-promise.js';
import { ScriptTimers } from './script-timers.js';
import { mappedFrame } from './source-maps.js';

/** What a task logs with: a request, a session or the worker. */
export interface TaskOwner {
  /** The message is text as scripts have it. */
  log(level: Level, message: string): void;
  /** How `ngx.fetch` does its work there. */
  readonly fetchScope?: FetchScope | undefined;
  /** The request or session; undefined for the worker. */
  readonly subject?: ClientTask | undefined;
  /** The task's handlers are njs's, which are given `r` or `s`. */
  readonly njs?: boolean;
  /** The number of the set of modules that its handlers come from. */
  readonly engineId?: number | undefined;
}

/** How a task ended: its function and all that it waited for are over, or something was thrown. */
export interface TaskEnd {
  /** Once nothing is left that it waits for. */
  settled(): void;
  /** An exception that nobody caught; the rest of the task is of no interest. */
  failed(): void;
  /** Whether what the task is for has been decided, so that nobody needs to be told of its end. */
  decided?(): boolean;
}

const storage = new AsyncLocalStorage<Task>();

/** The task whose code runs now; undefined outside of handlers. */
export const currentTask = (): Task | undefined => storage.getStore();

/** The context of the process's start. */
const start = new AsyncResource('sluice');

/** Whether what is entered within {@link start} is gone behind it, as with Node 24: then that costs half of `run`. */
const startStays = ((): boolean => {
  const probe = {} as Task;
  start.runInAsyncScope(() => storage.enterWith(probe));
  return start.runInAsyncScope(() => storage.getStore()) !== probe;
})();

function enter<T>(task: Task, action: (of: T) => unknown, of: T): unknown {
  storage.enterWith(task);
  return outcomeOf(action, of);
}

/** What became of a value that was wanted now: it is there, or comes too late. */
export interface ValueOutcome {
  readonly late: boolean;
  readonly value: unknown;
}

const LATE: ValueOutcome = { late: true, value: undefined };

/**
 * One run of a handler with everything that it starts: promises that it returns, subrequests, fetches and timers. nginx: the events of
 * ngx_js_ctx_t.
 */
export class Task {
  readonly owner: TaskOwner;
  readonly #end: TaskEnd;
  // Most handlers have none of these four.
  #timers: ScriptTimers | undefined = undefined;
  #resources: Set<() => void> | undefined = undefined;
  #times: Map<string, number> | undefined = undefined;
  /** Rejected promises that somebody may still look after while it waits, and why. */
  #left: Map<Promise<unknown>, unknown> | undefined = undefined;
  #pending = 0;
  /** What stays pending of a run of whose end nobody is told. */
  #rest = 0;
  #over = false;
  #atOnce = false;
  /** The task is a filter's, whose rejected promises cost nothing but a line of the log. */
  readonly #filters: boolean;
  #failed = false;

  constructor(owner: TaskOwner, end: TaskEnd, filters = false) {
    this.owner = owner;
    this.#end = end;
    this.#filters = filters;
  }

  /** The task waits for more than the end of the tick. */
  get busy(): boolean {
    return this.#pending > 1;
  }

  /** Counters of console.time, by label. */
  get times(): Map<string, number> {
    this.#times ??= new Map();
    return this.#times;
  }

  get over(): boolean {
    return this.#over;
  }

  /** Something was thrown that nobody caught. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Runs the handler. Its exceptions, and those of a promise that it returns, end the task. */
  run<T>(handler: (of: T) => unknown, of?: T): unknown {
    this.hold();
    const result = this.#guard(handler, of);
    if (isPromise(result)) {
      result.then(
        () => this.release(),
        (error: unknown) => this.rejected(error),
      );
    } else if (this.#pending === 1 && this.#end.decided?.() === true) {
      this.#rest = 1;
    } else {
      // What it put off to the end of the tick may still answer.
      setImmediate(() => this.release());
    }
    return result;
  }

  /**
   * Runs a handler for a value that is wanted now. As in njs, what its promises have put off runs before this returns; a value that comes
   * later is of no use. The task ends with it, unless it began something that ends later. `putOff` is called before what was put off runs.
   */
  runForValue(handler: () => unknown, putOff: () => void): ValueOutcome {
    this.hold();
    this.#atOnce = true;
    const result = this.#guard(handler);
    let outcome: ValueOutcome = { late: false, value: result };
    const waits = isPromise(result);
    if (waits) {
      outcome = LATE;
      result.then(
        (value) => {
          outcome = { late: false, value };
          this.release();
        },
        (error: unknown) => {
          if (this.#atOnce) {
            // As in njs, the value is the promise itself.
            this.owner.log(ERROR, `js unhandled rejection: ${exceptionText(error)}`);
            outcome = { late: false, value: result };
            this.release();
          } else if (!this.#over) {
            this.rejected(error);
          }
        },
      );
    }
    if (!this.#over && (waits || result === undefined)) {
      putOff();
      this.within(() => runPutOff(this));
    }
    if (!waits) {
      this.release();
    }
    this.#atOnce = false;
    if (this.#pending > 0 && !this.#over) {
      outcome = LATE;
      if (this.#pending === 1 && waits) {
        // Nobody waits for it: what it is rejected with comes too late.
        this.cancel();
        this.#end.settled();
      }
    }
    return outcome;
  }

  /** The task's value is wanted before anything else happens: what could be done in another thread is done in this one. */
  get atOnce(): boolean {
    return this.#atOnce;
  }

  /** Runs a filter, for which nothing waits: what its promises have put off runs before this returns. */
  runAtOnce(handler: () => unknown): void {
    this.#atOnce = true;
    this.run(handler);
    if (!this.#over) {
      this.within(() => runPutOff(this));
    }
    this.#atOnce = false;
  }

  /** Runs a callback of something that the task waited for. */
  callback(action: () => unknown): void {
    if (this.#over) {
      return;
    }
    const result = this.#guard(action);
    if (isPromise(result)) {
      result.then(undefined, (error: unknown) => this.rejected(error));
    }
    setImmediate(() => this.release());
  }

  /** Runs code that belongs to the task; what it throws is the caller's. */
  within<T>(action: () => T): T {
    return storage.run(this, action);
  }

  /** Runs a function that may return a promise, which comes back as one that is safe to wait for. */
  ask<T>(action: (of: T) => unknown, of?: T): unknown {
    return startStays && storage.getStore() === undefined
      ? start.runInAsyncScope(enter<T>, undefined, this, action, of as T)
      : storage.run(this, outcomeOf<T>, action, of as T);
  }

  #guard<T>(action: (of: T) => unknown, of?: T): unknown {
    try {
      return this.ask(action, of);
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  /** One more thing to wait for. */
  hold(): void {
    this.#pending++;
  }

  /** One less. */
  release(): void {
    this.#pending--;
    if (this.#pending > this.#rest || this.#over) {
      return;
    }
    const left = this.#left;
    if (left === undefined || left.size === 0) {
      this.#over = true;
      this.#end.settled();
      return;
    }
    this.#left = undefined;
    for (const reason of left.values()) {
      this.rejected(reason);
    }
  }

  /** Has this called when the task is cancelled. */
  own(close: () => void): void {
    this.#resources ??= new Set();
    this.#resources.add(close);
  }

  disown(close: () => void): void {
    this.#resources?.delete(close);
  }

  /** Logs what was thrown and ends the task, unless that has ended itself before. */
  fail(error: unknown): void {
    this.owner.log(ERROR, `js exception: ${exceptionText(error)}`);
    if (!this.#over) {
      this.#fail();
    }
  }

  #fail(): void {
    this.#failed = true;
    this.cancel();
    this.#end.failed();
  }

  /** Something was thrown that nobody caught, by code that the task has begun: it costs its request or session, even after its end. */
  uncaught(error: unknown): void {
    this.#thrown(`js exception: ${exceptionText(error)}`);
  }

  #thrown(message: string): void {
    this.owner.log(ERROR, message);
    if (!this.#over) {
      this.#fail();
    } else {
      this.owner.subject?.breakOff();
    }
  }

  /**
   * A promise of the task was rejected, and nobody looks. While it waits for something, somebody still may, as in njs.
   * nginx: ngx_js_rejection_tracker.
   */
  rejected(reason: unknown, promise?: Promise<unknown>): void {
    if (promise !== undefined && this.busy && !this.#over && !this.#filters) {
      this.#left ??= new Map();
      this.#left.set(promise, reason);
      leftBy.set(promise, this);
      return;
    }
    this.owner.log(ERROR, `js unhandled rejection: ${exceptionText(reason)}`);
    if (!this.#over && !this.#filters) {
      this.#fail();
    }
  }

  /** Somebody has come to a promise of the task's. */
  lookedAfter(promise: Promise<unknown>): void {
    this.#left?.delete(promise);
  }

  /** Runs code of the task's; what it throws ends the task. */
  guarded<T>(action: (of: T) => unknown, of: T): void {
    try {
      storage.run(this, action, of);
    } catch (error) {
      this.uncaught(error);
    }
  }

  /** Ends the task: nothing of it runs any more. */
  cancel(): void {
    this.#over = true;
    const left = this.#left;
    if (left !== undefined) {
      // What it is in the middle of may still come to them.
      setImmediate(() => this.#reportLeft(left));
    }
    this.#timers?.close();
    this.#timers = undefined;
    for (const close of this.#resources ?? []) {
      close();
    }
    this.#resources = undefined;
  }

  #reportLeft(left: ReadonlyMap<unknown, unknown>): void {
    for (const reason of left.values()) {
      this.owner.log(ERROR, `js unhandled rejection: ${exceptionText(reason)}`);
    }
  }

  /** Sets a timer that the task waits for. */
  startTimer(callback: (...args: unknown[]) => unknown, delay: number, args: readonly unknown[]): NodeJS.Timeout {
    this.hold();
    this.#timers ??= new ScriptTimers();
    return this.#timers.start(() => this.callback(() => callback(...args)), delay);
  }

  /** Takes a timer back; false if it is none of the task's. */
  stopTimer(timer: NodeJS.Timeout): boolean {
    if (this.#timers?.stop(timer) !== true) {
      return false;
    }
    this.release();
    return true;
  }
}

function takeRejection(reason: unknown, promise: Promise<unknown>): void {
  const task = storage.getStore();
  if (task === undefined) {
    throw reason;
  }
  const decided = (handled: boolean): void => {
    if (!handled) {
      task.rejected(reason, promise);
    }
    task.release();
  };
  if (isTooEarly(promise, task, decided)) {
    // Until that is known it does not go on: what it has decided so far may be to let somebody in.
    task.hold();
  } else {
    task.rejected(reason, promise);
  }
}

/** Whose rejected promises somebody may still look after. */
const leftBy = new WeakMap<Promise<unknown>, Task>();

function takeCare(promise: Promise<unknown>): void {
  lookedAfter(promise);
  leftBy.get(promise)?.lookedAfter(promise);
}

/** From now on a promise that a script leaves rejected costs the handler alone. Others are for whoever looks after the process. */
export function catchRejections(): void {
  if (!process.listeners('unhandledRejection').includes(takeRejection)) {
    process.on('unhandledRejection', takeRejection);
    process.on('rejectionHandled', takeCare);
  }
}

/**
 * Ends the task whose code has thrown what nobody caught, and with it the request or session that it belongs to. False: it was the code of
 * no task. `busy` is the request or session that the server itself works on at the moment.
 */
export function endFailedTask(error: unknown, busy: object | null): boolean {
  const task = storage.getStore();
  if (task === undefined || (busy !== null && busy !== task.owner.subject) || isOurs(error)) {
    return false;
  }
  task.uncaught(error);
  return true;
}

/** How frames name the server's own files, whatever the folder that it is installed in: a script's may be called like them. */
const OWN_FILES = ['program.js', 'js-isolate.js'].map((name) => `${fileURLToPath(new URL(name, import.meta.url))}:`);
const isOwn = (line: string): boolean => OWN_FILES.some((file) => line.includes(file));

/** Whether an exception comes from the server itself: none of its frames is a script's. */
function isOurs(error: unknown): boolean {
  const frames = stackOf(error)
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !line.includes('node:'));
  return frames.length > 0 && frames.every(isOwn);
}

/** Lines of a stack that are longer than this are no places in files. */
const LONGEST_FRAME = 1024;

/** An exception as the error log shows it: the message, the stack without Node's own frames and ours, and what it says of its causes. */
export function exceptionText(error: unknown): string {
  const stack = stackOf(error);
  // What a client has sent may stand in the message, and look like a place in a file.
  const message = messageOf(error);
  const at = stack.indexOf(message);
  const start = at === -1 ? 0 : at + message.length;
  const frames = stack.slice(start).split('\n').filter(isScripts).map(shownFrame);
  return stack.slice(0, start) + frames.join('\n') + causesOf(error);
}

/** How many causes of an exception are logged, each up to a length. */
const MOST_CAUSES = 3;
const LONGEST_CAUSE = 500;

/** The `cause` of an error, and that one's: without it, nobody knows why a `fetch failed`. */
function causesOf(error: unknown): string {
  let text = '';
  try {
    let { cause } = error as Error;
    for (let left = MOST_CAUSES; left > 0 && cause instanceof Error; left--) {
      text += `\n    caused by ${String(cause).slice(0, LONGEST_CAUSE)}`;
      ({ cause } = cause);
    }
  } catch {
    // Whoever made the error may do anything when it is asked.
  }
  return text;
}

const isScripts = (line: string): boolean =>
  line.length > LONGEST_FRAME || !/^\s+at /.test(line) || !(line.includes('node:') || isOwn(line));

function shownFrame(line: string): string {
  try {
    return line.length > LONGEST_FRAME ? line : mappedFrame(line);
  } catch {
    // A stack can be any text.
    return line;
  }
}

function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return '';
  }
}

let microtasks = false;

/**
 * From now on what a microtask throws is its task's: while Node tells the process of it, nobody knows any more whose it was. Once for a
 * process that has handlers.
 */
export function watchMicrotasks(): void {
  if (!microtasks) {
    microtasks = true;
    const { queueMicrotask } = globalThis;
    globalThis.queueMicrotask = (callback) => {
      const task = storage.getStore();
      queueMicrotask(
        task === undefined || typeof callback !== 'function'
          ? callback
          : () => task.guarded(callback as (of: undefined) => unknown, undefined),
      );
    };
  }
}
