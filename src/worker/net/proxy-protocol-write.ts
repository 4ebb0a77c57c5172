import { isIPv4 } from 'node:net';
import { type Address, isMapped, parseWritten } from '../../shared/address/address.js';
import { crc32c } from '../digest/crc32c.js';
import { PROXY_SIGNATURE, TLV } from './proxy-protocol.js';

/** Both ends of a client's connection. */
export interface ConnectionEnds {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
  /** Datagrams come from it. */
  readonly udp: boolean;
}

/** Makes the header of version 1 that tells a backend of a client. nginx: ngx_proxy_protocol_write. */
export function proxyProtocolHeader({ remoteAddress, remotePort, localAddress, localPort }: ConnectionEnds): Buffer {
  if (remoteAddress.startsWith('unix:')) {
    return Buffer.from('PROXY UNKNOWN\r\n', 'latin1');
  }
  const family = isIPv4(remoteAddress) ? 'TCP4' : 'TCP6';
  return Buffer.from(`PROXY ${family} ${remoteAddress} ${localAddress} ${remotePort} ${localPort}\r\n`, 'latin1');
}

const LOCAL = 0x20;
const PROXY = 0x21;
const HEAD = 16;

/**
 * Makes the header of version 2; `tlvs` are extensions that {@link tlv} made. It ends with a checksum. nginx:
 * ngx_proxy_protocol_v2_write.
 */
export function proxyProtocolHeader2(ends: ConnectionEnds, tlvs: readonly Buffer[]): Buffer {
  const from = parseWritten(ends.remoteAddress);
  const to = parseWritten(ends.localAddress);
  const head = Buffer.alloc(HEAD);
  PROXY_SIGNATURE.copy(head);
  let addresses = Buffer.alloc(0);
  if (from === undefined || to === undefined) {
    head[12] = LOCAL;
  } else {
    // Addresses of two families are told as those of IPv6.
    const short = (from.family === 4 && to.family === 4) || (isMapped(from) && isMapped(to));
    head[12] = PROXY;
    head[13] = ((short ? 1 : 2) << 4) | (ends.udp ? 2 : 1);
    const width = short ? 4 : 16;
    addresses = Buffer.alloc(2 * width + 4);
    writeAddress(addresses, 0, from, short);
    writeAddress(addresses, width, to, short);
    addresses.writeUInt16BE(ends.remotePort, 2 * width);
    addresses.writeUInt16BE(ends.localPort, 2 * width + 2);
  }
  const header = Buffer.concat([head, addresses, ...tlvs, tlv(TLV.CRC32C, Buffer.alloc(4))]);
  header.writeUInt16BE(header.length - HEAD, HEAD - 2);
  // The checksum counts itself as zero.
  header.writeUInt32BE(crc32c(header), header.length - 4);
  return header;
}

function writeAddress(into: Buffer, at: number, { family, a, b, c, d }: Address, short: boolean): void {
  if (short) {
    into.writeUInt32BE(d, at);
    return;
  }
  into.writeUInt32BE(a, at);
  into.writeUInt32BE(b, at + 4);
  into.writeUInt32BE(family === 4 ? 0xffff : c, at + 8);
  into.writeUInt32BE(d, at + 12);
}

/** An extension of version 2. */
export function tlv(type: number, value: Buffer): Buffer {
  const head = Buffer.from([type, value.length >> 8, value.length & 0xff]);
  return Buffer.concat([head, value]);
}
