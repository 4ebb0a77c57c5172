// Addresses as the kernel has them: struct sockaddr_in, sockaddr_in6, sockaddr_un.
import { Address, formatAddress, parseAddress } from '../address/address.js';
import { LONGEST_SOCKET_PATH } from '../address/socket-path.js';
import type { Native } from '../native/native.js';
import type { SocketAddress } from './socket.js';

export const Family = { UNIX: 1, INET: 2, INET6: 10 } as const;
/** As long as any of them. */
const SIZE = 128;

/** An address in the kernel's form. */
export interface KernelAddress {
  readonly family: number;
  readonly bytes: Buffer;
}

/** An IP address with its port, or the path of a Unix-domain socket with port 0. Undefined for one that has no such form. */
export function kernelAddress(address: string, port: number): KernelAddress | undefined {
  if (port === 0) {
    const path = Buffer.from(address);
    const bytes = Buffer.alloc(2 + path.length + 1);
    bytes.writeUInt16LE(Family.UNIX, 0);
    path.copy(bytes, 2);
    return path.length > LONGEST_SOCKET_PATH || path.length === 0 ? undefined : { family: Family.UNIX, bytes };
  }
  return ipAddress(address, port);
}

/** An IP address with a port, which may be 0 for any. Undefined for what is no such address. */
export function ipAddress(address: string, port: number): KernelAddress | undefined {
  const ip = parseAddress(address);
  if (ip === undefined) {
    return undefined;
  }
  const bytes = Buffer.alloc(ip.family === 4 ? 16 : 28);
  const family = ip.family === 4 ? Family.INET : Family.INET6;
  bytes.writeUInt16LE(family, 0);
  bytes.writeUInt16BE(port, 2);
  if (ip.family === 4) {
    bytes.writeUInt32BE(ip.d >>> 0, 4);
  } else {
    [ip.a, ip.b, ip.c, ip.d].forEach((word, i) => void bytes.writeUInt32BE(word >>> 0, 8 + i * 4));
  }
  return { family, bytes };
}

const room = Buffer.alloc(SIZE);
/** Most connections come to the same address, whose text they share. */
let lastText = '';

/** The IP address that lies at `offset` in the kernel's form; empty for one of another kind. */
export function addressAt(bytes: Buffer, offset: number): SocketAddress {
  const family = bytes.readUInt16LE(offset);
  if (family !== Family.INET && family !== Family.INET6) {
    return {};
  }
  const at = offset + (family === Family.INET ? 4 : 8);
  const word = (i: number): number => bytes.readUInt32BE(at + i * 4);
  const ip = family === Family.INET ? new Address(4, 0, 0, 0, word(0)) : new Address(6, word(0), word(1), word(2), word(3));
  return { address: formatAddress(ip), port: bytes.readUInt16BE(offset + 2) };
}

function readAddress(code: number): SocketAddress {
  return code < 0 ? {} : addressAt(room, 0);
}

/** Where the other end of a connection is; empty for a socket of a file, and once it has gone. */
export function peerAddress(native: Native, fd: number): SocketAddress {
  return readAddress(native.peerAddress(fd, room));
}

/** Where this end of a connection is. */
export function nameOfSocket(native: Native, fd: number): SocketAddress {
  const { address, port } = readAddress(native.localAddress(fd, room));
  if (address === undefined) {
    return {};
  }
  if (address !== lastText) {
    lastText = address;
  }
  return { address: lastText, port };
}
