import { Buffer } from 'node:buffer';
import { latin1 } from '../../../shared/lib/latin1.js';
import { HeaderLine, LINE_AGAIN, LINE_END, LINE_HEADER, LINE_INVALID } from './header-line.js';
import { hexDigit } from './uri-escape.js';

const LF = 0x0a;
const CR = 0x0d;

// Where the decoder is. The numbers say nothing.
const CHUNK_START = 0;
const CHUNK_SIZE = 1;
const EXTENSION = 2;
const EXTENSION_LF = 3;
const DATA = 4;
const AFTER_DATA = 5;
const AFTER_DATA_LF = 6;
const TRAILER = 7;
const TRAILER_LF = 8;
const TRAILER_LINE = 9;
const TRAILER_LINE_LF = 10;
const KEPT_TRAILERS = 11;
const BROKEN = 12;

// A size above this would not fit into 63 bits with one more digit (nginx: NGX_MAX_OFF_T_VALUE / 16).
const MAX_SIZE = 2 ** 59;

/**
 * Takes the chunked framing off a body, however its bytes are cut: the body comes as slices of the bytes given, without a copy (nginx:
 * ngx_http_parse_chunked). Only CRLF ends a line.
 */
export class ChunkedDecoder {
  /** The body has been read to its end. */
  done = false;
  /** After a read: the offset of the first byte not used. */
  next = 0;
  /** After a read: a piece of the body; null if there was none. */
  piece: Buffer | null = null;
  /** After a read: how many bytes of the current chunk are to come after `piece`. */
  left = 0;
  /** Names and values of the trailers in turns, if they are kept. */
  readonly trailers: string[] = [];
  /** What is wrong with the trailers: "sent ...". Empty if the chunks themselves are malformed. */
  problem = '';
  readonly #trailersSize: number;
  #state = CHUNK_START;
  #trailerBytes: Buffer | undefined = undefined;
  #trailerStart = 0;
  #trailerEnd = 0;

  /** Trailers are kept if they fit into `trailersSize` bytes; with 0 they are skipped. */
  constructor(trailersSize: number) {
    this.#trailersSize = trailersSize;
  }

  /** Reads on from `start` until a piece was found, the body ends or the bytes do. Returns 0, or 400 for a malformed body. */
  read(bytes: Buffer, start: number, end: number): number {
    this.piece = null;
    let state = this.#state;
    let i = start;
    for (; i < end; i++) {
      const c = bytes[i]!;
      switch (state) {
        case CHUNK_START: {
          this.left = hexDigit(c);
          if (this.left === -1) return this.#broken(i);
          state = CHUNK_SIZE;
          break;
        }
        case CHUNK_SIZE: {
          const digit = hexDigit(c);
          if (this.left >= MAX_SIZE) return this.#broken(i);
          if (digit !== -1) this.left = this.left * 16 + digit;
          else if (c === CR) state = EXTENSION_LF;
          else if (c === 0x3b || c === 0x20 || c === 0x09) state = EXTENSION;
          else return this.#broken(i);
          break;
        }
        case EXTENSION:
          if (c === CR) state = EXTENSION_LF;
          else if (c === LF) return this.#broken(i);
          break;
        case EXTENSION_LF:
          if (c !== LF) return this.#broken(i);
          if (this.left > 0) {
            state = DATA;
          } else if (this.#trailersSize === 0) {
            state = TRAILER;
          } else {
            this.#state = KEPT_TRAILERS;
            return this.#readTrailers(bytes, i + 1, end);
          }
          break;
        case DATA: {
          const size = Math.min(this.left, end - i);
          this.left -= size;
          this.piece = bytes.subarray(i, i + size);
          this.next = i + size;
          this.#state = this.left === 0 ? AFTER_DATA : DATA;
          return 0;
        }
        case AFTER_DATA:
          if (c !== CR) return this.#broken(i);
          state = AFTER_DATA_LF;
          break;
        case AFTER_DATA_LF:
          if (c !== LF) return this.#broken(i);
          state = CHUNK_START;
          break;
        case TRAILER:
          if (c === LF) return this.#broken(i);
          state = c === CR ? TRAILER_LF : TRAILER_LINE;
          break;
        case TRAILER_LF:
          if (c !== LF) return this.#broken(i);
          this.done = true;
          this.next = i + 1;
          return 0;
        case TRAILER_LINE:
          if (c === LF) return this.#broken(i);
          if (c === CR) state = TRAILER_LINE_LF;
          break;
        case TRAILER_LINE_LF:
          if (c !== LF) return this.#broken(i);
          state = TRAILER;
          break;
        case KEPT_TRAILERS:
          return this.#readTrailers(bytes, i, end);
        default:
          return this.#broken(i);
      }
    }
    this.#state = state;
    this.next = i;
    return 0;
  }

  /** The body is broken: nothing more is read of it. */
  fail(): void {
    this.done = true;
  }

  // nginx: ngx_http_proxy_process_trailer. Unlike skipped trailers these follow the grammar of header lines.
  #readTrailers(bytes: Buffer, start: number, end: number): number {
    if (this.#trailerEnd === 0 && end - start >= 2 && bytes[start] === CR && bytes[start + 1] === LF) {
      // Nearly every body ends without trailers.
      this.next = start + 2;
      this.done = true;
      return 0;
    }
    if (this.#trailerBytes === undefined) this.#trailerBytes = Buffer.allocUnsafe(this.#trailersSize);
    const taken = Math.min(end - start, this.#trailersSize - this.#trailerEnd);
    bytes.copy(this.#trailerBytes, this.#trailerEnd, start, start + taken);
    this.#trailerEnd += taken;
    this.next = start + taken;

    const line = new HeaderLine(true, true);
    line.begin(latin1(this.#trailerBytes, this.#trailerStart, this.#trailerEnd), this.#trailerStart);
    for (;;) {
      const code = line.scan(this.#trailerBytes, this.#trailerStart, this.#trailerEnd);
      if (code === LINE_AGAIN) {
        if (this.#trailerEnd < this.#trailersSize) return 0;
        this.problem = 'sent too big trailers';
        return this.#broken(this.next);
      }
      if (code === LINE_INVALID) {
        this.problem = `sent invalid trailer: ${line.quoteInvalid(this.#trailerBytes)}`;
        return this.#broken(this.next);
      }
      this.#trailerStart = line.next;
      if (code === LINE_HEADER) this.trailers.push(line.name(), line.value());
      if (code === LINE_END) {
        this.next -= this.#trailerEnd - line.next;
        this.done = true;
        return 0;
      }
    }
  }

  #broken(at: number): number {
    this.#state = BROKEN;
    this.next = at;
    return 400;
  }
}
