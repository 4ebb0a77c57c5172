import type { Address } from '../../shared/address/address.js';

/**
 * Places in the addresses of one family, ascending, in columns of 32-bit words with the last word first: one column for IPv4, four for
 * IPv6. A search halves them: some 30 ns for thousands, 60 ns for hundreds of thousands.
 */
export class AddressStarts {
  readonly size: number;
  readonly #a: Uint32Array;
  readonly #b: Uint32Array;
  readonly #c: Uint32Array;
  readonly #d: Uint32Array;

  constructor(words: readonly Uint32Array[]) {
    const none = new Uint32Array(0);
    this.#d = words[0] ?? none;
    this.#c = words[1] ?? none;
    this.#b = words[2] ?? none;
    this.#a = words[3] ?? none;
    this.size = this.#d.length;
  }

  /** The number of the last place that is not behind an IPv4 address; -1 for none. */
  findIpv4(address: number): number {
    let low = 0;
    let high = this.#d.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#d[middle]! <= address) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low - 1;
  }

  /** Finds the place of an IPv6 address. */
  findIpv6(address: Address): number {
    let low = 0;
    let high = this.#a.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#isAfter(middle, address)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low - 1;
  }

  #isAfter(i: number, { a, b, c, d }: Address): boolean {
    if (this.#a[i] !== a) {
      return this.#a[i]! > a;
    }
    if (this.#b[i] !== b) {
      return this.#b[i]! > b;
    }
    return this.#c[i] === c ? this.#d[i]! > d : this.#c[i]! > c;
  }
}
