/** Bytes in one piece of memory, which doubles: however small the pieces are in which they come, those before are not copied for each. */
export class GrowingBytes {
  #memory: Buffer;
  #length: number;

  /** `first`: bytes that nobody else changes any more. */
  constructor(first: Buffer) {
    this.#memory = first;
    this.#length = first.length;
  }

  get length(): number {
    return this.#length;
  }

  /** Forgets the first `size` bytes. */
  drop(size: number): void {
    if (size > 0) {
      this.#memory.copyWithin(0, size, this.#length);
      this.#length -= size;
    }
  }

  /** All bytes so far; valid until more come. */
  get all(): Buffer {
    return this.#memory.subarray(0, this.#length);
  }

  /** Keeps a copy of the first `length` bytes behind the others; returns all. */
  add(bytes: Buffer, length = bytes.length): Buffer {
    const size = this.#length + length;
    if (size > this.#memory.length) {
      const larger = Buffer.alloc(Math.max(size, 2 * this.#length));
      this.#memory.copy(larger, 0, 0, this.#length);
      this.#memory = larger;
    }
    bytes.copy(this.#memory, this.#length, 0, length);
    this.#length = size;
    return this.all;
  }
}
