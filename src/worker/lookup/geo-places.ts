import { AddressStarts } from '../address/address-starts.js';

/** The number for the lack of a value. */
export const WITHOUT = -1;

/** Where in the addresses of a family another value begins, and the numbers of these values. */
export interface GeoPlaces {
  readonly starts: AddressStarts;
  readonly values: Int32Array;
}

/** Collects places that come in ascending order. */
export class PlacesInOrder {
  readonly #words: Uint32Array[];
  readonly #values: Int32Array;
  #count = 0;

  /** @param width 32-bit words of an address. @param most As many places come at most. */
  constructor(width: number, most: number) {
    this.#words = Array.from({ length: width }, () => new Uint32Array(most));
    this.#values = new Int32Array(most);
  }

  /** From here on the value holds. The last word of the address comes first. */
  add(place: Uint32Array, value: number): void {
    // What begins later at the same place is smaller.
    if (this.#count > 0 && this.#words.every((column, i) => column[this.#count - 1] === place[i])) {
      this.#count--;
    }
    if (this.#count > 0 && this.#values[this.#count - 1] === value) {
      return;
    }
    for (let i = 0; i < this.#words.length; i++) {
      this.#words[i]![this.#count] = place[i]!;
    }
    this.#values[this.#count++] = value;
  }

  end(): GeoPlaces {
    const words = this.#words.map((column) => column.slice(0, this.#count));
    return { starts: new AddressStarts(words), values: this.#values.slice(0, this.#count) };
  }
}
