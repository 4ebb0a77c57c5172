import { randomBytes } from 'node:crypto';
import type { Logger } from '../../shared/log/error-log.js';
import { WARN } from '../../shared/log/level.js';
import { setTimer } from '../../shared/time/timer.js';
import { Seals } from '../fleet/seals.js';
import type { SharedStore, StoreClient, StoreWatcher } from '../fleet/shared-store.js';
import { FLEET_KEY, FLEET_KEYS, type FleetKeyZone } from './fleet-key-zone.js';
import { JUST_ASK, NO_SET, TICKET_SCRIPT } from './ticket-script.js';

/** How often (milliseconds) it is looked whether there is something to do, and how often the store is asked at least. */
const LOOK_MS = 1000;
const ASK_MS = 2000;

/** A set of keys: when its first one came into use (milliseconds of this process), and for how long it stays in use. */
interface KeySet {
  readonly keys: Buffer;
  readonly since: number;
  readonly period: number;
}

/** `SINCE PERIOD SEALED`: milliseconds of the store's clock, milliseconds, and the keys. */
const SET = /^(\d{1,15}) (\d{1,12}) (\S+)$/;

/** The key in use becomes the one before, the next one comes into use, and there is another next one. */
const rotated = (keys: Buffer): Buffer =>
  Buffer.concat([keys.subarray(2 * FLEET_KEY), keys.subarray(0, FLEET_KEY), randomBytes(FLEET_KEY)]);

/**
 * Gives all machines of a fleet the same keys of tickets. One worker of a machine does it: it takes over what the store has, and changes
 * it when its time is over, by the store's clock. The next key is known to all for a whole period before it is used. Without the store the
 * machine keeps the keys for another period, and then goes on to the next, which the others have, too.
 */
export class FleetTickets implements StoreClient, StoreWatcher {
  readonly #store: SharedStore;
  readonly #zone: FleetKeyZone;
  readonly #log: Logger;
  readonly #seals: Seals;
  readonly #key: string;
  readonly #timer: NodeJS.Timeout;
  #period = 1000;
  #set: KeySet | undefined;
  /** The keys that the workers have. */
  #given: Buffer | undefined;
  #asking = false;
  #askAt = 0;
  #complained = '';

  constructor(store: SharedStore, zone: FleetKeyZone, log: Logger) {
    this.#store = store;
    this.#zone = zone;
    this.#log = log;
    this.#seals = new Seals(store.settings.keys, `ticket keys of ${store.settings.name}`);
    this.#key = `sluice:{${store.settings.name}}:tickets`;
    this.#given = zone.get();
    this.#timer = setTimer(() => {
      this.#look();
      this.#timer.refresh();
    }, LOOK_MS).unref();
    store.watch(this);
  }

  /** Sessions of a server are resumed for so many seconds. */
  add(timeout: number): void {
    this.#period = Math.max(this.#period, timeout * 1000);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#askAt = Number.POSITIVE_INFINITY;
  }

  storeBack(): void {
    this.#ask(JUST_ASK, '');
  }

  #look(): void {
    const now = performance.now();
    if (now >= this.#askAt && this.#store.up) {
      this.#ask(JUST_ASK, '');
      return;
    }
    // What comes into use without the store is the next key, as at all others.
    const keys = this.#set?.keys ?? this.#given;
    if (keys !== undefined && now >= (this.#set === undefined ? this.#period : this.#set.since + 2 * this.#set.period)) {
      this.#adopt({ keys: rotated(keys), since: now, period: this.#period });
    }
  }

  /** Asks for the set; with `becomes`, if it still is what it was, it is changed. */
  #ask(is: string, becomes: string): void {
    if (this.#asking || this.#askAt === Number.POSITIVE_INFINITY) {
      return;
    }
    this.#asking = true;
    this.#store.run(TICKET_SCRIPT, [this.#key], [is, becomes], this);
  }

  lost(): void {
    this.#asking = false;
  }

  understands(reply: unknown): boolean {
    return Array.isArray(reply) && typeof reply[0] === 'string' && /^\d{1,15}$/.test(String(reply[1]));
  }

  replied(reply: unknown): void {
    this.#asking = false;
    if (this.#askAt === Number.POSITIVE_INFINITY) {
      return;
    }
    const [is, clock] = reply as [string, string];
    const at = Number(clock);
    const now = performance.now();
    this.#askAt = now + ASK_MS;
    const found = this.#read(is, at, now);
    if (found === 'foreign') {
      this.#complain('are encrypted with a key that this machine does not have: each machine uses its own');
      return;
    }
    if (found === undefined) {
      // Nobody has any, or something came to harm: what this machine has is as good as any.
      const known = this.#set ?? { keys: this.#given ?? randomBytes(FLEET_KEYS * FLEET_KEY), since: now, period: this.#period };
      if (is !== '') {
        this.#complain('came to harm in the store, and are replaced');
      }
      this.#propose(is, known.keys, at - Math.min(this.#period, Math.floor(now - known.since)));
      return;
    }
    this.#complained = '';
    this.#adopt(found);
    const left = found.since + found.period - now;
    if (left <= 0) {
      this.#propose(is, rotated(found.keys), at);
    } else {
      this.#askAt = now + Math.min(ASK_MS, left);
    }
  }

  #propose(is: string, keys: Buffer, since: number): void {
    const head = `${Math.max(0, since)} ${this.#period}`;
    this.#ask(is, `${head} ${this.#seals.seal(head, keys)}`);
  }

  #read(text: string, clock: number, now: number): KeySet | 'foreign' | undefined {
    const [, since, period, sealed] = SET.exec(text) ?? [];
    if (text === NO_SET || sealed === undefined) {
      return undefined;
    }
    const keys = this.#seals.open(`${since} ${period}`, sealed);
    if (typeof keys === 'string') {
      return keys === 'foreign' ? keys : undefined;
    }
    // A clock that was set back must not keep keys for ever.
    const age = clock - Number(since);
    return keys.length === FLEET_KEYS * FLEET_KEY
      ? { keys, since: now - (age < 0 ? Number(period) : age), period: Number(period) }
      : undefined;
  }

  #adopt(set: KeySet): void {
    this.#set = set;
    if (this.#given === undefined || !this.#given.equals(set.keys)) {
      this.#given = this.#zone.put(set.keys) ? set.keys : undefined;
    }
  }

  #complain(what: string): void {
    if (this.#complained !== what) {
      this.#complained = what;
      this.#log.log(WARN, `shared store "${this.#store.settings.name}": the keys of TLS tickets ${what}`);
    }
  }
}
