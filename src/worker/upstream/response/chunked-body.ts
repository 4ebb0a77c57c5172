/** {@link ChunkedBody.read}: the bytes are used up. */
export const CHUNK_AGAIN = 0;
/** A piece of body is at `start..end`. */
export const CHUNK_PIECE = 1;
/** The last chunk was read; with `keepTrailers`, trailers and an empty line follow. */
export const CHUNK_DONE = 2;
/** The framing is broken. */
export const CHUNK_INVALID = 3;

const S = {
  SIZE_START: 0,
  SIZE: 1,
  EXTENSION: 2,
  SIZE_LF: 3,
  DATA: 4,
  DATA_CR: 5,
  DATA_LF: 6,
  LAST_EXTENSION: 7,
  LAST_LF: 8,
  TRAILER: 9,
  TRAILER_LF: 10,
  TRAILER_LINE: 11,
  TRAILER_LINE_LF: 12,
} as const;

const CR = 13;
const LF = 10;

/** Takes the chunks of a backend's response apart, however its bytes are cut. nginx: ngx_http_parse_chunked. */
export class ChunkedBody {
  /** After CHUNK_PIECE: where the piece is. */
  start = 0;
  end = 0;
  /** The byte after what was read. */
  next = 0;
  readonly #keepTrailers: boolean;
  #state: number = S.SIZE_START;
  #size = 0;

  constructor(keepTrailers: boolean) {
    this.#keepTrailers = keepTrailers;
  }

  /** Reads `from..to` up to the end of a piece, of the body, or of the bytes. */
  read(bytes: Uint8Array, from: number, to: number): number {
    for (let i = from; i < to; ) {
      if (this.#state === S.DATA) {
        const size = Math.min(this.#size, to - i);
        this.start = i;
        this.end = i + size;
        this.next = this.end;
        this.#size -= size;
        if (this.#size === 0) this.#state = S.DATA_CR;
        return CHUNK_PIECE;
      }
      const code = this.#step(bytes[i++]!);
      if (code !== CHUNK_AGAIN) {
        this.next = i;
        return code;
      }
    }
    this.next = to;
    return CHUNK_AGAIN;
  }

  #step(c: number): number {
    switch (this.#state) {
      case S.SIZE_START: {
        const digit = hexDigit(c);
        if (digit === -1) return CHUNK_INVALID;
        this.#size = digit;
        this.#state = S.SIZE;
        return CHUNK_AGAIN;
      }
      case S.SIZE:
        return this.#sizeByte(c);
      case S.EXTENSION:
        return this.#line(c, S.SIZE_LF);
      case S.SIZE_LF:
        return this.#lf(c, S.DATA);
      case S.DATA_CR:
        if (c !== CR) return CHUNK_INVALID;
        this.#state = S.DATA_LF;
        return CHUNK_AGAIN;
      case S.DATA_LF:
        return this.#lf(c, S.SIZE_START);
      case S.LAST_EXTENSION:
        return this.#line(c, S.LAST_LF);
      case S.LAST_LF:
        if (c !== LF) return CHUNK_INVALID;
        if (this.#keepTrailers) return CHUNK_DONE;
        this.#state = S.TRAILER;
        return CHUNK_AGAIN;
      case S.TRAILER:
        if (c === LF) return CHUNK_INVALID;
        this.#state = c === CR ? S.TRAILER_LF : S.TRAILER_LINE;
        return CHUNK_AGAIN;
      case S.TRAILER_LF:
        return c === LF ? CHUNK_DONE : CHUNK_INVALID;
      case S.TRAILER_LINE:
        return this.#line(c, S.TRAILER_LINE_LF);
      default:
        return this.#lf(c, S.TRAILER);
    }
  }

  #sizeByte(c: number): number {
    const digit = hexDigit(c);
    if (digit !== -1) {
      this.#size = this.#size * 16 + digit;
      return this.#size <= Number.MAX_SAFE_INTEGER ? CHUNK_AGAIN : CHUNK_INVALID;
    }
    const last = this.#size === 0;
    if (c === CR) this.#state = last ? S.LAST_LF : S.SIZE_LF;
    else if (c === 0x3b || c === 0x20 || c === 9) this.#state = last ? S.LAST_EXTENSION : S.EXTENSION;
    else return CHUNK_INVALID;
    return CHUNK_AGAIN;
  }

  /** A byte of text that ends with CR LF. */
  #line(c: number, then: number): number {
    if (c === LF) return CHUNK_INVALID;
    if (c === CR) this.#state = then;
    return CHUNK_AGAIN;
  }

  #lf(c: number, then: number): number {
    if (c !== LF) return CHUNK_INVALID;
    this.#state = then;
    return CHUNK_AGAIN;
  }
}

function hexDigit(c: number): number {
  if (c >= 48 && c <= 57) return c - 48;
  const lower = c | 0x20;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
