import { type Address, noAddress, unmapped } from '../../shared/address/address.js';
import { byteText } from '../../shared/text/native-text.js';

/** Editions of databases by the numbers in their files, as far as somebody has a use for them. libGeoIP: GeoIPDBTypes. */
export const COUNTRY_EDITIONS: readonly number[] = [1, 12];
export const CITY_EDITIONS: readonly number[] = [6, 2, 31, 30];
/** Organizations, providers, domains and autonomous systems. */
export const NAME_EDITIONS: readonly number[] = [4, 5, 11, 9, 22, 23, 24, 21];

/** Editions whose trees have IPv6 addresses, of those above. */
const IPV6_EDITIONS: readonly number[] = [12, 31, 30, 22, 23, 24, 21];
/** Editions of a city that say the codes of areas. */
const AREA_EDITIONS: readonly number[] = [2, 30];

/** Editions with the same count of nodes in each file: what is no node is a number, and there are no records. */
const FIXED_COUNTS: ReadonlyMap<number, number> = new Map([
  ...[1, 8, 10, 12].map((edition) => [edition, 16_776_960] as const),
  ...[17, 18].map((edition) => [edition, 16_515_072] as const),
  [7, 16_700_000],
  [3, 16_000_000],
]);
/** Editions whose files say how many nodes they have. Records stand behind the nodes. */
const COUNTED: readonly number[] = [
  ...[2, 4, 5, 6, 9, 11, 13, 14, 21, 22, 23, 24, 26, 27, 28, 29],
  ...[30, 31, 32, 33, 34, 35, 36, 37, 38],
];
/** Editions whose nodes have two numbers of four bytes, and not of three. */
const WIDE_EDITIONS: readonly number[] = [4, 5, 11, 22, 23, 24];

/** How far from the end a file may say what it is. */
const MOST_TRAILER = 20;
const DEFAULT_EDITION = 1;
/** Old files number their editions from here on. */
const OLD_EDITIONS = 106;
/** Texts end there at the latest. libGeoIP takes 300 bytes from a file, and any number from memory. */
const MOST_TEXT = 4096;
const US = 225;

/** What a database says of a place. Texts are empty where it has none. */
export interface CityRecord {
  /** Number of the country. */
  readonly country: number;
  readonly region: string;
  readonly city: string;
  readonly postalCode: string;
  /** Degrees, as the nearest number of 32 bits. */
  readonly latitude: number;
  readonly longitude: number;
  readonly dmaCode: number;
  readonly areaCode: number;
}

/**
 * A database of MaxMind's old form, GeoIP Legacy: a tree by the bits of addresses, and behind it what its leaves name. A file may hold
 * anything: a look-up takes a step for each bit at most, and reads nothing behind the file's end. libGeoIP: GeoIP
 */
export class GeoipDatabase {
  readonly edition: number;
  /** Texts are converted from ISO 8859-1 to UTF-8. */
  utf8 = false;
  /** The file, latin1. */
  readonly #bytes: string;
  /** How many nodes the tree has: numbers from here on are leaves. */
  readonly #nodes: number;
  /** Bytes of each of a node's two numbers. */
  readonly #width: 3 | 4;
  readonly #ipv6: boolean;

  constructor(bytes: string, edition: number, nodes: number) {
    this.edition = edition;
    this.#bytes = bytes;
    this.#nodes = nodes;
    this.#width = WIDE_EDITIONS.includes(edition) ? 4 : 3;
    this.#ipv6 = IPV6_EDITIONS.includes(edition);
  }

  /** The number of an address's country, 0 for none; undefined is a client without an address. libGeoIP: GeoIP_id_by_ipnum. */
  country(address: Address | undefined): number {
    if (!this.#ipv6 && ipv4Of(address) === 0) {
      return 0;
    }
    return Math.max(this.#leaf(address) - this.#nodes, 0);
  }

  /** The name of an address's organization or the like. libGeoIP: GeoIP_name_by_ipnum. */
  name(address: Address | undefined): string | undefined {
    const at = this.#record(address);
    return at < 0 ? undefined : this.#converted(this.#text(at));
  }

  /** What is known of an address's place. libGeoIP: GeoIP_record_by_ipnum. */
  city(address: Address | undefined): CityRecord | undefined {
    let at = this.#record(address);
    if (at < 0) {
      return undefined;
    }
    const country = this.#bytes.charCodeAt(at++);
    const region = this.#text(at);
    at += region.length + 1;
    const city = this.#text(at);
    at += city.length + 1;
    const postalCode = this.#text(at);
    at += postalCode.length + 1;
    const codes = country === US && AREA_EDITIONS.includes(this.edition) ? this.#number(at + 6, 3) : 0;
    return {
      country,
      region,
      city: this.#converted(city),
      postalCode,
      latitude: Math.fround(this.#number(at, 3) / 10_000 - 180),
      longitude: Math.fround(this.#number(at + 3, 3) / 10_000 - 180),
      dmaCode: Math.floor(codes / 1000),
      areaCode: codes % 1000,
    };
  }

  /** Where an address's record is, or -1. */
  #record(address: Address | undefined): number {
    const leaf = this.#leaf(address);
    // A place in the file is a signed number of 32 bits.
    const at = (leaf + (2 * this.#width - 1) * this.#nodes) | 0;
    return leaf === this.#nodes || at >= this.#bytes.length ? -1 : at;
  }

  /** The leaf of an address, or 0 where the tree has none. */
  #leaf(address: Address | undefined): number {
    if (!this.#ipv6) {
      return this.#leafBehind(this.#descend(0, ipv4Of(address)));
    }
    if (address === undefined) {
      return this.#ipv6Leaf(0, 0, 0, 0);
    }
    const { a, b, c, d } = address;
    if (address.family === 4) {
      return this.#ipv6Leaf(0, 0, 0xffff, d);
    }
    // Teredo's addresses hold the client's IPv4 address, inverted.
    return a === 0x20010000 ? this.#ipv6Leaf(0, 0, 0, ~d >>> 0) : this.#ipv6Leaf(a, b, c, d);
  }

  #ipv6Leaf(a: number, b: number, c: number, d: number): number {
    let node = this.#descend(0, a);
    node = this.#isNode(node) ? this.#descend(node, b) : node;
    node = this.#isNode(node) ? this.#descend(node, c) : node;
    node = this.#isNode(node) ? this.#descend(node, d) : node;
    return this.#leafBehind(node);
  }

  #isNode(node: number): boolean {
    return node >= 0 && node < this.#nodes;
  }

  #leafBehind(node: number): number {
    return node >= this.#nodes ? node : 0;
  }

  /** Goes down from a node by the bits of a word. Returns a leaf, the node behind the last bit, or -1 for none. */
  #descend(from: number, word: number): number {
    const width = this.#width;
    const last = this.#bytes.length - 2 * width;
    let node = from;
    for (let bit = 31; bit >= 0; bit--) {
      const at = node * 2 * width;
      if (at > last) {
        return -1;
      }
      node = this.#number(at + ((word >>> bit) & 1) * width, width);
      if (node >= this.#nodes) {
        return node;
      }
    }
    return node;
  }

  /** A number of three or four bytes, the lowest first. Behind the end of the file there are zeros. */
  #number(at: number, width: 3 | 4): number {
    const bytes = this.#bytes;
    const low = bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8) | (bytes.charCodeAt(at + 2) << 16);
    return width === 3 ? low : (low | (bytes.charCodeAt(at + 3) << 24)) >>> 0;
  }

  /** A text up to its zero byte. */
  #text(from: number): string {
    const most = Math.min(from + MOST_TEXT, this.#bytes.length);
    let end = from;
    while (end < most && this.#bytes.charCodeAt(end) !== 0) {
      end++;
    }
    return this.#bytes.slice(from, end);
  }

  #converted(text: string): string {
    return this.utf8 ? byteText(text) : text;
  }
}

/** The IPv4 address as a number; an address that is none counts as 255.255.255.255. nginx: ngx_http_geoip_addr. */
function ipv4Of(address: Address | undefined): number {
  const { family, d } = address === undefined ? noAddress : unmapped(address);
  return family === 4 ? d : noAddress.d;
}

/** Finds out what a file holds; undefined when it is no database. `bytes`: latin1. libGeoIP: GeoIP_open, _setup_segments. */
export function openGeoip(bytes: string): GeoipDatabase | undefined {
  const trailer = trailerOf(bytes);
  if (trailer === undefined) {
    return undefined;
  }
  const { edition, at } = trailer;
  const fixed = FIXED_COUNTS.get(edition);
  if (fixed !== undefined) {
    return new GeoipDatabase(bytes, edition, fixed);
  }
  if (!COUNTED.includes(edition) || at + 3 > bytes.length) {
    return undefined;
  }
  const nodes = bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8) | (bytes.charCodeAt(at + 2) << 16);
  const width = WIDE_EDITIONS.includes(edition) ? 4 : 3;
  return nodes * 2 * width > bytes.length ? undefined : new GeoipDatabase(bytes, edition, nodes);
}

/** The edition, which stands behind the last three bytes of 255, and the place behind it; undefined where there is none. */
function trailerOf(bytes: string): { readonly edition: number; readonly at: number } | undefined {
  let at = bytes.length - 3;
  for (let i = 0; i < MOST_TRAILER && at >= 0; i++, at--) {
    if (bytes.startsWith('\xff\xff\xff', at)) {
      const number = bytes.charCodeAt(at + 3);
      // A signed byte.
      const edition = number >= OLD_EDITIONS && number < 128 ? number - OLD_EDITIONS + 1 : number;
      return at + 3 < bytes.length ? { edition, at: at + 4 } : undefined;
    }
  }
  return at < 0 ? undefined : { edition: DEFAULT_EDITION, at: bytes.length };
}
