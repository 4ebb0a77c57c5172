import { latin1 } from '../../../bytes/latin1.js';
import { Field, FieldName } from '../../fields/field.js';
import type { FieldLimits, FieldSink } from '../../fields/field-sink.js';
import { huffmanText } from '../../fields/huffman-text.js';
import type { BlockFaults, NumberKind } from './block-faults.js';
import { clientBlockFaults } from './client-block-faults.js';
import { DEFAULT_TABLE_SIZE, FieldTable } from './field-table.js';

/** What came of a header block. */
export const DECODED = 0;
/** The block breaks the rules of HPACK; {@link HpackDecoder.problem} says how. */
export const BLOCK_INVALID = 1;
/** A field, or all of them together, are longer than is allowed. */
export const BLOCK_TOO_LARGE = 2;
/** A field has no name. */
export const BLOCK_NAMELESS = 3;
/** The block ends within a field. */
export const BLOCK_CUT_OFF = 4;

/** A number has at most so many bytes. nginx: NGX_HTTP_V2_INT_OCTETS. */
export const NUMBER_BYTES = 4;
/** A number of a table's entry that goes on behind its first byte has no largest one. */
const DEEP_INDEX = Number.POSITIVE_INFINITY;

/** Decodes the header blocks of one connection, which depend on each other. nginx: ngx_http_v2_state_header_block and what follows it. */
export class HpackDecoder {
  readonly table: FieldTable;
  readonly #faults: BlockFaults;
  /** Why a block was refused, in nginx's words. */
  problem = '';
  #at = 0;
  #end = 0;

  /** `tableSize`: how many bytes of fields the other end may have us remember. */
  constructor(faults: BlockFaults = clientBlockFaults, tableSize: number = DEFAULT_TABLE_SIZE) {
    this.#faults = faults;
    this.table = new FieldTable(tableSize);
  }

  /** Decodes a whole block, the bytes `start..end`: DECODED, or why not. Whatever went wrong, the connection cannot go on. */
  decode(bytes: Buffer, start: number, end: number, limits: FieldLimits, sink: FieldSink): number {
    this.#at = start;
    this.#end = end;
    let left = limits.total;
    let first = true;
    while (this.#at < end) {
      const byte = bytes[this.#at]!;
      let field: Field | undefined;
      if (byte >= 0x80) {
        const index = this.#number(bytes, 0x7f, 'header index');
        if (index < 0) {
          return this.#code;
        }
        field = this.table.get(index);
        if (field === undefined) {
          return this.#invalid(this.#faults.index(index, 0x7f));
        }
      } else if (byte >= 0x20 && byte < 0x40) {
        const size = this.#number(bytes, 0x1f, 'size update');
        if (size < 0) {
          return this.#code;
        }
        if (!first && this.#faults.lateTableSize !== undefined) {
          return this.#invalid(this.#faults.lateTableSize);
        }
        if (!this.table.resize(size)) {
          return this.#invalid(this.#faults.tableSize(size));
        }
        continue;
      } else {
        const indexed = byte >= 0x40;
        const index = this.#number(bytes, indexed ? 0x3f : 0x0f, 'header index');
        if (index < 0) {
          return this.#code;
        }
        let name: FieldName;
        if (index > 0) {
          const entry = this.table.get(index);
          if (entry === undefined) {
            return this.#invalid(this.#faults.index(index, indexed ? 0x3f : DEEP_INDEX));
          }
          name = entry.name;
        } else {
          const code = this.#string(bytes, 'name length', limits.field);
          if (code !== DECODED) {
            return code;
          }
          if (this.#text === '') {
            return this.#nameless();
          }
          name = new FieldName(this.#text);
        }
        const code = this.#string(bytes, 'value length', limits.field);
        if (code !== DECODED) {
          return code;
        }
        field = new Field(name, this.#text);
        if (indexed) {
          this.table.add(field);
        }
      }
      first = false;
      left -= field.name.text.length + field.value.length;
      if (left < 0) {
        return this.#tooLarge(this.#faults.largeSection);
      }
      sink.field(field);
    }
    return DECODED;
  }

  #text = '';
  /** What is wrong with a number. */
  #code = BLOCK_INVALID;

  /** A number that begins in the byte at hand; -1, and a problem, if it is cut off or too long. */
  #number(bytes: Buffer, prefix: number, what: NumberKind): number {
    let value = bytes[this.#at++]! & prefix;
    if (value !== prefix) {
      return value;
    }
    for (let shift = 0; ; shift += 7) {
      if (this.#at >= this.#end) {
        this.#code = this.#cutOff(this.#faults.cutOff);
        return -1;
      }
      if (shift === (NUMBER_BYTES - 1) * 7) {
        this.problem = this.#faults.longNumber(what);
        this.#code = BLOCK_INVALID;
        return -1;
      }
      const byte = bytes[this.#at++]!;
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
  }

  /** Leaves a string in `#text`. */
  #string(bytes: Buffer, what: NumberKind, longest: number): number {
    if (this.#at >= this.#end) {
      return this.#cutOff(this.#faults.cutOff);
    }
    const coded = bytes[this.#at]! >= 0x80;
    const length = this.#number(bytes, 0x7f, what);
    if (length < 0) {
      return this.#code;
    }
    if (length > longest) {
      return this.#tooLarge(this.#faults.longText(what, length));
    }
    const start = this.#at;
    const end = start + length;
    if (end > this.#end) {
      return this.#cutOff(this.#faults.cutOffText);
    }
    this.#at = end;
    if (!coded) {
      this.#text = latin1(bytes, start, end);
      return DECODED;
    }
    const text = huffmanText(bytes, start, end);
    if (text === undefined) {
      return this.#invalid(this.#faults.coding);
    }
    this.#text = text;
    return DECODED;
  }

  #invalid(problem: string): number {
    this.problem = problem;
    return BLOCK_INVALID;
  }

  #cutOff(problem: string): number {
    this.problem = problem;
    return BLOCK_CUT_OFF;
  }

  #tooLarge(problem: string): number {
    this.problem = problem;
    return BLOCK_TOO_LARGE;
  }

  #nameless(): number {
    this.problem = this.#faults.nameless;
    return BLOCK_NAMELESS;
  }
}
