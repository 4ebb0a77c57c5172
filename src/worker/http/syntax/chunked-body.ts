import { hexDigit } from '../../../shared/text/hex-digit.js';
import { moveDown } from '../../bytes/gathered.js';

/** {@link ChunkedBody.read}: the bytes are used up. */
export const CHUNK_AGAIN = 0;
/** The body is over; with `keepTrailers`, trailers and an empty line follow. */
export const CHUNK_DONE = 1;
/** The framing is broken. */
export const CHUNK_INVALID = 2;

// The states of the reader.
const SIZE_START = 0;
const SIZE = 1;
const EXTENSION = 2;
const SIZE_LF = 3;
const DATA = 4;
const DATA_CR = 5;
const DATA_LF = 6;
const LAST_LF = 7;
const TRAILER = 8;
const TRAILER_LF = 9;
const TRAILER_LINE = 10;
const TRAILER_LINE_LF = 11;
const BROKEN = 12;

const CR = 13;
const LF = 10;

/** A size above this would not fit into 63 bits with one more digit (nginx: NGX_MAX_OFF_T_VALUE / 16). */
const MAX_SIZE = 2 ** 59;

/** The shortest chunk with its framing. */
const SMALLEST = 6;

/**
 * Takes the chunks off a body, however its bytes are cut. The data of all chunks in a call is moved together, over the framing that was
 * between it: so a body of tiny chunks costs no more than one of large ones to whoever takes it. Only CRLF ends a line. nginx:
 * ngx_http_parse_chunked.
 */
export class ChunkedBody {
  /** After a read: where in the bytes the data is that they held. */
  start = 0;
  end = 0;
  /** The byte after what was read. */
  next = 0;
  /** How much data may still come. A longer chunk stops the reader before its data, with `over`; only a wider room lets it read on. */
  room: number = Number.POSITIVE_INFINITY;
  /** After a read: the chunk at hand is longer than the room. */
  over = false;
  readonly #keepTrailers: boolean;
  #state: number = SIZE_START;
  /** Bytes that the chunk at hand still has. */
  #size = 0;

  constructor(keepTrailers: boolean) {
    this.#keepTrailers = keepTrailers;
  }

  /** How many bytes of the chunk at hand are known to come. */
  get left(): number {
    return this.#state === DATA ? this.#size : 0;
  }

  /** How many bytes have to come at least until the end of the body. nginx: ngx_http_chunked_t.length. */
  get least(): number {
    const size = this.#size;
    switch (this.#state) {
      case SIZE_START:
        return 5;
      case SIZE:
        return 2 + (size > 0 ? size + 7 : 2);
      case EXTENSION:
        return size > 0 ? size + 9 : 4;
      case SIZE_LF:
        return size + 8;
      case DATA:
        return size + 7;
      case DATA_CR:
        return 7;
      case DATA_LF:
        return 6;
      case LAST_LF:
        return 3;
      case TRAILER:
        return 2;
      case TRAILER_LINE:
        return 4;
      case TRAILER_LINE_LF:
        return 3;
      default:
        return 1;
    }
  }

  /** Reads `from..to`, up to the end of the body or of the bytes. The bytes read are written over. */
  read(bytes: Uint8Array, from: number, to: number): number {
    let state = this.#state;
    let size = this.#size;
    let start = from;
    let end = from;
    let i = from;
    let code = CHUNK_AGAIN;
    let { room } = this;
    this.over = false;
    while (i < to) {
      if (state === DATA) {
        if (size > room) {
          this.over = true;
          break;
        }
        const part = size < to - i ? size : to - i;
        if (end === start) {
          start = end = i;
        } else {
          moveDown(bytes, end, i, i + part);
        }
        end += part;
        i += part;
        size -= part;
        room -= part;
        if (size > 0) {
          break;
        }
        state = DATA_CR;
        continue;
      }
      if (state === SIZE_START && to - i >= SMALLEST) {
        // Most chunks that are small come whole: their framing is looked at without a step for each byte of it.
        const digits = this.#sizeEnd(bytes, i);
        const first = digits + 2;
        const behind = digits === 0 ? to : first + this.#size;
        if (behind + 2 <= to && this.#size <= room && bytes[behind] === CR && bytes[behind + 1] === LF) {
          if (end === start) {
            start = end = first;
          } else {
            moveDown(bytes, end, first, behind);
          }
          end += this.#size;
          room -= this.#size;
          i = behind + 2;
          continue;
        }
      }
      const c = bytes[i++]!;
      switch (state) {
        case SIZE_START:
          size = hexDigit(c);
          state = size === -1 ? BROKEN : SIZE;
          break;
        case SIZE: {
          const digit = hexDigit(c);
          if (size >= MAX_SIZE) {
            state = BROKEN;
          } else if (digit !== -1) {
            size = size * 16 + digit;
          } else if (c === CR) {
            state = size === 0 ? LAST_LF : SIZE_LF;
          } else {
            state = c === 0x3b || c === 0x20 || c === 9 ? EXTENSION : BROKEN;
          }
          break;
        }
        case EXTENSION:
          if (c === LF) {
            state = BROKEN;
          } else if (c === CR) {
            state = size === 0 ? LAST_LF : SIZE_LF;
          }
          break;
        case SIZE_LF:
          state = c === LF ? DATA : BROKEN;
          break;
        case DATA_CR:
          state = c === CR ? DATA_LF : BROKEN;
          break;
        case DATA_LF:
          state = c === LF ? SIZE_START : BROKEN;
          break;
        case LAST_LF:
          if (c !== LF) {
            state = BROKEN;
          } else if (this.#keepTrailers) {
            code = CHUNK_DONE;
          } else {
            state = TRAILER;
          }
          break;
        case TRAILER:
          if (c === LF) {
            state = BROKEN;
          } else {
            state = c === CR ? TRAILER_LF : TRAILER_LINE;
          }
          break;
        case TRAILER_LF:
          if (c === LF) {
            code = CHUNK_DONE;
          } else {
            state = BROKEN;
          }
          break;
        case TRAILER_LINE:
          if (c === LF) {
            state = BROKEN;
          } else if (c === CR) {
            state = TRAILER_LINE_LF;
          }
          break;
        case TRAILER_LINE_LF:
          state = c === LF ? TRAILER : BROKEN;
          break;
        default:
          break;
      }
      if (state === BROKEN) {
        // What is wrong is not used up.
        i--;
        code = CHUNK_INVALID;
        break;
      }
      if (code !== CHUNK_AGAIN) {
        break;
      }
    }
    this.#state = state;
    this.#size = size;
    this.room = room;
    this.start = start;
    this.end = end;
    this.next = i;
    return code;
  }

  /**
   * Reads a size of one to three digits with its CRLF into `#size`. Returns where its digits end; 0 for anything else, and for the
   * last chunk.
   */
  #sizeEnd(bytes: Uint8Array, from: number): number {
    let i = from;
    let size = hexDigit(bytes[i++]!);
    if (size === -1) {
      return 0;
    }
    for (; bytes[i] !== CR; i++) {
      const digit = hexDigit(bytes[i]!);
      if (digit === -1 || i === from + 3) {
        return 0;
      }
      size = size * 16 + digit;
    }
    this.#size = size;
    return size > 0 && bytes[i + 1] === LF ? i : 0;
  }
}
