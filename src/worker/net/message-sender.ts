import type { Native } from '../../shared/native/native.js';
import { Family } from '../../shared/net/socket-addresses.js';
import { Region } from '../../shared/net/uring/memory.js';
import { sameBytes } from '../bytes/same-bytes.js';

/** Where the parts of a message are: struct msghdr, struct iovec, the address and what goes with it. */
const [HEADER, VECTOR, NAME, CONTROL, SIZE] = [0, 64, 96, 160, 256];
const [NAME_LENGTH, CONTROL_LENGTH] = [8, 40];
const [IPPROTO_IP, IPPROTO_UDP, IPPROTO_IPV6] = [0, 17, 41];
const [IP_TOS, IP_PKTINFO, IPV6_PKTINFO, IPV6_TCLASS, UDP_SEGMENT] = [1, 8, 50, 67, 103];
/** Where an IPv6 address of an IPv4 one has other bytes than zeros. */
const [V6_AT, MAPPED_AT] = [8, 18];
const LONGEST_NAME = 28;
/** Bytes of struct cmsghdr. */
const HEAD = 16;
const [EINVAL, EIO] = [-22, -5];
/** A local address in the form that leaves with a datagram: 4 bytes, or 16 with the number of an interface behind them. */
export const [LOCAL_4, LOCAL_6] = [4, 20];

/** Sends datagrams from memory with a known address, several in one call, and from the local address that the client came to. */
export class MessageSender {
  readonly #native: Native;
  readonly #fd: number;
  readonly #message: Region;
  readonly #address: number;
  /** Where the message says what is sent: an address as two words, and a length. */
  readonly #vector: Uint32Array;
  readonly #output: Region;
  /** The system cuts what leaves into datagrams. */
  #segments = true;
  /** What the message was written for, as most datagrams go where the one before went; a segment of -1 for nothing yet. */
  readonly #peer: Buffer = Buffer.alloc(LONGEST_NAME);
  readonly #local: Buffer = Buffer.alloc(LOCAL_6);
  #localLength = 0;
  #segment = -1;
  #marked = false;

  constructor(native: Native, fd: number, output: Region) {
    this.#native = native;
    this.#fd = fd;
    this.#output = output;
    this.#message = Region.map(native, SIZE);
    this.#address = this.#message.address(HEADER, VECTOR);
    const { bytes } = this.#message;
    this.#vector = new Uint32Array(bytes.buffer, bytes.byteOffset + VECTOR, 4);
    bytes.writeBigUInt64LE(BigInt(this.#message.address(NAME, LONGEST_NAME)), HEADER);
    bytes.writeBigUInt64LE(BigInt(this.#message.address(VECTOR, 16)), HEADER + 16);
    bytes.writeBigUInt64LE(1n, HEADER + 24);
    bytes.writeBigUInt64LE(BigInt(this.#message.address(CONTROL, SIZE - CONTROL)), HEADER + 32);
  }

  /** See {@link UdpSocket.send}. */
  send(peer: Buffer, local: Buffer | undefined, from: number, length: number, segment: number, marked: boolean): number {
    if (length <= segment || !this.#segments) {
      return this.#each(peer, local, from, length, segment, marked);
    }
    const code = this.#send(peer, local, from, length, segment, marked);
    if (code !== EIO && code !== EINVAL) {
      return Math.min(code, 0);
    }
    // No segments here: neither for this one nor for others.
    this.#segments = false;
    return this.#each(peer, local, from, length, segment, marked);
  }

  #each(peer: Buffer, local: Buffer | undefined, from: number, length: number, segment: number, marked: boolean): number {
    let code = 0;
    for (let done = 0; done < length; done += segment) {
      code = this.#send(peer, local, from + done, Math.min(segment, length - done), 0, marked);
    }
    return Math.min(code, 0);
  }

  #send(peer: Buffer, local: Buffer | undefined, from: number, length: number, segment: number, marked: boolean): number {
    const address = this.#output.address(from, length);
    const vector = this.#vector;
    vector[0] = address % 0x100000000;
    vector[1] = Math.floor(address / 0x100000000);
    vector[2] = length;
    if (segment !== this.#segment || marked !== this.#marked || !this.#goesThere(peer, local)) {
      this.#write(peer, local, segment, marked);
    }
    return this.#native.sendMessage(this.#fd, this.#address);
  }

  /** Whether the message was written for these addresses. */
  #goesThere(peer: Buffer, local: Buffer | undefined): boolean {
    const length = local === undefined ? 0 : local.length;
    return (
      length === this.#localLength &&
      sameBytes(peer, this.#peer, nameLengthOf(peer)) &&
      (local === undefined || sameBytes(local, this.#local, length))
    );
  }

  /** Writes all of the message but what is sent. */
  #write(peer: Buffer, local: Buffer | undefined, segment: number, marked: boolean): void {
    this.#segment = segment;
    this.#marked = marked;
    this.#localLength = local === undefined ? 0 : local.length;
    const nameLength = nameLengthOf(peer);
    peer.copy(this.#peer, 0, 0, nameLength);
    local?.copy(this.#local);
    const { bytes } = this.#message;
    peer.copy(bytes, NAME, 0, nameLength);
    bytes.writeUInt32LE(nameLength, HEADER + NAME_LENGTH);
    let at = CONTROL;
    if (segment > 0) {
      at = this.#control(at, IPPROTO_UDP, UDP_SEGMENT, 2);
      bytes.writeUInt16LE(segment, at - 8);
    }
    if (local?.length === LOCAL_4) {
      at = this.#control(at, IPPROTO_IP, IP_PKTINFO, 12);
      bytes.fill(0, at - 16, at);
      local.copy(bytes, at - 12);
    } else if (local?.length === LOCAL_6) {
      at = this.#control(at, IPPROTO_IPV6, IPV6_PKTINFO, 20);
      local.copy(bytes, at - 24);
    }
    if (!marked) {
      // Whatever leaves without that has the socket's mark.
      const ipv6 = peer[0] === Family.INET6 && !isMapped(peer);
      at = this.#control(at, ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, ipv6 ? IPV6_TCLASS : IP_TOS, 4);
      bytes.writeInt32LE(0, at - 8);
    }
    bytes.writeUInt32LE(at - CONTROL, HEADER + CONTROL_LENGTH);
  }

  /** Writes the head of an item of so many bytes; returns where the next one begins. */
  #control(at: number, level: number, type: number, length: number): number {
    const { bytes } = this.#message;
    bytes.writeUInt32LE(HEAD + length, at);
    bytes.writeUInt32LE(0, at + 4);
    bytes.writeInt32LE(level, at + 8);
    bytes.writeInt32LE(type, at + 12);
    return at + HEAD + ((length + 7) & ~7);
  }
}

const nameLengthOf = (peer: Buffer): number => (peer[0] === Family.INET6 ? 28 : 16);

/** An IPv4 client of a socket of IPv6, to which the system sends as to others of IPv4. */
function isMapped(peer: Buffer): boolean {
  for (let at = V6_AT; at < MAPPED_AT; at++) {
    if (peer[at] !== 0) {
      return false;
    }
  }
  return peer[MAPPED_AT] === 0xff && peer[MAPPED_AT + 1] === 0xff;
}
