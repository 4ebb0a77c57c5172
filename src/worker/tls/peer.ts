import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { ClientHello } from './client-hello.js';
import type { ServerTls } from './server-tls.js';

/** What is known of a TLS connection beyond its socket. */
export class TlsPeer {
  /** What the client said first; undefined when that could not be read. */
  readonly hello: ClientHello | undefined;
  /** Whose certificates the handshake ran with. */
  readonly server: ServerTls;
  readonly #socket: TLSSocket;
  #certificate: X509Certificate | null | undefined;
  #failure: VerifyFailure | null | undefined;

  constructor(socket: TLSSocket, hello: ClientHello | undefined, server: ServerTls) {
    this.#socket = socket;
    this.hello = hello;
    this.server = server;
  }

  /** The client's certificate. */
  get certificate(): X509Certificate | null {
    if (this.#certificate === undefined) this.#certificate = this.#socket.getPeerX509Certificate() ?? null;
    return this.#certificate;
  }

  /** Why the client's certificate is not trusted; null when it is, or when there is none. */
  get failure(): VerifyFailure | null {
    if (this.#failure === undefined) this.#failure = this.certificate === null ? null : this.#verify();
    return this.#failure;
  }

  #verify(): VerifyFailure | null {
    const handle = (this.#socket as unknown as { _handle: NativeHandle | null })._handle;
    const error = handle?.verifyError();
    if (error !== undefined && error !== null) return { code: NUMBERS[error.code] ?? 1, text: error.message };
    return this.#tooDeep() ? { code: 22, text: 'certificate chain too long' } : null;
  }

  // Node has no way to tell OpenSSL how long a chain may be. The chain that it built and trusted is walked again.
  #tooDeep(): boolean {
    const { settings, authorities } = this.server;
    let at = this.certificate!;
    for (let intermediates = 0; !selfIssued(at); intermediates++) {
      if (intermediates > settings.verifyDepth) return true;
      const issuer: X509Certificate | undefined = authorities.find((authority) => at.checkIssued(authority)) ?? at.issuerCertificate;
      if (issuer === undefined) return false;
      at = issuer;
    }
    return false;
  }
}

/** A result of OpenSSL's X509_verify_cert. */
export interface VerifyFailure {
  readonly code: number;
  readonly text: string;
}

interface NativeHandle {
  verifyError(): (Error & { readonly code: string }) | null | undefined;
}

function selfIssued(certificate: X509Certificate): boolean {
  return certificate.subject === certificate.issuer;
}

/** OpenSSL's numbers for the names that Node gives its results. */
const NUMBERS: Readonly<Record<string, number>> = {
  UNABLE_TO_GET_ISSUER_CERT: 2,
  UNABLE_TO_GET_CRL: 3,
  UNABLE_TO_DECRYPT_CERT_SIGNATURE: 4,
  UNABLE_TO_DECRYPT_CRL_SIGNATURE: 5,
  UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY: 6,
  CERT_SIGNATURE_FAILURE: 7,
  CRL_SIGNATURE_FAILURE: 8,
  CERT_NOT_YET_VALID: 9,
  CERT_HAS_EXPIRED: 10,
  CRL_NOT_YET_VALID: 11,
  CRL_HAS_EXPIRED: 12,
  OUT_OF_MEM: 17,
  DEPTH_ZERO_SELF_SIGNED_CERT: 18,
  SELF_SIGNED_CERT_IN_CHAIN: 19,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 20,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 21,
  CERT_CHAIN_TOO_LONG: 22,
  CERT_REVOKED: 23,
  INVALID_CA: 24,
  PATH_LENGTH_EXCEEDED: 25,
  INVALID_PURPOSE: 26,
  CERT_UNTRUSTED: 27,
  CERT_REJECTED: 28,
};

/** Results that `ssl_verify_client optional_no_ca` lets pass. nginx: ngx_ssl_verify_error_optional. */
export const OPTIONAL_FAILURES: ReadonlySet<number> = new Set([18, 19, 20, 21, 27]);

const peers = new WeakMap<TLSSocket, TlsPeer>();

/** Keeps what is known of a connection. */
export function rememberPeer(socket: TLSSocket, peer: TlsPeer): void {
  peers.set(socket, peer);
}

/** What is known of a connection whose handshake this server ran. */
export function peerOf(socket: TLSSocket): TlsPeer | undefined {
  return peers.get(socket);
}
