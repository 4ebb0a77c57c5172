import type { X509Certificate } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import type { Socket } from '../../shared/net/socket.js';
import type { CipherHandle, CipherState } from './tls-binding.js';

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

/** Tells a client's cipher what its hello is to say. */
export function prepareHello(cipher: CipherHandle, { protocols, session, serverName }: BackendTls): void {
  // OpenSSL is to look at the certificate, and to go on whatever it thinks of it.
  cipher.setVerifyMode(true, false);
  if (protocols.length > 0) {
    cipher.setALPNProtocols(Buffer.from(protocols.map((name) => String.fromCharCode(name.length) + name).join(''), 'latin1'));
  }
  if (session !== undefined) {
    cipher.setSession(session);
  }
  if (serverName !== undefined) {
    cipher.setServername(serverName);
  }
}

/** Why a handshake came to nothing whose backend has gone. */
export const closedInHandshake = (): Error => new Error('the backend closed the connection before the TLS handshake was over');
