import { parseCidr } from '../../src/worker/address/cidr.js';

/** Numbers of editions, as files have them. */
export const EDITION = {
  COUNTRY: 1,
  CITY_REV1: 2,
  ISP: 4,
  ORG: 5,
  CITY_REV0: 6,
  ASNUM: 9,
  DOMAIN: 11,
  COUNTRY_V6: 12,
  ASNUM_V6: 21,
  ISP_V6: 22,
  ORG_V6: 23,
  DOMAIN_V6: 24,
  CITY_REV1_V6: 30,
  CITY_REV0_V6: 31,
} as const;

const WIDE: readonly number[] = [EDITION.ISP, EDITION.ORG, EDITION.DOMAIN, EDITION.ISP_V6, EDITION.ORG_V6, EDITION.DOMAIN_V6];
const OF_IPV6: readonly number[] = [12, 21, 22, 23, 24, 30, 31];
const REV1: readonly number[] = [EDITION.CITY_REV1, EDITION.CITY_REV1_V6];
const FIRST_COUNTRY = 16_776_960;

/** Values by networks, of which the smallest counts; in a database of IPv6 those of IPv4 are mapped ones. */
export type Networks<T> = Readonly<Record<string, T>>;

/** What a database of cities has of a place. Texts are ISO 8859-1. */
export interface City {
  readonly country: number;
  readonly region?: string;
  readonly city?: string;
  readonly postalCode?: string;
  /** In ten-thousandths of a degree. */
  readonly latitude?: number;
  readonly longitude?: number;
  /** Where the country is the US, and the edition's revision is 1. */
  readonly dmaCode?: number;
  readonly areaCode?: number;
}

/** A place of which everything is known. */
export const SAN_JOSE: City = {
  country: 225,
  region: 'CA',
  city: 'San Jos\xe9',
  postalCode: '95110',
  latitude: 373_394,
  longitude: -1_218_950,
  dmaCode: 807,
  areaCode: 408,
};

interface Branch {
  children: [Branch | number, Branch | number];
}

/** A tree whose leaves are numbers: 0 for nothing, else the number of a value plus one. */
function makeTree(networks: readonly string[], ipv6: boolean): Branch {
  const root: Branch = { children: [0, 0] };
  const paths = networks.map((network, i) => ({ bits: bitsOf(network, ipv6), leaf: i + 1 }));
  for (const { bits, leaf } of paths.sort((a, b) => a.bits.length - b.bits.length)) {
    if (bits.length === 0) {
      root.children = [leaf, leaf];
      continue;
    }
    let at = root;
    for (const bit of bits.slice(0, -1)) {
      const next = at.children[bit]!;
      if (typeof next === 'number') {
        const inner: Branch = { children: [next, next] };
        at.children[bit] = inner;
        at = inner;
      } else {
        at = next;
      }
    }
    at.children[bits.at(-1)!] = leaf;
  }
  return root;
}

function bitsOf(network: string, ipv6: boolean): (0 | 1)[] {
  const cidr = parseCidr(network)!;
  const { family, a, b, c, d } = cidr.first;
  const [words, length] = ipv6 ? (family === 6 ? [[a, b, c, d], cidr.bits] : [[0, 0, 0xffff, d], cidr.bits + 96]) : [[d], cidr.bits];
  return Array.from({ length }, (_, i) => ((words[i >>> 5]! >>> (31 - (i & 31))) & 1) as 0 | 1);
}

/** Writes the nodes of a tree, from the root on; `number` says what stands for a leaf, given how many nodes there are. */
function writeTree(root: Branch, width: number, number: (leaf: number, nodes: number) => number): Buffer {
  const nodes: Branch[] = [root];
  const places = new Map<Branch, number>([[root, 0]]);
  for (let i = 0; i < nodes.length; i++) {
    for (const child of nodes[i]!.children) {
      if (typeof child !== 'number') {
        places.set(child, nodes.push(child) - 1);
      }
    }
  }
  const bytes = Buffer.alloc(nodes.length * 2 * width);
  nodes.forEach(({ children }, i) => {
    children.forEach((child, side) => {
      const value = typeof child === 'number' ? number(child, nodes.length) : places.get(child)!;
      bytes.writeUIntLE(value, (2 * i + side) * width, width);
    });
  });
  return bytes;
}

const int24 = (value: number): Buffer => Buffer.from([value & 255, (value >>> 8) & 255, (value >>> 16) & 255]);
const trailer = (edition: number): Buffer => Buffer.from([255, 255, 255, edition]);
const zeroText = (text = ''): Buffer => Buffer.from(`${text}\0`, 'latin1');

/** A database of countries, which are numbers of libGeoIP's table: 56 is Germany, 225 are the United States. */
export function countryDatabase(networks: Networks<number>, edition: number = EDITION.COUNTRY): Buffer {
  const values = Object.values(networks);
  const tree = makeTree(Object.keys(networks), OF_IPV6.includes(edition));
  return Buffer.concat([
    writeTree(tree, 3, (leaf) => FIRST_COUNTRY + (leaf === 0 ? 0 : values[leaf - 1]!)),
    Buffer.from('\0\0\0GEO-106 made for tests', 'latin1'),
    trailer(edition),
  ]);
}

/** A database with a record for each network. */
function recordDatabase(networks: readonly string[], records: readonly Buffer[], edition: number): Buffer {
  const width = WIDE.includes(edition) ? 4 : 3;
  // A leaf that names the first byte names nothing.
  let length = 1;
  const places = records.map((record) => {
    const place = length;
    length += record.length;
    return place;
  });
  const tree = makeTree(networks, OF_IPV6.includes(edition));
  const nodes = writeTree(tree, width, (leaf, count) => count + (leaf === 0 ? 0 : places[leaf - 1]!));
  return Buffer.concat([nodes, Buffer.alloc(1), ...records, trailer(edition), int24(nodes.length / (2 * width))]);
}

export function cityDatabase(networks: Networks<City>, edition: number = EDITION.CITY_REV1): Buffer {
  const records = Object.values(networks).map((place) => {
    const codes = REV1.includes(edition) && place.country === 225 ? int24((place.dmaCode ?? 0) * 1000 + (place.areaCode ?? 0)) : '';
    return Buffer.concat([
      Buffer.from([place.country]),
      zeroText(place.region),
      zeroText(place.city),
      zeroText(place.postalCode),
      int24(1_800_000 + (place.latitude ?? 0)),
      int24(1_800_000 + (place.longitude ?? 0)),
      Buffer.from(codes),
    ]);
  });
  return recordDatabase(Object.keys(networks), records, edition);
}

/** A database of organizations, providers, domains or autonomous systems. */
export const nameDatabase = (networks: Networks<string>, edition: number = EDITION.ORG): Buffer =>
  recordDatabase(Object.keys(networks), Object.values(networks).map(zeroText), edition);
