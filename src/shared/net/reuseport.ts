import type { ListenSpec } from '../config/configuration.js';
import { loadNative } from '../native/native.js';
import { Family, ipAddress } from './socket-addresses.js';
import { NOT_BLOCKING_CLOSED_ON_EXEC, setNumber } from './socket-option.js';

const [STREAM, DATAGRAMS] = [1, 2];
const [SOL_SOCKET, SO_REUSEADDR, SO_REUSEPORT] = [1, 2, 15];
const [IPPROTO_IPV6, IPV6_V6ONLY] = [41, 26];
const EINVAL = -22;

/** Whether each worker gets a socket of its own at this address: `listen ... reuseport`, as far as this process can do it. */
export function hasSocketEach({ reuseport, family, address, port }: ListenSpec): boolean {
  return reuseport && family !== 'unix' && ipAddress(address, port) !== undefined && typeof loadNative() !== 'string';
}

/**
 * Binds one of several sockets of an address, among which the kernel shares clients out. Returns its descriptor, or the negated error
 * number. nginx: ngx_open_listening_sockets.
 */
export function bindOneOfSeveral(spec: ListenSpec): number {
  const native = loadNative();
  const place = ipAddress(spec.address, spec.port);
  if (typeof native === 'string' || place === undefined) {
    return EINVAL;
  }
  const fd = native.socket(place.family, NOT_BLOCKING_CLOSED_ON_EXEC | (spec.udp ? DATAGRAMS : STREAM));
  if (fd < 0) {
    return fd;
  }
  let code = setNumber(native, fd, SOL_SOCKET, SO_REUSEADDR, 1);
  if (code >= 0 && place.family === Family.INET6) {
    code = setNumber(native, fd, IPPROTO_IPV6, IPV6_V6ONLY, spec.ipv6only ? 1 : 0);
  }
  if (code >= 0) {
    code = allowOthers(fd);
  }
  if (code >= 0) {
    code = native.bind(fd, place.bytes, place.bytes.length);
  }
  if (code < 0) {
    native.close(fd);
    return code;
  }
  return fd;
}

/** Lets others of {@link bindOneOfSeveral} have the address of a socket, which may be bound already. */
export function allowOthers(fd: number): number {
  const native = loadNative();
  return typeof native === 'string' ? EINVAL : setNumber(native, fd, SOL_SOCKET, SO_REUSEPORT, 1);
}
