import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Lru } from '../../shared/collection/lru.js';
import { isSlow, quickCrypt } from './quick-crypt.js';

/** The outcome of a check; 'failed' when hashing broke off, which is no statement about the password. */
export type PasswordVerdict = 'match' | 'mismatch' | 'failed';

/** Hashes off the event loop; see HashPool. */
export interface Hasher {
  hash(password: string, stored: string, callback: (hash: string | undefined) => void): void;
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
  readonly #hasher: Hasher;
  readonly #now: () => number;
  readonly #key = randomBytes(32);
  /** When each remembered pair is forgotten. */
  readonly #memo = new Lru<number>(memoSize);
  readonly #open = new Map<string, ((verdict: PasswordVerdict) => void)[]>();

  /** `now` is a clock in milliseconds that never goes back. */
  constructor(hasher: Hasher, now: () => number = () => performance.now()) {
    this.#hasher = hasher;
    this.#now = now;
  }

  /** Returns the verdict, or undefined when `callback` will get it later. Password and hash are latin1. */
  verify(password: string, stored: string, callback: (verdict: PasswordVerdict) => void): PasswordVerdict | undefined {
    if (!isSlow(stored)) {
      return equal(quickCrypt(password, stored), stored) ? 'match' : 'mismatch';
    }
    const pair = createHmac('sha256', this.#key).update(`${stored}\0${password}`, 'latin1').digest('base64');
    const until = this.#memo.get(pair);
    if (until !== undefined && until > this.#now()) {
      return 'match';
    }
    const waiting = this.#open.get(pair);
    if (waiting !== undefined) {
      waiting.push(callback);
      return undefined;
    }
    const callbacks = [callback];
    this.#open.set(pair, callbacks);
    this.#hasher.hash(password, stored, (hash) => {
      this.#open.delete(pair);
      const verdict = hash === undefined ? 'failed' : equal(hash, stored) ? 'match' : 'mismatch';
      if (verdict === 'match') {
        this.#memo.set(pair, this.#now() + memoTime);
      }
      for (const each of callbacks) {
        each(verdict);
      }
    });
    return undefined;
  }
}

function equal(hash: string, stored: string): boolean {
  const a = Buffer.from(hash, 'latin1');
  const b = Buffer.from(stored, 'latin1');
  return a.length === b.length && timingSafeEqual(a, b);
}
