/** How many bytes a number takes (RFC 9000, 16). */
export const varintLength = (value: number): number => (value < 0x40 ? 1 : value < 0x4000 ? 2 : value < 0x4000_0000 ? 4 : 8);

/** Puts a number at `at`, where there is room. Returns the place behind it. */
export function putVarint(into: Uint8Array, at: number, value: number): number {
  const length = varintLength(value);
  let rest = value;
  for (let i = at + length - 1; i >= at; i--) {
    into[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  into[at]! |= PREFIX[length]!;
  return at + length;
}

const PREFIX: { readonly [length: number]: number } = { 1: 0, 2: 0x40, 4: 0x80, 8: 0xc0 };

/** Reads numbers that may come in pieces. What is above 2^53 is about right. */
export class VarintReader {
  /** The number that was read last. */
  value = 0;
  /** How many of its bytes have still to come; -1 between numbers. */
  #left = -1;

  /** The number has begun, but not come to its end. */
  get within(): boolean {
    return this.#left !== -1;
  }

  /** Reads from `at` on; returns the place behind the number, or -1 if all bytes up to `end` are parts of it. */
  read(bytes: Uint8Array, at: number, end: number): number {
    while (at < end) {
      const byte = bytes[at++]!;
      if (this.#left === -1) {
        this.value = byte & 0x3f;
        this.#left = (1 << (byte >> 6)) - 1;
      } else {
        this.value = this.value * 256 + byte;
        this.#left--;
      }
      if (this.#left === 0) {
        this.#left = -1;
        return at;
      }
    }
    return -1;
  }
}
