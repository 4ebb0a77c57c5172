import { performance } from 'node:perf_hooks';

const [seconds, nanoseconds] = process.hrtime();
const offset = seconds * 1000 + nanoseconds / 1e6 - performance.now();

/**
 * Whole milliseconds of the machine's monotonic clock. All processes of one machine read the same value, and setting the
 * wall clock does not move it. nginx: ngx_current_msec.
 */
export function monotonicMs(): number {
  return Math.floor(performance.now() + offset);
}
