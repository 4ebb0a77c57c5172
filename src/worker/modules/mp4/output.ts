import { copyBytes } from '../../bytes/copy-bytes.js';
import { putU32 } from './big-endian.js';
import { outputMemory } from './scratch.js';

/** Room for what stands before the tracks of a film, and for the first of them. */
const FRONT = 2048;
const FIRST = 16 * 1024;

/** The tracks of a film as they are made, in one piece of memory with room before them. The next film has the same memory. */
export class Output {
  bytes: Buffer = outputMemory(FRONT + FIRST);
  #end = FRONT;

  /** Bytes that were written. */
  get length(): number {
    return this.#end - FRONT;
  }

  /** Makes room for `size` bytes. Returns their place in {@link bytes}, which is other memory once more room is made. */
  room(size: number): number {
    const at = this.#end;
    const end = at + size;
    if (end > this.bytes.length) {
      const before = this.bytes;
      this.bytes = outputMemory(Math.max(end, 2 * before.length));
      before.copy(this.bytes, 0, 0, at);
    }
    this.#end = end;
    return at;
  }

  /** Writes the head of an atom of `size` bytes with it. */
  head(name: number, size: number): void {
    const at = this.room(8);
    putU32(this.bytes, at, size);
    putU32(this.bytes, at + 4, name);
  }

  /** Writes a copy of `from..to`. Returns its place. */
  copy(bytes: Uint8Array, from: number, to: number): number {
    const at = this.room(to - from);
    copyBytes(bytes, from, to, this.bytes, at);
    return at;
  }

  /** Writes 32 bits. */
  u32(value: number): void {
    const at = this.room(4);
    putU32(this.bytes, at, value);
  }

  /** A copy of all that was written, with other bytes before it. */
  behind(front: Buffer): Buffer {
    if (front.length > FRONT) {
      return Buffer.concat([front, this.bytes.subarray(FRONT, this.#end)]);
    }
    const start = FRONT - front.length;
    front.copy(this.bytes, start);
    return Buffer.from(this.bytes.subarray(start, this.#end));
  }
}
