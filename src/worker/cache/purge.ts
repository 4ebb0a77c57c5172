import { preciseMs } from '../../shared/zone/monotonic.js';
import type { DiskCache } from './disk-cache.js';
import type { Purge } from './purge-text.js';
import { FILE, PurgeWork } from './purge-work.js';

/** What is done in one tick. */
const BUDGET = 50 * FILE;

/** What somebody asks to be purged. */
export type Wish = Omit<Purge, 'at'>;

/** Whether the helper process of the caches ends a purge that its maker did not live to end. */
const isSwept = ({ index: { def } }: DiskCache, { what }: Purge): boolean => def.sync || (def.purger !== undefined && what !== 'key');

/** Notes purges that begin now, inside a transaction: from then on nothing is kept as new that was asked for before. */
export function notePurges(disk: DiskCache, wishes: readonly Wish[]): readonly Purge[] {
  const { index } = disk;
  const at = Date.now();
  const moment = preciseMs();
  return wishes.map((wish) => {
    const purge = { ...wish, at };
    notePurge(disk, purge, moment);
    if (disk.tellsPurges) {
      index.tellFleet(purge);
    }
    return purge;
  });
}

/** Notes one that was made at a moment of the monotonic clock, perhaps by another machine. */
export function notePurge(disk: DiskCache, purge: Purge, moment: number): void {
  disk.index.marks.note(purge, moment);
  if (isSwept(disk, purge)) {
    disk.index.addSweep(purge);
  }
}

/** Notes that purges are made, inside a transaction. */
export function endPurges(disk: DiskCache, purges: readonly Purge[], entries: number): void {
  const { index } = disk;
  for (const [i, purge] of purges.entries()) {
    if (isSwept(disk, purge)) {
      index.endSweep(purge);
    }
    // Which of several purges has taken an entry nobody counts.
    if (i === 0) {
      index.marks.took(purge, entries);
    }
  }
}

/**
 * Makes purges, a few entries in each tick, and calls back with how many entries there were: from then on none of them is served, or none
 * without being stale.
 */
export function purge(disk: DiskCache, wishes: readonly Wish[], done: (entries: number) => void): void {
  let purges: readonly Purge[] = [];
  disk.submit(
    () => {
      purges = notePurges(disk, wishes);
    },
    () => {
      work(disk, new PurgeWork(disk, purges, false), (entries) => {
        disk.submit(() => endPurges(disk, purges, entries));
        done(entries);
      });
    },
  );
}

/** Makes purges that another machine has told of, and that are noted. Entries that are younger stay. */
export function purgeOlder(disk: DiskCache, purges: readonly Purge[]): void {
  work(disk, new PurgeWork(disk, purges, true), (entries) => disk.submit(() => endPurges(disk, purges, entries)));
}

function work(disk: DiskCache, purging: PurgeWork, done: (entries: number) => void): void {
  const step = (): void => {
    if (disk.closed) {
      return;
    }
    if (purging.step(BUDGET)) {
      done(purging.entries);
    } else {
      setImmediate(step);
    }
  };
  step();
}
