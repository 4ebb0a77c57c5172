import { wordMask } from '../address/cidr.js';
import { type GeoPlaces, PlacesInOrder, WITHOUT } from './geo-places.js';

/** Entries of a new table. */
const FIRST_ROOM = 16;

/**
 * Networks of one family and the numbers of their values, as a hash table in columns of numbers: lists of networks have hundreds of
 * thousands of lines, and objects for these would cost some hundred bytes each. Words of addresses stand with the last one first.
 */
export class GeoNetworks {
  /** 32-bit words of an address. */
  readonly #width: 1 | 4;
  #size = 0;
  #words: Uint32Array;
  #bits = new Uint8Array(FIRST_ROOM);
  #values = new Int32Array(FIRST_ROOM);
  /** For each hash the number of an entry plus one, or 0; twice as many as entries at least. */
  #slots = new Uint32Array(FIRST_ROOM * 2);
  readonly #sought = new Uint32Array(4);

  constructor(family: 4 | 6) {
    this.#width = family === 4 ? 1 : 4;
    this.#words = new Uint32Array(FIRST_ROOM * this.#width);
  }

  /** Gives a network a value. Returns the value that it had, or -1. `a` to `d` are the first address, `a` to `c` being 0 for IPv4. */
  set(a: number, b: number, c: number, d: number, bits: number, value: number): number {
    const slot = this.#slot(a, b, c, d, bits);
    const known = this.#slots[slot]! - 1;
    if (known >= 0) {
      const old = this.#values[known]!;
      this.#values[known] = value;
      return old;
    }
    const at = this.#size++;
    this.#slots[slot] = at + 1;
    for (let i = 0; i < this.#width; i++) {
      this.#words[at * this.#width + i] = this.#sought[i]!;
    }
    this.#bits[at] = bits;
    this.#values[at] = value;
    if (this.#size === this.#bits.length) {
      this.#grow();
    }
    return WITHOUT;
  }

  /** Takes a network out; false if there is none. */
  delete(a: number, b: number, c: number, d: number, bits: number): boolean {
    const known = this.#slots[this.#slot(a, b, c, d, bits)]! - 1;
    if (known < 0 || this.#values[known] === WITHOUT) {
      return false;
    }
    this.#values[known] = WITHOUT;
    return true;
  }

  /** Cuts the networks, of which the smallest one counts, into places where another value begins, and these values. */
  cut(): GeoPlaces {
    const width = this.#width;
    const places = new PlacesInOrder(width, this.#size * 2);
    // The networks around the place, outermost first.
    const open: number[] = [];
    const place = new Uint32Array(width);
    const value = (): number => (open.length === 0 ? WITHOUT : this.#values[open[open.length - 1]!]!);
    const closeUpTo = (next: number): void => {
      while (open.length > 0 && !(next >= 0 && this.#contains(open[open.length - 1]!, next))) {
        const closed = open.pop()!;
        if (this.#behind(closed, place)) {
          places.add(place, value());
        }
      }
    };
    for (const at of this.#sorted()) {
      closeUpTo(at);
      open.push(at);
      place.set(this.#words.subarray(at * width, at * width + width));
      places.add(place, value());
    }
    closeUpTo(-1);
    return places.end();
  }

  /** The entries by address, and of one address by growing length. */
  #sorted(): Uint32Array {
    const order = new Uint32Array(this.#size);
    let count = 0;
    let ascending = true;
    for (let at = 0; at < this.#size; at++) {
      if (this.#values[at] !== WITHOUT) {
        ascending &&= count === 0 || this.#compare(order[count - 1]!, at) < 0;
        order[count++] = at;
      }
    }
    const used = order.subarray(0, count);
    return ascending ? used : used.sort((x, y) => this.#compare(x, y));
  }

  #compare(x: number, y: number): number {
    const width = this.#width;
    for (let i = width - 1; i >= 0; i--) {
      const difference = this.#words[x * width + i]! - this.#words[y * width + i]!;
      if (difference !== 0) {
        return difference;
      }
    }
    return this.#bits[x]! - this.#bits[y]!;
  }

  /** Whether one entry's network contains another one's first address. */
  #contains(outer: number, inner: number): boolean {
    const width = this.#width;
    for (let i = 0; i < width; i++) {
      const mask = wordMask(this.#bits[outer]! - 32 * (width - 1 - i));
      if (((this.#words[inner * width + i]! ^ this.#words[outer * width + i]!) & mask) !== 0) {
        return false;
      }
    }
    return true;
  }

  /** Writes the address behind an entry's network; false if there is none. */
  #behind(at: number, place: Uint32Array): boolean {
    const width = this.#width;
    let carry = 1;
    for (let i = 0; i < width; i++) {
      const last = (this.#words[at * width + i]! | ~wordMask(this.#bits[at]! - 32 * (width - 1 - i))) >>> 0;
      place[i] = last + carry;
      carry = last === 0xffffffff ? carry : 0;
    }
    return carry === 0;
  }

  /** The slot of a network, or the free one where it belongs. */
  #slot(a: number, b: number, c: number, d: number, bits: number): number {
    const sought = this.#sought;
    sought[0] = d;
    sought[1] = c;
    sought[2] = b;
    sought[3] = a;
    const mask = this.#slots.length - 1;
    for (let slot = hash(a, b, c, d, bits) & mask; ; slot = (slot + 1) & mask) {
      const at = this.#slots[slot]! - 1;
      if (at < 0 || this.#is(at, bits)) {
        return slot;
      }
    }
  }

  #is(at: number, bits: number): boolean {
    if (this.#bits[at] !== bits) {
      return false;
    }
    const width = this.#width;
    for (let i = 0; i < width; i++) {
      if (this.#words[at * width + i] !== this.#sought[i]) {
        return false;
      }
    }
    return true;
  }

  #grow(): void {
    const width = this.#width;
    // Pages that are not written to take no memory.
    const room = this.#bits.length * 4;
    const words = new Uint32Array(room * width);
    words.set(this.#words);
    this.#words = words;
    const bits = new Uint8Array(room);
    bits.set(this.#bits);
    this.#bits = bits;
    const values = new Int32Array(room);
    values.set(this.#values);
    this.#values = values;
    const slots = new Uint32Array(room * 2);
    const mask = slots.length - 1;
    for (let at = 0; at < this.#size; at++) {
      const i = at * width;
      const d = words[i]!;
      const h = width === 1 ? hash(0, 0, 0, d, bits[at]!) : hash(words[i + 3]!, words[i + 2]!, words[i + 1]!, d, bits[at]!);
      let slot = h & mask;
      while (slots[slot] !== 0) {
        slot = (slot + 1) & mask;
      }
      slots[slot] = at + 1;
    }
    this.#slots = slots;
  }
}

function hash(a: number, b: number, c: number, d: number, bits: number): number {
  let h = Math.imul(a ^ bits, 0x9e3779b1);
  h = Math.imul((h ^ (h >>> 15)) + b, 0x85ebca6b);
  h = Math.imul((h ^ (h >>> 13)) + c, 0xc2b2ae35);
  h = Math.imul((h ^ (h >>> 16)) + d, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
