class Entry<V> {
  newer: Entry<V> | undefined = undefined;
  older: Entry<V> | undefined = undefined;
  readonly key: string;
  value: V;
  weight: number;

  constructor(key: string, value: V, weight: number) {
    this.key = key;
    this.value = value;
    this.weight = weight;
  }
}

/**
 * A map that forgets the least recently used entries once their weights together pass the limit. With the default
 * weight of 1 the limit is a count; with sizes in bytes as weights it is a memory bound. Every operation is O(1).
 */
export class Lru<V> {
  /** The weights of all entries together, in the caller's unit. */
  weight = 0;
  readonly #limit: number;
  readonly #onEvict: ((key: string, value: V) => void) | undefined;
  readonly #entries = new Map<string, Entry<V>>();
  #newest: Entry<V> | undefined = undefined;
  #oldest: Entry<V> | undefined = undefined;

  /** `onEvict` is called for entries pushed out by the limit or replaced by set(), not for deleted ones. */
  constructor(limit: number, onEvict?: (key: string, value: V) => void) {
    this.#limit = limit;
    this.#onEvict = onEvict;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Returns the value and marks it as the most recently used one. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      return undefined;
    }
    if (entry !== this.#newest) {
      this.#unlink(entry);
      this.#link(entry);
    }
    return entry.value;
  }

  /** Returns the value without counting it as a use. */
  peek(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Stores a value as the most recently used one. One heavier than the whole limit is not kept: false. */
  set(key: string, value: V, weight = 1): boolean {
    const old = this.#entries.get(key);
    if (old !== undefined) {
      this.#remove(old);
      if (old.value !== value) {
        this.#onEvict?.(key, old.value);
      }
    }
    if (weight > this.#limit) {
      return false;
    }
    const entry = new Entry(key, value, weight);
    this.#entries.set(key, entry);
    this.#link(entry);
    this.weight += weight;
    while (this.weight > this.#limit) {
      const last = this.#oldest!;
      this.#remove(last);
      this.#onEvict?.(last.key, last.value);
    }
    return true;
  }

  /** Removes an entry and tells whether there was one. */
  delete(key: string): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      return false;
    }
    this.#remove(entry);
    return true;
  }

  /** Removes every entry, without calling onEvict. */
  clear(): void {
    this.#entries.clear();
    this.#newest = undefined;
    this.#oldest = undefined;
    this.weight = 0;
  }

  /** The key that would go first. */
  oldestKey(): string | undefined {
    return this.#oldest?.key;
  }

  #remove(entry: Entry<V>): void {
    this.#unlink(entry);
    this.#entries.delete(entry.key);
    this.weight -= entry.weight;
  }

  #link(entry: Entry<V>): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest === undefined) {
      this.#oldest = entry;
    } else {
      this.#newest.newer = entry;
    }
    this.#newest = entry;
  }

  #unlink(entry: Entry<V>): void {
    if (entry.newer === undefined) {
      this.#newest = entry.older;
    } else {
      entry.newer.older = entry.older;
    }
    if (entry.older === undefined) {
      this.#oldest = entry.newer;
    } else {
      entry.older.newer = entry.newer;
    }
  }
}
