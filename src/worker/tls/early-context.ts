import type { SecureContext } from 'node:tls';
import { allowEarlyData, whyNoEarlyData } from '../net/openssl/early-data.js';
import type { ClientHello } from './client-hello.js';
import { OneTicketKey, type TicketKeys } from './tickets.js';

/** The context of handshakes that begin with early data: that of a server once more, but such that no handshake calls JavaScript. */
export class EarlyContext {
  readonly #make: () => SecureContext;
  readonly #keys: TicketKeys;
  #context: SecureContext | undefined = undefined;
  #key: OneTicketKey | undefined = undefined;

  /** Has the usual context's tickets allow early data. */
  constructor(make: () => SecureContext, usual: SecureContext, keys: TicketKeys) {
    this.#make = make;
    this.#keys = keys;
    allowEarlyData(usual);
  }

  /** For a handshake that begins now, with this hello; undefined where there is no early data. */
  for({ ticketKey }: ClientHello): SecureContext | undefined {
    if (whyNoEarlyData() !== '') {
      return undefined;
    }
    if (this.#context === undefined) {
      this.#context = this.#make();
      allowEarlyData(this.#context);
      this.#key = new OneTicketKey(this.#context, this.#keys);
    }
    this.#key!.prepareFor(ticketKey);
    return this.#context;
  }
}
