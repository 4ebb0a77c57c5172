import { Buffer } from 'node:buffer';
import { GrowingBytes } from '../../../bytes/growing-bytes.js';
import { Field, FieldName } from '../../fields/field.js';
import { QpackCursor, READ } from './cursor.js';
import { type QpackTable, staticFields } from './table.js';

/** How many bytes a text in Huffman code may be longer than what it stands for: codes have at most 30 bits. */
const HUFFMAN_GROWTH = 4;

/** Puts into a connection's table what the client's encoder says (RFC 9204, 4.3). nginx: ngx_http_v3_parse_encoder. */
export class EncoderStreamReader {
  /** What is wrong with an instruction, for the log. */
  problem = '';
  readonly #table: QpackTable;
  readonly #cursor = new QpackCursor();
  /** The beginning of an instruction that has not come whole. */
  #held: GrowingBytes | null = null;
  /** How many bytes the instruction has before it is looked at. */
  #needed = 0;

  constructor(table: QpackTable) {
    this.#table = table;
  }

  /** Takes the bytes `start..end` of the stream; false if they are no instructions. */
  read(bytes: Buffer, start: number, end: number): boolean {
    let whole = bytes.subarray(start, end);
    if (this.#held !== null) {
      whole = this.#held.add(whole);
      if (whole.length < this.#needed) {
        return true;
      }
    }
    const cursor = this.#cursor;
    cursor.begin(whole, 0, whole.length);
    let at = 0;
    while (at < whole.length) {
      const code = this.#instruction();
      if (code === READ.CUT_OFF) {
        this.#needed = whole.length - at + cursor.missing;
        break;
      }
      if (code < 0) {
        this.#held = null;
        return false;
      }
      at = cursor.at;
    }
    this.#held = at === whole.length ? null : new GrowingBytes(Buffer.from(whole.subarray(at)));
    return true;
  }

  /** Does what one instruction says: 0, or CUT_OFF, or another code when it cannot be done. */
  #instruction(): number {
    const cursor = this.#cursor;
    const byte = cursor.bytes[cursor.at]!;
    if (byte >= 0x80) {
      const index = cursor.number(0x3f);
      return index < 0 ? this.#unreadable(index) : this.#insertNamed(index, (byte & 0x40) !== 0);
    }
    if (byte >= 0x40) {
      return this.#insert();
    }
    const number = cursor.number(0x1f);
    if (number < 0) {
      return this.#unreadable(number);
    }
    if (byte >= 0x20) {
      return this.#table.resize(number) ? 0 : this.#wrong(`client sent too large table capacity: ${number}`);
    }
    const field = this.#table.latest(number + 1);
    return field === undefined ? this.#wrong('client sent invalid index of the dynamic table') : this.#put(field);
  }

  #insertNamed(index: number, isStatic: boolean): number {
    const named = isStatic ? staticFields[index] : this.#table.latest(index + 1);
    if (named === undefined) {
      return this.#wrong(`client sent invalid index of the ${isStatic ? 'static' : 'dynamic'} table`);
    }
    const code = this.#string(0x7f);
    return code < 0 ? code : this.#put(new Field(named.name, this.#cursor.text));
  }

  #insert(): number {
    const first = this.#string(0x1f);
    if (first < 0) {
      return first;
    }
    const name = this.#cursor.text;
    const second = this.#string(0x7f);
    return second < 0 ? second : this.#put(new Field(new FieldName(name), this.#cursor.text));
  }

  /** A text: what can have no room in the table is refused before all of it has come. */
  #string(prefix: number): number {
    const code = this.#cursor.string(prefix, this.#table.capacity * HUFFMAN_GROWTH);
    return code < 0 ? this.#unreadable(code) : code;
  }

  #put(field: Field): number {
    return this.#table.insert(field) ? 0 : this.#wrong('not enough dynamic table capacity');
  }

  #unreadable(code: number): number {
    if (code !== READ.CUT_OFF) {
      this.problem = code === READ.INVALID ? 'client sent invalid encoded field line' : 'client sent too large field line';
    }
    return code;
  }

  #wrong(problem: string): number {
    this.problem = problem;
    return READ.INVALID;
  }
}
