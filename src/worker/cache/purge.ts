import { nowSeconds } from '../../shared/time/unix-time.js';
import type { DiskCache } from './disk-cache.js';
import { isEntryName } from './path.js';
import { cacheFiles, readHeader } from './walk.js';

/** How many files, or rows of the index, are looked at in one tick. */
const FILES = 50;
const ROWS = 1000;

/**
 * Takes all keys that begin with `prefix` off a cache, a few in each tick, and calls back with whether there was
 * anything: from then on none of them is served. Where there is a purger process, it ends what this one does not live to end.
 */
export function purgePrefix(disk: DiskCache, prefix: string, done: (found: boolean) => void): void {
  disk.tellPurge('prefix', prefix);
  const { index } = disk;
  const before = nowSeconds();
  const swept = index.def.purger !== undefined;
  if (swept) {
    disk.submit(() => index.addSweep(prefix, before));
  }
  // Until the index knows all files, the files themselves say what they are.
  const steps = index.state().loaded ? overIndex(disk, prefix) : overFiles(disk, prefix);
  const step = (): void => {
    const { done: over, value } = steps.next();
    if (!over) {
      setImmediate(step);
      return;
    }
    if (swept) {
      disk.submit(() => index.endSweep(prefix, before));
    }
    done(value);
  };
  step();
}

function* overIndex(disk: DiskCache, prefix: string): Generator<void, boolean> {
  let found = false;
  let last = '';
  for (;;) {
    const rows = disk.index.keysAfter(last, ROWS);
    if (rows.length === 0) {
      return found;
    }
    last = rows[rows.length - 1]![0];
    const hashes: string[] = [];
    for (const [hash, key] of rows) {
      if (key.startsWith(prefix)) {
        hashes.push(hash);
      }
    }
    for (let i = 0; i < hashes.length; i += FILES) {
      if (disk.purgeFiles(hashes.slice(i, i + FILES))) {
        found = true;
      }
      yield;
    }
    yield;
  }
}

function* overFiles(disk: DiskCache, prefix: string): Generator<void, boolean> {
  let found = false;
  let looked = 0;
  for (const { path, name } of cacheFiles(disk.index.def)) {
    if (isEntryName(name) && readHeader(path)?.key.startsWith(prefix) && disk.purgeFiles([name])) {
      found = true;
    }
    if (++looked % FILES === 0) {
      yield;
    }
  }
  return found;
}
