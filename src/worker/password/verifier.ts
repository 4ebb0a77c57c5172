import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Lru } from '../../shared/collection/lru.js';
import { type Hash, HashQueue } from './hash-queue.js';
import { isSlow, quickCrypt } from './quick-crypt.js';

/** The outcome of a check; 'failed' when hashing broke off, which is no statement about the password. */
export type PasswordVerdict = 'match' | 'mismatch' | 'failed';

/** A check whose verdict comes later. */
export interface PendingCheck {
  /** Whoever asked is gone: the callback is not called, and the password is not hashed unless that has begun. */
  abandon(): void;
}

/** A hash that some wait for. */
interface OpenCheck {
  readonly callbacks: Set<(verdict: PasswordVerdict) => void>;
  /** Takes the password off the queue; false if its hash has begun. */
  readonly cancel: () => boolean;
}

/** How long, in milliseconds, and how many right pairs of password and stored hash are remembered. */
const memoTime = 60_000;
const memoSize = 1000;

/**
 * Checks passwords against stored hashes. Quick schemes are answered at once. Slow ones are hashed elsewhere, and a right
 * pair is remembered for a minute, since a browser sends its credentials with every request; the memo holds keyed
 * digests, never passwords, and dies with the process. Checks of the same pair that come in meanwhile share one hash.
 */
export class PasswordVerifier {
  readonly #queue: HashQueue;
  readonly #now: () => number;
  readonly #key = randomBytes(32);
  /** When each remembered pair is forgotten. */
  readonly #memo = new Lru<number>(memoSize);
  /** By pairs. */
  readonly #open = new Map<string, OpenCheck>();

  /** `now` is a clock in milliseconds that never goes back. */
  constructor(hash: Hash, now: () => number = () => performance.now()) {
    this.#queue = new HashQueue(hash);
    this.#now = now;
  }

  /** Returns the verdict, or the check for which `callback` will get it later. Password and hash are latin1. */
  verify(password: string, stored: string, callback: (verdict: PasswordVerdict) => void): PasswordVerdict | PendingCheck {
    if (!isSlow(stored)) {
      return equal(quickCrypt(password, stored), stored) ? 'match' : 'mismatch';
    }
    const pair = createHmac('sha256', this.#key).update(`${stored}\0${password}`, 'latin1').digest('base64');
    const until = this.#memo.get(pair);
    if (until !== undefined && until > this.#now()) {
      return 'match';
    }
    let check = this.#open.get(pair);
    if (check === undefined) {
      check = { callbacks: new Set(), cancel: this.#queue.add(password, stored, (hash) => this.#ended(pair, stored, hash)) };
      this.#open.set(pair, check);
    }
    const { callbacks, cancel } = check;
    callbacks.add(callback);
    return {
      abandon: () => {
        callbacks.delete(callback);
        if (callbacks.size === 0 && cancel()) {
          this.#open.delete(pair);
        }
      },
    };
  }

  #ended(pair: string, stored: string, hash: string | undefined): void {
    const { callbacks } = this.#open.get(pair)!;
    this.#open.delete(pair);
    const verdict = hash === undefined ? 'failed' : equal(hash, stored) ? 'match' : 'mismatch';
    if (verdict === 'match') {
      this.#memo.set(pair, this.#now() + memoTime);
    }
    for (const each of callbacks) {
      each(verdict);
    }
  }
}

function equal(hash: string, stored: string): boolean {
  const a = Buffer.from(hash, 'latin1');
  const b = Buffer.from(stored, 'latin1');
  return a.length === b.length && timingSafeEqual(a, b);
}
