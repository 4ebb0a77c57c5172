import type { Socket } from 'node:net';
import type { ProxyProtocolHeader } from '../../../shared/net/proxy-protocol.js';
import type { AddressRuntime } from './address-runtime.js';
import type { Chunk } from './body-stage.js';
import type { Request } from './request.js';

/** A client's TLS connection; what else is known of it, the TLS room knows. */
export interface TlsConnection {
  /** The server name in the client's hello. */
  readonly sni: string | undefined;
}

/** What variables and logs know about a client connection, whichever protocol runs on it. */
export interface ClientConnection {
  /** Serial number, unique over the workers of one start. */
  readonly id: number;
  /** The client's address; realip and the PROXY protocol may have changed it. */
  remoteAddress: string;
  remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
  /** The listening address's settings. */
  readonly address: AddressRuntime;
  /** Requests so far, this one included. */
  requests: number;
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
}

/** Takes a request body piece by piece. */
export interface BodySink {
  /** How many bytes the client may send ahead of what was taken, where the protocol lets that be said. */
  readonly room: number;
  /**
   * Bytes `start..end` came, whose memory is used again after the call; `announced` bytes are known to come behind them. Returns false to
   * pause; {@link ClientStream.resumeBody} goes on.
   */
  data(bytes: Buffer, start: number, end: number, announced: number): boolean;
  /** The whole body has been given. */
  end(): void;
  /** The body broke off or is malformed; `status` is what to answer (400, 408, 413, 499 when the client left). */
  fail(status: number): void;
}

/** The two directions of one exchange with a client: an HTTP/1 connection's current request, or an HTTP/2 stream. */
export interface ClientStream {
  readonly connection: ClientConnection;
  /** What is being done, for log lines: `reading client request line`. */
  action: string | undefined;
  /** Makes the response head ready to leave with the first piece of the body. */
  sendHead(r: Request): void;
  /** Sends the head now when it still waits for a piece of body. */
  flush(r: Request): void;
  /** Puts a piece on the wire; then calls `r.more()` when there is room, or ends the request after the last. */
  send(r: Request, chunk: Chunk | null, last: boolean): void;
  /** How many bytes of the body {@link ClientStream.offer} may be given at a time; 0 where it may not be used. */
  offerLimit(r: Request): number;
  /**
   * Puts as many of the bytes on the wire as it has room for, and returns how many: their memory is the caller's again. It stands
   * before a `send`, of what follows or of nothing, which tells when there is room again.
   */
  offer(r: Request, bytes: Chunk): number;
  /** The request's body has been read to its end, or it has none. */
  bodyDone(r: Request): boolean;
  /** Starts giving the request body to a sink; what has arrived already first. */
  readBody(r: Request, sink: BodySink): void;
  resumeBody(r: Request): void;
  /** Drops what has come of the body; what comes later is dropped too. Returns 0, or the status for a malformed body. */
  discardBody(r: Request): number;
  /** Sends `100 Continue`. */
  sendContinue(r: Request): void;
  /** Sends another 1xx response head with the fields given, name and value by turns. */
  sendInformational(r: Request, status: number, fields: readonly string[]): void;
  /** The exchange is over: the next request, or the end of the connection. */
  finish(r: Request): void;
  /** Ends connection or stream at once. `reset` answers with a TCP reset. */
  terminate(r: Request, reset: boolean): void;
  /** Calls back once when the client goes away while its request is under way; null stops watching. */
  watchClient(r: Request, callback: (() => void) | null): void;
  /** Hands the raw connection to a tunnel (101, CONNECT): what the client sends from now on goes to `received`. */
  upgrade(r: Request, received: (bytes: Buffer) => void): Upgraded;
}

/** A connection that is no longer read as HTTP. */
export interface Upgraded {
  readonly socket: Socket;
  /** What came behind the request. */
  readonly pending: Buffer | null;
}
