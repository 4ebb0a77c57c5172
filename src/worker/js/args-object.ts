import { unescape as unescapeBytes } from 'node:querystring';
import { textOf } from './text.js';

/** Arguments that are read; those behind them are not there. */
const MOST = 1000;

/** `r.args`: the arguments by name, decoded; a name that stands several times has an array. nginx: njs_query_string_parse. */
export function argsObject(args: string): object {
  const result: Record<string, string | string[]> = {};
  let at = 0;
  for (let count = 0; count < MOST && at <= args.length; count++) {
    const and = args.indexOf('&', at);
    const end = and === -1 ? args.length : and;
    if (end > at) {
      add(result, args.slice(at, end));
    }
    at = end + 1;
  }
  return result;
}

function add(result: Record<string, string | string[]>, part: string): void {
  const equals = part.indexOf('=');
  const name = decoded(equals === -1 ? part : part.slice(0, equals));
  const value = equals === -1 ? '' : decoded(part.slice(equals + 1));
  if (name === '__proto__') {
    addProto(result, value);
    return;
  }
  const before = Object.hasOwn(result, name) ? result[name] : undefined;
  if (before === undefined) {
    result[name] = value;
  } else if (Array.isArray(before)) {
    before.push(value);
  } else {
    result[name] = [before, value];
  }
}

/** The one name that an object takes for something else. */
function addProto(result: object, value: string): void {
  const before = Object.getOwnPropertyDescriptor(result, '__proto__')?.value as string | string[] | undefined;
  Object.defineProperty(result, '__proto__', {
    value: before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value],
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/** Percent signs and plus signs taken off; bytes that are no UTF-8 are replaced. */
export const decoded = (text: string): string => unescapeBytes(textOf(text.replace(/\+/g, ' ')));
