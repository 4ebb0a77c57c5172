import { Field, FieldName } from '../../fields/field.js';
import { FieldRing } from '../../fields/field-ring.js';
import { STATIC_FIELDS } from './static-table.js';

const names = new Map<string, FieldName>();

/** The fields that both sides know, which all connections share. */
export const staticFields: readonly Field[] = STATIC_FIELDS.map(([name, value]) => {
  let shared = names.get(name);
  if (shared === undefined) {
    names.set(name, (shared = new FieldName(name)));
  }
  return new Field(shared, value);
});

/** The bytes that a field counts for beside those of its name and value (RFC 9204, 3.2.1). */
const ENTRY = 32;

/**
 * The decoder's table: what the client's encoder put into it, by the order in which that was (RFC 9204, 3.2). nginx: ngx_http_v3_table.c.
 */
export class QpackTable extends FieldRing {
  /** The number of fields that were ever put into it. */
  inserted = 0;
  /** The greatest capacity that the client may set, and what that means for the counts in sections. */
  readonly allowed: number;
  readonly mostEntries: number;
  #capacity = 0;

  constructor(allowed: number) {
    super();
    this.allowed = allowed;
    this.mostEntries = Math.floor(allowed / ENTRY);
  }

  /** What the fields may come to now, in bytes. */
  get capacity(): number {
    return this.#capacity;
  }

  /** The field that was put in behind `index` others; undefined when it is gone, or not there yet. */
  at(index: number): Field | undefined {
    return this.latest(this.inserted - index);
  }

  /** Puts a field in; false if it has no room even alone. */
  insert(field: Field): boolean {
    const { size } = field;
    if (size > this.#capacity) {
      return false;
    }
    this.shrinkTo(this.#capacity - size);
    this.push(field);
    this.inserted++;
    return true;
  }

  /** Sets the capacity; false if it is above what is allowed. */
  resize(capacity: number): boolean {
    if (capacity > this.allowed) {
      return false;
    }
    this.#capacity = capacity;
    this.shrinkTo(capacity);
    return true;
  }
}
