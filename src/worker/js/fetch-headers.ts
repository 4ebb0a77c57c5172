/** One header of a {@link FetchHeaders}. */
interface Entry {
  readonly name: string;
  readonly lower: string;
  value: string;
}

interface State {
  entries: Entry[];
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

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const BAD_VALUE = /[\x00-\x08\x0a-\x1f\x7f]/;

/** What a Headers object can be made of: another one (of Node too), pairs, or an object. */
export type HeadersSource = FetchHeaders | Headers | readonly (readonly [unknown, unknown])[] | Readonly<Record<string, unknown>>;

/**
 * `Headers` of scripts. Beside the methods of the Fetch standard it has `getAll`, and headers are properties too, as in njs. nginx:
 * ngx_qjs_fetch_headers_ctor.
 */
export class FetchHeaders {
  constructor(source?: unknown) {
    const state: State = { entries: [], fixed: false };
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
    modify(this, String(name), String(value), false);
  }

  set(name: unknown, value: unknown): void {
    modify(this, String(name), String(value), true);
  }

  delete(name: unknown): void {
    const state = stateOf(this);
    check(state, String(name), '');
    const lower = String(name).toLowerCase();
    state.entries = state.entries.filter((entry) => entry.lower !== lower);
  }

  get(name: unknown): string | null {
    return find(this, String(name)) ?? null;
  }

  getAll(name: unknown): string[] {
    const lower = String(name).toLowerCase();
    return stateOf(this)
      .entries.filter((entry) => entry.lower === lower)
      .map(({ value }) => value);
  }

  has(name: unknown): boolean {
    return find(this, String(name)) !== undefined;
  }

  getSetCookie(): string[] {
    return this.getAll('set-cookie');
  }

  forEach(callback: (value: string, name: string, headers: FetchHeaders) => void): void {
    if (typeof callback !== 'function') {
      throw new TypeError('"callback" is not a function');
    }
    for (const name of names(this)) {
      callback(this.get(name)!, name, this);
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
export function headerLines(headers: FetchHeaders): readonly (readonly [name: string, value: string])[] {
  return stateOf(headers).entries.map(({ name, value }) => [name, value]);
}

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
  const value = given.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
  check(state, name, value);
  const lower = name.toLowerCase();
  const first = replace ? state.entries.find((entry) => entry.lower === lower) : undefined;
  if (first === undefined) {
    state.entries.push({ name, lower, value });
    return;
  }
  first.value = value;
  state.entries = state.entries.filter((entry) => entry === first || entry.lower !== lower);
}

function find(headers: object, name: string): string | undefined {
  const lower = name.toLowerCase();
  let value: string | undefined;
  for (const entry of stateOf(headers).entries) {
    if (entry.lower === lower) {
      value = value === undefined ? entry.value : `${value}, ${entry.value}`;
    }
  }
  return value;
}

/** Each name once, sorted. */
function names(headers: object): string[] {
  const seen = new Set<string>();
  const all = stateOf(headers).entries.filter(({ lower }) => !seen.has(lower) && seen.add(lower));
  return all.map(({ name }) => name).sort();
}

function fill(headers: FetchHeaders, source: object): void {
  if (states.has(source)) {
    for (const [name, value] of headerLines(source as FetchHeaders)) {
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
  get: (target, name, view) => (typeof name === 'symbol' || name in target ? Reflect.get(target, name, view) : find(target, name)),
  has: (target, name) => name in target || (typeof name === 'string' && find(target, name) !== undefined),
  ownKeys: (target) => names(target),
  getOwnPropertyDescriptor(target, name) {
    const value = typeof name === 'string' ? find(target, name) : undefined;
    return value === undefined ? undefined : { value, enumerable: true, configurable: true, writable: false };
  },
};
