import { Ranges } from './ranges.js';

/** With more gaps than that in what came, its sender is not an honest one. */
const MOST_GAPS = 256;
/** What is ahead is kept in pieces of so many bytes, so that a byte far away takes no more than one of them. */
const PAGE = 4096;

/** What comes in any order, until it is given on in order. Memory is kept for the pages alone into which something came. */
export class ReceiveBuffer {
  /** Given on so far. */
  next: number;
  /** What is ahead, by the number of its page. */
  #pages: Map<number, Buffer> | undefined = undefined;
  /** What of the pages was written. */
  #ranges: Ranges | undefined = undefined;
  #direct: Buffer | undefined = undefined;

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
    const from = Math.max(at, this.next);
    this.#copy(from, bytes, from - at);
    this.#ranges.add(from, end);
    return this.#ranges.count <= MOST_GAPS;
  }

  #copy(from: number, bytes: Buffer, start: number): void {
    this.#pages ??= new Map();
    for (let at = from, taken = start; taken < bytes.length; ) {
      const number = Math.floor(at / PAGE);
      let page = this.#pages.get(number);
      if (page === undefined) {
        page = Buffer.alloc(PAGE);
        this.#pages.set(number, page);
      }
      const copied = bytes.copy(page, at - number * PAGE, taken);
      at += copied;
      taken += copied;
    }
  }

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
    const number = Math.floor(from / PAGE);
    const base = number * PAGE;
    const end = Math.min(list[1]!, base + PAGE);
    const found = this.#pages!.get(number)!.subarray(from - base, end - base);
    this.next = end;
    if (end === base + PAGE) {
      this.#pages!.delete(number);
    }
    if (end < list[1]!) {
      list[0] = end;
    } else if (list.length === 2) {
      this.#pages = undefined;
      this.#ranges = undefined;
    } else {
      list.splice(0, 2);
    }
    return found;
  }

  /** Lets go of what is ahead. */
  clear(): void {
    this.#pages = undefined;
    this.#ranges = undefined;
    this.#direct = undefined;
  }
}
