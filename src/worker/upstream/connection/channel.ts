import type { Work } from '../../task/at-work.js';
import type { Deadline } from '../../time/deadline.js';
import type { UpstreamConnection } from './connection.js';

/** Whoever uses a channel is told what happens on it. */
export interface ChannelOwner {
  /** Whose business it is; null for none's. */
  readonly r: Work | null;
  /** TCP is connected; with TLS, the handshake follows. */
  connected(c: Channel): void;
  /** Ready for use: connected, and the TLS handshake is over. */
  ready(c: Channel): void;
  /** Bytes `0..end` came. The memory is used again after the call. */
  received(c: Channel, bytes: Buffer, end: number): void;
  /** The peer sends no more. */
  ended(c: Channel): void;
  /** The connection broke or could not be made. */
  failed(c: Channel, error: Error): void;
  /** Everything written has left, after a write that returned false. */
  drained(c: Channel): void;
  /** The time that was set on {@link Channel.deadline} is over. */
  timedOut(c: Channel): void;
}

/** What one request is sent on and its response comes from: a connection, or a stream of a connection that others use, too. */
export interface Channel {
  owner: ChannelOwner;
  readonly deadline: Deadline;
  readonly tls: boolean;
  /** The connection that it is, or is a part of. */
  readonly carrier: UpstreamConnection;
  /** Bytes written for the request at hand. */
  sent: number;
  readonly connected: boolean;
  /** The request may be sent. */
  readonly ready: boolean;
  readonly paused: boolean;
  /** Nothing that was written still waits to leave. */
  readonly flushed: boolean;
  /** Writes latin1 text. Returns false when there is no more room; `drained` follows then. */
  writeText(text: string): boolean;
  write(bytes: Buffer): boolean;
  /** Writes the bytes `start..end`, whose memory is the caller's again when this returns. */
  writeLent(bytes: Buffer, start: number, end: number): boolean;
  /** Holds what is written back until {@link uncork}, so that it leaves together. */
  cork(): void;
  uncork(): void;
  /** The request is complete: nothing more is written. */
  finishRequest(): void;
  /** Has `drained` called once everything has left, although the last write returned true. */
  awaitFlush(): void;
  pause(): void;
  resume(): void;
  /** Nothing more is written on it; the backend may go on sending. */
  end(): void;
  close(): void;
}
