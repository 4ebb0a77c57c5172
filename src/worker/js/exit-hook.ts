import { ERROR, type Level } from '../../shared/log/level.js';
import type { FetchScope } from './fetch-settings.js';
import { currentTask, exceptionText, Task, type TaskOwner } from './task.js';
import { stateOf } from './task-state.js';

type ExitCallback = () => unknown;

/** What is called at the end of each request or session. */
const exits = new WeakMap<object, { callback: ExitCallback | null }>();

/** What the modules have hooked on as they were loaded, by what they export: a module is loaded once for all that import it. */
const moduleExits = new WeakMap<object, ExitCallback>();

/** Whose code runs while a module is loaded. */
export class ModuleOwner implements TaskOwner {
  readonly #log: TaskOwner;
  /** What the module wants to be called at the end of each request or session that runs its functions. */
  exit: ExitCallback | null = null;

  constructor(log: TaskOwner) {
    this.#log = log;
  }

  get fetchScope(): FetchScope | undefined {
    return this.#log.fetchScope;
  }

  log(level: Level, message: string): void {
    this.#log.log(level, message);
  }

  /** `exports` is what the module gives, which was loaded now or before. Returns what it wants to be called at the end. */
  loaded(exports: unknown): ExitCallback | undefined {
    if ((typeof exports !== 'object' && typeof exports !== 'function') || exports === null) {
      return this.exit ?? undefined;
    }
    if (this.exit !== null) {
      moduleExits.set(exports, this.exit);
    }
    return moduleExits.get(exports);
  }
}

/** `njs.on`: has a function called when the request or session is over, the last one that it is given. nginx: njs_ext_on. */
export function onEvent(event: unknown, callback: unknown): void {
  if (typeof event !== 'string') {
    throw new TypeError('hook type is not a string');
  }
  if (event !== 'exit') {
    throw new TypeError(`unknown hook type "${event}"`);
  }
  if (callback !== null && typeof callback !== 'function') {
    throw new TypeError('callback is not a function or null');
  }
  const owner = currentTask()?.owner;
  if (owner instanceof ModuleOwner) {
    owner.exit = callback as ExitCallback | null;
  } else if (owner?.subject !== undefined) {
    setExit(owner, owner.subject, callback as ExitCallback | null);
  }
}

/** The request or session whose code runs now ends with `callback`, unless it has said otherwise. */
export function exitWith(callback: ExitCallback): void {
  const owner = currentTask()?.owner;
  if (owner?.subject !== undefined && !exits.has(stateOf(owner.subject))) {
    setExit(owner, owner.subject, callback);
  }
}

function setExit(owner: TaskOwner, subject: NonNullable<TaskOwner['subject']>, callback: ExitCallback | null): void {
  const state = stateOf(subject);
  const known = exits.get(state);
  if (known !== undefined) {
    known.callback = callback;
    return;
  }
  const exit = { callback };
  exits.set(state, exit);
  subject.onFinish(() => {
    const task = new Task(owner, { settled() {}, failed() {} });
    try {
      task.within(() => exit.callback?.call(undefined));
    } catch (error) {
      owner.log(ERROR, `js exit hook exception: ${exceptionText(error)}`);
    }
    // What its promises put off still runs; timers do not.
    task.cancel();
  });
}
