import { copyBytes } from '../../bytes/copy-bytes.js';
import { Ranges } from './ranges.js';

interface Piece {
  /** Where it begins in the stream. */
  readonly at: number;
  readonly bytes: Uint8Array;
  /** The piece behind it. */
  next: Piece | undefined;
}

/** What {@link SendBuffer.take} has found last: a range, and whether the end of all goes with it. */
export const taken = { from: 0, to: 0, withFin: false };

/** What is to be sent in order, and once more where it was lost; pieces are kept until they were acknowledged, and never copied. */
export class SendBuffer {
  #first: Piece | undefined = undefined;
  #last: Piece | undefined = undefined;
  /** The piece that bytes were copied of last for the first time: the next ones are there, or behind it. */
  #recent: Piece | undefined = undefined;
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
      const piece: Piece = { at: this.end, bytes, next: undefined };
      if (this.#last === undefined) {
        this.#first = piece;
      } else {
        this.#last.next = piece;
      }
      this.#last = piece;
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

  /**
   * Finds what is sent next: what was lost first, at most `most` bytes, of fresh ones none behind `limit`. Leaves it in {@link taken};
   * returns false when there is nothing.
   */
  take(most: number, limit: number): boolean {
    const lost = this.#lost?.list;
    if (lost !== undefined && lost.length > 0) {
      const from = lost[0]!;
      const to = Math.min(lost[1]!, from + most);
      if (to === lost[1]) {
        lost.splice(0, 2);
      } else {
        lost[0] = to;
      }
      this.#tell(from, to);
      return true;
    }
    const from = this.next;
    const to = Math.max(from, Math.min(this.end, limit, from + most));
    this.next = to;
    this.#tell(from, to);
    return to > from || taken.withFin;
  }

  #tell(from: number, to: number): void {
    taken.from = from;
    taken.to = to;
    taken.withFin = this.#takesFin(from, to);
  }

  #takesFin(from: number, to: number): boolean {
    if (!this.fin || to !== this.end || this.finAcked || (this.finSent && !this.#finLost && from === to)) {
      return false;
    }
    this.finSent = true;
    this.#finLost = false;
    return true;
  }

  /** Copies a range that was taken into memory that has room for it. */
  copy(from: number, to: number, into: Uint8Array, at: number): void {
    if (from === to) {
      return;
    }
    const recent = this.#recent;
    let piece = recent !== undefined && recent.at <= from ? recent : this.#first!;
    while (from < to) {
      const { bytes, next } = piece;
      const first = from - piece.at;
      if (first >= bytes.length) {
        piece = next!;
        continue;
      }
      const size = Math.min(bytes.length - first, to - from);
      at = copyBytes(bytes, first, first + size, into, at);
      from += size;
    }
    if (recent === undefined || piece.at > recent.at) {
      this.#recent = piece;
    }
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
    let first = this.#first;
    while (first !== undefined && first.at + first.bytes.length <= this.front) {
      const { next } = first;
      if (this.#recent === first) {
        this.#recent = next;
      }
      // What is old already would keep what follows it.
      first.next = undefined;
      first = next;
    }
    this.#first = first;
    if (first === undefined) {
      this.#last = undefined;
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
    this.#first = this.#last = this.#recent = undefined;
    this.#lost = undefined;
    this.#acked = undefined;
    this.#finLost = false;
    this.front = this.end;
    this.next = this.end;
  }
}
