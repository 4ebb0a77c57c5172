import { monotonicMs } from '../../../shared/zone/monotonic.js';

/** How many full buckets a zone's worker remembers; those it learned of first are forgotten first. */
const MAX_KNOWN = 16_384;
/** For so long (milliseconds) the store is not asked again: somebody may have emptied a bucket there. */
const MAX_AGE = 10_000;

/** What a bucket held at a moment. */
interface Level {
  held: number;
  at: number;
}

/**
 * Full buckets, as the store has told of them. Others only add to a bucket, and it leaks at a known rate: what it holds at least is known
 * without another question.
 */
export class KnownLevels {
  readonly #levels = new Map<string, Level>();

  /** What the bucket would hold with one more request if that is more than the limit allows; 0 if it may be less. */
  refuses(key: string, rate: number, burst: number): number {
    const level = this.#levels.get(key);
    if (level === undefined) {
      return 0;
    }
    const age = monotonicMs() - level.at;
    const excess = level.held - Math.floor((rate * age) / 1000) + 1000;
    if (excess > burst && age < MAX_AGE) {
      return excess;
    }
    this.#levels.delete(key);
    return 0;
  }

  /** The store has just said what a bucket holds. */
  learn(key: string, held: number, burst: number): void {
    if (held + 1000 <= burst) {
      return;
    }
    const level = this.#levels.get(key);
    if (level !== undefined) {
      level.held = held;
      level.at = monotonicMs();
      return;
    }
    if (this.#levels.size >= MAX_KNOWN) {
      this.#levels.delete(this.#levels.keys().next().value!);
    }
    this.#levels.set(key, { held, at: monotonicMs() });
  }
}
