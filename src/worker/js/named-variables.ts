import { nativeText } from '../../shared/text/native-text.js';
import type { ClientTask } from '../task/client-task.js';
import { namedValues } from './header-objects.js';
import { bytesOf } from './text.js';

/** What a group of the last pattern has caught: nothing at all where it took no part but one behind it did. */
function captured(captures: readonly (string | undefined)[] | null, group: number): string | undefined {
  const value = captures?.[group];
  return value === undefined && captures !== null && captures.findLastIndex((other) => other !== undefined) > group ? '' : value;
}

/** The value of a variable by its name, or of a capture by its number. */
function read(task: ClientTask, name: string): string | undefined {
  if (/^\d+$/.test(name)) {
    return captured(task.captures, Number(name));
  }
  try {
    return task.protocol.variables.named(task, name.toLowerCase());
  } catch (error) {
    // Some ask what only a client's request or session can tell.
    if (task.connection.id === 0) {
      return undefined;
    }
    throw error;
  }
}

// nginx: ngx_http_js_ext_set_variable.
function write(task: ClientTask, name: string, value: unknown): void {
  const wrong = task.protocol.variables.override(task, name.toLowerCase(), bytesOf(value));
  if (wrong !== undefined) {
    throw new TypeError(wrong === 'unknown' ? 'variable not found' : 'variable is not writable');
  }
}

/** `r.variables` and `s.variables`. As in njs, they are there for those who know their names: to go through them would compute them all. */
export const variablesOf = (task: ClientTask): object =>
  namedValues(
    (name) => {
      const value = read(task, name);
      return value === undefined ? undefined : nativeText(value);
    },
    undefined,
    (name, value) => write(task, name, value),
  );

/** The variables' values as bytes. */
export const rawVariablesOf = (task: ClientTask): object =>
  namedValues(
    (name) => {
      const value = read(task, name);
      return value === undefined ? undefined : Buffer.from(value, 'latin1');
    },
    undefined,
    (name, value) => write(task, name, value),
  );
