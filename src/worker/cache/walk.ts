import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { fsPath } from '../../shared/lib/fs-path.js';
import type { CacheDef } from './cache-def.js';
import { decodeHeader, type EntryHeader, headerLength } from './file-format.js';
import { isEntryName } from './path.js';

const FIRST_READ = 4096;

/** The header of a cache file; undefined when it has none that is sound. */
export function readHeader(path: string): EntryHeader | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(fsPath(path), 'r');
    let bytes = Buffer.allocUnsafe(FIRST_READ);
    let have = readSync(fd, bytes, 0, FIRST_READ, 0);
    const length = headerLength(bytes.subarray(0, have));
    if (length > have) {
      bytes = Buffer.allocUnsafe(length);
      have = readSync(fd, bytes, 0, length, 0);
    }
    const decoded = decodeHeader(bytes.subarray(0, have));
    return typeof decoded === 'string' ? undefined : decoded.entry;
  } catch {
    // A file that went away, or that cannot be read, has nothing to say.
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Yields the path of each file in the folders of a cache. nginx: ngx_walk_tree. */
export function* cacheFiles(def: Pick<CacheDef, 'path' | 'levels'>): Generator<{ readonly path: string; readonly name: string }> {
  yield* filesBelow(def.path, def.levels.length);
}

function* filesBelow(folder: string, depth: number): Generator<{ readonly path: string; readonly name: string }> {
  let entries: { readonly name: string; isDirectory(): boolean }[];
  try {
    entries = readdirSync(fsPath(folder), { withFileTypes: true });
  } catch {
    return;
  }
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`;
    if (!entry.isDirectory()) yield { path, name: entry.name };
    else if (depth > 0) yield* filesBelow(path, depth - 1);
  }
}

/** Calls back for each sound entry on the disk. */
export function walkEntries(def: Pick<CacheDef, 'path' | 'levels'>, each: (hash: string, header: EntryHeader) => void): void {
  for (const { path, name } of cacheFiles(def)) {
    if (!isEntryName(name)) continue;
    const header = readHeader(path);
    if (header !== undefined) each(name, header);
  }
}
