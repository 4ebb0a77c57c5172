import type { QuicHandshake } from '../openssl/quic-handshake.js';
import type { QuicTls } from './contract.js';

/** What was agreed, and whether it is final. */
export class AgreedTls implements QuicTls {
  readonly #handshake: QuicHandshake;
  readonly #connection: { readonly confirmed: boolean };

  constructor(handshake: QuicHandshake, connection: { readonly confirmed: boolean }) {
    this.#handshake = handshake;
    this.#connection = connection;
  }

  get early(): boolean {
    return !this.#connection.confirmed;
  }

  getProtocol(): string | null {
    return this.#handshake.getProtocol();
  }

  getCipher(): { readonly name: string } | undefined {
    return this.#handshake.getCipher();
  }

  sessionId(): Buffer | undefined {
    return this.#handshake.sessionId();
  }

  isSessionReused(): boolean {
    return this.#handshake.isSessionReused();
  }

  getALPNNegotiatedProtocol(): string | false {
    return this.#handshake.getALPNNegotiatedProtocol();
  }

  getServername(): string | false {
    return this.#handshake.getServername();
  }

  verifyError(): ReturnType<QuicTls['verifyError']> {
    return this.#handshake.verifyError();
  }

  certificate(): ReturnType<NonNullable<QuicTls['certificate']>> {
    return this.#handshake.certificate();
  }
}
