import { Field, FieldName } from '../../fields/field.js';
import { FieldRing } from '../../fields/field-ring.js';
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
export class FieldTable extends FieldRing {
  /** What its owner allowed, and what the other side makes use of. */
  readonly #allowed: number;
  #limit: number;

  constructor(allowed: number = DEFAULT_TABLE_SIZE) {
    super();
    this.#allowed = allowed;
    this.#limit = allowed;
  }

  /** The field with an index; undefined when there is none. */
  get(index: number): Field | undefined {
    return index <= STATIC_COUNT ? staticFields[index - 1] : this.latest(index - STATIC_COUNT);
  }

  /** Adds a field and drops the oldest that have no more room; one that is larger than the table empties it. */
  add(field: Field): void {
    const { size } = field;
    this.shrinkTo(this.#limit - size);
    if (size <= this.#limit) {
      this.push(field);
    }
  }

  /** The other side's new limit; false if it is above what it was allowed. */
  resize(limit: number): boolean {
    if (limit > this.#allowed) {
      return false;
    }
    this.#limit = limit;
    this.shrinkTo(limit);
    return true;
  }
}
