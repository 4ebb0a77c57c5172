import { FLAG, FRAME, FRAME_HEAD } from './protocol.js';

/** Every byte given was used, and more are needed. */
export const READ_AGAIN = 0;
/** A frame other than DATA is whole: `bytes`, `start` and `end` are its payload. */
export const READ_FRAME = 1;
/** The head of a DATA frame was read: `left` bytes of data follow. */
export const READ_DATA_HEAD = 2;
/** A piece of a DATA frame: `bytes`, `start` and `end`; `left` bytes of data follow. */
export const READ_DATA = 3;
/** The head of a frame was read that is longer than is allowed, and is no DATA. */
export const READ_TOO_LONG = 4;
/** DATA whose padding does not fit into it. */
export const READ_BAD_PADDING = 5;
/** A frame of a type that nobody knows: it is skipped. */
export const READ_UNKNOWN = 6;
/** The head of a HEADERS frame was read, and not all of the frame is here: another read goes on. */
export const READ_HEADERS_HEAD = 7;

const HEAD = 0;
const PAYLOAD = 1;
const DATA = 2;
const SKIP = 3;

/** Cuts frames out of the other side's bytes, however they come. DATA is passed on as it comes, the payload of others when it is whole. */
export class Http2FrameReader {
  type = 0;
  flags = 0;
  streamId = 0;
  /** What a DATA frame says of the length of its padding, if that does not fit into it. */
  padding = 0;
  /** The length of the whole payload, padding included. */
  length = 0;
  bytes: Buffer;
  start = 0;
  end = 0;
  left = 0;
  /** After a read: the first byte not used. */
  next = 0;
  readonly #longest: number;
  #state = HEAD;
  /** Bytes of a head or a payload that is not whole. */
  #held: Buffer | null = null;
  #heldLength = 0;
  #padding = 0;

  /** `longest`: how many bytes of a frame other than DATA are kept. */
  constructor(longest: number) {
    this.#longest = longest;
    this.bytes = EMPTY;
  }

  /** Part of a frame has come. */
  get within(): boolean {
    return this.#state !== HEAD || this.#heldLength > 0;
  }

  /** What came of a payload that is not whole. */
  get held(): Buffer | null {
    return this.#state === PAYLOAD && this.#held !== null ? this.#held.subarray(0, this.#heldLength) : null;
  }

  /** Reads on from `pos`; `end` is where the bytes end. */
  read(bytes: Buffer, pos: number, end: number): number {
    let at = pos;
    if (this.#state === HEAD) {
      // DATA with padding has its length behind the head.
      if (this.#heldLength === 0 && end - at >= FRAME_HEAD + 1) {
        at += this.#head(bytes, at);
      } else {
        at = this.#gather(bytes, at, end, FRAME_HEAD);
        if (this.#heldLength < FRAME_HEAD) {
          return this.#again(at);
        }
        const held = this.#held as Buffer;
        if (held[3] === FRAME.DATA && (held[4]! & FLAG.PADDED) !== 0 && (held[0]! | held[1]! | held[2]!) !== 0) {
          at = this.#gather(bytes, at, end, FRAME_HEAD + 1);
          if (this.#heldLength < FRAME_HEAD + 1) {
            return this.#again(at);
          }
        }
        this.#heldLength = 0;
        this.#head(held, 0);
      }
      this.next = at;
      if (this.type === FRAME.DATA) {
        this.#state = this.left + this.#padding > 0 ? DATA : HEAD;
        return this.#padding < 0 ? READ_BAD_PADDING : READ_DATA_HEAD;
      }
      if (this.type > FRAME.CONTINUATION && this.type !== FRAME.PRIORITY_UPDATE) {
        this.#state = this.length > 0 ? SKIP : HEAD;
        this.left = this.length;
        return READ_UNKNOWN;
      }
      if (this.length > this.#longest) {
        return READ_TOO_LONG;
      }
      if (end - at >= this.length) {
        return this.#whole(bytes, at);
      }
      this.#state = PAYLOAD;
      if (this.type === FRAME.HEADERS) {
        return READ_HEADERS_HEAD;
      }
    }
    switch (this.#state) {
      case PAYLOAD: {
        if (this.#heldLength === 0 && end - at >= this.length) {
          return this.#whole(bytes, at);
        }
        at = this.#gather(bytes, at, end, this.length);
        if (this.#heldLength < this.length) {
          return this.#again(at);
        }
        this.#heldLength = 0;
        const held = this.#held as Buffer;
        if (held.length > 64) {
          this.#held = null;
        }
        this.#whole(held, 0);
        this.next = at;
        return READ_FRAME;
      }
      case DATA:
        if (this.left > 0) {
          const size = Math.min(this.left, end - at);
          if (size === 0) {
            return this.#again(at);
          }
          this.left -= size;
          this.bytes = bytes;
          this.start = at;
          this.end = this.next = at + size;
          if (this.left + this.#padding === 0) {
            this.#state = HEAD;
          }
          return READ_DATA;
        }
        this.left = this.#padding;
        this.#padding = 0;
        this.#state = SKIP;
        return this.#skip(bytes, at, end);
      default:
        return this.#skip(bytes, at, end);
    }
  }

  /** Takes a head apart. Returns how many bytes it has. */
  #head(bytes: Buffer, at: number): number {
    this.length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
    this.type = bytes[at + 3]!;
    this.flags = bytes[at + 4]!;
    this.streamId = ((bytes[at + 5]! & 0x7f) << 24) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 8) | bytes[at + 8]!;
    if (this.type !== FRAME.DATA) {
      return FRAME_HEAD;
    }
    this.#padding = 0;
    this.left = this.length;
    if ((this.flags & FLAG.PADDED) === 0) {
      return FRAME_HEAD;
    }
    if (this.length === 0) {
      this.#padding = -1;
      return FRAME_HEAD;
    }
    const padding = bytes[at + FRAME_HEAD]!;
    this.#padding = padding >= this.length ? -1 : padding;
    this.padding = padding;
    this.left = this.length - 1 - padding;
    return FRAME_HEAD + 1;
  }

  #whole(bytes: Buffer, at: number): number {
    this.#state = HEAD;
    this.bytes = bytes;
    this.start = at;
    this.end = this.next = at + this.length;
    return READ_FRAME;
  }

  #skip(bytes: Buffer, at: number, end: number): number {
    const size = Math.min(this.left, end - at);
    this.left -= size;
    if (this.left > 0) {
      return this.#again(at + size);
    }
    this.#state = HEAD;
    return at + size === end ? this.#again(end) : this.read(bytes, at + size, end);
  }

  #again(next: number): number {
    this.next = next;
    return READ_AGAIN;
  }

  /** Keeps bytes until there are `wanted`. Returns the first one not taken. */
  #gather(bytes: Buffer, at: number, end: number, wanted: number): number {
    const size = Math.min(wanted - this.#heldLength, end - at);
    if (this.#held === null || this.#held.length < this.#heldLength + size) {
      const held = Buffer.allocUnsafeSlow(wanted <= 64 ? 64 : Math.max(this.#heldLength + size, Math.min(wanted, this.#heldLength * 2)));
      this.#held?.copy(held, 0, 0, this.#heldLength);
      this.#held = held;
    }
    bytes.copy(this.#held, this.#heldLength, at, at + size);
    this.#heldLength += size;
    return at + size;
  }
}

const EMPTY = Buffer.alloc(0);
