import type { TlsAccepted as Accepted, TlsTerminator } from '../../task/tls-terminator.js';
import type { ServerRuntime } from './http-runtime.js';
import type { Request } from './request.js';

/** A finished TLS handshake of a client of HTTP. */
export type HttpTlsAccepted = Accepted<ServerRuntime>;

/** What a bound address serves: which server answers for which name. nginx: ngx_http_addr_conf_t. */
export interface AddressRuntime {
  /** Local address as text, or undefined for "any". */
  readonly address: string | undefined;
  readonly port: number;
  /** The socket that listens for it, as lines about its connections name it. */
  readonly listener: string;
  /** Takes TLS off connections; undefined for plain HTTP. */
  readonly tls: TlsTerminator<ServerRuntime> | undefined;
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

/** One listening socket. */
export interface ListenerRuntime {
  readonly key: string;
  readonly unix: boolean;
  /** Connections of QUIC come. */
  readonly quic: boolean;
  readonly soKeepalive: boolean | undefined;
  /** Addresses served on the socket; more than one when a wildcard socket stands in for specific addresses. */
  readonly addresses: readonly AddressRuntime[];
}
