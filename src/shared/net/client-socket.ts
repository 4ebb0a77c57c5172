/** Whoever a client's socket tells what happens on it. */
export interface SocketOwner {
  /**
   * The first `length` of these bytes came; memory that is `shared` is used again after the call. Returns false to stop reading until the
   * socket is resumed.
   */
  received(bytes: Buffer, length: number, shared: boolean): boolean;
  /**
   * The client sends no more. `stays`: its end of the connection is still there, because only TLS has ended; it is told again when that
   * goes.
   */
  clientEnded(stays: boolean): void;
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
  /** The connection's descriptor; negative where there is none, and once it is closed. */
  readonly descriptor: number;
  /** Where the client is. */
  remote(): SocketAddress;
  /** Where it came to. */
  local(): SocketAddress;
  /** Nothing waits for the kernel. */
  readonly empty: boolean;
  /**
   * How many bytes of what was written the kernel has not taken; once the connection is no more, how many it never took. With TLS, of
   * the plain text, to within a record.
   */
  readonly unsent: number;
  /** A write is under way; `flushed` follows. */
  readonly pending: boolean;
  /** Begins to read. Another owner may follow the first. */
  start(owner: SocketOwner): void;
  pause(): void;
  resume(): void;
  /**
   * Tells whether more than a request's head is expected. Otherwise little is read at a time, because the owner must keep what it
   * cannot use yet.
   */
  expectMuch(much: boolean): void;
  /** Sends text (latin1) or bytes, which must not change until all is sent. Returns false when that takes time: `flushed` follows. */
  write(data: string | Buffer): boolean;
  /** Sends text, bytes and text. */
  writeJoined(before: string, bytes: Buffer, after: string): boolean;
  /** Sends text, the bytes `start..end`, whose memory is the caller's again when this returns, and text. */
  writeLent(before: string, bytes: Buffer, start: number, end: number, after: string): boolean;
  /** How many bytes may be offered at a time. */
  readonly offerLimit: number;
  /**
   * Gives the kernel as many of the bytes as it has room for, and returns how many it took. The caller may use their memory again.
   * Nothing is {@link pending} afterwards except a cipher's records; a cipher takes all or nothing. The ring takes few bytes before the
   * kernel is asked, at the end of the tick; they may be pending then, and `flushed` follows.
   */
  offer(bytes: Buffer): number;
  /**
   * The same with so many bytes of a file, from `at` on, which the kernel sends by itself. If it takes less than all, this is
   * {@link pending} until there is room for more. Returns -1 where it does not send that file; absent where it sends none.
   */
  offerFile?(file: number, at: number, size: number): number;
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
}

/** A client's connection that was accepted just now. */
export interface AcceptedSocket extends ClientSocket {
  /** Turns on probes of the connection while nothing is sent on it. */
  keepAlive(): void;
}
