import type { Chunk } from '../request/body-stage.js';
import type { Request } from '../request/request.js';
import { ChunkedDecoder } from '../syntax/chunked.js';

/** Cuts a request body out of the bytes on the connection. */
export interface BodyFraming {
  /** The body has been read to its end. */
  readonly done: boolean;
  /** After a read: the offset of the first byte not used. */
  readonly next: number;
  /** After a read: a piece of the body, memory of the buffer that was read; null when the bytes were only framing. */
  readonly piece: Chunk | null;
  /** After a read: how many bytes after `piece` the framing announces so far. */
  readonly left: number;
  /** Reads on from `start`. Returns 0, or the status to answer a malformed body with. */
  read(bytes: Buffer, start: number, end: number): number;
  /** The body is broken: nothing more is read of it. */
  fail(): void;
}

/** A body of announced length. */
class LengthFraming implements BodyFraming {
  next = 0;
  piece: Chunk | null = null;
  left: number;

  constructor(length: number) {
    this.left = length;
  }

  get done(): boolean {
    return this.left === 0;
  }

  read(bytes: Buffer, start: number, end: number): number {
    const size = Math.min(end - start, this.left);
    this.left -= size;
    this.next = start + size;
    this.piece = bytes.subarray(start, this.next);
    return 0;
  }

  fail(): void {
    this.left = 0;
  }
}

/** The framing of a request that has a body. */
export function makeFraming(r: Request): BodyFraming {
  return r.chunkedIn ? new ChunkedDecoder(0) : new LengthFraming(r.contentLength);
}
