import { EMPTY } from '../../bytes/empty.js';

/**
 * The bytes of an image, in one piece of memory. Images are large and needed for a moment: memory of which is known that nobody uses it any
 * more is given back at once, since V8 would do so when the process has hundreds of megabytes of it.
 */
export class ImageBytes {
  readonly #expected: number;
  #memory = EMPTY;
  #length = 0;
  /** The memory is nobody else's. */
  #own = false;

  /** `expected`: how many bytes will come, -1 when that is not known. */
  constructor(expected: number) {
    this.#expected = expected;
  }

  get length(): number {
    return this.#length;
  }

  /** All bytes so far; valid until more come, or they are freed. */
  get all(): Buffer {
    return this.#memory.subarray(0, this.#length);
  }

  add(bytes: Buffer): void {
    const size = this.#length + bytes.length;
    if (this.#length === 0 && (bytes.length === this.#expected || this.#expected === -1)) {
      this.#memory = bytes;
    } else {
      if (size > this.#memory.length || !this.#own) {
        this.#grow(Math.max(size, this.#length === 0 ? this.#expected : 2 * this.#length));
      }
      bytes.copy(this.#memory, this.#length);
    }
    this.#length = size;
  }

  #grow(size: number): void {
    const larger = Buffer.alloc(size);
    this.#memory.copy(larger, 0, 0, this.#length);
    this.free();
    this.#memory = larger;
    this.#own = true;
  }

  /** Gives the memory back. */
  free(): void {
    if (this.#own) {
      freeMemory(this.#memory);
    }
    this.#memory = EMPTY;
    this.#own = false;
  }
}

/** Gives memory back that nobody uses any more, of which the caller knows that it was made for these bytes alone. */
export function freeMemory(bytes: Buffer): void {
  if (bytes.length > 0 && bytes.length === bytes.buffer.byteLength) {
    (bytes.buffer as { transfer?(length: number): ArrayBuffer }).transfer?.(0);
  }
}
