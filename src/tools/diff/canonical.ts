/** So deep a value is looked into; what is deeper counts as not comparable. */
const DEPTH = 8;
/** How many parts of a value are looked at, for the same reason. */
const MOST = 20_000;

/** A setting in a form that can be compared. */
export interface Canonical {
  readonly text: string;
  /** Some part cannot be compared, such as a function: the text may be equal although the values are not. */
  readonly opaque: boolean;
}

/**
 * Puts a merged setting into a text that is equal for equal values: whatever was written for it, and wherever. Texts with variables and
 * regular expressions stand for themselves, places in files for nothing.
 */
export function canonical(value: unknown): Canonical {
  const writer = new Writer();
  const text = writer.write(value, 0);
  return { text, opaque: writer.opaque };
}

class Writer {
  opaque = false;
  #parts = 0;
  readonly #open = new Set<object>();

  write(value: unknown, depth: number): string {
    if (typeof value === 'string') {
      // Settings that explain themselves to a person say where they stand.
      return JSON.stringify(value.replace(/ in \S+:\d+$/, ''));
    }
    if (typeof value !== 'object' || value === null) {
      if (typeof value === 'function' || typeof value === 'symbol') {
        this.opaque = true;
        return 'function';
      }
      return String(value);
    }
    if (depth > DEPTH || ++this.#parts > MOST || this.#open.has(value)) {
      this.opaque = true;
      return 'deep';
    }
    this.#open.add(value);
    const text = this.#object(value, depth + 1);
    this.#open.delete(value);
    return text;
  }

  #object(value: object, depth: number): string {
    if (Array.isArray(value)) {
      return `[${value.map((item) => this.write(item, depth)).join()}]`;
    }
    if (value instanceof Map) {
      return `{${[...value]
        .map(([key, item]) => `${this.write(key, depth)}:${this.write(item, depth)}`)
        .sort()
        .join()}}`;
    }
    if (value instanceof Set) {
      return `<${[...value]
        .map((item) => this.write(item, depth))
        .sort()
        .join()}>`;
    }
    if (value instanceof Uint8Array) {
      return `bytes ${Buffer.from(value).toString('hex')}`;
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) {
      // Its private fields cannot be seen.
      this.opaque = true;
      return 'instance';
    }
    if (isTextWithVariables(value)) {
      return JSON.stringify(value.text);
    }
    const fields = Object.entries(value).filter(([name, item]) => name !== 'pos' && !isPlace(item));
    return `{${fields
      .map(([name, item]) => `${name}:${this.write(item, depth)}`)
      .sort()
      .join()}}`;
  }
}

/** shared/value's ComplexValue, which is what its text is. */
function isTextWithVariables(value: object): value is { readonly text: string } {
  return 'eval' in value && 'constant' in value && 'text' in value && typeof value.text === 'string';
}

/** A `Pos`, or a directive with its place. */
const isPlace = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (('file' in value && 'line' in value && 'column' in value) || ('endLine' in value && 'args' in value));
