import type { webcrypto } from 'node:crypto';
import { types } from 'node:util';
import type { Level } from '../../shared/log/level.js';
import { exceptionText, type TaskOwner } from './task.js';

/** How deep a value is shown. */
const DEEPEST = 16;
/** More blanks than this are no indentation. */
const MOST_INDENT = 10;

/** How a value is shown: the objects around it, and the blanks by which its members stand further in. */
interface Place {
  readonly around: readonly object[];
  readonly indent: number;
}

/** A value as njs shows it: `{a:['B',1]}`. Texts at the top are shown as they are. nginx: njs_vm_value_dump. */
export function dump(value: unknown, indent: unknown = 0): string {
  const blanks = typeof indent === 'number' && indent > 0 ? Math.min(Math.trunc(indent), MOST_INDENT) : 0;
  return typeof value === 'string' ? value : shown(value, { around: [], indent: blanks });
}

/** Writes what a script says to the log: as in njs, each value in a line of its own. */
export function say(owner: TaskOwner, level: Level, values: readonly unknown[]): void {
  for (const value of values) {
    owner.log(level, `js: ${dump(value)}`);
  }
}

function shown(value: unknown, place: Place): string {
  switch (typeof value) {
    case 'string':
      return quoted(value);
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'bigint':
      return `${value}n`;
    case 'function':
      return value.name === '' ? '[Function]' : `[Function: ${value.name}]`;
    case 'object':
      return value === null ? 'null' : shownObject(value, place);
    default:
      return String(value);
  }
}

const ESCAPED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const quoted = (text: string): string => `'${text.replace(/[\n\r\t]/g, (c) => ESCAPED[c]!)}'`;

function shownObject(value: object, { around, indent }: Place): string {
  if (around.includes(value)) {
    return '[Circular]';
  }
  if (around.length >= DEEPEST) {
    return Array.isArray(value) ? '[Array]' : '[Object]';
  }
  if (value instanceof Error) {
    return exceptionText(value);
  }
  if (value instanceof RegExp) {
    return String(value);
  }
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  }
  if (value instanceof Promise) {
    return 'Promise {}';
  }
  if (value instanceof String || value instanceof Number || value instanceof Boolean) {
    return `[${value.constructor.name}: ${shown(value.valueOf(), { around, indent })}]`;
  }
  const inside = { around: [...around, value], indent };
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return `${value.constructor.name} ${list([...(value as Uint8Array)].map(String), '[]', inside)}`;
  }
  if (value instanceof ArrayBuffer) {
    return `ArrayBuffer ${list([...new Uint8Array(value)].map(String), '[]', inside)}`;
  }
  if (Array.isArray(value)) {
    const items: string[] = [];
    for (let i = 0; i < value.length; i++) {
      items.push(i in value ? shown(value[i], inside) : '<empty>');
    }
    return list(items, '[]', inside);
  }
  const colon = indent === 0 ? ':' : ': ';
  const own = members(value).map(([name, one]) => `${name}${colon}${one === GETTER ? "'[Getter]'" : shown(one, inside)}`);
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1);
  return `${tag === 'Object' ? '' : `${tag} `}${list(own, '{}', inside)}`;
}

function list(items: readonly string[], [open, close]: string, { around, indent }: Place): string {
  if (indent === 0 || items.length === 0) {
    return `${open}${items.join(',')}${close}`;
  }
  const line = `\n${' '.repeat(indent * around.length)}`;
  return `${open}${items.map((item) => `${line}${item}`).join(',')}\n${' '.repeat(indent * (around.length - 1))}${close}`;
}

/** What objects of the server show of themselves instead of their properties. */
export const SHOWN: unique symbol = Symbol('shown');

const GETTER = Symbol('getter');

const keyMembers = ({ algorithm, extractable, type, usages }: webcrypto.CryptoKey): object => ({ algorithm, extractable, type, usages });

function members(value: object): [string, unknown][] {
  const own = types.isCryptoKey(value) ? keyMembers(value) : (value as { [SHOWN]?: () => object })[SHOWN]?.();
  if (own !== undefined) {
    return Object.entries(own);
  }
  return Object.keys(value).map((name) => {
    const member = Object.getOwnPropertyDescriptor(value, name);
    return [name, member?.get === undefined ? member?.value : GETTER];
  });
}
