import type { Native } from '../../../shared/native/native.js';
import { Region, RingError } from '../../../shared/net/uring/memory.js';
import { spoil } from '../../../shared/system/spoil.js';

/** Whose a piece is. */
const Side = { NOBODY: 0, KERNEL: 1, LENT: 2 } as const;

/**
 * Memory that the kernel reads files into, in pieces of one size. A piece is one side's at a time; what touches another
 * one's throws {@link RingError}.
 */
export class ReadMemory {
  readonly #size: number;
  readonly #region: Region;
  readonly #sides: Uint8Array;
  /** The latest released is used first: it is in the processor's cache. */
  readonly #free: number[] = [];

  /** Throws an Error when the system has no such memory. */
  constructor(native: Native, count: number, size: number) {
    this.#size = size;
    this.#region = Region.map(native, count * size);
    this.#sides = new Uint8Array(count);
    for (let id = count - 1; id >= 0; id--) {
      this.#free.push(id);
    }
  }

  /** A piece for the kernel; -1 when all are in use. */
  take(): number {
    const id = this.#free.pop() ?? -1;
    if (id >= 0) {
      this.#change(id, Side.NOBODY, Side.KERNEL);
    }
    return id;
  }

  /** Where `length` bytes from `from` on of a piece are for the kernel, whose it is. */
  address(id: number, from: number, length: number): number {
    if (this.#sides[id] !== Side.KERNEL || !(from >= 0 && length >= 0 && from + length <= this.#size)) {
      throw new RingError(`${length} bytes at ${from} of the piece ${id}`);
    }
    return this.#region.address(id * this.#size + from, length);
  }

  /** The kernel has put so many bytes into a piece, and has nothing to do with it any more. */
  lend(id: number, length: number): Buffer {
    if (!(length >= 0 && length <= this.#size)) {
      throw new RingError(`${length} bytes were read into the piece ${id}`);
    }
    this.#change(id, Side.KERNEL, Side.LENT);
    return this.#region.bytes.subarray(id * this.#size, id * this.#size + length);
  }

  /** Nobody looks at a lent piece any more. */
  release(id: number): void {
    this.#change(id, Side.LENT, Side.NOBODY);
    spoil(this.#region.bytes, id * this.#size, (id + 1) * this.#size);
    this.#free.push(id);
  }

  #change(id: number, from: number, to: number): void {
    if (this.#sides[id] !== from) {
      throw new RingError(`the piece ${id} is on the side ${this.#sides[id]}, not ${from}`);
    }
    this.#sides[id] = to;
  }

  /** How many pieces are somebody's. */
  get inUse(): number {
    return this.#sides.length - this.#free.length;
  }
}
