/** Numbers that are the same ones in each run with the same seeds (mulberry32). */
export class Random {
  #state = 0x9e3779b9;

  constructor(...seeds: readonly number[]) {
    for (const seed of seeds) {
      this.#state = Math.imul(this.#state ^ (seed + 0x7f4a7c15), 0x85ebca6b) >>> 0;
      this.below(2);
    }
  }

  /** A whole number from 0 to n - 1. */
  below(n: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * n);
  }

  /** True once in so many calls. */
  once(of: number): boolean {
    return this.below(of) === 0;
  }

  oneOf<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** At most `most` different elements, in the order of the list. */
  some<T>(list: readonly T[], most: number): T[] {
    const wanted = this.below(most + 1);
    const chosen = new Set<number>();
    for (let i = 0; i < wanted; i++) {
      chosen.add(this.below(list.length));
    }
    return list.filter((_, i) => chosen.has(i));
  }
}
