import type { Sql } from './kind.js';

const pause = new Int32Array(new SharedArrayBuffer(4));

/** How often a change that an operator asked for is tried. */
export const CHANGE_TRIES = 100;

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
 * Runs a change that an operator asked for, as {@link nowPatiently}, in the file that the others have: a change in one that they have left,
 * since it came to harm, would be lost.
 */
export function changeNow(sql: Sql, work: () => void): boolean {
  sql.look();
  return nowPatiently(sql, work, CHANGE_TRIES);
}
