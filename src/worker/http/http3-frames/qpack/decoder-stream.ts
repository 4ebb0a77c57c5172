import { Buffer } from 'node:buffer';
import { putNumber } from '../../fields/put-text.js';
import { QpackCursor, READ } from './cursor.js';
import type { QpackTable } from './table.js';

const NOTHING = Buffer.alloc(0);
/** The longest instruction. */
const INSTRUCTION = 10;
/** The room for instructions at first. */
const FIRST = 64;

/**
 * Reads what the client's decoder says of our sections (RFC 9204, 4.4). They refer to nothing that was said before, so that it has nothing
 * to say, but that it will not read one.
 */
export class DecoderStreamReader {
  /** What is wrong with an instruction, for the log. */
  problem = '';
  readonly #cursor = new QpackCursor();
  #held: Buffer = NOTHING;

  /** Takes the bytes `start..end` of the stream; false if they are no instructions, or speak of what was not sent. */
  read(bytes: Buffer, start: number, end: number): boolean {
    const piece = bytes.subarray(start, end);
    const whole = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    const cursor = this.#cursor;
    cursor.begin(whole, 0, whole.length);
    let at = 0;
    while (at < whole.length) {
      const byte = whole[at]!;
      const number = cursor.number(byte >= 0x80 ? 0x7f : 0x3f);
      if (number === READ.CUT_OFF) {
        break;
      }
      if (number < 0 || byte >= 0x80 || byte < 0x40) {
        this.problem = byte >= 0x80 ? 'client acknowledged a section that needs none' : 'client counted fields that were not inserted';
        return false;
      }
      at = cursor.at;
    }
    this.#held = at === whole.length ? NOTHING : Buffer.from(whole.subarray(at));
    return true;
  }
}

/** Gathers what our decoder says to the client's encoder (RFC 9204, 4.4). */
export class DecoderInstructions {
  readonly #table: QpackTable;
  #bytes: Buffer = NOTHING;
  #length = 0;
  /** How many insertions the client knows that we know of. */
  #known = 0;

  constructor(table: QpackTable) {
    this.#table = table;
  }

  /** How many bytes wait to be sent. */
  get waiting(): number {
    return this.#length + (this.#table.inserted > this.#known ? INSTRUCTION : 0);
  }

  /** A section was decoded that refers to some of the first `required` insertions. */
  acknowledge(streamId: number, required: number): void {
    this.#put(0x80, 0x7f, streamId);
    this.#known = Math.max(this.#known, required);
  }

  /** Sections of a stream will not be read. */
  cancel(streamId: number): void {
    this.#put(0x40, 0x3f, streamId);
  }

  #put(bits: number, prefix: number, value: number): void {
    if (this.#bytes.length - this.#length < INSTRUCTION) {
      this.#bytes = Buffer.concat([this.#bytes], Math.max(FIRST, this.#bytes.length * 2));
    }
    this.#length = putNumber(this.#bytes, this.#length, bits, prefix, value);
  }

  /** Gives away what is to be sent: with it the client hears of all that was inserted. */
  take(): Buffer {
    if (this.#table.inserted > this.#known) {
      this.#put(0, 0x3f, this.#table.inserted - this.#known);
      this.#known = this.#table.inserted;
    }
    const taken = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return taken;
  }
}
