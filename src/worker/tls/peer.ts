import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { ClientHello } from './client-hello.js';
import type { StatusVerdict } from './client-status.js';
import type { ServerTls } from './server-tls.js';
import { type VerifyFailure, verifyFailure } from './verify.js';

/** What is known of a TLS connection beyond its socket. */
export class TlsPeer {
  /** What the client said first; undefined when that could not be read. */
  readonly hello: ClientHello | undefined;
  /** Whose certificates the handshake ran with. */
  readonly server: ServerTls;
  readonly #socket: TLSSocket;
  #certificate: X509Certificate | null | undefined;
  #failure: VerifyFailure | null | undefined;
  /** What responders say against the client's certificates; null when nothing. */
  status: StatusVerdict = null;

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
    if (this.#failure === undefined) {
      const { settings, authorities } = this.server;
      this.#failure = this.certificate === null ? null : verifyFailure(this.#socket, this.certificate, authorities, settings.verifyDepth);
    }
    return this.#failure;
  }
}

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
