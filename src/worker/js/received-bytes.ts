import { EMPTY } from '../bytes/empty.js';

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Bytes that came and that nobody has taken yet, in one piece of memory that grows by doubling. */
export class ReceivedBytes {
  #bytes: Buffer = EMPTY;
  #start = 0;
  #end = 0;
  /** Up to where no line ends. */
  #searched = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  /** Keeps a copy of the first `length` bytes. */
  add(bytes: Buffer, length: number): void {
    if (this.#end + length > this.#bytes.length) {
      const size = this.length + length;
      const room = size > this.#bytes.length / 2 ? Buffer.alloc(Math.max(4096, 2 * size)) : this.#bytes;
      this.#bytes.copy(room, 0, this.#start, this.#end);
      this.#bytes = room;
      this.#searched -= this.#start;
      this.#end -= this.#start;
      this.#start = 0;
    }
    bytes.copy(this.#bytes, this.#end, 0, length);
    this.#end += length;
  }

  /** Takes so many bytes away, which are the caller's. */
  take(length: number): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(this.#start, this.#start + length));
    this.#start += taken.length;
    this.#searched = this.#start;
    if (this.#start === this.#end) {
      // Most of the time nothing is left: an idle client keeps no memory.
      this.#bytes = EMPTY;
      this.#start = this.#end = this.#searched = 0;
    }
    return taken;
  }

  /** The length of the first line with its end; 0 while that has not come. Bytes are looked at once. */
  lineLength(): number {
    const at = this.#bytes.subarray(0, this.#end).indexOf(LINE_FEED, this.#searched);
    this.#searched = at === -1 ? this.#end : at;
    return at === -1 ? 0 : at + 1 - this.#start;
  }
}

/** A line without its end, which is LF or CRLF. */
export function withoutEnd(line: Buffer): Buffer {
  let { length } = line;
  if (line[length - 1] === LINE_FEED) {
    length--;
    if (line[length - 1] === CARRIAGE_RETURN) {
      length--;
    }
  }
  return line.subarray(0, length);
}
