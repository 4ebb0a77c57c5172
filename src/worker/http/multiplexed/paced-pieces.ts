import { setTimer } from '../../../shared/time/timer.js';
import type { RatePacer } from '../body/rate.js';
import type { Chunk } from '../request/body-stage.js';
import type { Request } from '../request/request.js';

/** A stream on which pieces of a response leave. */
export interface PieceStream {
  /** Sends a piece at the pace of the response. */
  send(r: Request, chunk: Chunk | null, last: boolean): void;
  /** Sends a piece as soon as there is room. */
  put(chunk: Chunk | null, last: boolean): void;
}

/** Cuts a response's pieces to what `limit_rate` lets through. nginx: ngx_http_write_filter with limit_rate. */
export class PacedPieces {
  readonly #stream: PieceStream;
  readonly #pacer: RatePacer;
  /** What the rate does not let through yet, behind the piece that is being sent. */
  #rest: Chunk | null = null;
  #last = false;

  constructor(stream: PieceStream, pacer: RatePacer) {
    this.#stream = stream;
    this.#pacer = pacer;
  }

  /** Sends what the rate allows of a piece, and the rest after a pause. */
  send(r: Request, chunk: Chunk, last: boolean): void {
    const allowed = this.#pacer.allowed(performance.now(), r.bytesSent - r.headerSize);
    if (allowed >= chunk.length) {
      this.#stream.put(chunk, last);
    } else if (allowed > 0) {
      this.#rest = chunk.subarray(allowed);
      this.#last = last;
      this.#stream.put(chunk.subarray(0, allowed), false);
    } else {
      this.#later(r, chunk, last);
    }
  }

  /** A piece is in frames; false if nothing of it is left. */
  goOn(r: Request): boolean {
    const rest = this.#rest;
    if (rest === null) {
      return false;
    }
    this.#rest = null;
    this.#later(r, rest, this.#last);
    return true;
  }

  #later(r: Request, rest: Chunk, last: boolean): void {
    setTimer(sendRest, this.#pacer.delay(performance.now(), r.bytesSent - r.headerSize), this.#stream, r, rest, last);
  }
}

function sendRest(stream: PieceStream, r: Request, rest: Chunk, last: boolean): void {
  if (!r.finished) {
    stream.send(r, rest, last);
  }
}
