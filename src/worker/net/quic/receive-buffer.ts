import { Ranges } from './ranges.js';

/** With more gaps than that in what came, its sender is not an honest one. */
const MOST_GAPS = 256;
/** The memory for what is ahead begins with so many bytes. */
const LEAST = 2048;

/** What comes in any order, until it is given on in order. What is ahead lies in one piece of memory, as long as it reaches. */
export class ReceiveBuffer {
  /** Given on so far. */
  next: number;
  #ahead: Buffer | undefined = undefined;
  /** What of {@link #ahead}, which begins at {@link #base}, was written. */
  #base = 0;
  #ranges: Ranges | undefined = undefined;

  /** `next`: how much was given on before. */
  constructor(next = 0) {
    this.next = next;
  }

  /**
   * Takes the bytes at `at`; whoever calls has checked that they are within a window. Returns false when there are too many gaps. What is
   * in order is then told by {@link ready}; the memory that came is not kept.
   */
  put(at: number, bytes: Buffer): boolean {
    const end = at + bytes.length;
    if (end <= this.next || bytes.length === 0) {
      return true;
    }
    if (at <= this.next && this.#ranges === undefined) {
      this.#direct = at === this.next ? bytes : bytes.subarray(this.next - at);
      return true;
    }
    this.#ranges ??= new Ranges();
    if (this.#ahead === undefined) {
      this.#base = this.next;
    }
    const from = Math.max(at, this.next);
    this.#reserve(end);
    bytes.copy(this.#ahead!, from - this.#base, from - at);
    this.#ranges.add(from, end);
    return this.#ranges.count <= MOST_GAPS;
  }

  #reserve(end: number): void {
    const needed = end - this.#base;
    const before = this.#ahead;
    if (before !== undefined && needed <= before.length) {
      return;
    }
    if (before !== undefined && this.next > this.#base) {
      // What was given on makes room.
      const kept = before.subarray(this.next - this.#base);
      this.#base = this.next;
      // Twice what is there, so that bytes that come one by one do not have all of it copied for each.
      const size = Math.max(end - this.#base, kept.length * 2, LEAST);
      const grown = Buffer.alloc(size);
      kept.copy(grown);
      this.#ahead = grown;
      return;
    }
    const grown = Buffer.alloc(Math.max(needed, (before?.length ?? 0) * 2, LEAST));
    before?.copy(grown);
    this.#ahead = grown;
  }

  #direct: Buffer | undefined = undefined;

  /** The next bytes in order, once; undefined when there are none. */
  ready(): Buffer | undefined {
    const direct = this.#direct;
    if (direct !== undefined) {
      this.#direct = undefined;
      this.next += direct.length;
      return direct;
    }
    const list = this.#ranges?.list;
    if (list === undefined || list.length === 0 || list[0]! > this.next) {
      return undefined;
    }
    const from = this.next;
    const end = list[1]!;
    list.splice(0, 2);
    this.next = end;
    const found = this.#ahead!.subarray(from - this.#base, end - this.#base);
    if (list.length === 0) {
      this.#ahead = undefined;
      this.#ranges = undefined;
    }
    return found;
  }

  /** Lets go of what is ahead. */
  clear(): void {
    this.#ahead = undefined;
    this.#ranges = undefined;
    this.#direct = undefined;
  }
}
