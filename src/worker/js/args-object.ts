import { unescape as unescapeBytes } from 'node:querystring';
import { textOf } from './text.js';

/** `r.args`: the arguments by name, decoded; a name that stands several times has an array. nginx: njs_query_string_parse. */
export function argsObject(args: string): object {
  const result: Record<string, string | string[]> = Object.create(null);
  for (const part of args.split('&')) {
    if (part === '') {
      continue;
    }
    const equals = part.indexOf('=');
    const name = decoded(equals === -1 ? part : part.slice(0, equals));
    const value = equals === -1 ? '' : decoded(part.slice(equals + 1));
    const before = result[name];
    result[name] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value];
  }
  return result;
}

/** Percent signs and plus signs taken off; bytes that are no UTF-8 are replaced. */
export const decoded = (text: string): string => unescapeBytes(textOf(text.replace(/\+/g, ' ')));
