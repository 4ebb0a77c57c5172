import type { Buffer } from 'node:buffer';
import { Field, FieldName } from '../../fields/field.js';
import type { FieldLimits, FieldSink } from '../../fields/field-sink.js';
import { QpackCursor, READ } from './cursor.js';
import { KnownLines, LONGEST_LINE } from './known-lines.js';
import { type QpackTable, staticFields } from './table.js';

/** What came of a field section. */
export const SECTION = {
  DECODED: 0,
  /** The section breaks the rules of QPACK: the connection cannot go on. {@link SectionDecoder.problem} says how. */
  INVALID: 1,
  /** A field, or all of them together, are longer than is allowed. */
  TOO_LARGE: 2,
  /** The section refers to what the client's encoder has not said yet. */
  BLOCKED: 3,
} as const;

// One for all connections: a field is the same whoever sends it.
const known = new KnownLines();

/** Decodes field sections by the tables of their connections (RFC 9204, 4.5), each without a pause. nginx: ngx_http_v3_parse_headers. */
export class SectionDecoder {
  /** Why a section was refused, for the log. */
  problem = '';
  /** How many fields must have been put into the table for the section that was read last; 0 when it refers to none. */
  required = 0;
  #table!: QpackTable;
  readonly #cursor = new QpackCursor();
  /** What indexes count from. */
  #base = 0;

  /** Reads how a section begins: whether it can be decoded now. */
  begin(table: QpackTable, bytes: Buffer, start: number, end: number): number {
    this.#table = table;
    const cursor = this.#cursor;
    cursor.begin(bytes, start, end);
    const encoded = cursor.number(0xff);
    const negative = cursor.at < end && bytes[cursor.at]! >= 0x80;
    const delta = encoded < 0 ? encoded : cursor.number(0x7f);
    if (delta < 0) {
      return this.#unreadable(delta);
    }
    const required = this.#insertCount(encoded);
    if (required < 0) {
      return this.#invalid('client sent invalid required insert count');
    }
    const base = negative ? required - delta - 1 : required + delta;
    if (base < 0) {
      return this.#invalid('client sent negative base');
    }
    this.required = required;
    this.#base = base;
    return required > table.inserted ? SECTION.BLOCKED : SECTION.DECODED;
  }

  /** The count that was sent modulo twice what fits into the table (RFC 9204, 4.5.1.1); -1 when there is no such count. */
  #insertCount(encoded: number): number {
    if (encoded === 0) {
      return 0;
    }
    const { mostEntries, inserted } = this.#table;
    const range = 2 * mostEntries;
    if (encoded > range) {
      return -1;
    }
    const most = inserted + mostEntries;
    let count = Math.floor(most / range) * range + encoded - 1;
    if (count > most) {
      if (count <= range) {
        return -1;
      }
      count -= range;
    }
    return count === 0 ? -1 : count;
  }

  /** Decodes a whole section, whose beginning `begin` has read, up to `end`. */
  decode(end: number, limits: FieldLimits, sink: FieldSink): number {
    const cursor = this.#cursor;
    let left = limits.total;
    const remembers = limits.field >= LONGEST_LINE;
    while (cursor.at < end) {
      const field = remembers ? this.#line(limits.field) : this.#field(limits.field);
      if (typeof field === 'number') {
        return field;
      }
      left -= field.name.text.length + field.value.length;
      if (left < 0) {
        return this.#tooLarge('client sent too large header');
      }
      sink.field(field);
    }
    return SECTION.DECODED;
  }

  /** One field line, or what is wrong with it: looks first whether it is one that came before. */
  #line(longest: number): Field | number {
    const cursor = this.#cursor;
    const { bytes, at, end } = cursor;
    const index = known.indexOf(bytes, at, end);
    if (index < 0) {
      return this.#field(longest);
    }
    const found = known.find(index, bytes, at, end);
    if (found !== undefined) {
      cursor.at = at + known.length;
      return found;
    }
    const field = this.#field(longest);
    if (typeof field !== 'number') {
      known.remember(index, bytes, at, cursor.at, field);
    }
    return field;
  }

  /** One field line, or what is wrong with it. */
  #field(longest: number): Field | number {
    const cursor = this.#cursor;
    const byte = cursor.bytes[cursor.at]!;
    if (byte >= 0x80) {
      return this.#found(cursor.number(0x3f), (byte & 0x40) !== 0, false);
    }
    if (byte >= 0x40) {
      return this.#withValue(this.#found(cursor.number(0x0f), (byte & 0x10) !== 0, false), longest);
    }
    if (byte >= 0x20) {
      const code = cursor.string(0x07, longest);
      return code < 0 ? this.#unreadable(code) : this.#valued(new FieldName(cursor.text), longest);
    }
    if (byte >= 0x10) {
      return this.#found(cursor.number(0x0f), false, true);
    }
    return this.#withValue(this.#found(cursor.number(0x07), false, true), longest);
  }

  #withValue(named: Field | number, longest: number): Field | number {
    return typeof named === 'number' ? named : this.#valued(named.name, longest);
  }

  #valued(name: FieldName, longest: number): Field | number {
    const code = this.#cursor.string(0x7f, longest);
    return code < 0 ? this.#unreadable(code) : new Field(name, this.#cursor.text);
  }

  /** The field with an index; `behind`: counted from the base on, otherwise back from it. */
  #found(index: number, isStatic: boolean, behind: boolean): Field | number {
    if (index < 0) {
      return this.#unreadable(index);
    }
    if (isStatic) {
      return staticFields[index] ?? this.#invalid('client sent invalid index of the static table');
    }
    const at = behind ? this.#base + index : this.#base - index - 1;
    const field = at < 0 || at >= this.required ? undefined : this.#table.at(at);
    return field ?? this.#invalid('client sent invalid index of the dynamic table');
  }

  #unreadable(code: number): number {
    switch (code) {
      case READ.TOO_LONG:
        return this.#tooLarge('client sent too large field line');
      case READ.CUT_OFF:
        return this.#invalid('client sent field section with incorrect length');
      default:
        return this.#invalid('client sent invalid encoded field line');
    }
  }

  #invalid(problem: string): number {
    this.problem = problem;
    return SECTION.INVALID;
  }

  #tooLarge(problem: string): number {
    this.problem = problem;
    return SECTION.TOO_LARGE;
  }
}
