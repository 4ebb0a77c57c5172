/** No more are remembered of a span of time; then no token is taken until the next one. */
const MOST = 16 * 1024;

/** The tokens that have been used, so that each is good once (RFC 9000, 8.1.4): as long as they are valid, and not without a bound. */
export class SpentTokens {
  readonly #lifetime: number;
  readonly #most: number;
  #spent = new Set<string>();
  /** The tokens of the span before. */
  #before = new Set<string>();
  #since = 0;

  /** `lifetime`: how long a token is valid, in milliseconds. */
  constructor(lifetime: number, most = MOST) {
    this.#lifetime = lifetime;
    this.#most = most;
  }

  /** Whether a token may still be used. */
  isFresh(name: string, now: number): boolean {
    if (now - this.#since >= this.#lifetime || now < this.#since) {
      this.#before = now - this.#since < 2 * this.#lifetime ? this.#spent : new Set();
      this.#spent = new Set();
      this.#since = now;
    }
    return this.#spent.size < this.#most && !this.#spent.has(name) && !this.#before.has(name);
  }

  /** A token was used. */
  spend(name: string): void {
    if (this.#spent.size < this.#most) {
      this.#spent.add(name);
    }
  }
}
