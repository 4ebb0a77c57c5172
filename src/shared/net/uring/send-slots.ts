import type { Native } from '../../native/native.js';
import { spoil, spoils } from '../../system/spoil.js';
import { Region, RingError } from './memory.js';

/** Bytes of a slot. */
export const SLOT = 16 * 1024;
/** Slots that are mapped together. */
const BLOCK = 256;
const BLOCK_SHIFT = 8;
/** Slots in all: a gigabyte, of which the system gives what was ever used. */
const MOST = 65536;

interface Latin1Writable {
  latin1Write(text: string, offset: number, length: number): number;
}

/**
 * Memory that the kernel sends from. A slot is one connection's from {@link take} to {@link release}; what touches another one throws
 * {@link RingError}.
 */
export class SendSlots {
  readonly #native: Native;
  readonly #blocks: Region[] = [];
  /** The latest released is used first: it is in the processor's cache. */
  readonly #free: number[] = [];
  /** Which slots are somebody's. */
  #used = new Uint8Array(0);

  constructor(native: Native) {
    this.#native = native;
  }

  /** A slot of one's own; -1 when there is no memory. */
  take(): number {
    if (this.#free.length === 0 && !this.#grow()) {
      return -1;
    }
    const slot = this.#free.pop()!;
    if (this.#used[slot] !== 0) {
      throw new RingError(`the slot ${slot} is in use`);
    }
    this.#used[slot] = 1;
    this.#spoil(slot);
    return slot;
  }

  #grow(): boolean {
    const first = this.#blocks.length * BLOCK;
    if (first >= MOST) {
      return false;
    }
    try {
      this.#blocks.push(Region.map(this.#native, BLOCK * SLOT));
    } catch {
      return false;
    }
    const used = new Uint8Array(first + BLOCK);
    used.set(this.#used);
    this.#used = used;
    for (let i = first + BLOCK - 1; i >= first; i--) {
      this.#free.push(i);
    }
    return true;
  }

  /** Whoever had it does not use it any more, nor does the kernel. */
  release(slot: number): void {
    if (this.#used[slot] !== 1) {
      throw new RingError(`the slot ${slot} is not in use`);
    }
    this.#spoil(slot);
    this.#used[slot] = 0;
    this.#free.push(slot);
  }

  #spoil(slot: number): void {
    if (spoils) {
      const offset = this.#offset(slot, 0, SLOT);
      spoil(this.#blocks[slot >> BLOCK_SHIFT]!.bytes, offset, offset + SLOT);
    }
  }

  /** How many slots are somebody's. */
  get inUse(): number {
    return this.#blocks.length * BLOCK - this.#free.length;
  }

  /** Puts text (latin1) into a slot. */
  putText(slot: number, at: number, text: string): void {
    const offset = this.#offset(slot, at, text.length);
    (this.#blocks[slot >> BLOCK_SHIFT]!.bytes as unknown as Latin1Writable).latin1Write(text, offset, text.length);
  }

  /** Puts the bytes `start..end` into a slot. All of them have to be there: what the slot held before would be sent. */
  put(slot: number, at: number, bytes: Buffer, start: number, end: number): void {
    if (!(start >= 0 && start <= end && end <= bytes.length)) {
      throw new RingError(`the bytes ${start} to ${end} of ${bytes.length}`);
    }
    const offset = this.#offset(slot, at, end - start);
    bytes.copy(this.#blocks[slot >> BLOCK_SHIFT]!.bytes, offset, start, end);
  }

  /** The first `length` bytes of a slot. */
  bytes(slot: number, length: number): Buffer {
    const offset = this.#offset(slot, 0, length);
    return this.#blocks[slot >> BLOCK_SHIFT]!.bytes.subarray(offset, offset + length);
  }

  /** Where they are for the kernel. */
  address(slot: number, length: number): number {
    return this.#blocks[slot >> BLOCK_SHIFT]!.address(this.#offset(slot, 0, length), length);
  }

  #offset(slot: number, at: number, length: number): number {
    if (this.#used[slot] !== 1 || !(at >= 0 && length >= 0 && at + length <= SLOT)) {
      throw new RingError(`${length} bytes at ${at} of the slot ${slot}`);
    }
    return (slot & (BLOCK - 1)) * SLOT + at;
  }
}
