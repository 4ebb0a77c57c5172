// Integers of variable length (RFC 9000, 16). Those of 2^53 and more are rounded: they are compared with limits below that, never counted
// with.

/** Reads integers and bytes from a part of memory. What would lie behind its end makes {@link PacketCursor.failed} true, and reads as 0. */
export class PacketCursor {
  bytes: Buffer = EMPTY;
  at = 0;
  end = 0;
  failed = false;

  /** Begins at `at`; nothing behind `end` is read. */
  set(bytes: Buffer, at: number, end: number): void {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
    this.failed = false;
  }

  get left(): number {
    return this.end - this.at;
  }

  byte(): number {
    if (this.at >= this.end) {
      return this.#fail();
    }
    return this.bytes[this.at++]!;
  }

  int(): number {
    const { bytes, at } = this;
    if (at >= this.end) {
      return this.#fail();
    }
    const first = bytes[at]!;
    const length = 1 << (first >> 6);
    if (at + length > this.end) {
      return this.#fail();
    }
    this.at = at + length;
    let value = first & 0x3f;
    switch (length) {
      case 1:
        return value;
      case 2:
        return (value << 8) | bytes[at + 1]!;
      case 4:
        return ((value << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
    }
    for (let i = 1; i < 8; i++) {
      value = value * 256 + bytes[at + i]!;
    }
    // The bound of streams, 2^60, is none that a larger number may be rounded to.
    return value === MOST_EXACT && bytes.readUInt32BE(at + 4) !== 0 ? value + 256 : value;
  }

  /** Where the next `length` bytes begin, which are passed over. */
  skip(length: number): number {
    const { at } = this;
    if (!(length <= this.end - at)) {
      this.#fail();
      return this.end;
    }
    this.at = at + length;
    return at;
  }

  /** The next `length` bytes, which stay in the same memory. */
  take(length: number): Buffer {
    const at = this.skip(length);
    return this.bytes.subarray(at, this.at);
  }

  #fail(): number {
    this.failed = true;
    this.at = this.end;
    return 0;
  }
}

const EMPTY = Buffer.alloc(0);
const MOST_EXACT = 2 ** 60;

/** How many bytes an integer takes. */
export const intLength = (value: number): number => (value < 64 ? 1 : value < 16384 ? 2 : value < 1073741824 ? 4 : 8);

/** Writes an integer below 2^53 and returns the place behind it. */
export function putInt(into: Uint8Array, at: number, value: number): number {
  if (value < 64) {
    into[at] = value;
    return at + 1;
  }
  if (value < 16384) {
    into[at] = 0x40 | (value >> 8);
    into[at + 1] = value;
    return at + 2;
  }
  if (value < 1073741824) {
    into[at] = 0x80 | (value >>> 24);
    into[at + 1] = value >>> 16;
    into[at + 2] = value >>> 8;
    into[at + 3] = value;
    return at + 4;
  }
  const high = Math.floor(value / 0x100000000);
  const low = value >>> 0;
  into[at] = 0xc0 | (high >>> 24);
  into[at + 1] = high >>> 16;
  into[at + 2] = high >>> 8;
  into[at + 3] = high;
  into[at + 4] = low >>> 24;
  into[at + 5] = low >>> 16;
  into[at + 6] = low >>> 8;
  into[at + 7] = low;
  return at + 8;
}
