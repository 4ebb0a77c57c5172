import type { Request } from '../request/request.js';
import { CHUNK_DONE, CHUNK_INVALID, ChunkedBody } from '../syntax/chunked-body.js';

/** Cuts a request body out of the bytes on the connection. */
export interface BodyFraming {
  /** The body has been read to its end. */
  readonly done: boolean;
  /** After a read: the offset of the first byte not used. */
  readonly next: number;
  /** After a read: where in the bytes that were read the body's are; an empty range when there was only framing. */
  readonly start: number;
  readonly end: number;
  /** After a read: how many bytes behind these the framing announces so far. */
  readonly left: number;
  /** After a read: the next chunk is longer than the limit allows; none of its data was read. */
  readonly over: boolean;
  /** Stops before data of unknown length that would make the body longer than this; 0: there is no limit. */
  limit(most: number): void;
  /** Reads `from..to`, which may be written over. Returns 0, or the status to answer a malformed body with. */
  read(bytes: Buffer, from: number, to: number): number;
  /** The body is broken: nothing more is read of it. */
  fail(): void;
}

/** A body of announced length. */
class LengthFraming implements BodyFraming {
  start = 0;
  end = 0;
  left: number;
  readonly over = false;

  constructor(length: number) {
    this.left = length;
  }

  get done(): boolean {
    return this.left === 0;
  }

  get next(): number {
    return this.end;
  }

  // What is announced was looked at before.
  limit(): void {}

  read(_bytes: Buffer, from: number, to: number): number {
    const size = Math.min(to - from, this.left);
    this.left -= size;
    this.start = from;
    this.end = from + size;
    return 0;
  }

  fail(): void {
    this.left = 0;
  }
}

/** A chunked body. Its trailers are dropped. */
class ChunkedFraming implements BodyFraming {
  done = false;
  readonly #chunks = new ChunkedBody(false);
  /** How many bytes of data there were. */
  #came = 0;

  get next(): number {
    return this.#chunks.next;
  }

  get start(): number {
    return this.#chunks.start;
  }

  get end(): number {
    return this.#chunks.end;
  }

  get left(): number {
    return this.#chunks.left;
  }

  get over(): boolean {
    return this.#chunks.over;
  }

  limit(most: number): void {
    this.#chunks.room = most === 0 ? Number.POSITIVE_INFINITY : most - this.#came;
  }

  read(bytes: Buffer, from: number, to: number): number {
    const code = this.#chunks.read(bytes, from, to);
    this.#came += this.#chunks.end - this.#chunks.start;
    this.done = code === CHUNK_DONE;
    return code === CHUNK_INVALID ? 400 : 0;
  }

  fail(): void {
    this.done = true;
  }
}

/** The framing of a request that has a body. */
export function makeFraming(r: Request): BodyFraming {
  return r.chunkedIn ? new ChunkedFraming() : new LengthFraming(r.contentLength);
}
