import { Address, parseAddress, unmapped } from '../../shared/address/address.js';
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
    bits = lengthAt(text, slash + 1);
    if (bits > width) {
      return undefined;
    }
  }
  const { family, a, b, c, d } = address;
  const mask = wordMask(bits + 32 - width);
  if (family === 4) {
    const first = new Address(4, 0, 0, 0, (d & mask) >>> 0);
    return { first, last: new Address(4, 0, 0, 0, (d | ~mask) >>> 0), bits, lowBits: first.d !== d };
  }
  const [maskA, maskB, maskC] = [wordMask(bits), wordMask(bits - 32), wordMask(bits - 64)];
  const first = new Address(6, (a & maskA) >>> 0, (b & maskB) >>> 0, (c & maskC) >>> 0, (d & mask) >>> 0);
  const last = new Address(6, (a | ~maskA) >>> 0, (b | ~maskB) >>> 0, (c | ~maskC) >>> 0, (d | ~mask) >>> 0);
  const lowBits = first.a !== a || first.b !== b || first.c !== c || first.d !== d;
  return { first, last, bits, lowBits };
}

/**
 * The network of an IPv4 address as one number, its first address times 64 plus its length: lists have hundreds of thousands, too many
 * for objects. -1 for all that parseCidr() must judge: other families, wrong texts, texts with low bits.
 */
export function simpleIpv4Cidr(text: string): number {
  let address = 0;
  let octet = 0;
  let digits = 0;
  let dots = 0;
  let at = 0;
  for (; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c >= 0x30 && c <= 0x39) {
      octet = octet * 10 + (c - 0x30);
      digits++;
    } else if (c === 0x2e && digits > 0 && digits < 4 && octet < 256) {
      address = address * 256 + octet;
      octet = 0;
      digits = 0;
      dots++;
    } else {
      break;
    }
  }
  if (dots !== 3 || digits === 0 || digits > 3 || octet > 255) {
    return -1;
  }
  address = address * 256 + octet;
  let bits = 32;
  if (at < text.length) {
    bits = text.charCodeAt(at) === 0x2f ? lengthAt(text, at + 1) : 33;
  }
  return bits > 32 || address === 0xffffffff || (address & ~wordMask(bits)) !== 0 ? -1 : address * 64 + bits;
}

/** The number of up to nine digits from a place to the end; infinity when there is none. */
function lengthAt(text: string, from: number): number {
  if (from === text.length || text.length - from > 9) {
    return Number.POSITIVE_INFINITY;
  }
  let length = 0;
  for (let i = from; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) {
      return Number.POSITIVE_INFINITY;
    }
    length = length * 10 + digit;
  }
  return length;
}

/** The unsigned mask for a word of which `bits` belong to the prefix; any number below 0 or above 32 will do. */
export function wordMask(bits: number): number {
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
