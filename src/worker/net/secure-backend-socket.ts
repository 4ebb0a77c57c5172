import type { X509Certificate } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import type { Socket } from '../../shared/net/socket.js';
import type { CipherState } from './tls-binding.js';

/** What a TLS connection to a backend is made with. */
export interface BackendTls {
  readonly context: SecureContext;
  /** The name that the hello asks for; undefined for none. */
  readonly serverName: string | undefined;
  /** The names of protocols that are offered (ALPN); none for no offer. */
  readonly protocols: readonly string[];
  /** A session that the handshake may go on with, as {@link SecureBackendSocket.keepSession} got it. */
  readonly session: Buffer | undefined;
  /** Plain bytes that go before the handshake. */
  readonly preface: Buffer | undefined;
}

/** A TLS connection to a backend. Whose certificate is right, its owner decides. */
export interface SecureBackendSocket extends Socket {
  /** What was agreed, once the handshake is over; null when the connection is closed. */
  readonly cipher: CipherState | null;
  /** The backend's certificate, once the handshake is over. */
  readonly certificate: X509Certificate | undefined;
  /** Has `keep` called with a session that later connections can go on with, in DER: once, or with each that the backend gives. */
  keepSession(keep: (session: Buffer) => void): void;
}
