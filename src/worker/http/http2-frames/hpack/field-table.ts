import { Field, FieldName } from '../../fields/field.js';
import { STATIC_COUNT, STATIC_FIELDS } from './static-table.js';

const names = new Map<string, FieldName>();
const staticFields: readonly Field[] = STATIC_FIELDS.map(([name, value]) => {
  let shared = names.get(name);
  if (shared === undefined) {
    names.set(name, (shared = new FieldName(name)));
  }
  return new Field(shared, value);
});

/** What a table may hold that its owner said nothing else of, in bytes. */
export const DEFAULT_TABLE_SIZE = 4096;

/** The decoder's table: what both sides know, and behind it what was said before, the latest first. nginx: ngx_http_v2_table.c. */
export class FieldTable {
  /** A ring: the latest entry is before `#next`. It grows when it is full, up to 128 entries, as many as fit into the greatest size. */
  #ring: (Field | undefined)[] = [];
  #next = 0;
  #count = 0;
  #size = 0;
  /** What its owner allowed, and what the other side makes use of. */
  readonly #allowed: number;
  #limit: number;

  constructor(allowed: number = DEFAULT_TABLE_SIZE) {
    this.#allowed = allowed;
    this.#limit = allowed;
  }

  /** How many bytes the entries count for. */
  get size(): number {
    return this.#size;
  }

  /** How many fields were added and are still there. */
  get count(): number {
    return this.#count;
  }

  /** The field with an index; undefined when there is none. */
  get(index: number): Field | undefined {
    if (index <= STATIC_COUNT) {
      return staticFields[index - 1];
    }
    const back = index - STATIC_COUNT;
    if (back > this.#count) {
      return undefined;
    }
    return this.#ring[(this.#next - back + this.#ring.length) % this.#ring.length];
  }

  /** Adds a field and drops the oldest that have no more room; one that is larger than the table empties it. */
  add(field: Field): void {
    const size = field.size;
    this.#shrinkTo(this.#limit - size);
    if (size > this.#limit) {
      return;
    }
    if (this.#count === this.#ring.length) {
      this.#grow();
    }
    this.#ring[this.#next] = field;
    this.#next = (this.#next + 1) % this.#ring.length;
    this.#count++;
    this.#size += size;
  }

  /** The other side's new limit; false if it is above what it was allowed. */
  resize(limit: number): boolean {
    if (limit > this.#allowed) {
      return false;
    }
    this.#limit = limit;
    this.#shrinkTo(limit);
    return true;
  }

  #shrinkTo(room: number): void {
    while (this.#size > room && this.#count > 0) {
      const oldest = (this.#next - this.#count + this.#ring.length) % this.#ring.length;
      this.#size -= this.#ring[oldest]!.size;
      this.#ring[oldest] = undefined;
      this.#count--;
    }
  }

  #grow(): void {
    const length = this.#ring.length;
    const ring: (Field | undefined)[] = [];
    for (let i = 0; i < length; i++) {
      ring.push(this.#ring[(this.#next + i) % length]);
    }
    for (let i = 0; i < Math.max(length, 8); i++) {
      ring.push(undefined);
    }
    this.#ring = ring;
    this.#next = length;
  }
}
