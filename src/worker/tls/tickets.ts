import { hash } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import { nowSeconds } from '../../shared/time/unix-time.js';
import { randomPiece } from '../digest/random-bytes.js';
import { FLEET_KEY, FLEET_KEYS, type FleetKeyZone } from './fleet-key-zone.js';
import { CURRENT, NEXT, type SessionZone, type StoredKey } from './sessions.js';

/** The length of each part of a key, and of what starts a cipher. */
const PART = 16;

/** Keys that tickets are encrypted with, the first one for new tickets. */
export interface TicketKeys {
  /** All keys that open tickets, at least one; asked for each ticket. */
  current(): readonly TicketKey[];
}

/** A key by its parts, 16 bytes each. */
export class TicketKey {
  readonly name: Buffer;
  readonly aes: Buffer;
  readonly hmac: Buffer;

  /** `parts` are the three in 48 bytes. */
  constructor(parts: Buffer) {
    this.name = parts.subarray(0, PART);
    this.aes = parts.subarray(PART, 2 * PART);
    this.hmac = parts.subarray(2 * PART);
  }
}

/** Keys from files: the first encrypts, all decrypt. */
export class FileKeys implements TicketKeys {
  readonly #keys: readonly TicketKey[];

  constructor(contents: readonly Buffer[]) {
    this.#keys = contents.map((content) => new TicketKey(ticketKey(content)));
  }

  current(): readonly TicketKey[] {
    return this.#keys;
  }
}

/** Keys that the workers share and change by themselves. */
export class ZoneKeys implements TicketKeys {
  readonly #zone: SessionZone;
  readonly #timeout: number;
  readonly #stored: StoredKey[] = [];
  #keys: readonly TicketKey[] = [];

  /** `timeout` is that of sessions, in seconds. */
  constructor(zone: SessionZone, timeout: number) {
    this.#zone = zone;
    this.#timeout = timeout;
  }

  current(): readonly TicketKey[] {
    if (this.#zone.rotate(this.#stored, this.#timeout)) {
      this.#keys = this.#stored.slice(CURRENT, NEXT + 1).map(({ key }) => new TicketKey(key));
    }
    return this.#keys;
  }
}

/** Keys that all machines of a fleet share; those of this machine before it has any. */
export class FleetKeys implements TicketKeys {
  readonly #zone: FleetKeyZone;
  readonly #own: TicketKeys;
  #lookedAt = 0;
  #bytes: Buffer | undefined;
  #keys: readonly TicketKey[] = [];

  constructor(zone: FleetKeyZone, own: TicketKeys) {
    this.#zone = zone;
    this.#own = own;
  }

  current(): readonly TicketKey[] {
    const now = nowSeconds();
    // The next key is known long before it is used, so that a look each second is enough.
    if (this.#bytes === undefined || now !== this.#lookedAt) {
      this.#lookedAt = now;
      const bytes = this.#zone.get();
      if (bytes !== undefined && !(this.#bytes?.equals(bytes) ?? false)) {
        this.#bytes = bytes;
        this.#keys = Array.from({ length: FLEET_KEYS }, (_, i) => new TicketKey(bytes.subarray(i * FLEET_KEY, (i + 1) * FLEET_KEY)));
      }
    }
    return this.#bytes === undefined ? this.#own.current() : this.#keys;
  }
}

/** Node encrypts tickets with AES-128 only, so that the longer keys of a file of 80 bytes are folded. */
function ticketKey(content: Buffer): Buffer {
  if (content.length === 48) {
    return content;
  }
  const fold = (part: Buffer): Buffer => hash('sha256', part, 'buffer').subarray(0, 16);
  return Buffer.concat([content.subarray(0, 16), fold(content.subarray(48, 80)), fold(content.subarray(16, 48))]);
}

const NO_KEY = Buffer.alloc(PART);

const NOT_FOUND = 0;
const FOUND = 1;
/** The ticket is good and another one is sent: in TLS 1.3 each is used once. */
const RENEW = 2;

/** What OpenSSL asks for each ticket: its key by name, or the key to encrypt a new one with. */
type TicketKeyCallback = (name: Buffer, iv: Buffer, encrypt: boolean) => readonly (number | Buffer)[];

interface NativeContext {
  setTicketKeys(keys: Buffer): void;
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
      return [FOUND, key.hmac, key.aes, key.name, randomPiece(PART)];
    }
    for (let i = 0; i < all.length; i++) {
      const key = all[i]!;
      if (name.equals(key.name)) {
        return [RENEW, key.hmac, key.aes];
      }
    }
    // node:tls takes keys along with every answer; these are not used.
    return [NOT_FOUND, NO_KEY, NO_KEY];
  };
  native.enableTicketKeyCallback();
}

/**
 * The key of a context in whose handshakes no JavaScript may run: one at a time opens tickets and makes them, for which Node asks nobody.
 * The names and the parts of keys are those of {@link useTicketKeys}.
 */
export class OneTicketKey {
  readonly #context: NativeContext;
  readonly #keys: TicketKeys;
  #key: TicketKey | undefined = undefined;

  constructor({ context }: SecureContext, keys: TicketKeys) {
    this.#context = context as NativeContext;
    this.#keys = keys;
  }

  /**
   * Sets the key for a hello that OpenSSL takes before this call of JavaScript is over; it makes tickets later, with the key of new ones.
   * `ticketKey`: the name of the key of the hello's ticket, a character for a byte.
   */
  prepareFor(ticketKey: string): void {
    const all = this.#keys.current();
    const newest = all[0]!;
    const key = all.find(({ name }) => name.toString('latin1') === ticketKey) ?? newest;
    this.#set(key);
    if (key !== newest) {
      queueMicrotask(() => this.#set(newest));
    }
  }

  #set(key: TicketKey): void {
    if (key !== this.#key) {
      this.#key = key;
      const { name, hmac, aes } = key;
      this.#context.setTicketKeys(Buffer.concat([name, hmac, aes]));
    }
  }
}
