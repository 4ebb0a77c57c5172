import { createHash, randomBytes } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import { CURRENT, NEXT, type SessionZone, type StoredKey } from './sessions.js';

/** Keys that tickets are encrypted with, the first one for new tickets. */
export interface TicketKeys {
  /** All keys that open tickets, name, AES key and HMAC key in 48 bytes; asked for each ticket. */
  current(): readonly Buffer[];
}

/** Keys from files: the first encrypts, all decrypt. */
export class FileKeys implements TicketKeys {
  readonly #keys: readonly Buffer[];

  constructor(contents: readonly Buffer[]) {
    this.#keys = contents.map(ticketKey);
  }

  current(): readonly Buffer[] {
    return this.#keys;
  }
}

/** Keys that the workers share and change by themselves. */
export class ZoneKeys implements TicketKeys {
  readonly #zone: SessionZone;
  readonly #timeout: number;
  readonly #stored: StoredKey[] = [];

  /** `timeout` is that of sessions, in seconds. */
  constructor(zone: SessionZone, timeout: number) {
    this.#zone = zone;
    this.#timeout = timeout;
  }

  current(): readonly Buffer[] {
    this.#zone.rotate(this.#stored, this.#timeout);
    return this.#stored.slice(CURRENT, NEXT + 1).map(({ key }) => key);
  }
}

/** Node encrypts tickets with AES-128 only, so that the longer keys of a file of 80 bytes are folded. */
function ticketKey(content: Buffer): Buffer {
  if (content.length === 48) return content;
  const fold = (part: Buffer): Buffer => createHash('sha256').update(part).digest().subarray(0, 16);
  return Buffer.concat([content.subarray(0, 16), fold(content.subarray(48, 80)), fold(content.subarray(16, 48))]);
}

const NO_KEY = Buffer.alloc(16);

const NOT_FOUND = 0;
const FOUND = 1;
/** The ticket is good and another one is sent: in TLS 1.3 each is used once. */
const RENEW = 2;

/** What OpenSSL asks for each ticket: its key by name, or the key to encrypt a new one with. */
type TicketKeyCallback = (name: Buffer, iv: Buffer, encrypt: boolean) => readonly (number | Buffer)[];

interface NativeContext {
  enableTicketKeyCallback(): void;
  onticketkeycallback: TicketKeyCallback;
}

/** Makes a context use these keys. nginx: ngx_ssl_ticket_key_callback. */
export function useTicketKeys(context: SecureContext, keys: TicketKeys): void {
  const native = context.context as NativeContext;
  native.onticketkeycallback = (name, _iv, encrypt) => {
    const all = keys.current();
    if (encrypt) {
      const key = all[0]!;
      return [FOUND, key.subarray(32, 48), key.subarray(16, 32), key.subarray(0, 16), randomBytes(16)];
    }
    for (let i = 0; i < all.length; i++) {
      const key = all[i]!;
      if (name.compare(key, 0, 16) === 0) return [RENEW, key.subarray(32, 48), key.subarray(16, 32)];
    }
    // node:tls takes keys along with every answer; these are not used.
    return [NOT_FOUND, NO_KEY, NO_KEY];
  };
  native.enableTicketKeyCallback();
}
