import type { Sql } from './kind.js';

const pause = new Int32Array(new SharedArrayBuffer(4));

/** How often a change that an operator asked for is tried. */
export const CHANGE_TRIES = 100;

/** How often, a millisecond apart, a process that counts for itself tries to share the zone's file again before it changes anything. */
const REGAIN_TRIES = 20;

/**
 * Runs a transaction now, and where another process holds the zone tries it again after each millisecond, `tries` times at the most;
 * the pause lets a holder go on that lost its processor. Returns false when the zone was held all the time: nothing was done.
 */
export function nowPatiently(sql: Sql, work: () => void, tries: number): boolean {
  for (let left = tries; left > 0; left--) {
    if (sql.now(work)) {
      return true;
    }
    Atomics.wait(pause, 0, 0, 1);
  }
  return false;
}

/**
 * As {@link nowPatiently}, in the newest file of the zone. For what an operator changes or reads: a process that has not yet looked may
 * still have a file that the others have left, and one that found the newest file busy counts for itself for a while; a change there
 * would be lost. Where the file cannot be used at all, the change is made there nevertheless.
 */
export function nowInNewest(sql: Sql, work: () => void, tries: number = CHANGE_TRIES): boolean {
  for (let left = Math.min(tries, REGAIN_TRIES); left > 0 && !sql.regain(); left--) {
    Atomics.wait(pause, 0, 0, 1);
  }
  return nowPatiently(sql, work, tries);
}
