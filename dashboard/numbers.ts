// Numbers as people read them.

const plain = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** A count: all its digits up to a hundred thousand, then in thousands and millions. */
export const count = (n: number): string => (n < 100_000 ? plain.format(n) : short.format(n));

/** A rate a second. */
export const rate = (n: number): string => (n === 0 ? '0' : n < 10 ? n.toFixed(1) : count(n));

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** Bytes, in units of a thousand. */
export function bytes(n: number): string {
  let unit = 0;
  while (n >= 1000 && unit < UNITS.length - 1) {
    n /= 1000;
    unit++;
  }
  return `${unit === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${UNITS[unit]}`;
}

/** Milliseconds, or seconds from one on. */
export function time(ms: number): string {
  if (ms === 0) {
    return '–';
  }
  return ms >= 1000 ? `${(ms / 1000).toFixed(ms >= 10_000 ? 0 : 1)} s` : `${ms >= 10 ? Math.round(ms) : ms.toFixed(1)} ms`;
}

/** A share as per cent. */
export const percent = (share: number): string => `${(share * 100).toFixed(share === 0 || share === 1 || share >= 0.1 ? 0 : 1)} %`;

/** How long ago, or how long: `3 d 4 h`. */
export function span(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) {
    return `${Math.max(0, Math.floor(ms / 1000))} s`;
  }
  const hours = Math.floor(minutes / 60);
  if (hours < 1) {
    return `${minutes} min`;
  }
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const BUCKETS = 38;
const bound = (i: number): number => 0.25 * 2 ** (i / 2);

/** A quantile of times in milliseconds by the server's buckets, whose bounds grow by the square root of two. */
export function quantile(counts: readonly number[], q: number): number {
  const total = counts.reduce((sum, n) => sum + n, 0);
  let rest = q * total;
  for (let i = 0; i < BUCKETS - 1 && total > 0; i++) {
    const n = counts[i] ?? 0;
    if (n > 0 && rest <= n) {
      const low = i === 0 ? 0 : bound(i - 1);
      return low + ((bound(i) - low) * rest) / n;
    }
    rest -= n;
  }
  return total > 0 ? bound(BUCKETS - 2) : 0;
}
