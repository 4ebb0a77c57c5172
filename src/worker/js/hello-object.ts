import type { ClientHello } from '../tls/client-hello.js';
import type { Ends } from '../tls/tls-address.js';

/** A client's hello as functions see it. */
export class HelloObject {
  readonly #hello: ClientHello;
  readonly #ends: Ends;

  constructor(hello: ClientHello, ends: Ends) {
    this.#hello = hello;
    this.#ends = ends;
  }

  /** Undefined where the client names no server. */
  get serverName(): string | undefined {
    return this.#hello.serverName;
  }

  /** Names of ALPN, as the client has them. */
  get protocols(): readonly string[] {
    return this.#hello.protocols;
  }

  get ciphers(): readonly number[] {
    return this.#hello.ciphers;
  }

  get groups(): readonly number[] {
    return this.#hello.groups;
  }

  get signatureAlgorithms(): readonly number[] {
    return this.#hello.signatureAlgorithms;
  }

  /** The client speaks TLS 1.3. */
  get tls13(): boolean {
    return this.#hello.tls13;
  }

  get remoteAddress(): string {
    return this.#ends.remote().address ?? 'unix:';
  }

  get remotePort(): number {
    return this.#ends.remote().port ?? 0;
  }

  get localAddress(): string {
    return this.#ends.local().address ?? '';
  }

  get localPort(): number {
    return this.#ends.local().port ?? 0;
  }
}
