import type { Native } from '../../native/native.js';
import { spoil } from '../../system/spoil.js';
import { Region, RingError } from './memory.js';
import type { Ring } from './ring.js';

/** Bytes of an entry of the kernel's list, and where in it the words are; the list's tail is in the first entry's last two bytes. */
const ENTRY = 16;
const TAIL = 7;

/**
 * Memory that the kernel receives into, in pieces of one size: it picks one when bytes come, so that a connection without traffic
 * holds none. A piece goes back once its bytes were used.
 */
export class ReceiveBuffers {
  readonly group: number;
  readonly size: number;
  readonly #region: Region;
  readonly #pieces: readonly Buffer[];
  readonly #words: Uint32Array;
  readonly #shorts: Uint16Array;
  readonly #mask: number;
  #tail = 0;
  /** Which pieces are ours just now. */
  readonly #out: Uint8Array;

  /** `count`: a power of two. Throws an Error when the ring takes no such list. */
  constructor(native: Native, ring: Ring, group: number, count: number, size: number) {
    this.group = group;
    this.size = size;
    this.#mask = count - 1;
    const list = Region.map(native, count * ENTRY);
    this.#words = new Uint32Array(list.bytes.buffer, list.bytes.byteOffset, count * 4);
    this.#shorts = new Uint16Array(list.bytes.buffer, list.bytes.byteOffset, count * 8);
    this.#region = Region.map(native, count * size);
    this.#pieces = Array.from({ length: count }, (_, i) => this.#region.bytes.subarray(i * size, (i + 1) * size));
    this.#out = new Uint8Array(count).fill(1);
    ring.useBuffers(list.address(0, count * ENTRY), count, group);
    for (let i = 0; i < count; i++) {
      this.give(i);
    }
    this.publish();
  }

  /** The piece that the kernel has filled. Throws {@link RingError} for one that it did not have. */
  take(id: number): Buffer {
    if (!(id <= this.#mask) || this.#out[id] === 1) {
      throw new RingError(`the kernel filled the buffer ${id}, which it did not have`);
    }
    this.#out[id] = 1;
    return this.#pieces[id]!;
  }

  /** Gives a piece back; the kernel may use it after {@link publish}. */
  give(id: number): void {
    if (this.#out[id] !== 1) {
      throw new RingError(`the buffer ${id} was given back twice`);
    }
    this.#out[id] = 0;
    spoil(this.#pieces[id]!);
    const address = this.#region.address(id * this.size, this.size);
    const at = this.#tail & this.#mask;
    this.#words[at * 4] = address % 0x100000000;
    this.#words[at * 4 + 1] = address / 0x100000000;
    this.#words[at * 4 + 2] = this.size;
    this.#shorts[at * 8 + 6] = id;
    this.#tail = (this.#tail + 1) & 0xffff;
  }

  /** Lets the kernel see what was given back. */
  publish(): void {
    Atomics.store(this.#shorts, TAIL, this.#tail);
  }
}
