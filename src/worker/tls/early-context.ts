import type { SecureContext } from 'node:tls';
import { allowEarlyData, whyNoEarlyData } from '../net/openssl/early-data.js';
import { type TicketKey, type TicketKeys, useCurrentKey } from './tickets.js';

/** The context of handshakes that begin with early data: that of a server once more, but such that no handshake calls JavaScript. */
export class EarlyContext {
  readonly #make: () => SecureContext;
  readonly #keys: TicketKeys;
  #context: SecureContext | undefined = undefined;
  #key: TicketKey | undefined = undefined;

  /** Has the usual context's tickets allow early data. */
  constructor(make: () => SecureContext, usual: SecureContext, keys: TicketKeys) {
    this.#make = make;
    this.#keys = keys;
    allowEarlyData(usual);
  }

  /** With the key of new tickets, the only one that opens tickets here; undefined where there is no early data. */
  current(): SecureContext | undefined {
    if (whyNoEarlyData() !== '') {
      return undefined;
    }
    if (this.#context === undefined) {
      this.#context = this.#make();
      allowEarlyData(this.#context);
    }
    const key = this.#keys.current()[0]!;
    if (key !== this.#key) {
      this.#key = key;
      useCurrentKey(this.#context, key);
    }
    return this.#context;
  }
}
