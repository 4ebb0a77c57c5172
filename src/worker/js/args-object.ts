import { unescape as unescapeBytes } from 'node:querystring';
import { nativeText } from '../../shared/text/native-text.js';

/** Arguments that are read; those behind them are not there. */
const MOST = 1000;

/** `r.args`: the arguments by name, decoded; a name that stands several times has an array. nginx: njs_query_string_parse. */
export function argsObject(args: string): object {
  const values = new Map<string, string | string[]>();
  let at = 0;
  for (let count = 0; count < MOST && at <= args.length; count++) {
    const and = args.indexOf('&', at);
    const end = and === -1 ? args.length : and;
    if (end > at) {
      add(values, args.slice(at, end));
    }
    at = end + 1;
  }
  // As properties of its own, whatever their names are.
  return Object.fromEntries(values);
}

function add(values: Map<string, string | string[]>, part: string): void {
  const equals = part.indexOf('=');
  const name = decoded(equals === -1 ? part : part.slice(0, equals));
  const value = equals === -1 ? '' : decoded(part.slice(equals + 1));
  const before = values.get(name);
  if (before === undefined) {
    values.set(name, value);
  } else if (Array.isArray(before)) {
    before.push(value);
  } else {
    values.set(name, [before, value]);
  }
}

/** Percent signs and plus signs taken off; bytes that are no UTF-8 are replaced. */
export const decoded = (text: string): string => unescapeBytes(nativeText(text.replace(/\+/g, ' ')));
