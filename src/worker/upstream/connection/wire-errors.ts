import { ALERT, CRIT, ERROR, type Level } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import { opensslText } from '../../net/openssl/error-text.js';
import { UnknownPlace } from '../../net/openssl/records.js';
import type { BackendUser } from './backend-user.js';

interface WireFailure {
  readonly level: Level;
  readonly message: string;
}

/** Errors that connect() itself reports for a TCP address, before any packet comes back. */
const AT_ONCE = new Set(['ENETUNREACH', 'EADDRNOTAVAIL', 'EACCES', 'EPERM', 'EINVAL', 'EAFNOSUPPORT']);
/** Errors of connect() that are logged as `error`, not as `crit`: they call for no administrator. nginx: ngx_event_connect_peer. */
const COMMON = new Set(['ECONNREFUSED', 'EAGAIN', 'ECONNRESET', 'ENETDOWN', 'ENETUNREACH', 'EHOSTDOWN', 'EHOSTUNREACH']);
/** Errors of socket(): no other peer would fare better. */
const NO_DESCRIPTOR = new Set(['EMFILE', 'ENFILE']);
/** Errors that are the peer's or the network's doing. nginx: ngx_connection_error. */
const EXPECTED = new Set([
  'ECONNRESET',
  'EPIPE',
  'ENOTCONN',
  'ETIMEDOUT',
  'ECONNREFUSED',
  'ENETDOWN',
  'ENETUNREACH',
  'EHOSTDOWN',
  'EHOSTUNREACH',
]);

/** What to log of a connection that could not be made. `fatal`: no other peer is tried. */
export function connectFailure(u: BackendUser, error: Error): WireFailure & { readonly fatal: boolean } {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'bind') {
    return { level: CRIT, message: `bind(${u.peer.boundTo}) failed (${errnoText(error)})`, fatal: true };
  }
  if (syscall?.startsWith('setsockopt(')) {
    return { level: ALERT, message: `${syscall} failed (${errnoText(error)})`, fatal: true };
  }
  if (NO_DESCRIPTOR.has(code)) {
    return { level: ALERT, message: `socket() failed (${errnoText(error)})`, fatal: true };
  }
  if (u.peer.unix || AT_ONCE.has(code)) {
    const level = COMMON.has(code) ? ERROR : CRIT;
    return { level, message: `connect() to ${u.peer.name} failed (${errnoText(error)})`, fatal: false };
  }
  return { level: EXPECTED.has(code) ? ERROR : ALERT, message: `connect() failed (${errnoText(error)})`, fatal: false };
}

/** What to log of a connection that broke in use; `reading` is the system call that nginx reads with there. */
export function transferFailure(error: Error, reading: 'recv' | 'readv' = 'recv'): WireFailure {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) {
    // With libuv, Node's cipher has done the records, and the text is Node's.
    const text = error.message.startsWith('SSL_') ? undefined : opensslText(error.message);
    return { level: ERROR, message: text === undefined ? error.message : `SSL_read() failed (SSL: ${text})` };
  }
  const call = syscall === 'write' ? 'writev' : reading;
  return { level: EXPECTED.has(code) ? ERROR : ALERT, message: `${call}() failed (${errnoText(error)})` };
}

/** What to log of a TLS handshake that failed. nginx: ngx_ssl_handshake, ngx_ssl_connection_error. */
export function backendHandshakeFailure(error: Error): WireFailure {
  const { syscall, errno } = error as NodeJS.ErrnoException;
  if (syscall !== undefined && typeof errno === 'number') {
    return { level: ERROR, message: `peer closed connection in SSL handshake (${errnoText(error)})` };
  }
  if (error instanceof UnknownPlace) {
    return { level: ERROR, message: `SSL_do_handshake() failed (SSL: ${error.message})` };
  }
  const text = opensslText(error.message);
  const message = text === undefined ? 'peer closed connection in SSL handshake' : `SSL_do_handshake() failed (SSL: ${text})`;
  return { level: ERROR, message };
}
