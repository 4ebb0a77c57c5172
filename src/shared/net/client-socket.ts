import type { Socket } from 'node:net';

/** Whoever a client's socket tells what happens on it. */
export interface SocketOwner {
  /**
   * The first `length` of these bytes came; memory that is `shared` is used again after the call. Returns false to stop reading until the
   * socket is resumed.
   */
  received(bytes: Buffer, length: number, shared: boolean): boolean;
  /** The client sends no more. */
  clientEnded(): void;
  /** The kernel took everything that a write had left over. */
  flushed(): void;
  /** Reading failed, with this negated error number; `socketClosed` follows. Not every socket says so. */
  readFailed?(errno: number): void;
  /** The connection is no more, whoever ended it. */
  socketClosed(): void;
}

/** One end of a connection; empty for a socket of a file, and once the client has gone. */
export interface SocketAddress {
  readonly address?: string | undefined;
  readonly port?: number | undefined;
}

/** What a connection of a client needs of its socket. */
export interface ClientSocket {
  /** Where the client is. */
  remote(): SocketAddress;
  /** Where it came to. */
  local(): SocketAddress;
  /** Nothing waits for the kernel. */
  readonly empty: boolean;
  /** A write is under way; `flushed` follows. */
  readonly pending: boolean;
  /** Begins to read. Another owner may follow the first. */
  start(owner: SocketOwner): void;
  pause(): void;
  resume(): void;
  /** Says whether more than a request's head is to come. Until then little is read at a time: whoever is not ready for it must keep it. */
  expectMuch(much: boolean): void;
  /** Sends text (latin1) or bytes, which must not change until all is sent. Returns false when that takes time: `flushed` follows. */
  write(data: string | Buffer): boolean;
  /** Sends text, bytes and text. */
  writeJoined(before: string, bytes: Buffer, after: string): boolean;
  /** How many bytes may be offered at a time. */
  readonly offerLimit: number;
  /**
   * Gives the kernel as much of the bytes as it has room for, and returns how many were taken; their memory is the caller's again. Nothing is
   * {@link pending} afterwards, but for a cipher's records; a cipher takes all or nothing.
   */
  offer(bytes: Buffer): number;
  /** Has `flushed` called when everything is sent, though the latest write returned true. */
  awaitFlush(): void;
  /** Sends what is left, and then that this is the end. Reading goes on. */
  end(): void;
  /** Closes at once: what was not sent is dropped. */
  close(): void;
  /** Closes once everything is sent. */
  closeSoon(): void;
  /** Closes with a TCP reset. */
  reset(): void;
  /**
   * Gives the connection over to somebody who works with the socket itself, and to whom `flushed` and `clientEnded` are up; what is read still
   * goes to the owner. What the connection calls from now on is the returned object.
   */
  handOver(): { readonly socket: Socket; readonly client: ClientSocket };
}
