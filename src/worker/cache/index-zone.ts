import { randomBytes } from 'node:crypto';
import type { PreparedStatement, Sql, ZoneKind, ZoneStats } from '../../shared/zone/kind.js';
import { monotonicMs } from '../../shared/zone/monotonic.js';
import { slabCapacity } from '../../shared/zone/slab.js';
import { noteKey, OUTBOX_DDL } from '../fleet/outbox.js';
import type { CacheDef } from './cache-def.js';
import type { DiskCache } from './disk-cache.js';
import { MARKS_DDL, type Purged, PurgeMarks } from './purge-marks.js';
import { type Purge, purgeOf, purgeText } from './purge-text.js';
import { TAG_DDL, TagTable } from './tag-table.js';
import { roomOf } from './tags.js';

/** Bytes of an entry by nginx's measure, so that a zone holds as many. nginx: ngx_http_file_cache_node_t. */
const NODE = 128;
/** How many entries one addition to a full zone or a full cache takes off at most. */
const MAKE_ROOM = 8;

// `used` is in milliseconds since 1970, fine enough to evict entries that came in quickly in their order. `main` is the digest of the key
// where a variant gives the file another name. `size` is 0 while there is no file. `room` is what the tags take, in entries.
const DDL = `CREATE TABLE IF NOT EXISTS entries (hash TEXT PRIMARY KEY, key TEXT, main TEXT, used INTEGER, uses INTEGER, size INTEGER, room INTEGER) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS by_used ON entries (used);
  CREATE INDEX IF NOT EXISTS by_main ON entries (main) WHERE main IS NOT NULL;
  CREATE TABLE IF NOT EXISTS locks (hash TEXT PRIMARY KEY, worker INTEGER, id INTEGER, until INTEGER) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS sweeps (purge TEXT PRIMARY KEY, at INTEGER) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS meta (id INTEGER PRIMARY KEY, size INTEGER, entries INTEGER, evictions INTEGER, loaded INTEGER, room INTEGER);
  INSERT INTO meta SELECT 1, 0, 0, 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM meta);
  CREATE TRIGGER IF NOT EXISTS added AFTER INSERT ON entries BEGIN UPDATE meta SET size = size + new.size, entries = entries + 1, room = room + new.room; END;
  CREATE TRIGGER IF NOT EXISTS changed AFTER UPDATE OF size ON entries WHEN new.size <> old.size OR new.room <> old.room
    BEGIN UPDATE meta SET size = size + new.size - old.size, room = room + new.room - old.room; END;
  CREATE TRIGGER IF NOT EXISTS removed AFTER DELETE ON entries BEGIN UPDATE meta SET size = size - old.size, entries = entries - 1, room = room - old.room; END;
  ${TAG_DDL}
  ${MARKS_DDL}`;

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
  readonly tags: readonly string[];
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
  readonly tags: TagTable;
  readonly marks: PurgeMarks;
  readonly #worker: number;
  readonly #capacity: number;
  readonly #use: PreparedStatement<number>;
  readonly #store: PreparedStatement<never>;
  readonly #load: PreparedStatement<never>;
  readonly #touch: PreparedStatement<never>;
  readonly #remove: PreparedStatement<never>;
  readonly #variants: PreparedStatement<string>;
  readonly #keys: PreparedStatement<[string, string]>;
  readonly #oldest: PreparedStatement<[hash: string, size: number, room: number]>;
  readonly #unused: PreparedStatement<string>;
  readonly #nextUse: PreparedStatement<number>;
  readonly #lock: PreparedStatement<number>;
  readonly #unlock: PreparedStatement<never>;
  readonly #locked: PreparedStatement<number>;
  readonly #meta: PreparedStatement<[size: number, entries: number, evictions: number, loaded: number, room: number]>;
  readonly #evicted: PreparedStatement<never>;
  readonly #markLoaded: PreparedStatement<never>;
  readonly #sweep: PreparedStatement<never>;
  readonly #sweeps: PreparedStatement<[string, number]>;
  readonly #swept: PreparedStatement<never>;
  #tellFleet: PreparedStatement<never> | undefined = undefined;

  constructor(sql: Sql, name: string, bytes: number, def: CacheDef, worker: number) {
    this.sql = sql;
    this.name = name;
    this.def = def;
    this.tags = new TagTable(sql);
    this.marks = new PurgeMarks(sql);
    this.#worker = worker;
    this.#capacity = Math.max(1, Math.floor(slabCapacity(bytes) / NODE));
    this.#use = sql.prepare(
      'INSERT INTO entries VALUES (?, ?, ?, ?, 1, 0, 0) ON CONFLICT DO UPDATE SET uses = uses + 1, used = excluded.used RETURNING uses',
    );
    this.#store = sql.prepare(
      'INSERT INTO entries VALUES (?, ?, ?, ?, 1, ?, ?) ON CONFLICT DO UPDATE SET key = excluded.key, main = excluded.main, used = excluded.used, size = excluded.size, room = excluded.room',
    );
    this.#load = sql.prepare(
      'INSERT INTO entries VALUES (?, ?, ?, ?, 1, ?, ?) ON CONFLICT DO UPDATE SET size = excluded.size, room = excluded.room WHERE size = 0',
    );
    this.#touch = sql.prepare('UPDATE entries SET used = ? WHERE hash = ?');
    this.#remove = sql.prepare('DELETE FROM entries WHERE hash = ?');
    this.#variants = sql.prepare('SELECT hash FROM entries WHERE main = ?');
    this.#keys = sql.prepare('SELECT hash, key FROM entries WHERE hash > ? AND size > 0 ORDER BY hash LIMIT ?');
    this.#oldest = sql.prepare('SELECT hash, size, room FROM entries ORDER BY used LIMIT ?');
    this.#unused = sql.prepare('SELECT hash FROM entries WHERE used < ? ORDER BY used LIMIT ?');
    this.#nextUse = sql.prepare('SELECT used FROM entries ORDER BY used LIMIT 1');
    this.#lock = sql.prepare(
      'INSERT INTO locks VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET worker = excluded.worker, id = excluded.id, until = excluded.until WHERE until <= ? RETURNING id',
    );
    this.#unlock = sql.prepare('DELETE FROM locks WHERE hash = ? AND worker = ? AND id = ?');
    this.#locked = sql.prepare('SELECT until FROM locks WHERE hash = ?');
    this.#meta = sql.prepare('SELECT size, entries, evictions, loaded, room FROM meta');
    this.#evicted = sql.prepare('UPDATE meta SET evictions = evictions + ?');
    this.#markLoaded = sql.prepare('UPDATE meta SET loaded = 1');
    this.#sweep = sql.prepare('INSERT INTO sweeps VALUES (?, ?) ON CONFLICT DO UPDATE SET at = excluded.at');
    this.#sweeps = sql.prepare('SELECT purge, at FROM sweeps LIMIT 1');
    this.#swept = sql.prepare('DELETE FROM sweeps WHERE purge = ? AND at = ?');
  }

  /** Counts a request for an entry that is not there yet; returns how many there were. */
  countUse(hash: string, key: string, now: number): number {
    return this.#use.get(hash, key, null, now) ?? 1;
  }

  /**
   * Notes a file with what was asked for at a moment of the monotonic clock. `victims` gets the digests of entries that had to give way;
   * their files are to be deleted. Returns what was purged since: what is off is not noted.
   */
  store(row: IndexRow, now: number, asked: number, victims: string[]): Purged {
    const purged = this.marks.since(row.key, row.tags, asked);
    if (purged === 'hard') {
      this.#remove.run(row.hash);
      return purged;
    }
    this.put(row, now);
    this.#makeRoom(row.hash, roomOf(row.tags), victims);
    return purged;
  }

  /** Notes a file whatever was purged, and lets it grow the zone and the cache beyond their limits. */
  put(row: IndexRow, now: number): void {
    this.#store.run(row.hash, row.key, row.main, now, row.size, roomOf(row.tags));
    this.tags.put(row.hash, row.tags);
  }

  /** Notes a file that was found on the disk. */
  load(row: IndexRow, used: number, victims: string[]): void {
    const room = roomOf(row.tags);
    if (this.#load.run(row.hash, row.key, row.main, used, row.size, room) > 0) {
      this.tags.put(row.hash, row.tags);
    }
    this.#makeRoom(row.hash, room, victims);
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

  /** Entries beyond the limits go, least recently used first: a few, and as many more as the tags of the new one take room. */
  #makeRoom(newest: string, added: number, victims: string[]): void {
    const [size, entries, , , room] = this.#meta.one();
    let tooMany = entries + room - this.#capacity;
    let tooMuch = size - this.def.maxSize;
    if (tooMany <= 0 && tooMuch <= 0) {
      return;
    }
    for (const [hash, bytes, tags] of this.#oldest.all(MAKE_ROOM + added)) {
      if (tooMany <= 0 && tooMuch <= 0) {
        break;
      }
      if (hash === newest) {
        continue;
      }
      this.#remove.run(hash);
      victims.push(hash);
      tooMany -= 1 + tags;
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

  /** Takes up to `limit` of the least recently used entries off while the cache is not smaller than `size` bytes. */
  takeOldest(size: number, limit: number): string[] {
    let over = this.#meta.one()[0] - size;
    const taken: string[] = [];
    if (over < 0) {
      return taken;
    }
    for (const [hash, bytes] of this.#oldest.all(limit)) {
      if (over < 0) {
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
  tellFleet(purge: Purge): void {
    this.#tellFleet ??= this.sql.prepare('INSERT OR REPLACE INTO purges VALUES (?, ?, ?)');
    this.#tellFleet.run(purgeText(purge), purge.at, randomBytes(9).toString('base64url'));
  }

  /** Asks the purger to make a purge whose maker may not live to end it. */
  addSweep(purge: Purge): void {
    this.#sweep.run(purgeText(purge), purge.at);
  }

  endSweep(purge: Purge): void {
    this.#swept.run(purgeText(purge), purge.at);
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

  /** When the entry that was not used for the longest time was used (milliseconds). Read. */
  oldestUse(): number | undefined {
    return this.sql.read(() => this.#nextUse.get());
  }

  /** The next purge that is to be made by the purger. Read. */
  nextSweep(): Purge | undefined {
    const row = this.sql.read(() => this.#sweeps.get());
    return row === undefined ? undefined : purgeOf(...row);
  }

  /** Bytes on the disk and whether the index knows all files. Read. */
  state(): { readonly size: number; readonly entries: number; readonly evictions: number; readonly loaded: boolean } {
    const [size, entries, evictions, loaded] = this.sql.read(() => this.#meta.get()) ?? [0, 0, 0, 0];
    return { size, entries, evictions, loaded: loaded === 1 };
  }

  /** For a status page. */
  stats(): ZoneStats {
    const [, entries, evictions, , room] = this.#meta.one();
    return { entries, used: (entries + room) * NODE, evictions, rejections: 0 };
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
