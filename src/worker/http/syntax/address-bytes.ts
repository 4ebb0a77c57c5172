import { isIPv4, isIPv6 } from 'node:net';
import { Lru } from '../../../shared/collection/lru.js';

/** Addresses that were asked for: a client asks more than once, and by several limits each time. */
const known = new Lru<string>(4096);

/**
 * An address in binary, one character a byte: 4 for IPv4, 16 for IPv6; any other text stays as it is, as `unix:` does.
 * nginx: ngx_http_variable_binary_remote_addr.
 */
export function addressBytes(address: string): string {
  let bytes = known.get(address);
  if (bytes === undefined) {
    bytes = toBytes(address);
    known.set(address, bytes);
  }
  return bytes;
}

function toBytes(address: string): string {
  if (isIPv4(address)) {
    const [a, b, c, d] = address.split('.') as [string, string, string, string];
    return String.fromCharCode(Number(a), Number(b), Number(c), Number(d));
  }
  return isIPv6(address) ? ipv6Bytes(address) : address;
}

function ipv6Bytes(address: string): string {
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  let text = address;
  if (dotted !== null) {
    const [, a, b, c, d] = dotted.map(Number) as [number, number, number, number, number];
    text = `${address.slice(0, dotted.index)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  }
  const [head = '', tail] = text.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = new Array<string>(tail === undefined ? 0 : 8 - left.length - right.length).fill('0');
  let bytes = '';
  for (const group of [...left, ...zeros, ...right]) {
    const value = Number.parseInt(group, 16);
    bytes += String.fromCharCode(value >> 8, value & 255);
  }
  return bytes;
}
