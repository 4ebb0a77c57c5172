import type { SecureContext } from 'node:tls';
import { contextAddress } from '../net/openssl/context-address.js';
import { prepareQuicContext } from '../net/openssl/quic-handshake.js';
import { type TicketKey, type TicketKeys, useCurrentKey } from './tickets.js';

/**
 * The context of a server's handshakes over QUIC: its usual one once more. That has callbacks of Node's, which take a connection of QUIC
 * for one of Node's own.
 */
export class QuicContext {
  readonly #context: SecureContext;
  readonly #keys: TicketKeys | undefined;
  readonly #address: number;
  #key: TicketKey | undefined = undefined;

  /** `early`: tickets allow early data; `sessions`: they name sessions that are kept. */
  constructor(context: SecureContext, keys: TicketKeys | undefined, early: boolean, sessions: boolean) {
    this.#context = context;
    this.#keys = keys;
    this.#address = contextAddress(context.context);
    prepareQuicContext(this.#address, early, sessions);
  }

  /** Where OpenSSL has it, for a handshake that begins now; with the key of new tickets, the only one that opens tickets here. */
  current(): number {
    const key = this.#keys?.current()[0];
    if (key !== undefined && key !== this.#key) {
      this.#key = key;
      useCurrentKey(this.#context, key);
    }
    return this.#address;
  }
}
