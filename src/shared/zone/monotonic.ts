import { performance } from 'node:perf_hooks';

const offset = preciseMs() - performance.now();

/**
 * Whole milliseconds of the machine's monotonic clock. All processes of one machine read the same value, and setting the
 * wall clock does not move it. nginx: ngx_current_msec.
 */
export function monotonicMs(): number {
  return Math.floor(performance.now() + offset);
}

/** Milliseconds of that clock with all their digits, so that of two moments in two processes one is the later. */
export function preciseMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
