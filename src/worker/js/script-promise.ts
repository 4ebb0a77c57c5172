import { types } from 'node:util';

/** Whether a value that went through {@link settling} is waited for. */
export const isPromise = (value: unknown): value is Promise<unknown> => types.isPromise(value);

/** Whether asking it runs no code of a script's. */
const isPlainPromise = (value: object): boolean =>
  types.isPromise(value) &&
  Object.getPrototypeOf(value) === Promise.prototype &&
  !Object.hasOwn(value, 'then') &&
  !Object.hasOwn(value, 'constructor');

/**
 * What a function of a script's has returned: a plain promise for everything that has a `then`, the value itself for all else. That `then`
 * is the script's own: here it runs as code of the task that runs now, and what it throws rejects the promise.
 */
export function settling(value: unknown): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || isPlainPromise(value)) {
    return value;
  }
  try {
    if (typeof (value as { readonly then?: unknown }).then !== 'function') {
      return value;
    }
  } catch (error) {
    return Promise.reject(error);
  }
  return new Promise((settle) => {
    settle(value);
  });
}

/** Runs a function of a script's. */
export const outcomeOf = <T>(action: (of: T) => unknown, of: T): unknown => settling(action(of));
