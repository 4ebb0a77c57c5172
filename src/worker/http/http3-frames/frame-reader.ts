import { VarintReader } from './varint.js';

/** What the bytes came to: see {@link Http3FrameReader.read}. */
export const CAME = {
  /** More must come. */
  NOTHING: 0,
  /** A frame's type and length are known. */
  HEAD: 1,
  /** The bytes `start..end` belong to it, and `left` are still to come. */
  PAYLOAD: 2,
} as const;

const TYPE = 0;
const LENGTH = 1;
const PAYLOAD = 2;

/** Takes a stream apart into frames (RFC 9114, 7.1): their payloads come in the pieces in which they are received. */
export class Http3FrameReader {
  type = 0;
  length = 0;
  /** How many bytes of the payload are still to come. */
  left = 0;
  start = 0;
  end = 0;
  /** The place of the first byte that was not read. */
  next = 0;
  readonly #number = new VarintReader();
  #state = TYPE;

  /** The stream must not end here: a frame has begun. */
  get within(): boolean {
    return this.#state !== TYPE || this.#number.within;
  }

  /** Reads what comes first of the bytes `at..end`; one of {@link CAME}. */
  read(bytes: Uint8Array, at: number, end: number): number {
    if (this.#state === TYPE) {
      at = this.#number.read(bytes, at, end);
      if (at === -1) {
        this.next = end;
        return CAME.NOTHING;
      }
      this.type = this.#number.value;
      this.#state = LENGTH;
    }
    if (this.#state === LENGTH) {
      at = this.#number.read(bytes, at, end);
      if (at === -1) {
        this.next = end;
        return CAME.NOTHING;
      }
      this.length = this.left = this.#number.value;
      this.#state = this.length === 0 ? TYPE : PAYLOAD;
      this.next = at;
      return CAME.HEAD;
    }
    if (at === end) {
      this.next = at;
      return CAME.NOTHING;
    }
    this.start = at;
    this.end = this.next = Math.min(end, at + this.left);
    this.left -= this.end - this.start;
    if (this.left === 0) {
      this.#state = TYPE;
    }
    return CAME.PAYLOAD;
  }
}
