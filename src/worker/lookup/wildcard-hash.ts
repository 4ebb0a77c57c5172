import { lowerAscii } from '../text/ascii-case.js';

/**
 * The outcome of adding a key: 'conflict' when the same key is there already (the first one stays, nginx: NGX_BUSY),
 * 'invalid' when a wildcard stands where none may or the name has two adjacent dots (nginx: NGX_DECLINED).
 * The caller words it: `conflicting server name "K" on ADDR, ignored` is a warning and
 * `invalid server name or wildcard "K" on ADDR` an error for server_name, while map fails with
 * `conflicting parameter "K"` and `invalid hostname or wildcard "K"`.
 */
export type AddResult = 'ok' | 'conflict' | 'invalid';

class Label<V> {
  children: Map<string, Label<V>> | undefined = undefined;
  /** What the name ending at this label gets: set by `.example.com` only. */
  here: V | undefined = undefined;
  /** What longer names get: set by `*.example.com`, `.example.com` and `mail.*`. */
  below: V | undefined = undefined;

  child(label: string): Label<V> {
    this.children ??= new Map();
    let node = this.children.get(label);
    if (node === undefined) {
      node = new Label();
      this.children.set(label, node);
    }
    return node;
  }
}

/**
 * Looks names up among exact ones (`example.com`), leading wildcards (`*.example.com`, or `.example.com`, which
 * includes the bare name) and trailing wildcards (`mail.*`), in this order of preference; among wildcards of one kind
 * the longest wins. A lookup takes one step per label of the name, however many keys there are
 * (nginx: ngx_hash_find_combined). Values must not be undefined.
 */
export class WildcardHash<V> {
  /** Number of keys that were added without a conflict. */
  size = 0;
  readonly #exact = new Map<string, V>();
  readonly #leading = new Label<V>();
  readonly #trailing = new Label<V>();
  #hasLeading = false;
  #hasTrailing = false;
  /** Keys taken, as nginx's three conflict tables see them, beside the exact ones: a `.x` key takes `x` both as exact and as leading. */
  readonly #takenByDot = new Set<string>();
  readonly #takenLeading = new Set<string>();
  readonly #takenTrailing = new Set<string>();

  /** Adds a key in any case; with `wildcards` off a `*` or a leading dot has no meaning (nginx: ngx_hash_add_key). */
  add(key: string, value: V, wildcards: boolean): AddResult {
    const name = lowerAscii(key);
    if (wildcards) {
      const star = name.indexOf('*');
      if ((star >= 0 && name.indexOf('*', star + 1) > 0) || name.includes('..') || name.includes('\0')) {
        return 'invalid';
      }
      if (name.length > 1 && name.startsWith('.')) {
        return this.#addLeading(name.slice(1), value, true);
      }
      if (name.length > 2 && name.startsWith('*.')) {
        return this.#addLeading(name.slice(2), value, false);
      }
      if (name.length > 2 && name.endsWith('.*')) {
        return this.#addTrailing(name.slice(0, -2), value);
      }
      if (star >= 0) {
        return 'invalid';
      }
    }
    if (this.#isTaken(name)) {
      return 'conflict';
    }
    this.#exact.set(name, value);
    this.size++;
    return 'ok';
  }

  /** Finds the value for a name that is lower-case already. */
  find(name: string): V | undefined {
    const exact = this.#exact.get(name);
    if (exact !== undefined || name === '') {
      return exact;
    }
    if (this.#hasLeading) {
      const found = this.#findLeading(name);
      if (found !== undefined) {
        return found;
      }
    }
    return this.#hasTrailing ? this.#findTrailing(name) : undefined;
  }

  #isTaken(name: string): boolean {
    return this.#exact.has(name) || (this.#takenByDot.size > 0 && this.#takenByDot.has(name));
  }

  #addLeading(name: string, value: V, includesName: boolean): AddResult {
    if (includesName) {
      if (this.#isTaken(name)) {
        return 'conflict';
      }
      this.#takenByDot.add(name);
    }
    if (this.#takenLeading.has(name)) {
      return 'conflict';
    }
    this.#takenLeading.add(name);
    let node = this.#leading;
    for (const label of name.split('.').reverse()) {
      node = node.child(label);
    }
    node.below = value;
    if (includesName) {
      node.here = value;
    }
    this.#hasLeading = true;
    this.size++;
    return 'ok';
  }

  #addTrailing(name: string, value: V): AddResult {
    if (this.#takenTrailing.has(name)) {
      return 'conflict';
    }
    this.#takenTrailing.add(name);
    let node = this.#trailing;
    for (const label of name.split('.')) {
      node = node.child(label);
    }
    node.below = value;
    this.#hasTrailing = true;
    this.size++;
    return 'ok';
  }

  #findLeading(name: string): V | undefined {
    let best: V | undefined;
    let node = this.#leading;
    let end = name.length;
    for (;;) {
      const dot = end > 0 ? name.lastIndexOf('.', end - 1) : -1;
      const next = node.children?.get(name.slice(dot + 1, end));
      if (next === undefined) {
        return best;
      }
      if (dot < 0) {
        return next.here ?? best;
      }
      best = next.below ?? best;
      node = next;
      end = dot;
    }
  }

  #findTrailing(name: string): V | undefined {
    let best: V | undefined;
    let node = this.#trailing;
    let start = 0;
    for (;;) {
      const dot = name.indexOf('.', start);
      if (dot < 0) {
        return best;
      }
      const next = node.children?.get(name.slice(start, dot));
      if (next === undefined) {
        return best;
      }
      best = next.below ?? best;
      node = next;
      start = dot + 1;
    }
  }
}
