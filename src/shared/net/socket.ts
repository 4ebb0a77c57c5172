/**
 * Whoever a socket tells what happens on it. A connection to a backend tells nothing before the call that begins it has returned. The names
 * have a prefix because owners are other things, too, which have ends of their own.
 */
export interface SocketOwner {
  /** The connection to a backend is there. */
  socketOpened?(): void;
  /** The TLS handshake with the backend is over. */
  socketSecured?(): void;
  /** The first `length` of these bytes came; memory that is `shared` is used again after the call. */
  socketReceived(bytes: Buffer, length: number, shared: boolean): void;
  /**
   * The other side sends no more. `stays`: its end of the connection is still there, because only TLS has ended; this is told again when
   * that goes.
   */
  socketEnded(stays: boolean): void;
  /** The kernel took everything that a write had left over. */
  socketDrained(): void;
  /**
   * The connection broke, or could not be made; the owner leaves it, if it is not closed. An error of the system's has `code`, `errno` and
   * `syscall`. Of a client's connection not every socket says so, and only of reading.
   */
  socketFailed?(error: NodeJS.ErrnoException): void;
  /** The client's connection is no more, whoever ended it. */
  socketClosed?(): void;
}

/** One end of a connection; empty for a socket of a file, and once the other side has gone. */
export interface SocketAddress {
  readonly address?: string | undefined;
  readonly port?: number | undefined;
}

/** What is asked of a socket to a backend. */
export interface SocketDemands {
  /** The local address to bind to; undefined for any. */
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  /** The local address need not be one of this machine. */
  readonly transparent?: boolean;
  /** TCP keep-alive probes. */
  readonly keepAlive: boolean;
  /** Sizes of the kernel's buffers in bytes; 0, or nothing, for its own. */
  readonly rcvbuf?: number;
  readonly sndbuf?: number;
}

/** Where a connection to a backend leads. */
export interface BackendTarget extends SocketDemands {
  /** A numeric address; or the path of a Unix-domain socket, with the port 0. */
  readonly address: string;
  readonly port: number;
}

/** A connection, as its owner needs it. */
export interface Socket {
  /** The connection's descriptor; negative where there is none, and once it is closed. */
  readonly descriptor: number;
  /** The other end of the connection. */
  remote(): SocketAddress;
  /** This end of it. */
  local(): SocketAddress;
  /** Nothing that was written still waits to leave. */
  readonly flushed: boolean;
  /**
   * How many bytes of what was written the kernel has not taken; once the connection is no more, how many it never took. With TLS, of
   * the plain text, to within a record.
   */
  readonly unsent: number;
  /** The kernel has no room for some of what was written: the other side does not read it. */
  readonly blocked: boolean;
  /** A write is under way; `socketDrained` follows. */
  readonly pending: boolean;
  /** Begins to read what an accepted connection brings. Another owner may follow the first. */
  start(owner: SocketOwner): void;
  pause(): void;
  resume(): void;
  /**
   * Tells whether more than a request's head is expected. Otherwise little is read at a time, because the owner must keep what it
   * cannot use yet.
   */
  expectMuch(much: boolean): void;
  /** Sends text (latin1) or bytes, which must not change until all is sent. Returns false when that takes time: `socketDrained` follows. */
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
   * kernel is asked, at the end of the tick; they may be pending then, and `socketDrained` follows.
   */
  offer(bytes: Buffer): number;
  /**
   * Gives the kernel `size` bytes of a file, from `at` on, which it sends by itself. If it takes less than all, this is
   * {@link pending} until there is room for more. Returns -1 where it does not send that file; absent where it sends none.
   */
  offerFile?(file: number, at: number, size: number): number;
  /** What is written from now on leaves together, once {@link uncork} was called as often. */
  cork(): void;
  uncork(): void;
  /** Has `socketDrained` called when everything is sent, though the latest write returned true. */
  awaitFlush(): void;
  /** Sends what is left, and then that this is the end. Reading goes on. */
  end(): void;
  /** Closes at once: what was not sent is dropped. */
  close(): void;
  /** Closes once everything is sent. */
  closeSoon(): void;
  /** Closes for an owner who wants to hear no more: what a write has taken without saying that it takes time still leaves. */
  leave(): void;
  /** Closes with a TCP reset. */
  reset(): void;
}

/** A client's connection that was accepted just now. */
export interface AcceptedSocket extends Socket {
  /** Turns on probes of the connection while nothing is sent on it. */
  keepAlive(): void;
}
