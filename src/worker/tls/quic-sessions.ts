import type { QuicSessions } from '../net/openssl/quic-handshake.js';
import type { TlsSessionStore } from './sessions.js';

/** What is told apart by it from sessions over TCP, which nobody is to resume over QUIC. */
const PREFIX = Buffer.from('quic');

/** The sessions of a server's clients over QUIC, in the cache that those over TCP have. */
export class StoredQuicSessions implements QuicSessions {
  readonly #store: TlsSessionStore;
  /** In seconds. */
  readonly #timeout: number;

  constructor(store: TlsSessionStore, timeout: number) {
    this.#store = store;
    this.#timeout = timeout;
  }

  get(id: Buffer): Buffer | undefined {
    return this.#store.get(Buffer.concat([PREFIX, id]));
  }

  // A client that comes before others can find the session has a full handshake.
  put(id: Buffer, session: Buffer): void {
    this.#store.put(Buffer.concat([PREFIX, id]), session, this.#timeout, () => {});
  }
}
