import { latin1 } from '../../bytes/latin1.js';
import type { ServerConnection } from './connection.js';
import type { AddressTokens } from './tokens.js';

const TOKEN = 16;
/** The shortest datagram that says that a client has lost its connection (RFC 9000, 10.3). */
export const LEAST_RESET = 21;

/** Clients that have lost their connections say so by tokens, which they have told before, in datagrams that nobody understands. */
export class ClientResets {
  readonly #tokens: AddressTokens;
  readonly #connections = new Map<string, ServerConnection>();

  constructor(tokens: AddressTokens) {
    this.#tokens = tokens;
  }

  /** A connection's client would say so by this token from now on; undefined where it has told none. */
  watch(connection: ServerConnection, token: Buffer | undefined): void {
    if (connection.resetName !== '') {
      this.#connections.delete(connection.resetName);
    }
    connection.resetName = token === undefined ? '' : this.#name(token);
    if (token !== undefined) {
      this.#connections.set(connection.resetName, connection);
    }
  }

  /** Whose token a datagram `start..end` ends with. */
  find(bytes: Buffer, start: number, end: number): ServerConnection | undefined {
    return this.#connections.size === 0 || end - start < LEAST_RESET
      ? undefined
      : this.#connections.get(this.#name(bytes.subarray(end - TOKEN, end)));
  }

  /** How long a token is looked for must tell nothing of it (RFC 9000, 10.3.1): a secret makes of it what is looked for. */
  #name(token: Buffer): string {
    return latin1(this.#tokens.reset(token), 0, TOKEN);
  }
}
