import { Ranges } from './ranges.js';

/** Up to this size a loop copies faster than a call does. */
const BY_HAND = 64;

interface Piece {
  /** Where it begins in the stream. */
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** What is to be sent in order, and once more where it was lost; pieces are kept until they were acknowledged, and never copied. */
export class SendBuffer {
  #pieces: Piece[] = [];
  /** How many of the first pieces are not needed any more. */
  #gone = 0;
  /** Everything that was written ends there. */
  end = 0;
  /** Sent so far, once. */
  next = 0;
  /** Nothing is written behind {@link end}. */
  fin = false;
  finSent = false;
  finAcked = false;
  #finLost = false;
  #acked: Ranges | undefined = undefined;
  /** Up to where everything was acknowledged. */
  front = 0;
  #lost: Ranges | undefined = undefined;

  write(bytes: Uint8Array): void {
    if (bytes.length > 0) {
      this.#pieces.push({ at: this.end, bytes });
      this.end += bytes.length;
    }
  }

  /** How many bytes are kept. */
  get kept(): number {
    return this.end - this.front;
  }

  get hasLost(): boolean {
    return this.#finLost || (this.#lost !== undefined && this.#lost.list.length > 0);
  }

  /** Something is to be sent, as far as the peer allows it. */
  get pending(): boolean {
    return this.next < this.end || (this.fin && !this.finSent) || this.hasLost;
  }

  /** The peer has everything. */
  get settled(): boolean {
    return this.finAcked && this.front === this.end;
  }

  /** What {@link take} has found. */
  from = 0;
  to = 0;
  withFin = false;

  /**
   * Finds what is sent next: what was lost first, at most `most` bytes, of fresh ones none behind `limit`. Returns false when there is
   * nothing.
   */
  take(most: number, limit: number): boolean {
    const lost = this.#lost?.list;
    if (lost !== undefined && lost.length > 0) {
      this.from = lost[0]!;
      this.to = Math.min(lost[1]!, this.from + most);
      if (this.to === lost[1]) {
        lost.splice(0, 2);
      } else {
        lost[0] = this.to;
      }
      this.withFin = this.#takesFin();
      return true;
    }
    this.from = this.next;
    this.to = Math.max(this.next, Math.min(this.end, limit, this.next + most));
    this.next = this.to;
    this.withFin = this.#takesFin();
    return this.to > this.from || this.withFin;
  }

  #takesFin(): boolean {
    if (!this.fin || this.to !== this.end || this.finAcked || (this.finSent && !this.#finLost && this.from === this.to)) {
      return false;
    }
    this.finSent = true;
    this.#finLost = false;
    return true;
  }

  /** Copies a range that was taken into memory that has room for it. */
  copy(from: number, to: number, into: Uint8Array, at: number): void {
    const pieces = this.#pieces;
    let i = this.#find(from);
    while (from < to) {
      const { at: start, bytes } = pieces[i++]!;
      const first = from - start;
      const size = Math.min(bytes.length - first, to - from);
      if (size <= BY_HAND) {
        for (let i = 0; i < size; i++) {
          into[at + i] = bytes[first + i]!;
        }
      } else {
        into.set(size === bytes.length ? bytes : bytes.subarray(first, first + size), at);
      }
      at += size;
      from += size;
    }
  }

  /** The piece that a place is in: one of the last mostly, for what is new, or else by bisection. */
  #find(place: number): number {
    const pieces = this.#pieces;
    let low = this.#gone;
    let high = pieces.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (pieces[middle]!.at <= place) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /** The peer has a range. Returns whether that makes less to keep. */
  acked(from: number, to: number, fin: boolean): boolean {
    this.finAcked ||= fin;
    if (to <= this.front) {
      return false;
    }
    if (from > this.front) {
      this.#acked ??= new Ranges();
      this.#acked.add(from, to);
      this.#lost?.remove(from, to);
      return false;
    }
    this.front = to;
    if (this.#acked !== undefined) {
      const { list } = this.#acked;
      while (list.length > 0 && list[0]! <= this.front) {
        this.front = Math.max(this.front, list[1]!);
        list.splice(0, 2);
      }
    }
    this.#lost?.removeBelow(this.front);
    this.#drop();
    return true;
  }

  /** Lets go of pieces that were acknowledged. */
  #drop(): void {
    const pieces = this.#pieces;
    while (this.#gone < pieces.length && pieces[this.#gone]!.at + pieces[this.#gone]!.bytes.length <= this.front) {
      pieces[this.#gone++] = NONE;
    }
    if (this.#gone === pieces.length) {
      pieces.length = 0;
      this.#gone = 0;
    } else if (this.#gone > 64 && this.#gone * 2 > pieces.length) {
      pieces.splice(0, this.#gone);
      this.#gone = 0;
    }
  }

  /** A packet with a range is lost. */
  lost(from: number, to: number, fin: boolean): void {
    if (fin && !this.finAcked) {
      this.#finLost = true;
    }
    from = Math.max(from, this.front);
    if (from >= to) {
      return;
    }
    this.#lost ??= new Ranges();
    this.#lost.add(from, to);
    const acked = this.#acked?.list;
    if (acked !== undefined) {
      for (let i = 0; i < acked.length; i += 2) {
        this.#lost.remove(acked[i]!, acked[i + 1]!);
      }
    }
  }

  /** Forgets everything: nobody wants it. */
  clear(): void {
    this.#pieces = [];
    this.#gone = 0;
    this.#lost = undefined;
    this.#acked = undefined;
    this.#finLost = false;
    this.front = this.end;
    this.next = this.end;
  }
}

const NONE: Piece = { at: 0, bytes: new Uint8Array(0) };
