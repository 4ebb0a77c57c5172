import type { Socket } from 'node:net';
import type { Level } from '../../../shared/log/level.js';
import type { ClientSocket } from '../../../shared/net/client-socket.js';
import type { PlainSocket } from '../../../shared/net/plain-socket.js';
import type { TlsConnection } from './client-stream.js';
import type { ServerRuntime } from './http-runtime.js';
import type { Request } from './request.js';

/** What a bound address serves: which server answers for which name. nginx: ngx_http_addr_conf_t. */
export interface AddressRuntime {
  /** Local address as text, or undefined for "any". */
  readonly address: string | undefined;
  readonly port: number;
  /** Takes TLS off connections; undefined for plain HTTP. */
  readonly tls: TlsTerminator | undefined;
  readonly http2: boolean;
  readonly proxyProtocol: boolean;
  readonly defaultServer: ServerRuntime;
  /** No name needs looking up: the default server answers for all. */
  readonly single: boolean;
  /** Some server's name is a regular expression. */
  readonly patterns: boolean;
  /**
   * The server for a host name (lower case, without port). Named groups of a regular expression are kept on `r`, which may be null
   * without {@link patterns}.
   */
  find(host: string, r: Request | null): ServerRuntime | undefined;
}

/** Runs the TLS handshake of a connection. */
export interface TlsTerminator {
  /** It can work on libuv's handles: otherwise it wants Node's sockets. */
  readonly direct: boolean;
  /** Calls back once, with what was agreed or with what failed. */
  accept(socket: Socket, done: TlsDone): void;
  /**
   * The same for a connection without a `net.Socket`, which is closed if the handshake fails. `bytes` is all that has come so far, and is
   * valid only during the call. Returns undefined when more must come before the handshake can begin.
   */
  acceptPlain(socket: PlainSocket, bytes: Buffer, done: TlsDone): Handshaking | undefined;
}

/** A handshake under way. */
export interface Handshaking {
  /** Gives it up, and closes the connection; nobody is called back. */
  close(): void;
}

export type TlsDone = (result: TlsAccepted | TlsFailure) => void;

/** A finished TLS handshake. */
export interface TlsAccepted {
  /** Decrypts. */
  readonly socket: ClientSocket;
  readonly peer: TlsConnection;
  /** The server that the client named in its hello, or the address's default server. */
  readonly server: ServerRuntime;
  /** The name in the hello, in lower case, when a server answers to it. */
  readonly serverName: string | undefined;
  /** Client and server agreed on HTTP/2. */
  readonly http2: boolean;
}

/** A handshake that failed, in nginx's words. */
export interface TlsFailure {
  readonly level: Level;
  readonly message: string;
}

/** One listening socket. */
export interface ListenerRuntime {
  readonly key: string;
  readonly unix: boolean;
  readonly soKeepalive: boolean | undefined;
  /** Addresses served on the socket; more than one when a wildcard socket stands in for specific addresses. */
  readonly addresses: readonly AddressRuntime[];
}
