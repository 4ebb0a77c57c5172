import { closeSync, fstatSync, futimesSync, openSync, statSync, writeSync } from 'node:fs';
import { Lru } from '../../shared/collection/lru.js';
import { fsPath } from '../../shared/files/fs-path.js';
import type { Logger } from '../../shared/log/error-log.js';
import { CRIT } from '../../shared/log/level.js';
import { errnoCode, errnoText } from '../../shared/system/errno.js';
import { AtTickEnd, endOfTick, type TickTask } from '../../shared/time/end-of-tick.js';
import { setTimer } from '../../shared/time/timer.js';
import type { ZoneJob } from '../../shared/zone/kind.js';
import { preciseMs } from '../../shared/zone/monotonic.js';
import { md5Hex } from '../digest/md5.js';
import { type CacheEntry, readEntry } from './entry.js';
import { type EntryHeader, encodeHeader } from './file-format.js';
import type { CacheIndex, IndexRow } from './index-zone.js';
import { LockWaiters } from './lock-waiters.js';
import { cacheFilePath } from './path.js';
import { type PurgedFile, purgeFile } from './purge-file.js';
import type { Purged } from './purge-marks.js';
import type { Purge } from './purge-text.js';
import { splitTags } from './tags.js';
import { unlinkOurs } from './walk.js';

/** Bytes of small bodies that a process keeps in memory for each cache. */
const HOT_BYTES = 64 * 1024 * 1024;
/** What an entry takes in memory beside its body. */
const OVERHEAD = 2048;
/** Uses of entries are noted in the index together, so many milliseconds after the first. */
const NOTE_MS = 500;
const NO_THROW = { throwIfNoEntry: false } as const;
const BLOCK_SIZE = 4096;

/** What a file takes on the disk. */
export const diskSize = (bytes: number): number => Math.ceil(bytes / BLOCK_SIZE) * BLOCK_SIZE;

/** One process's access to a cache: the files, those of them that are in memory, and the index. nginx: ngx_http_file_cache_t. */
export class DiskCache implements TickTask {
  readonly index: CacheIndex;
  readonly waiters: LockWaiters;
  readonly #log: Logger;
  readonly #hot = new Lru<CacheEntry>(HOT_BYTES);
  readonly #noteEvery: number;
  readonly #keeps: boolean;
  /** The fleet is told of purges. */
  tellsPurges = false;
  /** The latest look-up found a file, but no entry in it. */
  foundUseless = false;
  /** The process works with it no longer. */
  closed = false;
  #uses = new Set<string>();
  /**
   * Counts the ticks in which files were looked at. All requests of one tick had arrived before it began,
   * so one look at a file does for all of them.
   */
  #tick = 1;
  #asked = false;
  #noting: NodeJS.Timeout | undefined = undefined;

  /** `keeps`: files are not deleted, only said to be; see {@link WorkerEnv.rehearsing}. */
  constructor(index: CacheIndex, log: Logger, keeps: boolean) {
    this.index = index;
    this.#keeps = keeps;
    this.waiters = new LockWaiters(index);
    this.#log = log;
    this.#noteEvery = Math.max(1, Math.min(10, Math.floor(index.def.inactive / 10)));
  }

  get name(): string {
    return this.index.name;
  }

  tickEnded(): void {
    this.#tick++;
    this.#asked = false;
  }

  pathOf(hash: string): string {
    return cacheFilePath(this.index.def.path, this.index.def.levels, hash);
  }

  /** The entry of a key, of this very moment. A damaged file counts as none, and is reported. */
  find(key: string): CacheEntry | undefined {
    return this.#hotEntry(key, key) ?? this.#read(key, md5Hex(key), key);
  }

  /** The entry of a variant of a key. */
  findVariant(hash: string, key: string): CacheEntry | undefined {
    const name = `\0${hash}`;
    return this.#hotEntry(name, key) ?? this.#read(name, hash, key);
  }

  #hotEntry(name: string, key: string): CacheEntry | undefined {
    const entry = this.#hot.get(name);
    // A key may look like the name of a variant, and clients may look for digests that are the same.
    if (entry === undefined || entry.header.key !== key) {
      return undefined;
    }
    if (entry.checkedIn === this.#tick) {
      return entry;
    }
    const stat = statSync(fsPath(entry.path), NO_THROW);
    if (stat !== undefined && entry.isCurrent(stat)) {
      entry.checkedIn = this.#tick;
      if (!this.#asked) {
        this.#asked = true;
        endOfTick.ask(AtTickEnd.FORGET, this);
      }
      return entry;
    }
    this.#hot.delete(name);
    return undefined;
  }

  #read(name: string, hash: string, key: string): CacheEntry | undefined {
    const path = this.pathOf(hash);
    this.foundUseless = false;
    let entry: CacheEntry | string | undefined;
    try {
      entry = readEntry(path, fsPath(path));
      if (typeof entry === 'string') {
        // Somebody may just have been writing new times into it.
        entry = readEntry(path, fsPath(path));
      }
    } catch (error) {
      this.#log.log(CRIT, `open() "${path}" failed (${errnoText(error)})`);
      return undefined;
    }
    if (entry === undefined) {
      return undefined;
    }
    this.foundUseless = true;
    if (typeof entry === 'string') {
      this.#log.log(CRIT, `cache file "${path}" ${entry}`);
      return undefined;
    }
    if (entry.header.key !== key) {
      this.#log.log(CRIT, `cache file "${path}" has md5 collision`);
      return undefined;
    }
    this.foundUseless = false;
    this.#hot.set(name, entry, OVERHEAD + (entry.body?.length ?? 0));
    return entry;
  }

  /** Whether there is a file. */
  exists(hash: string): boolean {
    return statSync(fsPath(this.pathOf(hash)), NO_THROW) !== undefined;
  }

  /** Tells the index, some time, that an entry was used. */
  noteUse(entry: CacheEntry, now: number): void {
    if (now - entry.noted < this.#noteEvery) {
      return;
    }
    entry.noted = now;
    this.#uses.add(entry.path.slice(-32));
    this.#noting ??= setTimer(() => this.#note(), NOTE_MS).unref();
  }

  #note(): void {
    this.#noting = undefined;
    const uses = this.#uses;
    this.#uses = new Set();
    const now = Date.now();
    this.submit(() => {
      for (const hash of uses) {
        this.index.touch(hash, now);
      }
    });
  }

  /** Does some work on the index at the end of this tick. */
  submit(work: () => void, after: () => void = nothing): void {
    const job: ZoneJob = { work, after };
    this.index.sql.submit(job);
  }

  /**
   * Notes a new file with what was asked for at a moment of the monotonic clock, gives the lock back, and deletes what had to give way.
   * What was purged meanwhile goes before anybody else may have the lock.
   */
  stored(row: IndexRow, asked: number, lockHash: string, lockId: number): void {
    let victims: string[] = [];
    let purged: Purged = 'no';
    this.submit(
      () => {
        victims = [];
        purged = this.index.store(row, Date.now(), asked, victims);
        if (lockId !== 0 && purged === 'no') {
          this.index.unlock(lockHash, lockId);
        }
      },
      () => {
        for (const hash of victims) {
          this.deleteFile(hash);
        }
        if (purged === 'no') {
          this.waiters.wake(lockHash);
          return;
        }
        this.purgeEntry(row.hash, [{ what: 'key', text: row.key, soft: purged === 'soft', at: Date.now() }], false);
        this.unlock(lockHash, lockId);
      },
    );
  }

  /** What was purged of an entry with these tags since a moment of the monotonic clock. */
  purgedSince(key: string, tags: readonly string[], asked: number): Purged {
    return this.index.marks.readSince(key, tags, asked);
  }

  unlock(hash: string, id: number): void {
    this.submit(
      () => this.index.unlock(hash, id),
      () => this.waiters.wake(hash),
    );
  }

  /**
   * Writes new times into an entry's file, unless it is another file by now. The backend was asked at a moment of the monotonic clock; what
   * was purged since then stays stale. nginx: ngx_http_file_cache_update_header.
   */
  updateHeader(entry: CacheEntry, header: EntryHeader, asked: number): void {
    const tags = splitTags(header.tags);
    const bytes = encodeHeader(header, entry.tableCrc);
    if (bytes === undefined || bytes.length !== entry.bodyStart || this.purgedSince(header.key, tags, asked) !== 'no') {
      return;
    }
    this.index.marks.unlessPurged(header.key, tags, asked, 'no', {
      work: () => this.#writeHeader(entry, bytes, asked),
      // A purge that was made in this very moment has perhaps looked at the file before.
      after: () => {
        if (this.purgedSince(header.key, tags, asked) !== 'no') {
          this.purgeEntry(entry.path.slice(-32), [{ what: 'key', text: header.key, soft: true, at: Date.now() }], false);
        }
      },
    });
  }

  #writeHeader(entry: CacheEntry, bytes: Buffer, asked: number): void {
    try {
      const fd = openSync(fsPath(entry.path), 'r+');
      try {
        if (entry.isFile(fstatSync(fd))) {
          writeSync(fd, bytes, 0, bytes.length, 0);
          const made = this.madeAt(asked);
          if (made !== undefined) {
            futimesSync(fd, made, made);
          }
        }
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      if (errnoCode(error) !== 'ENOENT') {
        this.#log.log(CRIT, `open() "${entry.path}" failed (${errnoText(error)})`);
      }
    }
  }

  /**
   * The seconds since 1970 that the file of a response shows, where other machines have purges made; undefined: of no matter. It was asked
   * for at a moment of the monotonic clock.
   */
  madeAt(asked: number): number | undefined {
    return this.tellsPurges ? (Date.now() - Math.max(0, preciseMs() - asked)) / 1000 : undefined;
  }

  /** Deletes an entry's file, unless it is somebody else's. Returns whether it did. */
  deleteFile(hash: string): boolean {
    if (this.#keeps) {
      return this.exists(hash);
    }
    const path = this.pathOf(hash);
    try {
      return unlinkOurs(path);
    } catch (error) {
      if (errnoCode(error) !== 'ENOENT') {
        this.#log.log(CRIT, `unlink() "${path}" failed (${errnoText(error)})`);
      }
      return false;
    }
  }

  /** Makes purges at the file of an entry, if they mean it; `older`: and if it is not younger. */
  purgeEntry(hash: string, purges: readonly Purge[], older: boolean): PurgedFile {
    const path = this.pathOf(hash);
    try {
      return purgeFile(path, purges, older, this.#keeps);
    } catch (error) {
      if (errnoCode(error) !== 'ENOENT') {
        this.#log.log(CRIT, `"${path}" cannot be purged (${errnoText(error)})`);
      }
      return 'none';
    }
  }

  /** Stops timers; what was to be noted is noted. */
  close(): void {
    this.closed = true;
    clearTimeout(this.#noting);
    if (this.#uses.size > 0) {
      this.#note();
    }
    this.waiters.close();
  }
}

function nothing(): void {}
