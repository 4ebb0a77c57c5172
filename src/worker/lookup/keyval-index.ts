import { type Address, unmapped } from '../../shared/address/address.js';
import { parseCidr } from '../address/cidr.js';

/** How a search key finds a record: by the same text, by the network that it belongs to, or by its beginning. */
export type KeyvalType = 'string' | 'ip' | 'prefix';

/** A record's value, and when it ends: milliseconds of the wall clock, `Infinity` for never. */
export interface KeyvalRecord {
  readonly value: string;
  readonly expires: number;
}

/** The records of a zone as a worker looks them up. All changes are of single records, since a zone may be large. */
export interface KeyvalIndex {
  readonly size: number;
  set(key: string, record: KeyvalRecord): void;
  delete(key: string): void;
  clear(): void;
  /** The record itself. */
  get(key: string): KeyvalRecord | undefined;
  /** The value that the search key leads to at a time, in milliseconds of the wall clock. */
  find(text: string, now: number): string | undefined;
  all(): IterableIterator<[string, KeyvalRecord]>;
}

/** Makes an empty index of a type. */
export function keyvalIndex(type: KeyvalType): KeyvalIndex {
  switch (type) {
    case 'ip':
      return new NetworkIndex();
    case 'prefix':
      return new PrefixIndex();
    default:
      return new TextIndex();
  }
}

/** Finds records by their whole keys. */
class TextIndex implements KeyvalIndex {
  protected readonly records = new Map<string, KeyvalRecord>();

  get size(): number {
    return this.records.size;
  }

  set(key: string, record: KeyvalRecord): void {
    this.records.set(key, record);
  }

  delete(key: string): void {
    this.records.delete(key);
  }

  clear(): void {
    this.records.clear();
  }

  get(key: string): KeyvalRecord | undefined {
    return this.records.get(key);
  }

  find(text: string, now: number): string | undefined {
    return liveValue(this.records.get(text), now);
  }

  all(): IterableIterator<[string, KeyvalRecord]> {
    return this.records.entries();
  }
}

const liveValue = (record: KeyvalRecord | undefined, now: number): string | undefined =>
  record !== undefined && record.expires > now ? record.value : undefined;

/** Numbers that occur, the greatest first, each with how often it does: at which lengths a look-up is worth while. */
class Lengths {
  sorted: readonly number[] = [];
  readonly #uses = new Map<number, number>();

  add(length: number): void {
    const uses = this.#uses.get(length) ?? 0;
    this.#uses.set(length, uses + 1);
    if (uses === 0) {
      this.#sort();
    }
  }

  remove(length: number): void {
    const uses = this.#uses.get(length)! - 1;
    if (uses > 0) {
      this.#uses.set(length, uses);
    } else {
      this.#uses.delete(length);
      this.#sort();
    }
  }

  clear(): void {
    this.#uses.clear();
    this.sorted = [];
  }

  #sort(): void {
    this.sorted = [...this.#uses.keys()].sort((a, b) => b - a);
  }
}

/** Finds the longest key with which the search key begins: one look-up for each length that keys have. */
class PrefixIndex extends TextIndex {
  readonly #lengths = new Lengths();

  override set(key: string, record: KeyvalRecord): void {
    if (!this.records.has(key)) {
      this.#lengths.add(key.length);
    }
    super.set(key, record);
  }

  override delete(key: string): void {
    if (this.records.has(key)) {
      this.#lengths.remove(key.length);
    }
    super.delete(key);
  }

  override clear(): void {
    super.clear();
    this.#lengths.clear();
  }

  override find(text: string, now: number): string | undefined {
    const lengths = this.#lengths.sorted;
    for (let i = 0; i < lengths.length; i++) {
      const length = lengths[i]!;
      const value = length > text.length ? undefined : liveValue(this.records.get(text.slice(0, length)), now);
      if (value !== undefined) {
        return value;
      }
    }
    return undefined;
  }
}

/** A network of IPv4 or IPv6; an IPv4 address inside IPv6 counts as what it stands for. */
interface Network {
  readonly address: Address;
  readonly bits: number;
}

function networkOf(text: string): Network | undefined {
  const cidr = parseCidr(text);
  if (cidr === undefined) {
    return undefined;
  }
  const address = unmapped(cidr.first);
  return address === cidr.first || cidr.bits < 96 ? { address: cidr.first, bits: cidr.bits } : { address, bits: cidr.bits - 96 };
}

/** Whether a text can be a key of `type=ip`. */
export const isNetwork = (text: string): boolean => networkOf(text) !== undefined;

const masked = (word: number, bits: number): number => (bits >= 32 ? word : bits <= 0 ? 0 : (word & (0xffffffff << (32 - bits))) >>> 0);

/** What an address's network of so many bits is called among those of the same length. */
function nameOf({ family, a, b, c, d }: Address, bits: number): number | string {
  if (family === 4) {
    return masked(d, bits);
  }
  return `${masked(a, bits)} ${masked(b, bits - 32)} ${masked(c, bits - 64)} ${masked(d, bits - 96)}`;
}

/** Finds the smallest network that an address, or a network, belongs to: one look-up for each length of prefix that keys have. */
class NetworkIndex extends TextIndex {
  readonly #families = { 4: new Networks(), 6: new Networks() };

  override set(key: string, record: KeyvalRecord): void {
    if (!this.records.has(key)) {
      const network = networkOf(key);
      if (network === undefined) {
        return;
      }
      this.#families[network.address.family].add(network, key);
    }
    super.set(key, record);
  }

  override delete(key: string): void {
    if (this.records.has(key)) {
      const network = networkOf(key)!;
      this.#families[network.address.family].remove(network, key);
    }
    super.delete(key);
  }

  override clear(): void {
    super.clear();
    this.#families[4].clear();
    this.#families[6].clear();
  }

  override find(text: string, now: number): string | undefined {
    const network = networkOf(text);
    return network === undefined ? undefined : this.#families[network.address.family].find(network, (key) => super.find(key, now));
  }
}

/** The networks of one family of addresses, by the lengths of their prefixes, with the keys that name them. */
class Networks {
  readonly #lengths = new Lengths();
  readonly #keys = new Map<number, Map<number | string, string[]>>();

  add({ address, bits }: Network, key: string): void {
    let ofLength = this.#keys.get(bits);
    if (ofLength === undefined) {
      this.#keys.set(bits, (ofLength = new Map()));
    }
    const name = nameOf(address, bits);
    const keys = ofLength.get(name);
    if (keys === undefined) {
      ofLength.set(name, [key]);
    } else {
      keys.push(key);
    }
    this.#lengths.add(bits);
  }

  remove({ address, bits }: Network, key: string): void {
    const ofLength = this.#keys.get(bits)!;
    const name = nameOf(address, bits);
    const left = ofLength.get(name)!.filter((other) => other !== key);
    if (left.length > 0) {
      ofLength.set(name, left);
    } else {
      ofLength.delete(name);
    }
    this.#lengths.remove(bits);
  }

  clear(): void {
    this.#keys.clear();
    this.#lengths.clear();
  }

  find({ address, bits }: Network, valueOfKey: (key: string) => string | undefined): string | undefined {
    const lengths = this.#lengths.sorted;
    for (let i = 0; i < lengths.length; i++) {
      const length = lengths[i]!;
      const keys = length > bits ? undefined : this.#keys.get(length)!.get(nameOf(address, length));
      for (let j = 0; keys !== undefined && j < keys.length; j++) {
        const value = valueOfKey(keys[j]!);
        if (value !== undefined) {
          return value;
        }
      }
    }
    return undefined;
  }
}
