import { randomBytes } from 'node:crypto';
import type { Sql, Statement, ZoneKind, ZoneStats } from '../../shared/zone/kind.js';
import { monotonicMs } from '../../shared/zone/monotonic.js';
import { slabCapacity } from '../../shared/zone/slab.js';
import { noteKey, OUTBOX_DDL } from '../fleet/outbox.js';
import type { CacheDef } from './cache-def.js';
import type { DiskCache } from './disk-cache.js';

/** Bytes of an entry by nginx's measure, so that a zone holds as many. nginx: ngx_http_file_cache_node_t. */
const NODE = 128;
/** How many entries one addition to a full zone or a full cache takes off at most. */
const MAKE_ROOM = 8;

// `used` is in milliseconds since 1970, fine enough to evict entries that came in quickly in their order. `main` is the digest of the key
// where a variant gives the file another name. `size` is 0 while there is no file.
const DDL = `CREATE TABLE IF NOT EXISTS entries (hash TEXT PRIMARY KEY, key TEXT, main TEXT, used INTEGER, uses INTEGER, size INTEGER) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS by_used ON entries (used);
  CREATE INDEX IF NOT EXISTS by_main ON entries (main) WHERE main IS NOT NULL;
  CREATE TABLE IF NOT EXISTS locks (hash TEXT PRIMARY KEY, worker INTEGER, id INTEGER, until INTEGER) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS sweeps (prefix TEXT PRIMARY KEY, before INTEGER) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS meta (id INTEGER PRIMARY KEY, size INTEGER, entries INTEGER, evictions INTEGER, loaded INTEGER);
  INSERT INTO meta SELECT 1, 0, 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM meta);
  CREATE TRIGGER IF NOT EXISTS added AFTER INSERT ON entries BEGIN UPDATE meta SET size = size + new.size, entries = entries + 1; END;
  CREATE TRIGGER IF NOT EXISTS changed AFTER UPDATE OF size ON entries WHEN new.size <> old.size BEGIN UPDATE meta SET size = size + new.size - old.size; END;
  CREATE TRIGGER IF NOT EXISTS removed AFTER DELETE ON entries BEGIN UPDATE meta SET size = size - old.size, entries = entries - 1; END;`;

const SYNC_DDL = `${OUTBOX_DDL}
  CREATE TABLE IF NOT EXISTS purges (key TEXT PRIMARY KEY, at REAL, id TEXT) WITHOUT ROWID;
  CREATE TRIGGER IF NOT EXISTS purged AFTER INSERT ON purges BEGIN ${noteKey('new')} END;`;

/** One entry to be noted. */
export interface IndexRow {
  readonly hash: string;
  readonly key: string;
  /** The digest of the key when `hash` is that of a variant. */
  readonly main: string | null;
  /** Bytes on the disk. */
  readonly size: number;
}

let ids = 0;

/**
 * What all processes know of a cache's entries: when they were used, how large they are, who refreshes them. Whether there
 * is an entry, and what is in it, only its file says; so a zone that is lost costs nothing but its statistics.
 * All operations but those named "read" run inside a transaction. nginx: ngx_http_file_cache_sh_t.
 */
export class CacheIndex {
  readonly sql: Sql;
  readonly name: string;
  readonly def: CacheDef;
  /** The files, where this process works with them. */
  disk: DiskCache | undefined = undefined;
  readonly #worker: number;
  readonly #capacity: number;
  readonly #use: Statement<number>;
  readonly #store: Statement<never>;
  readonly #load: Statement<never>;
  readonly #touch: Statement<never>;
  readonly #remove: Statement<never>;
  readonly #variants: Statement<string>;
  readonly #withPrefix: Statement<string>;
  readonly #keys: Statement<[string, string]>;
  readonly #oldest: Statement<[string, number]>;
  readonly #unused: Statement<string>;
  readonly #nextUse: Statement<number>;
  readonly #lock: Statement<number>;
  readonly #unlock: Statement<never>;
  readonly #locked: Statement<number>;
  readonly #meta: Statement<[number, number, number, number]>;
  readonly #evicted: Statement<never>;
  readonly #markLoaded: Statement<never>;
  readonly #sweep: Statement<never>;
  readonly #sweeps: Statement<[string, number]>;
  readonly #swept: Statement<never>;
  #notePurge: Statement<never> | undefined = undefined;

  constructor(sql: Sql, name: string, bytes: number, def: CacheDef, worker: number) {
    this.sql = sql;
    this.name = name;
    this.def = def;
    this.#worker = worker;
    this.#capacity = Math.max(1, Math.floor(slabCapacity(bytes) / NODE));
    this.#use = sql.prepare(
      'INSERT INTO entries VALUES (?, ?, ?, ?, 1, 0) ON CONFLICT DO UPDATE SET uses = uses + 1, used = excluded.used RETURNING uses',
    );
    this.#store = sql.prepare(
      'INSERT INTO entries VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT DO UPDATE SET key = excluded.key, main = excluded.main, used = excluded.used, size = excluded.size',
    );
    this.#load = sql.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT DO UPDATE SET size = excluded.size WHERE size = 0');
    this.#touch = sql.prepare('UPDATE entries SET used = ? WHERE hash = ?');
    this.#remove = sql.prepare('DELETE FROM entries WHERE hash = ?');
    this.#variants = sql.prepare('SELECT hash FROM entries WHERE main = ?');
    this.#withPrefix = sql.prepare('SELECT hash FROM entries WHERE size > 0 AND substr(key, 1, ?) = ?');
    this.#keys = sql.prepare('SELECT hash, key FROM entries WHERE hash > ? AND size > 0 ORDER BY hash LIMIT ?');
    this.#oldest = sql.prepare('SELECT hash, size FROM entries ORDER BY used LIMIT ?');
    this.#unused = sql.prepare('SELECT hash FROM entries WHERE used < ? ORDER BY used LIMIT ?');
    this.#nextUse = sql.prepare('SELECT used FROM entries ORDER BY used LIMIT 1');
    this.#lock = sql.prepare(
      'INSERT INTO locks VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET worker = excluded.worker, id = excluded.id, until = excluded.until WHERE until <= ? RETURNING id',
    );
    this.#unlock = sql.prepare('DELETE FROM locks WHERE hash = ? AND worker = ? AND id = ?');
    this.#locked = sql.prepare('SELECT until FROM locks WHERE hash = ?');
    this.#meta = sql.prepare('SELECT size, entries, evictions, loaded FROM meta');
    this.#evicted = sql.prepare('UPDATE meta SET evictions = evictions + ?');
    this.#markLoaded = sql.prepare('UPDATE meta SET loaded = 1');
    this.#sweep = sql.prepare('INSERT INTO sweeps VALUES (?, ?) ON CONFLICT DO UPDATE SET before = excluded.before');
    this.#sweeps = sql.prepare('SELECT prefix, before FROM sweeps LIMIT 1');
    this.#swept = sql.prepare('DELETE FROM sweeps WHERE prefix = ? AND before = ?');
  }

  /** Counts a request for an entry that is not there yet; returns how many there were. */
  countUse(hash: string, key: string, now: number): number {
    return this.#use.get(hash, key, null, now) ?? 1;
  }

  /** Notes a file. `victims` gets the digests of entries that had to give way; their files are to be deleted. */
  store(row: IndexRow, now: number, victims: string[]): void {
    this.#store.run(row.hash, row.key, row.main, now, row.size);
    this.#makeRoom(row.hash, victims);
  }

  /** Notes a file that was found on the disk. */
  load(row: IndexRow, used: number, victims: string[]): void {
    this.#load.run(row.hash, row.key, row.main, used, row.size);
    this.#makeRoom(row.hash, victims);
  }

  touch(hash: string, now: number): void {
    this.#touch.run(now, hash);
  }

  remove(hash: string): void {
    this.#remove.run(hash);
  }

  /** Notes that the cache has been read in whole. */
  markLoaded(): void {
    this.#markLoaded.run();
  }

  /** Entries beyond the limits go, least recently used first. */
  #makeRoom(newest: string, victims: string[]): void {
    const [size, entries] = this.#meta.one();
    let tooMany = entries - this.#capacity;
    let tooMuch = size - this.def.maxSize;
    if (tooMany <= 0 && tooMuch <= 0) {
      return;
    }
    for (const [hash, bytes] of this.#oldest.all(MAKE_ROOM)) {
      if (tooMany <= 0 && tooMuch <= 0) {
        break;
      }
      if (hash === newest) {
        continue;
      }
      this.#remove.run(hash);
      victims.push(hash);
      tooMany--;
      tooMuch -= bytes;
    }
    if (victims.length > 0) {
      this.#evicted.run(victims.length);
    }
  }

  /** Takes up to `limit` entries off that were last used before `before` (milliseconds). Returns their digests. */
  takeUnused(before: number, limit: number): string[] {
    const hashes = this.#unused.all(before, limit);
    for (const hash of hashes) {
      this.#remove.run(hash);
    }
    return hashes;
  }

  /** Takes up to `limit` of the least recently used entries off while the cache is larger than `size` bytes. */
  takeOldest(size: number, limit: number): string[] {
    let over = this.#meta.one()[0] - size;
    const taken: string[] = [];
    if (over <= 0) {
      return taken;
    }
    for (const [hash, bytes] of this.#oldest.all(limit)) {
      if (over <= 0) {
        break;
      }
      this.#remove.run(hash);
      taken.push(hash);
      over -= bytes;
    }
    this.#evicted.run(taken.length);
    return taken;
  }

  /** Takes a lock for `age` milliseconds. Returns its number, 0 when somebody else has it. */
  lock(hash: string, age: number): number {
    const now = monotonicMs();
    return this.#lock.get(hash, this.#worker, ++ids, now + age, now) ?? 0;
  }

  unlock(hash: string, id: number): void {
    this.#unlock.run(hash, this.#worker, id);
  }

  /** Tells the fleet of a purge. */
  notePurge(text: string): void {
    this.#notePurge ??= this.sql.prepare('INSERT OR REPLACE INTO purges VALUES (?, ?, ?)');
    this.#notePurge.run(text, Date.now(), randomBytes(9).toString('base64url'));
  }

  /** Asks for a sweep of the entries that begin with `prefix` and were made before now. */
  addSweep(prefix: string, now: number): void {
    this.#sweep.run(prefix, now);
  }

  endSweep(prefix: string, before: number): void {
    this.#swept.run(prefix, before);
  }

  /** Whether somebody holds a lock. Read. */
  isLocked(hash: string): boolean {
    const until = this.sql.read(() => this.#locked.get(hash));
    return until !== undefined && until > monotonicMs();
  }

  /** The digests of an entry's variants. Read. */
  variantsOf(main: string): string[] {
    return this.sql.read(() => this.#variants.all(main)) ?? [];
  }

  /** Digests and keys of up to `limit` entries with files, in the order of the digests, from beyond one of them. Read. */
  keysAfter(hash: string, limit: number): [hash: string, key: string][] {
    return this.sql.read(() => this.#keys.all(hash, limit)) ?? [];
  }

  /** The digests of all entries whose key begins so. Read. */
  withPrefix(prefix: string): string[] {
    return this.sql.read(() => this.#withPrefix.all(prefix.length, prefix)) ?? [];
  }

  /** When the entry that was not used for the longest time was used (milliseconds). Read. */
  oldestUse(): number | undefined {
    return this.sql.read(() => this.#nextUse.get());
  }

  /** The next wildcard purge that is to be swept. Read. */
  nextSweep(): [prefix: string, before: number] | undefined {
    return this.sql.read(() => this.#sweeps.get());
  }

  /** Bytes on the disk and whether the index knows all files. Read. */
  state(): { readonly size: number; readonly entries: number; readonly evictions: number; readonly loaded: boolean } {
    const [size, entries, evictions, loaded] = this.sql.read(() => this.#meta.get()) ?? [0, 0, 0, 0];
    return { size, entries, evictions, loaded: loaded === 1 };
  }

  /** For a status page. */
  stats(): ZoneStats {
    const [, entries, evictions] = this.#meta.one();
    return { entries, used: entries * NODE, evictions, rejections: 0 };
  }
}

function makeKind(family: string): ZoneKind<CacheIndex, CacheDef> {
  return {
    id: `${family}_cache`,
    ddl: DDL,
    moreDdl: (def) => (def?.sync ? SYNC_DDL : ''),
    open: (sql, zone, worker) => new CacheIndex(sql, zone.name, zone.bytes, zone.data, worker),
    release(sql, worker) {
      sql.prepare('DELETE FROM locks WHERE worker = ?').run(worker);
    },
    stats: (zone) => zone.stats(),
    // nginx: ngx_http_file_cache_init.
    conflict(name, before, after) {
      if (before.path !== after.path) {
        return `cache "${name}" uses the "${after.path}" cache path while previously it used the "${before.path}" cache path`;
      }
      return before.levels.join(':') === after.levels.join(':') ? undefined : `cache "${name}" had previously different levels`;
    },
  };
}

/** The families of directives that keep responses. */
export type CacheFamily = 'proxy' | 'fastcgi' | 'uwsgi' | 'scgi';

/** The kinds of zone that `*_cache_path` declares, one for each family. */
export const cacheZones: { readonly [F in CacheFamily]: ZoneKind<CacheIndex, CacheDef> } = {
  proxy: makeKind('proxy'),
  fastcgi: makeKind('fastcgi'),
  uwsgi: makeKind('uwsgi'),
  scgi: makeKind('scgi'),
};
