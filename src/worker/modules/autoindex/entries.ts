import { lstatSync, type Stats, statSync } from 'node:fs';
import { fsPath } from '../../../shared/files/fs-path.js';
import { CRIT } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import { EACCES, ELOOP, ENOENT } from '../../files/file-info.js';
import type { Request } from '../../http/request/request.js';

/** One line of a list. */
export interface ListEntry {
  readonly name: string;
  readonly kind: 'directory' | 'file' | 'other';
  /** Seconds since 1970. */
  readonly mtime: number;
  readonly size: number;
}

/**
 * Looks at everything in a folder that is not hidden: folders first, in the order of bytes. undefined when that failed, with a log
 * line.
 */
export function readEntries(r: Request, folder: string, names: readonly string[]): ListEntry[] | undefined {
  const entries: ListEntry[] = [];
  for (const name of names) {
    if (name.startsWith('.')) {
      continue;
    }
    const stat = statOf(r, `${folder}/${name}`);
    if (stat === null) {
      continue;
    }
    if (stat === undefined) {
      return undefined;
    }
    entries.push({
      name,
      kind: stat.isDirectory() ? 'directory' : stat.isFile() ? 'file' : 'other',
      mtime: Math.floor(stat.mtimeMs / 1000),
      size: stat.size,
    });
  }
  return entries.sort(compare);
}

/** What a name leads to, or of a broken link the link itself; null to leave it out; undefined to give up. */
function statOf(r: Request, path: string): Stats | null | undefined {
  const file = fsPath(path);
  let call = 'stat()';
  try {
    try {
      return statSync(file);
    } catch (error) {
      const errno = -((error as NodeJS.ErrnoException).errno ?? 0);
      if (errno !== ENOENT && errno !== ELOOP) {
        throw error;
      }
      call = 'lstat()';
      return lstatSync(file);
    }
  } catch (error) {
    r.log(CRIT, `${call} "${path}" failed (${errnoText(error)})`);
    return call === 'stat()' && (error as NodeJS.ErrnoException).errno === -EACCES ? null : undefined;
  }
}

function compare(a: ListEntry, b: ListEntry): number {
  if ((a.kind === 'directory') !== (b.kind === 'directory')) {
    return a.kind === 'directory' ? -1 : 1;
  }
  return a.name < b.name ? -1 : 1;
}
