import { TOKEN } from '../http/syntax/token.js';
import { isBlank, trimmed } from '../text/trimmed.js';
import { currentTask } from './task.js';
import { givenText } from './text.js';

/** One line of a {@link FetchHeaders}. */
export interface FetchHeaderLine {
  readonly name: string;
  readonly lower: string;
  value: string;
}

/** The lines of one name; {@link value} is what they say together. */
interface Group {
  readonly name: string;
  value: string;
  readonly lines: FetchHeaderLine[];
}

/** Each change costs as much as the lines that it changes, however many there are. */
interface State {
  /** All lines as they were added. */
  readonly entries: Set<FetchHeaderLine>;
  /** The lines by their name in lower case. */
  readonly groups: Map<string, Group>;
  fixed: boolean;
}

const states = new WeakMap<object, State>();

function stateOf(headers: object): State {
  const state = states.get(headers);
  if (state === undefined) {
    throw new TypeError('"this" is not a Headers object');
  }
  return state;
}

const BAD_VALUE = /[\x00-\x08\x0a-\x1f\x7f]/;

/** What a Headers object can be made of: another one (of Node too), pairs, or an object. */
export type HeadersSource = FetchHeaders | Headers | readonly (readonly [unknown, unknown])[] | Readonly<Record<string, unknown>>;

/**
 * `Headers` of scripts. Beside the methods of the Fetch standard it has `getAll`, and headers are properties too, as in njs. nginx:
 * ngx_qjs_fetch_headers_ctor.
 */
export class FetchHeaders {
  constructor(source?: unknown) {
    const state: State = { entries: new Set(), groups: new Map(), fixed: false };
    const view = new Proxy(this, AS_PROPERTIES);
    states.set(this, state);
    states.set(view, state);
    if (typeof source === 'object' && source !== null) {
      fill(view, source);
    }
    // biome-ignore lint/correctness/noConstructorReturn: what scripts get is the object with headers as properties
    return view;
  }

  append(name: unknown, value: unknown): void {
    modify(this, givenText(name), givenText(value), false);
  }

  set(name: unknown, value: unknown): void {
    modify(this, givenText(name), givenText(value), true);
  }

  delete(name: unknown): void {
    const state = stateOf(this);
    const given = givenText(name);
    check(state, given, '');
    const lower = given.toLowerCase();
    for (const line of state.groups.get(lower)?.lines ?? []) {
      state.entries.delete(line);
    }
    state.groups.delete(lower);
  }

  get(name: unknown): string | null {
    return find(this, givenText(name)) ?? null;
  }

  getAll(name: unknown): string[] {
    const lines = stateOf(this).groups.get(givenText(name).toLowerCase())?.lines ?? [];
    return lines.map(({ value }) => value);
  }

  has(name: unknown): boolean {
    return find(this, givenText(name)) !== undefined;
  }

  getSetCookie(): string[] {
    return this.getAll('set-cookie');
  }

  /** In handlers of njs the name comes first, as there; elsewhere the value does, as in the web's. */
  forEach(callback: (first: string, second: string, headers?: FetchHeaders) => void): void {
    if (typeof callback !== 'function') {
      throw new TypeError('"callback" is not a function');
    }
    const njs = currentTask()?.owner.njs === true;
    for (const name of names(this)) {
      if (njs) {
        callback(name, this.get(name)!);
      } else {
        callback(this.get(name)!, name, this);
      }
    }
  }

  entries(): IterableIterator<[string, string]> {
    return names(this)
      .map((name): [string, string] => [name, this.get(name)!])
      .values();
  }

  keys(): IterableIterator<string> {
    return names(this).values();
  }

  values(): IterableIterator<string> {
    return names(this)
      .map((name) => this.get(name)!)
      .values();
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }

  get [Symbol.toStringTag](): string {
    return 'Headers';
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    return (typeof value === 'object' && value !== null && states.has(value)) || value instanceof globalThis.Headers;
  }
}

/** Headers in the order in which they were added, each with its own line. */
export const headerLines = (headers: FetchHeaders): readonly FetchHeaderLine[] => [...stateOf(headers).entries];

/** Nothing changes any more: they came with a response. */
export function fixHeaders(headers: FetchHeaders): void {
  stateOf(headers).fixed = true;
}

function check(state: State, name: string, value: string): void {
  if (!TOKEN.test(name)) {
    throw new TypeError('invalid header name');
  }
  if (BAD_VALUE.test(value)) {
    throw new TypeError('invalid header value');
  }
  if (state.fixed) {
    throw new TypeError('cannot modify immutable object');
  }
}

// nginx: ngx_js_headers_modify.
function modify(headers: FetchHeaders, name: string, given: string, replace: boolean): void {
  const state = stateOf(headers);
  const value = trimmed(given, isBlank);
  check(state, name, value);
  const lower = name.toLowerCase();
  const group = state.groups.get(lower);
  if (group !== undefined && replace) {
    const [first, ...others] = group.lines;
    for (const line of others) {
      state.entries.delete(line);
    }
    first!.value = value;
    group.value = value;
    group.lines.length = 1;
    return;
  }
  const line = { name, lower, value };
  state.entries.add(line);
  if (group === undefined) {
    state.groups.set(lower, { name, value, lines: [line] });
  } else {
    group.value += `, ${value}`;
    group.lines.push(line);
  }
}

const find = (headers: object, name: string): string | undefined => stateOf(headers).groups.get(name.toLowerCase())?.value;

/** Each name once, sorted. */
const names = (headers: object): string[] => [...stateOf(headers).groups.values()].map(({ name }) => name).sort();

function fill(headers: FetchHeaders, source: object): void {
  if (states.has(source)) {
    for (const { name, value } of headerLines(source as FetchHeaders)) {
      headers.append(name, value);
    }
    return;
  }
  const pairs = Array.isArray(source)
    ? (source as readonly unknown[])
    : source instanceof globalThis.Headers
      ? [...source]
      : Object.entries(source);
  for (const pair of pairs) {
    if (!Array.isArray(pair) || pair.length !== 2) {
      throw new TypeError('header does not contain exactly two items');
    }
    headers.append(pair[0], pair[1]);
  }
}

const AS_PROPERTIES: ProxyHandler<FetchHeaders> = {
  get(target, name, view) {
    // A header of this name would otherwise give its object's prototype to what `Object.assign` copies to.
    const shown = typeof name === 'string' && (name === '__proto__' || !(name in target)) ? find(target, name) : undefined;
    return shown ?? (Reflect.get(target, name, view) as unknown);
  },
  has: (target, name) => name in target || (typeof name === 'string' && find(target, name) !== undefined),
  ownKeys: (target) => names(target),
  set: () => false,
  getOwnPropertyDescriptor(target, name) {
    const value = typeof name === 'string' ? find(target, name) : undefined;
    return value === undefined ? undefined : { value, enumerable: true, configurable: true, writable: false };
  },
};
