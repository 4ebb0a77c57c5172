import type { SecureContext } from 'node:tls';
import { contextAddress } from '../net/openssl/context-address.js';
import { prepareQuicContext } from '../net/openssl/quic-handshake.js';
import type { ClientHello } from './client-hello.js';
import { OneTicketKey, type TicketKeys } from './tickets.js';

/**
 * The context of a server's handshakes over QUIC: its usual one once more. That has callbacks of Node's, which take a connection of QUIC
 * for one of Node's own.
 */
export class QuicContext {
  readonly #key: OneTicketKey | undefined;
  readonly #address: number;

  /** `early`: tickets allow early data; `sessions`: they name sessions that are kept. */
  constructor(context: SecureContext, keys: TicketKeys | undefined, early: boolean, sessions: boolean) {
    this.#key = keys && new OneTicketKey(context, keys);
    this.#address = contextAddress(context.context);
    prepareQuicContext(this.#address, early, sessions);
  }

  /** Where OpenSSL has it, for a handshake that begins now, with this hello. */
  for({ ticketKey }: ClientHello): number {
    this.#key?.prepareFor(ticketKey);
    return this.#address;
  }
}
