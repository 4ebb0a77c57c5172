import type { Buffer } from 'node:buffer';
import { latin1 } from '../../../bytes/latin1.js';
import { huffmanText } from '../../fields/huffman-text.js';

/** What came of reading a number or a text, where that is no number: all below zero. */
export const READ = {
  /** The text's end has not come. */
  CUT_OFF: -1,
  /** The text is longer than is allowed. */
  TOO_LONG: -2,
  /** The text is no Huffman code. */
  INVALID: -3,
} as const;

/** The largest number that a shift by seven bits leaves exact. */
const LARGEST = 2 ** 53 - 1;

/** Reads what the instructions and field lines of QPACK consist of. */
export class QpackCursor {
  bytes!: Buffer;
  at = 0;
  end = 0;
  /** The text that was read last. */
  text = '';
  /** How many bytes, at least, have still to come of what was cut off. */
  missing = 1;

  begin(bytes: Buffer, at: number, end: number): void {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
    this.missing = 1;
  }

  /** A number in the lower bits of the next byte, which `prefix` names, and in what follows (RFC 9204, 4.1.1). */
  number(prefix: number): number {
    const { bytes, end } = this;
    if (this.at >= end) {
      return READ.CUT_OFF;
    }
    let value = bytes[this.at++]! & prefix;
    if (value !== prefix) {
      return value;
    }
    for (let scale = 1; ; scale *= 128) {
      if (this.at >= end) {
        return READ.CUT_OFF;
      }
      const byte = bytes[this.at++]!;
      value += (byte & 0x7f) * scale;
      if (value > LARGEST || scale > LARGEST) {
        return READ.TOO_LONG;
      }
      if (byte < 0x80) {
        return value;
      }
    }
  }

  /**
   * A text behind its length, of at most `longest` bytes as it is sent; the bit above `prefix` says that it is in Huffman code. Leaves it
   * in `text`.
   */
  string(prefix: number, longest: number): number {
    if (this.at >= this.end) {
      return READ.CUT_OFF;
    }
    const coded = (this.bytes[this.at]! & (prefix + 1)) !== 0;
    const length = this.number(prefix);
    if (length < 0) {
      return length;
    }
    if (length > longest) {
      return READ.TOO_LONG;
    }
    const start = this.at;
    if (start + length > this.end) {
      this.missing = start + length - this.end;
      return READ.CUT_OFF;
    }
    this.at = start + length;
    if (!coded) {
      this.text = latin1(this.bytes, start, this.at);
      return length;
    }
    const text = huffmanText(this.bytes, start, this.at);
    if (text === undefined) {
      return READ.INVALID;
    }
    this.text = text;
    return length;
  }
}
