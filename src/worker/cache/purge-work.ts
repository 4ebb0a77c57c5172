import { md5Hex } from '../digest/md5.js';
import type { DiskCache } from './disk-cache.js';
import { isEntryName } from './path.js';
import type { Purge } from './purge-text.js';
import { cacheFiles } from './walk.js';

/** How many rows of the index are read at once. */
const ROWS = 1000;
/** What a row of the index costs, and what a file costs, of the budget of a step. */
const ROW = 1;
export const FILE = 20;

/**
 * Purges of a cache, made in steps: the index says where to look, and each file what it is. Until the index knows all files, all files are
 * looked at.
 */
export class PurgeWork {
  /** How many entries were taken off or made stale. */
  entries = 0;
  readonly #disk: DiskCache;
  readonly #older: boolean;
  readonly #steps: Iterator<number, void>;
  #gone: string[] = [];

  /** `older`: entries that are younger than a purge stay. */
  constructor(disk: DiskCache, purges: readonly Purge[], older: boolean) {
    this.#disk = disk;
    this.#older = older;
    this.#steps = this.#look(purges);
  }

  /** Does work up to a budget, or for so many milliseconds. Returns whether all is done. */
  step(budget: number, ms = Number.POSITIVE_INFINITY): boolean {
    const started = performance.now();
    let done = false;
    for (let spent = 0; spent < budget && !done && performance.now() - started < ms; ) {
      const { done: over, value } = this.#steps.next();
      done = over === true;
      spent += value ?? 0;
    }
    this.#forget();
    return done;
  }

  *#look(purges: readonly Purge[]): Generator<number, void> {
    const { index } = this.#disk;
    if (!index.state().loaded) {
      yield* this.#allFiles(purges);
      return;
    }
    for (const purge of purges) {
      if (purge.what === 'key') {
        const main = md5Hex(purge.text);
        for (const hash of [main, ...index.variantsOf(main)]) {
          this.#take(hash, [purge]);
          yield FILE;
        }
      } else if (purge.what === 'tag') {
        yield* this.#tagged(purge);
      }
    }
    const prefixes = purges.filter(({ what }) => what === 'prefix');
    if (prefixes.length > 0) {
      yield* this.#begunWith(prefixes);
    }
  }

  *#tagged(purge: Purge): Generator<number, void> {
    const { tags } = this.#disk.index;
    let hashes = tags.hashesAfter(purge.text, '', ROWS);
    while (hashes.length > 0) {
      for (const hash of hashes) {
        this.#take(hash, [purge]);
        yield FILE;
      }
      hashes = tags.hashesAfter(purge.text, hashes[hashes.length - 1]!, ROWS);
    }
  }

  *#begunWith(prefixes: readonly Purge[]): Generator<number, void> {
    const { index } = this.#disk;
    let rows = index.keysAfter('', ROWS);
    while (rows.length > 0) {
      for (const [hash, key] of rows) {
        const meant = prefixes.filter(({ text }) => key.startsWith(text));
        if (meant.length > 0) {
          this.#take(hash, meant);
          yield FILE;
        }
        yield ROW;
      }
      rows = index.keysAfter(rows[rows.length - 1]![0], ROWS);
    }
  }

  *#allFiles(purges: readonly Purge[]): Generator<number, void> {
    for (const { name } of cacheFiles(this.#disk.index.def)) {
      if (isEntryName(name)) {
        this.#take(name, purges);
      }
      yield FILE;
    }
  }

  #take(hash: string, purges: readonly Purge[]): void {
    const taken = this.#disk.purgeEntry(hash, purges, this.#older);
    if (taken !== 'none') {
      this.entries++;
    }
    if (taken === 'gone') {
      this.#gone.push(hash);
    }
  }

  /** The index forgets what is off, unless it has been stored again: whoever stores moves the file first, and then notes it. */
  #forget(): void {
    const disk = this.#disk;
    const gone = this.#gone;
    if (gone.length === 0) {
      return;
    }
    this.#gone = [];
    disk.submit(() => {
      for (const hash of gone) {
        if (!disk.exists(hash)) {
          disk.index.remove(hash);
        }
      }
    });
  }
}
