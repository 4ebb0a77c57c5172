import { Address, parseAddress, unmapped } from './address.js';
import { AddressMap, type AddressRange } from './address-map.js';

/** A network: its addresses from the first to the last. */
export interface Cidr extends AddressRange {
  /** Length of the network's prefix. */
  readonly bits: number;
  /** The text had bits set below the prefix, of which nginx warns: `low address bits of TEXT are meaningless`. */
  readonly lowBits: boolean;
}

/** Parses an address with an optional `/bits`, or returns undefined (nginx: ngx_ptocidr). */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/');
  const address = parseAddress(slash < 0 ? text : text.slice(0, slash));
  if (address === undefined) {
    return undefined;
  }
  const width = address.family === 4 ? 32 : 128;
  let bits = width;
  if (slash >= 0) {
    const digits = text.slice(slash + 1);
    bits = /^\d{1,9}$/.test(digits) ? Number(digits) : Number.POSITIVE_INFINITY;
    if (bits > width) {
      return undefined;
    }
  }
  const skip = 128 - width;
  const masks = [0, 32, 64, 96].map((offset) => wordMask(bits + skip - offset));
  const words = [address.a, address.b, address.c, address.d];
  const [a, b, c, d] = words.map((word, i) => (word & masks[i]!) >>> 0) as [number, number, number, number];
  const [e, f, g, h] = words.map((word, i) => (word | ~masks[i]!) >>> 0) as [number, number, number, number];
  const first = new Address(address.family, a, b, c, d);
  const last = address.family === 4 ? new Address(4, 0, 0, 0, h) : new Address(6, e, f, g, h);
  const lowBits = a !== address.a || b !== address.b || c !== address.c || d !== address.d;
  return { first, last, bits, lowBits };
}

/** Returns the mask for a word of which `bits` belong to the prefix; any number below 0 or above 32 will do. */
function wordMask(bits: number): number {
  return bits <= 0 ? 0 : bits >= 32 ? 0xffffffff : (0xffffffff << (32 - bits)) >>> 0;
}

/** A set of networks; an IPv4-mapped IPv6 address is looked up as the IPv4 address it stands for (nginx: ngx_cidr_match). */
export class CidrSet {
  readonly #map: AddressMap<true>;

  constructor(cidrs: readonly AddressRange[]) {
    this.#map = new AddressMap(cidrs.map(({ first, last }) => ({ first, last, value: true })));
  }

  has(address: Address): boolean {
    return this.#map.find(unmapped(address)) === true;
  }
}
