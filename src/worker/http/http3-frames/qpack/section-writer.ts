import { Buffer } from 'node:buffer';
import { copyBytes } from '../../../bytes/copy-bytes.js';
import { putNumber, putText } from '../../fields/put-text.js';
import { FRAME } from '../protocol.js';
import { putVarint, varintLength } from '../varint.js';
import type { QpackName } from './name-code.js';

/** The bytes that a section begins with when it refers to nothing that was said before. */
const PREFIX = 2;
/** Room for a frame's head: a type of one byte, and a length. */
const FRAME_HEAD = 9;
/** The longest line that is kept to be sent again. */
const LONGEST_KEPT = 512;
/** Up to this size a loop compares faster than a call does. */
const BY_HAND = 128;

/** Writes field sections, each as a HEADERS frame. One at a time: its memory is used again for the next. */
export class QpackSectionWriter {
  #bytes: Buffer = Buffer.alloc(4096);
  #at = 0;
  #last: Buffer = Buffer.alloc(0);

  /** Begins a section. */
  begin(): void {
    this.#bytes[FRAME_HEAD] = this.#bytes[FRAME_HEAD + 1] = 0;
    this.#at = FRAME_HEAD + PREFIX;
  }

  /** Adds a field of the table that both sides know. */
  indexed(index: number): void {
    this.#room(4);
    this.#at = putNumber(this.#bytes, this.#at, 0xc0, 0x3f, index);
  }

  field(code: QpackName, value: string): void {
    if (code.value === value && code.line !== null) {
      this.#room(code.line.length);
      this.#at = copyBytes(code.line, 0, code.line.length, this.#bytes, this.#at);
      return;
    }
    const index = code.exact?.get(value);
    if (index !== undefined) {
      this.indexed(index);
      return;
    }
    this.#room(code.text.length + value.length + 16);
    const start = this.#at;
    this.#at = this.#literal(code, value);
    if (code.secret || this.#at - start > LONGEST_KEPT) {
      return;
    }
    code.line = code.value === value ? Buffer.from(this.#bytes.subarray(start, this.#at)) : null;
    code.value = value;
  }

  #literal(code: QpackName, value: string): number {
    const bytes = this.#bytes;
    if (code.index !== -1) {
      return putText(bytes, putNumber(bytes, this.#at, code.secret ? 0x70 : 0x50, 0x0f, code.index), 0, 0x7f, value);
    }
    return putText(bytes, putText(bytes, this.#at, code.secret ? 0x30 : 0x20, 0x07, code.text), 0, 0x7f, value);
  }

  #room(size: number): void {
    if (this.#bytes.length - this.#at < size) {
      this.#bytes = Buffer.concat([this.#bytes], Math.max(this.#bytes.length * 2, this.#at + size));
    }
  }

  /** Ends the section, and gives it as a frame in memory that nobody changes. */
  end(): Buffer {
    const size = this.#at - FRAME_HEAD;
    const start = FRAME_HEAD - 1 - varintLength(size);
    this.#bytes[start] = FRAME.HEADERS;
    putVarint(this.#bytes, start + 1, size);
    const frame = this.#same(start) ? this.#last : Buffer.from(this.#bytes.subarray(start, this.#at));
    if (this.#bytes.length > 65_536) {
      this.#bytes = Buffer.alloc(4096);
    } else {
      this.#last = frame;
    }
    return frame;
  }

  /** The frame is the last one once more, as heads of small answers often are. */
  #same(start: number): boolean {
    const [bytes, last] = [this.#bytes, this.#last];
    const { length } = last;
    if (length !== this.#at - start) {
      return false;
    }
    if (length > BY_HAND) {
      return last.compare(bytes, start, this.#at) === 0;
    }
    // Most heads differ in their date or length, near the end.
    for (let i = length - 1; i >= 0; i--) {
      if (last[i] !== bytes[start + i]) {
        return false;
      }
    }
    return true;
  }
}
