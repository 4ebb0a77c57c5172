import { ERROR as ERR } from '../../shared/log/level.js';
import { exceptionText, type TaskOwner } from './task.js';
import { bytesOf } from './text.js';

/**
 * A variable's value that a handler gave it; undefined when it gave none. A promise comes too late for that, and the log says so.
 * nginx: ngx_http_js_variable_set.
 */
export function valueText(value: unknown, owner: TaskOwner, name: string): string | undefined {
  if (value instanceof Promise) {
    owner.log(ERR, `async operation inside "${name}" variable handler`);
    return undefined;
  }
  try {
    return value === undefined || value === null ? undefined : bytesOf(value);
  } catch (error) {
    // It has no text, or throws when it is asked for it.
    owner.log(ERR, `js exception: ${exceptionText(error)}`);
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
    throw new TypeError('prefix must be a string');
  }
  return jsVariables(table).filter((name) => name.startsWith(prefix ?? ''));
}
