import type { SocketAddress } from './client-socket.js';

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

/** Whoever a backend's socket tells what happens on it; nothing before the call that opens it has returned. */
export interface BackendSocketOwner {
  /** The connection is there. */
  socketConnected(): void;
  /** With TLS: the handshake is over. */
  socketReady(): void;
  /** The first `length` of these bytes came. The memory is used again after the call. */
  socketReceived(bytes: Buffer, length: number): void;
  /** The backend sends no more. */
  socketEnded(): void;
  /** The connection broke or could not be made: the error has the system's `code`, `errno` and `syscall`. */
  socketFailed(error: Error): void;
  /** Everything has left, after a write that returned false. */
  socketDrained(): void;
}

/** What a connection to a backend needs of its socket. */
export interface BackendSocket {
  /** Sends text (latin1) or bytes, which must not change until all is sent. Returns false when that takes time: `socketDrained` follows. */
  write(data: string | Buffer): boolean;
  /** Sends the bytes `start..end`, whose memory is the caller's again when this returns. Returns as {@link write} does. */
  writeLent(bytes: Buffer, start: number, end: number): boolean;
  /**
   * Gives the kernel as many of the bytes as it has room for, and returns how many: their memory is the caller's again. A cipher takes
   * all or nothing, and is then perhaps {@link pending}. The ring takes few bytes before the kernel is asked, at the end of the tick; they
   * may be pending then.
   */
  offer(bytes: Buffer): number;
  /** Something that was written waits for the kernel: `socketDrained` follows. */
  readonly pending: boolean;
  /** This end of the connection. */
  local(): SocketAddress;
  /** What is written from now on leaves together, once {@link uncork} was called as often. */
  cork(): void;
  uncork(): void;
  /** Nothing that was written still waits to leave. */
  readonly flushed: boolean;
  /** Has `socketDrained` called once everything has left, although the last write returned true. */
  awaitFlush(): void;
  pause(): void;
  resume(): void;
  /** Sends what is left, and then that this is the end. Reading goes on. */
  end(): void;
  /** Closes at once; the owner hears no more. */
  close(): void;
}
