import type { Field } from '../../fields/field.js';
import { STATIC_FIELDS } from './static-table.js';

/** Longer lines are read anew each time, in bytes. */
export const LONGEST_LINE = 192;
/** What differs from request to request, and what nobody is to find out by how long it takes. */
const READ_ANEW = new Set([':path', 'cookie', 'authorization']);

/** The latest line with a name, as it came. */
interface Line {
  readonly bytes: Buffer;
  length: number;
  field: Field;
}

/**
 * Field lines with a name of the static table and a value of their own, by the name's index: clients that put nothing into the dynamic
 * table send the same ones with each request, in Huffman code.
 */
export class KnownLines {
  readonly #lines: (Line | null | undefined)[] = STATIC_FIELDS.map(([name]) => (READ_ANEW.has(name) ? null : undefined));
  /** The bytes of the line that {@link find} has found. */
  length = 0;

  /** The index of the name of the line at `at`; -1 for a line that nobody remembers. */
  indexOf(bytes: Buffer, at: number, end: number): number {
    const byte = bytes[at]!;
    // A literal with a name of the static table, which may be put into tables (RFC 9204, 4.5.4).
    if ((byte & 0xf0) !== 0x50 || at + 1 >= end) {
      return -1;
    }
    const index = byte & 0x0f;
    const whole = index < 0x0f ? index : index + bytes[at + 1]!;
    return whole < this.#lines.length && this.#lines[whole] !== null ? whole : -1;
  }

  /** The field of the line at `at`, if it is the one that came last with that name. */
  find(index: number, bytes: Buffer, at: number, end: number): Field | undefined {
    const line = this.#lines[index];
    if (line === undefined || line === null || at + line.length > end) {
      return undefined;
    }
    const { bytes: known, length } = line;
    for (let i = length - 1; i >= 0; i--) {
      if (known[i] !== bytes[at + i]) {
        return undefined;
      }
    }
    this.length = length;
    return line.field;
  }

  /** Remembers the line `at..end`. */
  remember(index: number, bytes: Buffer, at: number, end: number, field: Field): void {
    const length = end - at;
    if (length > LONGEST_LINE) {
      return;
    }
    const line = this.#lines[index];
    if (line === undefined || line === null) {
      const fresh: Line = { bytes: Buffer.alloc(LONGEST_LINE), length, field };
      bytes.copy(fresh.bytes, 0, at, end);
      this.#lines[index] = fresh;
      return;
    }
    bytes.copy(line.bytes, 0, at, end);
    line.length = length;
    line.field = field;
  }
}
