import { closeSync, constants, fstatSync, futimesSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import { type EntryHeader, STALE_AT, staleBytes } from './file-format.js';
import type { Purge } from './purge-text.js';
import { hasTag } from './tags.js';
import { readOpenHeader } from './walk.js';

/** What a purge found at a path: nothing or an entry that it does not mean, one that is off now, or one that is stale now. */
export type PurgedFile = 'none' | 'gone' | 'stale';

// A pipe of that name must not hold the process up, and a link is no entry.
const LOOKED_AT = constants.O_NONBLOCK | constants.O_NOFOLLOW;
const CHANGED = constants.O_RDWR | LOOKED_AT;

/** The second since which an entry is stale that was purged softly at a time (milliseconds). */
const staleSince = (at: number): number => Math.floor(at / 1000) - 1;

/** Whether a purge means an entry. */
export function meansEntry({ what, text }: Pick<Purge, 'what' | 'text'>, { key, tags }: EntryHeader): boolean {
  switch (what) {
    case 'key':
      return key === text;
    case 'prefix':
      return key.startsWith(text);
    case 'tag':
      return hasTag(tags, text);
  }
}

/**
 * Makes purges at the file of an entry, as far as they mean it; `older`: and as far as it is not younger than they are. Errors of the file
 * system are thrown.
 */
export function purgeFile(path: string, purges: readonly Purge[], older: boolean, keeps: boolean): PurgedFile {
  const native = fsPath(path);
  let fd: number;
  try {
    if (purges.some(({ soft }) => soft) && !keeps) {
      fd = openSync(native, CHANGED);
    } else {
      fd = openSync(native, constants.O_RDONLY | LOOKED_AT);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ELOOP') {
      return 'none';
    }
    throw error;
  }
  try {
    const found = readOpenHeader(fd);
    if (typeof found !== 'object') {
      return 'none';
    }
    const { entry, bytes } = found;
    const { atime, mtime, mtimeMs } = fstatSync(fd);
    const meant = purges.filter((purge) => meansEntry(purge, entry) && (!older || mtimeMs <= purge.at));
    if (meant.length === 0) {
      return 'none';
    }
    if (!meant.every((purge) => purge.soft)) {
      if (!keeps) {
        unlinkSync(native);
      }
      return 'gone';
    }
    const since = staleSince(Math.min(...meant.map(({ at }) => at)));
    if (entry.validUntil > since && !keeps) {
      const changed = staleBytes(bytes, since);
      writeSync(fd, changed, 0, changed.length, STALE_AT);
      // Its age is that of what is in it.
      futimesSync(fd, atime, mtime);
    }
    return 'stale';
  } finally {
    closeSync(fd);
  }
}
