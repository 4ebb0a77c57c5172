// What the QUIC transport and the protocols above it know of each other.
import type { CipherState } from '../tls-binding.js';

/** What was agreed in a connection's handshake. Nothing may be asked any more once the connection has ended. */
export interface QuicTls extends CipherState {
  /** What came so far may be early data, which another client may have sent before: the handshake is not over. */
  readonly early: boolean;
}

/** A connection, as the protocol above sees it: what ALPN chose is known when it is made. */
export interface QuicConnection {
  /** The protocol that ALPN chose: "h3" or "hq-interop". */
  readonly protocol: string;
  readonly tls: QuicTls;
  /** Where the client is now: it may move. An IPv6 address has no brackets and no zone. */
  remote(): { readonly address?: string | undefined; readonly port?: number | undefined };
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
  /** The number of bytes of all datagrams in either direction. */
  readonly bytesReceived: number;
  readonly bytesSent: number;
  /** The longest time without a packet, in milliseconds, as both sides agreed. */
  readonly idleTimeout: number;
  /** Monotonic milliseconds when the tick began in which the transport works, cheaper than a clock's. */
  readonly now: number;
  /** Opens a stream of one's own in one direction; undefined where the peer allows none now. */
  openUnidirectional(handler: QuicStreamHandler): QuicStream | undefined;
  /** Who handles an open stream; undefined for one that is over, or that nothing came on. */
  handlerOf(id: number): QuicStreamHandler | undefined;
  /** Who handle all open streams, in the order of their identifiers. */
  handlers(): QuicStreamHandler[];
  /** Ends the connection with CONNECTION_CLOSE of the application. What was queued is dropped; `ended` is called before this returns. */
  close(code: number, reason: string): void;
  /** Allows no more streams than now, however many close: MAX_STREAMS goes up until this is called (GOAWAY). */
  stopCredit(): void;
}

/** Why a connection has ended. */
export interface QuicEnd {
  /** `idle`: nothing came for too long; `peer`, `local`: CONNECTION_CLOSE; `reset`: a stateless one; `killed`: the process ends it. */
  readonly by: 'idle' | 'peer' | 'local' | 'reset' | 'killed';
  /** The error's code is the application's, not the transport's. */
  readonly application: boolean;
  readonly code: number;
  readonly reason: string;
}

/** The protocol above, for one connection. */
export interface QuicConnectionHandler {
  /** Takes a stream of the peer's, of either kind, and gives who handles it. Called before its first byte or its reset. */
  opened(stream: QuicStream): QuicStreamHandler;
  /** The handshake is complete. Data may have come before, as early data. */
  established(): void;
  /** The peer allows more streams of one's own than before. */
  streamsAllowed(): void;
  /** Nothing more comes or goes. All streams' `closed` were called before. */
  ended(why: QuicEnd): void;
  /** A batch of datagrams has been read, and packets are built next: the time to write small things together. */
  flush(): void;
}

/** A stream, of either side and either kind. */
export interface QuicStream {
  /** Below 2^53. */
  readonly id: number;
  readonly unidirectional: boolean;
  /** How many bytes `write` should be given now: what the transport keeps for a stream is bounded. Zero or less while there is no room. */
  readonly room: number;
  /** Something that was written, be it the end alone, has not left yet. */
  readonly pending: boolean;
  /**
   * Takes bytes, however many, which the caller does not change until they were acknowledged (`room` has grown by them, or `finished`).
   * `end`: nothing follows. What comes after a reset is dropped.
   */
  write(bytes: Uint8Array, end: boolean): void;
  /** The reader has used so many bytes of what `received` gave: the peer may send as many more. */
  consumed(bytes: number): void;
  /**
   * Sends RESET_STREAM: what was not sent is dropped. Nothing happens once the end was acknowledged, and on a stream that the peer alone
   * writes.
   */
  reset(code: number): void;
  /** Sends STOP_SENDING: `received` is not called any more, and what comes is dropped and counted as consumed. */
  stopReceiving(code: number): void;
  /** Says when the stream's bytes leave, as RFC 9218 has it: urgency 0 to 7 (3 unless told), smaller first. */
  prioritize(urgency: number, incremental: boolean): void;
}

/** Who handles a stream. What it throws ends the connection as an internal error. */
export interface QuicStreamHandler {
  /**
   * The next bytes, `start..end`, in order, each once; good until the return. `last`: the peer's end comes with them, perhaps behind no
   * bytes.
   */
  received(bytes: Buffer, start: number, end: number, last: boolean): void;
  /** There is room again after `room` was zero or less. May be called when packets are built: more may be written then. */
  drained(): void;
  /** The peer has acknowledged everything that was written, and the end. */
  finished(): void;
  /** The peer sent RESET_STREAM: nothing more is received. */
  wasReset(code: number): void;
  /** The peer sent STOP_SENDING; the transport has answered with RESET_STREAM itself. */
  refused(code: number): void;
  /** The stream is over in both directions, or the connection has ended: nothing is called afterwards. */
  closed(): void;
}
