import type { X509Certificate } from 'node:crypto';
import { type Agreed, type CipherState, certificateOf } from '../net/tls-binding.js';
import type { Client, TlsConnection } from '../task/client.js';
import type { ClientHello } from './client-hello.js';
import type { StatusVerdict } from './client-status.js';
import type { ServerTls } from './server-tls.js';
import { type VerifyFailure, verifyFailure } from './verify.js';

/** The owner of a connection's cipher, while there is one; afterwards the agreed parameters are no longer known. */
export interface CipherOwner {
  readonly cipher: CipherState | null;
  /** What else was agreed, where OpenSSL can be asked. */
  readonly agreed?: Agreed | undefined;
  /** The handshake is not over, and what came may have been sent before, by another client. */
  readonly early?: boolean;
}

/** What is known of a client's TLS connection beyond its bytes. */
export class TlsPeer implements TlsConnection {
  /** The client's hello; undefined when it could not be read. */
  readonly hello: ClientHello | undefined;
  /** Whose certificates the handshake ran with. */
  readonly server: ServerTls;
  readonly #owner: CipherOwner;
  #certificate: X509Certificate | null | undefined;
  #failure: VerifyFailure | null | undefined;
  #agreed: Agreed | undefined;
  /** What responders say against the client's certificates; null when nothing. */
  status: StatusVerdict = null;
  /** The server name that the client asked for. */
  readonly sni: string | undefined;

  constructor(owner: CipherOwner, hello: ClientHello | undefined, server: ServerTls) {
    this.#owner = owner;
    this.hello = hello;
    this.server = server;
    this.sni = hello === undefined ? owner.cipher?.getServername() || undefined : hello.serverName;
  }

  /** Null once the connection is closed. */
  get cipher(): CipherState | null {
    return this.#owner.cipher;
  }

  /** What else was agreed; undefined where OpenSSL cannot be asked. */
  get agreed(): Agreed | undefined {
    if (this.#agreed === undefined) {
      const agreed = this.#owner.agreed;
      if (this.early) {
        return agreed;
      }
      this.#agreed = agreed;
    }
    return this.#agreed;
  }

  get early(): boolean {
    return this.#owner.early === true;
  }

  /** The client's certificate. */
  get certificate(): X509Certificate | null {
    if (this.#certificate === undefined) {
      this.#certificate = certificateOf(this.cipher) ?? null;
    }
    return this.#certificate;
  }

  /** Why the client's certificate is not trusted; null when it is, or when there is none. */
  get failure(): VerifyFailure | null {
    if (this.#failure === undefined) {
      const { settings, authorities } = this.server;
      this.#failure = this.certificate === null ? null : verifyFailure(this.cipher, this.certificate, authorities, settings.verifyDepth);
    }
    return this.#failure;
  }
}

/** Results that `ssl_verify_client optional_no_ca` lets pass. nginx: ngx_ssl_verify_error_optional. */
export const OPTIONAL_FAILURES: ReadonlySet<number> = new Set([18, 19, 20, 21, 27]);

/** What is known of the TLS of a client's connection; undefined for a plain one. Nothing else is ever put there. */
export const peerOf = (connection: Client): TlsPeer | undefined => connection.tls as TlsPeer | undefined;
