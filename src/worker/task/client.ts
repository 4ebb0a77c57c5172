import type { ProxyProtocolHeader } from '../net/proxy-protocol.js';

/** A client's TLS connection; what else is known of it, the TLS room knows. */
export interface TlsConnection {
  /** The server name in the client's hello. */
  readonly sni: string | undefined;
  /** Whether what came so far is early data: the handshake has not ended. */
  readonly early: boolean;
}

/** What variables and logs know about whoever is at the other end of a client's connection, whichever protocol runs on it. */
export interface Client {
  /** Serial number, unique over the workers of one start. */
  readonly id: number;
  /** The client's address; realip and the PROXY protocol may have changed it. */
  remoteAddress: string;
  remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
  /** Monotonic milliseconds at accept. */
  readonly acceptedAt: number;
  /** True for clients that `debug_connection` names: all their lines are logged. */
  readonly debugging: boolean;
  /** What is known of a TLS connection, for `$ssl_*`. */
  readonly tls: TlsConnection | undefined;
  /** From the PROXY protocol header, when the listener takes one. */
  readonly proxyProtocol: ProxyProtocolHeader | undefined;
  /** The client has gone or the connection was torn down. */
  readonly closed: boolean;
  /** The server name the client asked for in its TLS hello. */
  readonly sni: string | undefined;
  /**
   * Finds a task of the same connection that is still at work though the client has its whole response; absent where the next task begins
   * only after that.
   */
  answered?(wanted: (task: object) => boolean): object | undefined;
}
