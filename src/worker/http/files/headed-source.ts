import type { SeekableSource } from '../request/body-stage.js';
import type { Request } from '../request/request.js';

/**
 * A body of bytes in memory and of a part of something longer behind them, such as a film from its middle on behind a new head. Once the
 * bytes have gone, the source behind them takes its place.
 */
export class HeadedSource implements SeekableSource {
  readonly #head: Buffer;
  readonly #rest: SeekableSource;
  /** Where in the rest the body begins that is sent of it. */
  readonly #start: number;
  /** What comes next, as offsets into the body. */
  #at = 0;
  #end: number;
  /** The rest stands at the place that comes next. */
  #sought = false;

  /** Sends `head`, then the bytes from `start` up to, not including, `end` of `rest`, which has one at least. */
  constructor(head: Buffer, rest: SeekableSource, start: number, end: number) {
    this.#head = head;
    this.#rest = rest;
    this.#start = start;
    this.#end = head.length + end - start;
  }

  pull(r: Request): void {
    const head = this.#head;
    if (this.#at >= head.length) {
      this.#pullRest(r);
      return;
    }
    const end = Math.min(head.length, this.#end);
    const piece = head.subarray(this.#at, end);
    this.#at = end;
    const last = end === this.#end;
    // Where several ranges are sent, others follow, and their stage lets go of this source.
    if (last && r.source === this) {
      r.source = null;
      this.#rest.abort(r);
    }
    r.first!.send(r, piece, last);
  }

  #pullRest(r: Request): void {
    if (!this.#sought) {
      this.#sought = true;
      const shift = this.#start - this.#head.length;
      this.#rest.seek(this.#at + shift, this.#end + shift);
    }
    if (r.source === this) {
      r.source = this.#rest;
    }
    this.#rest.pull(r);
  }

  abort(r: Request): void {
    this.#rest.abort(r);
  }

  seek(start: number, end: number): void {
    this.#at = start;
    this.#end = end;
    this.#sought = false;
  }
}
