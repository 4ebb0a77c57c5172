import { loadNative, type Native } from '../native/native.js';
import type { SocketDemands } from './socket.js';
import { Family, ipAddress, type KernelAddress } from './socket-addresses.js';
import { NOT_BLOCKING_CLOSED_ON_EXEC, setNumber } from './socket-option.js';
import { systemError } from './system-error.js';

const [STREAM, DATAGRAMS] = [1, 2];
const [SOL_SOCKET, SO_REUSEADDR, SO_SNDBUF, SO_RCVBUF, SO_KEEPALIVE] = [1, 2, 7, 8, 9];
const [IPPROTO_IP, IP_TRANSPARENT, IP_BIND_ADDRESS_NO_PORT] = [0, 19, 24];
const [IPPROTO_IPV6, IPV6_TRANSPARENT] = [41, 75];
const [IPPROTO_TCP, TCP_NODELAY] = [6, 1];
const EINVAL = -22;

/** Whether a socket needs more than libuv can do, as far as this process can do it. */
export function needsDescriptor(demands: SocketDemands): boolean {
  const { localAddress, transparent, rcvbuf = 0, sndbuf = 0 } = demands;
  return (localAddress !== undefined || transparent === true || rcvbuf > 0 || sndbuf > 0) && typeof loadNative() !== 'string';
}

/**
 * Makes a socket for this peer's family, sets its options and binds it. Returns the descriptor, or the error, whose `syscall` is the call
 * in nginx's words. nginx: the first half of ngx_event_connect_peer.
 */
export function openDescriptor(native: Native, family: number, demands: SocketDemands, datagrams = false): number | Error {
  const fd = native.socket(family, NOT_BLOCKING_CLOSED_ON_EXEC | (datagrams ? DATAGRAMS : STREAM));
  if (fd < 0) {
    return systemError(fd, 'connect');
  }
  const failure = prepare(native, fd, family, demands, datagrams);
  if (failure === undefined) {
    return fd;
  }
  native.close(fd);
  return failure;
}

function prepare(native: Native, fd: number, family: number, demands: SocketDemands, datagrams: boolean): Error | undefined {
  const { localAddress, localPort = 0, transparent = false, keepAlive, rcvbuf = 0, sndbuf = 0 } = demands;
  // Where the kernel refuses a size, it keeps its own.
  if (rcvbuf > 0) {
    setNumber(native, fd, SOL_SOCKET, SO_RCVBUF, rcvbuf);
  }
  if (sndbuf > 0) {
    setNumber(native, fd, SOL_SOCKET, SO_SNDBUF, sndbuf);
  }
  if (family === Family.UNIX) {
    return undefined;
  }
  if (!datagrams) {
    setNumber(native, fd, IPPROTO_TCP, TCP_NODELAY, 1);
    if (keepAlive) {
      setNumber(native, fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    }
  }
  const local = localAddress === undefined ? undefined : ipAddress(localAddress, localPort);
  if (local === undefined) {
    return undefined;
  }
  return bindTo(native, fd, local, localPort, transparent, datagrams);
}

function bindTo(
  native: Native,
  fd: number,
  local: KernelAddress,
  port: number,
  transparent: boolean,
  datagrams: boolean,
): Error | undefined {
  if (transparent) {
    const ipv6 = local.family === Family.INET6;
    const code = ipv6 ? setNumber(native, fd, IPPROTO_IPV6, IPV6_TRANSPARENT, 1) : setNumber(native, fd, IPPROTO_IP, IP_TRANSPARENT, 1);
    if (code < 0) {
      return systemError(code, ipv6 ? 'setsockopt(IPV6_TRANSPARENT)' : 'setsockopt(IP_TRANSPARENT)');
    }
  }
  if (port === 0) {
    // The kernel chooses the port with the connection: there may be as many to each backend as there are ports.
    setNumber(native, fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
  } else if (datagrams) {
    setNumber(native, fd, SOL_SOCKET, SO_REUSEADDR, 1);
  }
  const bound = native.bind(fd, local.bytes, local.bytes.length);
  return bound < 0 ? systemError(bound, 'bind') : undefined;
}

/**
 * Opens a socket as {@link openDescriptor} does, to a numeric address with a port, or to a path with the port 0. For processes in which
 * {@link needsDescriptor} has returned true.
 */
export function openDescriptorTo(address: string, port: number, demands: SocketDemands, datagrams = false): number | Error {
  const native = loadNative();
  const family = port === 0 ? Family.UNIX : ipAddress(address, port)?.family;
  return typeof native === 'string' || family === undefined
    ? systemError(EINVAL, 'connect')
    : openDescriptor(native, family, demands, datagrams);
}
