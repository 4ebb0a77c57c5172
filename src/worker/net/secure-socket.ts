import type { Socket } from '../../shared/net/socket.js';
import type { Agreed, CipherHandle } from './tls-binding.js';

/** Whoever runs a handshake. */
export interface HandshakeOwner {
  /** The handshake is over. Called on OpenSSL's stack. */
  handshakeDone(): void;
  /** The handshake failed: with OpenSSL's error, or because the client has gone. The socket may still be open. */
  handshakeFailed(error: Error | undefined): void;
}

/** A connection whose handshake runs, and then what it brings and takes. */
export interface SecureSocket extends Socket {
  /** What runs the handshake and then knows what was agreed; null once the connection is closed. */
  readonly cipher: CipherHandle | null;
  /** What else was agreed, where OpenSSL can be asked. */
  readonly agreed?: Agreed | undefined;
  /** The handshake is not over, and what came may have been sent before, by another client. */
  readonly early?: boolean;
  /** Takes bytes that were read before. */
  receive(bytes: Buffer): void;
  /** Sends no longer records than that, in bytes. */
  limitRecords(bytes: number): void;
  /** The session that the cipher told of is stored, for which the handshake waits. */
  sessionStored(): void;
}
