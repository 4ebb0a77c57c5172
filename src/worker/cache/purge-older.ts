import { statSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import { md5Hex } from '../digest/md5.js';
import type { DiskCache } from './disk-cache.js';
import { isEntryName } from './path.js';
import type { Purge } from './purge-text.js';
import { cacheFiles, readHeader } from './walk.js';

/** How many files are looked at in one tick. */
const FILES = 50;

/** Makes purges that another machine has told of, a few files in each tick. Entries that are younger stay. */
export function purgeOlder(disk: DiskCache, purges: readonly Purge[]): void {
  const steps = purging(disk, purges);
  const step = (): void => {
    if (!steps.next().done) {
      setImmediate(step);
    }
  };
  step();
}

function* purging(disk: DiskCache, purges: readonly Purge[]): Generator<void, void> {
  const loaded = disk.index.state().loaded;
  const prefixes = purges.filter(({ what }) => what === 'prefix');
  const keys = new Map(purges.filter(({ what }) => what === 'key').map(({ text, at }) => [text, at]));
  // Until the index knows all files, which variants a key has the files themselves say.
  if (prefixes.length > 0 || !loaded) {
    let looked = 0;
    for (const { path, name } of cacheFiles(disk.index.def)) {
      const header = isEntryName(name) ? readHeader(path) : undefined;
      if (header !== undefined) {
        const { key } = header;
        const made = madeAt(path);
        const old = (at: number | undefined): boolean => at !== undefined && made <= at;
        if (old(keys.get(key)) || prefixes.some(({ text, at }) => key.startsWith(text) && old(at))) {
          disk.purgeFiles([name]);
        }
      }
      if (++looked % FILES === 0) {
        yield;
      }
    }
    return;
  }
  let looked = 0;
  for (const [key, at] of keys) {
    const main = md5Hex(key);
    for (const hash of [main, ...disk.index.variantsOf(main)]) {
      const path = disk.pathOf(hash);
      if (readHeader(path)?.key === key && madeAt(path) <= at) {
        disk.purgeFiles([hash]);
      }
    }
    if (++looked % FILES === 0) {
      yield;
    }
  }
}

/** When an entry came from its backend, or was found unchanged there: its file was written then. */
const madeAt = (path: string): number => statSync(fsPath(path), { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
