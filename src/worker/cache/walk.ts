import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, unlinkSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import type { CacheDef } from './cache-def.js';
import { type DecodedHeader, decodeHeader, type EntryHeader, fileLength, headerLength, isOurs } from './file-format.js';

const FIRST_READ = 4096;

/**
 * What a file of a cache's folder is: the header of a sound entry; `damaged`, an entry of ours that is none any more or is of
 * another form; `foreign`, a file that no cache of ours has written. undefined when it cannot be read.
 */
export function lookAt(path: string): ReadHeader | 'damaged' | 'foreign' | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(fsPath(path), constants.O_RDONLY | constants.O_NONBLOCK);
    return readOpenHeader(fd);
  } catch {
    // A file that went away, or that cannot be read, has nothing to say.
    return undefined;
  } finally {
    if (fd !== undefined) {
      closeSync(fd);
    }
  }
}

/** A header with the bytes that it has in its file. */
export type ReadHeader = DecodedHeader & { readonly bytes: Buffer };

/** Reads the header of an open file; errors of the file system are thrown. */
export function readOpenHeader(fd: number): ReadHeader | 'damaged' | 'foreign' {
  const found = readOnce(fd);
  // Somebody may just have been writing new times into it.
  return found === 'damaged' ? readOnce(fd) : found;
}

function readOnce(fd: number): ReadHeader | 'damaged' | 'foreign' {
  let bytes = Buffer.allocUnsafe(FIRST_READ);
  let have = readSync(fd, bytes, 0, FIRST_READ, 0);
  const length = headerLength(bytes.subarray(0, have));
  if (length > have) {
    bytes = Buffer.allocUnsafe(length);
    have = readSync(fd, bytes, 0, length, 0);
  }
  const start = bytes.subarray(0, have);
  const decoded = decodeHeader(start);
  if (typeof decoded === 'string') {
    return isOurs(start) ? 'damaged' : 'foreign';
  }
  return fileLength(decoded) === fstatSync(fd).size ? { ...decoded, bytes: bytes.subarray(0, length) } : 'damaged';
}

/** The header of a cache file; undefined when it has none that is sound. */
export function readEntryHeader(path: string): EntryHeader | undefined {
  const found = lookAt(path);
  return typeof found === 'object' ? found.entry : undefined;
}

/** Deletes a file of a cache if one of our caches wrote it. Returns whether it did; errors of the file system are thrown. */
export function unlinkOurs(path: string): boolean {
  const native = fsPath(path);
  const fd = openSync(native, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const have = readSync(fd, magic, 0, magic.length, 0);
    if (!isOurs(magic.subarray(0, have))) {
      return false;
    }
  } finally {
    closeSync(fd);
  }
  unlinkSync(native);
  return true;
}

const magic = Buffer.alloc(8);

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
    if (!entry.isDirectory()) {
      yield { path, name: entry.name };
    } else if (depth > 0) {
      yield* filesBelow(path, depth - 1);
    }
  }
}
