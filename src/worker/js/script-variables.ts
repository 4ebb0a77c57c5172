import { ERROR } from '../../shared/log/level.js';
import { exceptionText, Task, type TaskOwner } from './task.js';
import { bytesOf } from './text.js';

/** What asks for a value, and is told it by `setReturnValue`. */
export interface ValueOwner {
  returnValue: unknown;
}

/** What `returnValue` is while nobody has set it. */
const UNSET = Symbol('unset');

/**
 * The value that a function gives a variable, empty for none; undefined when it failed or comes too late, of which the log says more. What
 * is set while the function runs counts less than what it returns, and what its promises set counts more. nginx: ngx_http_js_variable_set.
 */
export function variableValue(task: Task, of: ValueOwner, run: () => unknown, name: string): string | undefined {
  let before: unknown = UNSET;
  let set: unknown = UNSET;
  let waited = false;
  of.returnValue = UNSET;
  const { late, value } = task.runForValue(run, () => {
    waited = true;
    before = of.returnValue;
    of.returnValue = UNSET;
  });
  if (task.failed) {
    return undefined;
  }
  if (waited) {
    set = of.returnValue;
  }
  if (late && (task.busy || before === UNSET)) {
    task.owner.log(ERROR, `async operation inside "${name}" variable handler`);
    return undefined;
  }
  return valueText(set === UNSET ? (late ? before : value) : set, task.owner);
}

/** What a function returns at once; undefined when it failed or waits for something, of which the log says more. */
export function chosenAtOnce(owner: TaskOwner, run: () => unknown, name: string): unknown {
  const task = new Task(owner, { settled() {}, failed() {} }, true);
  const { late, value } = task.runForValue(run, nothing);
  if (late) {
    task.cancel();
    owner.log(ERROR, `async operation inside "${name}"`);
    return undefined;
  }
  return task.failed ? undefined : value;
}

const nothing = (): void => {};

function valueText(value: unknown, owner: TaskOwner): string | undefined {
  try {
    return bytesOf(value);
  } catch (error) {
    // It has no text, or throws when it is asked for it.
    owner.log(ERROR, `js exception: ${exceptionText(error)}`);
    return undefined;
  }
}

const declared = new WeakMap<object, string[]>();

/** The names that `js_var` has given in the configuration that a table of variables belongs to; to be added to while that is read. */
export function jsVariables(table: object): string[] {
  let names = declared.get(table);
  if (names === undefined) {
    names = [];
    declared.set(table, names);
  }
  return names;
}

/** The names of `js_var` that begin so. @throws TypeError for a prefix that is no text. */
export function jsVariableNames(table: object, prefix: unknown): string[] {
  if (prefix !== undefined && typeof prefix !== 'string') {
    throw new TypeError('"prefix" must be a string');
  }
  return [...new Set(jsVariables(table))].filter((name) => name.startsWith(prefix ?? ''));
}
