import { hexDigit } from '../text/hex-digit.js';
import { formatIpv6 } from './format-ipv6.js';

/**
 * An IP address as 32-bit words, most significant first; an IPv4 address is in the last word and the others are 0.
 */
export class Address {
  readonly family: 4 | 6;
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;

  constructor(family: 4 | 6, a: number, b: number, c: number, d: number) {
    this.family = family;
    this.a = a;
    this.b = b;
    this.c = c;
    this.d = d;
  }
}

/** Parses an IPv4 or IPv6 address, or returns undefined (nginx: ngx_parse_addr). */
export function parseAddress(text: string): Address | undefined {
  const ipv4 = parseIpv4(text, 0);
  return ipv4 >= 0 ? new Address(4, 0, 0, 0, ipv4) : parseIpv6(text);
}

/** 255.255.255.255, which parseAddress() refuses as nginx does: the address of clients that have none. */
export const noAddress = new Address(4, 0, 0, 0, 0xffffffff);

/** As {@link noAddress}, mapped: it can be written, and not read. */
const mappedNoAddress = new Address(6, 0, 0, 0xffff, noAddress.d);

/** Parses an address that {@link formatAddress} or the system wrote: that of a connection. Undefined where it has none. */
export function parseWritten(text: string): Address | undefined {
  return parseAddress(text) ?? (text === '::ffff:255.255.255.255' ? mappedNoAddress : text === '255.255.255.255' ? noAddress : undefined);
}

/** Writes an address as nginx does (nginx: ngx_sock_ntop without the port). */
export function formatAddress({ family, a, b, c, d }: Address): string {
  if (family === 4) {
    return `${d >>> 24}.${(d >>> 16) & 255}.${(d >>> 8) & 255}.${d & 255}`;
  }
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32BE(a, 0);
  bytes.writeUInt32BE(b, 4);
  bytes.writeUInt32BE(c, 8);
  bytes.writeUInt32BE(d, 12);
  return formatIpv6(bytes);
}

/** Parses an address with an optional port, `[...]` around IPv6; the port is 0 when there is none (nginx: ngx_parse_addr_port). */
export function parseAddressPort(text: string): { readonly address: Address; readonly port: number } | undefined {
  const bare = parseAddress(text);
  if (bare !== undefined) {
    return { address: bare, port: 0 };
  }
  const bracket = text.startsWith('[') ? text.indexOf(']') : -1;
  if (text.startsWith('[') && bracket < 0) {
    return undefined;
  }
  const colon = bracket >= 0 ? bracket + 1 : text.indexOf(':');
  const host = bracket >= 0 ? text.slice(1, bracket) : text.slice(0, Math.max(colon, 0));
  const address = parseAddress(host);
  if (address === undefined) {
    return undefined;
  }
  if (bracket >= 0 && colon === text.length) {
    return { address, port: 0 };
  }
  const port = text.charAt(colon) === ':' && /^\d{1,9}$/.test(text.slice(colon + 1)) ? Number(text.slice(colon + 1)) : 0;
  return port >= 1 && port <= 65535 ? { address, port } : undefined;
}

/** Returns the IPv4 address that an IPv4-mapped IPv6 address (::ffff:a.b.c.d) stands for, any other address as it is. */
export function unmapped(address: Address): Address {
  return isMapped(address) ? new Address(4, 0, 0, 0, address.d) : address;
}

/** Tells whether an address is an IPv4-mapped IPv6 one. */
export function isMapped(address: Address): boolean {
  return address.family === 6 && address.c === 0xffff && address.a === 0 && address.b === 0;
}

/**
 * Parses four decimal numbers from `from` to the end; returns the address as a number, or -1. As in nginx an empty number
 * counts as 0 and 255.255.255.255 is refused, being INADDR_NONE (nginx: ngx_inet_addr).
 */
function parseIpv4(text: string, from: number): number {
  let address = 0;
  let octet = 0;
  let dots = 0;
  for (let i = from; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c >= 0x30 && c <= 0x39) {
      octet = octet * 10 + (c - 0x30);
      if (octet > 255) {
        return -1;
      }
    } else if (c === 0x2e && dots < 3) {
      address = address * 256 + octet;
      octet = 0;
      dots++;
    } else {
      return -1;
    }
  }
  address = address * 256 + octet;
  return dots === 3 && address !== 0xffffffff ? address : -1;
}

/** nginx: ngx_inet6_addr, with what it lets pass: one leading colon too many, and one at the end after a `::`. */
function parseIpv6(text: string): Address | undefined {
  const groups = [0, 0, 0, 0, 0, 0, 0, 0];
  let count = 0;
  let zeros = -1;
  let digits = 0;
  let group = 0;
  let start = -1;
  let i = text.charCodeAt(0) === 0x3a ? 1 : 0;
  for (; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x3a) {
      start = i + 1;
      if (digits > 0) {
        groups[count++] = group;
        if (count === 8) {
          return undefined;
        }
        digits = 0;
        group = 0;
      } else if (zeros < 0) {
        zeros = count;
      } else {
        return undefined;
      }
      continue;
    }
    if (c === 0x2e && digits > 0) {
      const tail = start < 0 || count > 6 ? -1 : parseIpv4(text, start);
      if (tail < 0) {
        return undefined;
      }
      groups[count++] = tail >>> 16;
      group = tail & 0xffff;
      break;
    }
    const digit = hexDigit(c);
    if (digit < 0 || ++digits > 4) {
      return undefined;
    }
    group = group * 16 + digit;
  }
  if (digits === 0 && zeros < 0) {
    return undefined;
  }
  groups[count++] = group;
  if (count < 8 === zeros < 0) {
    return undefined;
  }
  if (zeros >= 0) {
    groups.copyWithin(8 - count + zeros, zeros, count).fill(0, zeros, 8 - count + zeros);
  }
  return new Address(6, word(groups, 0), word(groups, 2), word(groups, 4), word(groups, 6));
}

function word(groups: readonly number[], at: number): number {
  return groups[at]! * 65536 + groups[at + 1]!;
}
