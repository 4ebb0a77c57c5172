// The only file that computes addresses: what the kernel is told to read or write lies within a region that was mapped here.
import type { Native } from '../../native/native.js';

/** The ring or its memory is not as it must be: the process that has it serves nobody any more. */
export class RingError extends Error {
  override readonly name = 'RingError';
}

/** Memory outside of V8's, which stays where it is for as long as the process runs. */
export class Region {
  readonly #base: number;
  readonly bytes: Buffer;

  private constructor(base: number, memory: ArrayBuffer) {
    this.#base = base;
    this.bytes = Buffer.from(memory);
  }

  /** Maps so many bytes: of a descriptor, or of none. Throws an Error when the system has no such memory. */
  static map(native: Native, length: number, fd = -1, offset = 0): Region {
    const mapped = native.map(length, fd, offset);
    if (mapped === undefined || mapped.memory.byteLength !== length) {
      throw new Error('mmap() failed');
    }
    return new Region(mapped.address, mapped.memory);
  }

  /** The address of the `length` bytes from `offset` on. Throws {@link RingError} unless all of them are in the region. */
  address(offset: number, length: number): number {
    if (!(offset >= 0 && length >= 0 && offset + length <= this.bytes.length)) {
      throw new RingError(`${length} bytes at ${offset} are outside of ${this.bytes.length}`);
    }
    return this.#base + offset;
  }
}
