const HEX = (c: number): number => (c >= 48 && c <= 57 ? c - 48 : c >= 97 && c <= 102 ? c - 87 : c >= 65 && c <= 70 ? c - 55 : -1);

const S = {
  START: 0,
  SIZE: 1,
  EXT: 2,
  SIZE_LF: 3,
  DATA: 4,
  AFTER: 5,
  AFTER_LF: 6,
  TRAILER: 7,
  TRAILER_LF: 8,
  HEADER: 9,
  HEADER_LF: 10,
  DONE: 11,
  BAD: 12,
} as const;

/** Takes chunked framing off a body, however its bytes are cut. nginx: ngx_http_parse_chunked. */
export class ChunkedDecoder {
  done = false;
  next = 0;
  piece: Buffer | null = null;
  #state: number = S.START;
  #size = 0;

  /** Reads until a piece of body was found or the bytes are used up. Returns 0, or 400 for a malformed body. */
  read(bytes: Buffer, start: number, end: number): number {
    this.piece = null;
    let i = start;
    while (i < end && this.#state !== S.DONE) {
      if (this.#state === S.DATA) {
        const size = Math.min(this.#size, end - i);
        this.piece = bytes.subarray(i, i + size);
        this.#size -= size;
        if (this.#size === 0) this.#state = S.AFTER;
        this.next = i + size;
        return 0;
      }
      if (!this.#step(bytes[i]!)) {
        this.#state = S.BAD;
        return 400;
      }
      i++;
    }
    this.next = i;
    this.done = this.#state === S.DONE;
    return this.#state === S.BAD ? 400 : 0;
  }

  /** The body is broken: nothing more is read of it. */
  fail(): void {
    this.done = true;
  }

  #step(c: number): boolean {
    switch (this.#state) {
      case S.START: {
        const digit = HEX(c);
        if (digit < 0) return false;
        this.#size = digit;
        this.#state = S.SIZE;
        return true;
      }
      case S.SIZE: {
        const digit = HEX(c);
        if (digit >= 0) {
          this.#size = this.#size * 16 + digit;
          return this.#size <= Number.MAX_SAFE_INTEGER;
        }
        if (c === 13) this.#state = S.SIZE_LF;
        else if (c === 10) this.#sizeRead();
        else if (c === 59 || c === 32 || c === 9) this.#state = S.EXT;
        else return false;
        return true;
      }
      case S.EXT:
        if (c === 13) this.#state = S.SIZE_LF;
        else if (c === 10) this.#sizeRead();
        return true;
      case S.SIZE_LF:
        if (c !== 10) return false;
        this.#sizeRead();
        return true;
      case S.AFTER:
        if (c === 13) this.#state = S.AFTER_LF;
        else if (c === 10) this.#state = S.START;
        else return false;
        return true;
      case S.AFTER_LF:
        this.#state = S.START;
        return c === 10;
      case S.TRAILER:
        this.#state = c === 13 ? S.TRAILER_LF : c === 10 ? S.DONE : S.HEADER;
        return true;
      case S.TRAILER_LF:
        this.#state = S.DONE;
        return c === 10;
      case S.HEADER:
        if (c === 13) this.#state = S.HEADER_LF;
        else if (c === 10) this.#state = S.TRAILER;
        return true;
      case S.HEADER_LF:
        this.#state = S.TRAILER;
        return c === 10;
      default:
        return false;
    }
  }

  #sizeRead(): void {
    this.#state = this.#size === 0 ? S.TRAILER : S.DATA;
  }
}
