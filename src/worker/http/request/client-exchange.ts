import type { Client } from '../../task/client.js';
import type { Result } from '../../task/codes.js';
import type { AddressRuntime } from './address-runtime.js';
import type { Chunk } from './body-stage.js';
import type { Request } from './request.js';

/** A client connection on which requests come, whichever version of HTTP runs on it. */
export interface ClientConnection extends Client {
  /** The listening address's settings. */
  readonly address: AddressRuntime;
  /** Requests so far, this one included. */
  requests: number;
  /** The connection's descriptor; negative where there is none, and once it is closed. */
  readonly descriptor: number;
  /** What is spoken over QUIC; absent over TCP. */
  readonly overQuic?: 'h3' | 'hq';
}

/** Takes a request body piece by piece. */
export interface BodySink {
  /** How many bytes the client may send ahead of what was taken, where the protocol lets that be said. */
  readonly room: number;
  /**
   * Bytes `start..end` came, whose memory is used again after the call; `announced` bytes are known to come behind them. Returns false to
   * pause; {@link ClientExchange.resumeBody} goes on. One that wants no more at all has the stream leave the body.
   */
  data(bytes: Buffer, start: number, end: number, announced: number): boolean;
  /** The whole body has been given. */
  end(): void;
  /** The body broke off or is malformed; `status` is what to answer (400, 408, 413, 499 when the client left). */
  fail(status: number): void;
}

/** The two directions of one exchange with a client: an HTTP/1 connection's current request, or an HTTP/2 stream. */
export interface ClientExchange {
  readonly connection: ClientConnection;
  /** What is being done, for log lines: `reading client request line`. */
  action: string | undefined;
  /** Makes the response head ready to leave with the first piece of the body. */
  sendHead(r: Request): void;
  /** Sends the head now when it still waits for a piece of body. */
  flush(r: Request): void;
  /** Puts a piece on the wire; then calls `r.more()` when there is room, or ends the request after the last. */
  send(r: Request, chunk: Chunk | null, last: boolean): void;
  /** Sends the bytes `start..end`, whose memory is the caller's again when this returns. */
  sendLent(r: Request, bytes: Buffer, start: number, end: number, last: boolean): void;
  /** How many bytes of the body {@link ClientExchange.offer} may be given at a time; 0 where it may not be used. */
  offerLimit(r: Request): number;
  /**
   * Puts as many of the bytes on the wire as it has room for, and returns how many: their memory is the caller's again. It stands
   * before a `send`, of what follows or of nothing, which tells when there is room again.
   */
  offer(r: Request, bytes: Chunk): number;
  /** Offers `size` bytes of an open file from `at` on, without reading them. Returns -1 where that is not possible. */
  offerFile(r: Request, fd: number, at: number, size: number): number;
  /** The request's body has been read to its end, or it has none. */
  bodyDone(r: Request): boolean;
  /** Bytes that came behind the head of HTTP/1 and that nobody has taken yet; 0 for a stream. */
  bodyAhead(r: Request): number;
  /** Starts giving the request body to a sink; what has arrived already first. */
  readBody(r: Request, sink: BodySink): void;
  resumeBody(r: Request): void;
  /** Nobody takes what is left of the body any more: whoever took it is not called again. */
  leaveBody(r: Request): void;
  /** Drops what has come of the body; what comes later is dropped too. Returns 0, or the status for a malformed body. */
  discardBody(r: Request): Result;
  /** Sends `100 Continue`. */
  sendContinue(r: Request): void;
  /** Sends another 1xx response head with the fields given, name and value by turns. */
  sendInformational(r: Request, status: number, fields: readonly string[]): void;
  /** The exchange is over: the next request, or the end of the connection. */
  finish(r: Request): void;
  /** Ends connection or stream at once. `reset` answers with a TCP reset. */
  terminate(r: Request, reset: boolean): void;
  /** How many bytes of those that the request counts as sent have not left and, if it ends now, never will. */
  unsent(r: Request): number;
  /** The client has gone, or sends no more on a connection that it would need to stay. */
  readonly clientGone: boolean;
  /** Hands the connection to a tunnel (101, CONNECT): what happens on it from now on is told to `owner`. */
  upgrade(r: Request, owner: TunnelOwner): ClientTunnel;
}

/** Whoever has to know that a client has gone. */
export interface ClientWatcher {
  /**
   * The client of the request has gone, though its connection may still take what is sent. Told once for each thing that shows it.
   * `reason`: what follows the log line about it, such as ` (104: Connection reset by peer)`; null where a stream of HTTP/2 was given up.
   */
  clientGone(r: Request, reason: string | null): void;
}

/** Whoever passes on what a client sends that no longer speaks HTTP. */
export interface TunnelOwner {
  /** The client sent the bytes `start..end`. Their memory is used again after the call. */
  clientSent(bytes: Buffer, start: number, end: number): void;
  /** Everything that was written has left. */
  clientFlushed(): void;
  /** The client sends no more. */
  clientEnded(): void;
  /** The connection is no more. */
  clientClosed(): void;
}

/** A client's side of a tunnel: a connection, or a stream of one, that is no longer read as HTTP. */
export interface ClientTunnel {
  /** What came behind the request. */
  readonly pending: Buffer | null;
  /** A client that has ended its side waits for the backend to end the other. nginx ends a connection then. */
  readonly halfCloses: boolean;
  /** Nothing that was written would be lost if the tunnel ended now. */
  readonly flushed: boolean;
  /**
   * Sends the bytes `start..end`, whose memory is the caller's again when this returns. Returns false when the client takes no more:
   * `clientFlushed` follows.
   */
  writeLent(bytes: Buffer, start: number, end: number): boolean;
  /** Takes nothing from the client for a while. */
  pause(): void;
  resume(): void;
  /** The backend's connection broke: where the client can be told so, it is when the tunnel ends. */
  failed(): void;
}
