import type { Native } from '../../shared/native/native.js';
import { Family } from '../../shared/net/socket-addresses.js';
import { setNumber } from '../../shared/net/socket-option.js';

const [SOL_SOCKET, IPPROTO_IP, IPPROTO_IPV6, IPPROTO_UDP] = [1, 0, 41, 17];
const [SO_SNDBUF, SO_RCVBUF] = [7, 8];
const [IP_TOS, IP_PKTINFO, IP_MTU_DISCOVER, IP_RECVTOS] = [1, 8, 10, 13];
const [IPV6_MTU_DISCOVER, IPV6_RECVPKTINFO, IPV6_RECVTCLASS, IPV6_TCLASS] = [23, 49, 66, 67];
/** The mark of ECN of what leaves, unless a message has another one. */
const ECT0 = 2;
const UDP_GRO = 104;
/** Datagrams are never taken apart, and their length is found out here. */
const PROBE = 3;
/** What comes while a worker does something else, in bytes; the system's own bound may be lower. */
const BUFFER = 4 * 1024 * 1024;

/** What a socket tells of datagrams. */
export interface UdpTelling {
  /** To which of a host's addresses they came: asked of a socket for all of them. */
  readonly local: boolean;
  /** Several that came together are given as one. */
  readonly joined: boolean;
}

/** Sets a socket of QUIC up. What an older system does not have is left out. `buffers`: the configuration names none. */
export function setUdpOptions(native: Native, fd: number, family: number, telling: UdpTelling, buffers: boolean): void {
  if (buffers) {
    setNumber(native, fd, SOL_SOCKET, SO_RCVBUF, BUFFER);
    setNumber(native, fd, SOL_SOCKET, SO_SNDBUF, BUFFER);
  }
  if (telling.joined) {
    setNumber(native, fd, IPPROTO_UDP, UDP_GRO, 1);
  }
  if (family === Family.INET6) {
    setNumber(native, fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, PROBE);
    setNumber(native, fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
    setNumber(native, fd, IPPROTO_IPV6, IPV6_TCLASS, ECT0);
    setNumber(native, fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, telling.local ? 1 : 0);
  }
  // A socket of IPv6 may have clients of IPv4, too.
  setNumber(native, fd, IPPROTO_IP, IP_MTU_DISCOVER, PROBE);
  setNumber(native, fd, IPPROTO_IP, IP_RECVTOS, 1);
  setNumber(native, fd, IPPROTO_IP, IP_TOS, ECT0);
  setNumber(native, fd, IPPROTO_IP, IP_PKTINFO, telling.local && family === Family.INET ? 1 : 0);
}

/** Has a socket for all of a host's addresses tell to which one a datagram came. */
export function tellLocal(native: Native, fd: number, family: number): void {
  if (family === Family.INET6) {
    setNumber(native, fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
  } else {
    setNumber(native, fd, IPPROTO_IP, IP_PKTINFO, 1);
  }
}

/** What {@link readControl} has found. */
export interface Ancillary {
  /** How long the datagrams are that came together; 0 where one came alone. */
  segment: number;
  ecn: number;
  /** The bytes of the local address, from there on; -1 for none. */
  localAt: number;
  localLength: number;
}

/** Reads what the system tells beside datagrams: struct cmsghdr, one after the other, in `from..end`. */
export function readControl(bytes: Buffer, from: number, end: number, found: Ancillary): void {
  found.segment = 0;
  found.ecn = 0;
  found.localAt = -1;
  for (let at = from; at + 16 < end; ) {
    const size = bytes.readUInt32LE(at);
    const level = bytes.readInt32LE(at + 8);
    const type = bytes.readInt32LE(at + 12);
    const data = at + 16;
    const length = size - 16;
    if (length <= 0 || data + length > end) {
      return;
    }
    if (level === IPPROTO_UDP && type === UDP_GRO && length >= 4) {
      found.segment = bytes.readInt32LE(data);
    } else if ((level === IPPROTO_IP && type === IP_TOS) || (level === IPPROTO_IPV6 && type === IPV6_TCLASS)) {
      found.ecn = bytes[data]! & 3;
    } else if (level === IPPROTO_IP && type === IP_PKTINFO && length >= 12) {
      // What the host's own address is, beside what stands in the header.
      found.localAt = data + 4;
      found.localLength = 4;
    } else if (level === IPPROTO_IPV6 && type === 50 && length >= 20) {
      found.localAt = data;
      found.localLength = 20;
    }
    at += (size + 7) & ~7;
  }
}
