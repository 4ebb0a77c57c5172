/**
 * Times are counted in buckets whose bounds grow by the square root of two, from a quarter of a millisecond to about a minute: a quantile
 * read from them is at most a fifth off.
 */

/** How many buckets there are; the last one holds what is longer than all bounds. */
export const BUCKETS = 38;

/** Upper bounds in milliseconds, each inclusive, of all buckets but the last. */
export const BOUNDS: readonly number[] = Array.from({ length: BUCKETS - 1 }, (_, i) => 0.25 * 2 ** (i / 2));

/** The bucket of a time in milliseconds. */
export function bucketOf(ms: number): number {
  if (!(ms > 0.25)) {
    return 0;
  }
  const bucket = Math.ceil(Math.log2(ms * 4) * 2);
  return bucket < BUCKETS - 1 ? bucket : BUCKETS - 1;
}

/** The time in milliseconds that the share `q` of all counted times does not exceed; 0 when none was counted. */
export function quantile(counts: ArrayLike<number>, q: number): number {
  let total = 0;
  for (let i = 0; i < BUCKETS; i++) {
    total += counts[i] ?? 0;
  }
  if (total <= 0) {
    return 0;
  }
  let rest = q * total;
  for (let i = 0; i < BUCKETS - 1; i++) {
    const count = counts[i] ?? 0;
    if (count > 0 && rest <= count) {
      const low = i === 0 ? 0 : BOUNDS[i - 1]!;
      return low + ((BOUNDS[i]! - low) * rest) / count;
    }
    rest -= count;
  }
  return BOUNDS[BUCKETS - 2]!;
}
