import type { Level } from '../../shared/log/level.js';
import type { Socket } from '../../shared/net/socket.js';
import type { TlsConnection } from './client.js';
import type { ClientTask } from './client-task.js';

/** Runs the TLS handshake of a connection. `S` is a server of the protocol that follows. */
export interface TlsTerminator<S> {
  /** A handshake took too long, and the connection is closed. */
  timedOut(): void;
  /**
   * Begins the handshake of a connection, which is closed if it fails. `bytes` is all that has come so far, and is valid only during the
   * call. Returns undefined when more must come before the handshake can begin. Calls back once, with what was agreed or with what failed.
   * `progress`: the connection's own. `task`: the work that the connection is for, where it has begun.
   */
  accept(socket: Socket, bytes: Buffer, progress: HelloProgress, done: TlsDone<S>, task?: ClientTask): Handshaking | undefined;
}

/** How far the records of a client's hello were read while more of them had to come: each is looked at once, however they are cut. */
export class HelloProgress {
  /** Where the first record begins that was not whole. */
  at = 0;
  /** Bytes of the message in the records before. */
  length = 0;
  /** Bytes of the whole message; -1 before its own head has said that. */
  wanted = -1;
}

/** A handshake under way. */
export interface Handshaking {
  /** Gives the handshake up, and closes the connection; nobody is called back. */
  close(): void;
}

export type TlsDone<S> = (result: TlsAccepted<S> | TlsFailure) => void;

/** A finished TLS handshake. */
export interface TlsAccepted<S> {
  /** Decrypts. */
  readonly socket: Socket;
  readonly peer: TlsConnection;
  /** The server that the client named in its hello, or the address's default server. */
  readonly server: S;
  /** The name in the hello, in lower case, when a server answers to it. */
  readonly serverName: string | undefined;
  /** Client and server agreed on HTTP/2. */
  readonly http2: boolean;
}

/** A handshake that failed, in nginx's words. */
export interface TlsFailure {
  readonly level: Level;
  readonly message: string;
}
