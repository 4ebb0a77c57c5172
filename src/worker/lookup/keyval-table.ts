import type { PreparedStatement, Sql } from '../../shared/zone/kind.js';
import { slabCapacity, slabCost } from '../../shared/zone/slab.js';
import { noteKey, OUTBOX_DDL, Outbox } from '../fleet/outbox.js';
import { isNetwork, type KeyvalRecord, type KeyvalType } from './keyval-index.js';

/** Bytes beside key and value, which an allocator of nginx's kind would need; an index of networks or prefixes takes as much again. */
const NODE = 96;
/** How many names of removed pairs are kept at least for the workers to learn of. */
const MIN_REMOVED = 64;

export const NEVER = Number.POSITIVE_INFINITY;

/**
 * A pair without a value was removed. `version` says with which change; below `floor`, removals are no longer known. `loaded`: the tables
 * have been filled; `written`: the version that the state file has.
 */
export const KEYVAL_DDL = `CREATE TABLE IF NOT EXISTS pairs
    (key TEXT PRIMARY KEY, value TEXT, expires REAL, cost INTEGER, version INTEGER) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS pairs_version ON pairs (version);
  CREATE INDEX IF NOT EXISTS pairs_expires ON pairs (expires) WHERE expires IS NOT NULL;
  CREATE TABLE IF NOT EXISTS meta (id INTEGER PRIMARY KEY, version INTEGER, floor INTEGER, used INTEGER, entries INTEGER, removed INTEGER,
    loaded INTEGER, written INTEGER);
  INSERT INTO meta SELECT 1, 0, 0, 0, 0, 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM meta);`;

/** What a zone has besides that the machines of a fleet share: whatever changes pairs is noted. */
export const KEYVAL_SYNC_DDL = `${OUTBOX_DDL}
  CREATE TRIGGER IF NOT EXISTS pairs_put AFTER INSERT ON pairs BEGIN ${noteKey('new')} END;
  CREATE TRIGGER IF NOT EXISTS pairs_gone AFTER DELETE ON pairs WHEN old.value IS NOT NULL BEGIN ${noteKey('old')} END;`;

/** What is done to a zone's pairs inside one transaction. */
export interface KeyvalChanges {
  readonly entries: number;
  get(key: string): KeyvalRecord | undefined;
  /** False: the zone has no room for it. */
  put(key: string, record: KeyvalRecord): boolean;
  delete(key: string): void;
  clear(): void;
}

/** The only row of `meta`. */
export interface KeyvalMeta {
  version: number;
  floor: number;
  used: number;
  entries: number;
  removed: number;
  loaded: number;
  written: number;
}

type MetaRow = [version: number, floor: number, used: number, entries: number, removed: number, loaded: number, written: number];

/** A pair as it is stored: without a value it was removed; without a time it does not end. */
export type KeyvalRow = readonly [key: string, value: string | null, expires: number | null];

/** False for a row that came to harm. */
const isSound = ([key, value, expires]: KeyvalRow): boolean =>
  typeof key === 'string' && (value === null || typeof value === 'string') && (expires === null || typeof expires === 'number');

/** The tables of a keyval zone. All but `readVersion`, `readMeta` and `since` are for inside a transaction, between `begin` and `end`. */
export class KeyvalTable implements KeyvalChanges {
  meta: KeyvalMeta = { version: 0, floor: 0, used: 0, entries: 0, removed: 0, loaded: 0, written: 0 };
  /** The transaction changes something. */
  changed = false;
  /** What the fleet does not know yet; undefined where there is none. */
  readonly outbox: Outbox | undefined;
  readonly #type: KeyvalType;
  readonly #capacity: number;
  readonly #readVersion: PreparedStatement<number>;
  readonly #readMeta: PreparedStatement<MetaRow>;
  readonly #writeMeta: PreparedStatement<never>;
  readonly #one: PreparedStatement<[value: string | null, expires: number | null, cost: number]>;
  readonly #put: PreparedStatement<never>;
  readonly #dropRemoved: PreparedStatement<never>;
  readonly #dropAll: PreparedStatement<never>;
  readonly #since: PreparedStatement<KeyvalRow>;
  readonly #expired: PreparedStatement<string>;

  constructor(sql: Sql, bytes: number, type: KeyvalType, sync: boolean) {
    this.outbox = sync ? new Outbox(sql) : undefined;
    this.#type = type;
    this.#capacity = slabCapacity(bytes);
    this.#readVersion = sql.prepare('SELECT version FROM meta');
    this.#readMeta = sql.prepare('SELECT version, floor, used, entries, removed, loaded, written FROM meta');
    this.#writeMeta = sql.prepare('UPDATE meta SET version = ?, floor = ?, used = ?, entries = ?, removed = ?, loaded = ?, written = ?');
    this.#one = sql.prepare('SELECT value, expires, cost FROM pairs WHERE key = ?');
    this.#put = sql.prepare('INSERT OR REPLACE INTO pairs VALUES (?, ?, ?, ?, ?)');
    this.#dropRemoved = sql.prepare('DELETE FROM pairs WHERE value IS NULL');
    this.#dropAll = sql.prepare('DELETE FROM pairs');
    this.#since = sql.prepare('SELECT key, value, expires FROM pairs WHERE version > ?');
    this.#expired = sql.prepare('SELECT key FROM pairs WHERE expires <= ?');
  }

  /** The number of the last change. */
  readonly readVersion = (): number => this.#readVersion.one();

  readMeta(): KeyvalMeta {
    const [version, floor, used, entries, removed, loaded, written] = this.#readMeta.one();
    return { version, floor, used, entries, removed, loaded, written };
  }

  /** What was changed after a version; all with -1. */
  since(version: number): KeyvalRow[] {
    return this.#since.all(version).filter(isSound);
  }

  /** Whether a text can be a key: not empty, and for `type=ip` an address or a network. */
  accepts(key: string): boolean {
    return key !== '' && (this.#type !== 'ip' || isNetwork(key));
  }

  /** Begins the changes of a transaction: pairs that have ended make room. */
  begin(): void {
    this.meta = this.readMeta();
    this.changed = false;
    for (const key of this.#expired.all(Date.now())) {
      this.delete(key);
      // It ends by itself everywhere.
      this.outbox?.forget(key);
    }
  }

  /** Ends the changes of a transaction: if a pair has changed, the zone gets a new version. */
  end(): void {
    if (!this.changed) {
      return;
    }
    const { meta } = this;
    meta.version++;
    if (meta.removed > Math.max(MIN_REMOVED, meta.entries)) {
      this.#dropRemoved.run();
      meta.removed = 0;
      meta.floor = meta.version;
    }
    this.writeMeta();
  }

  /** Writes what is known of the zone, without a change of pairs. */
  writeMeta(): void {
    const { version, floor, used, entries, removed, loaded, written } = this.meta;
    this.#writeMeta.run(version, floor, used, entries, removed, loaded, written);
  }

  get entries(): number {
    return this.meta.entries;
  }

  get(key: string): KeyvalRecord | undefined {
    const [value, expires] = this.#one.get(key) ?? [null, null];
    return !isSound([key, value, expires]) || value === null || (expires ?? NEVER) <= Date.now()
      ? undefined
      : { value, expires: expires ?? NEVER };
  }

  put(key: string, { value, expires }: KeyvalRecord): boolean {
    const { meta } = this;
    const before = this.#one.get(key);
    const known = before !== undefined && before[0] !== null;
    const was = known ? before[2] : 0;
    const cost = slabCost(NODE + key.length + value.length) * (this.#type === 'string' ? 1 : 2);
    if (meta.used - was + cost > this.#capacity) {
      return false;
    }
    this.#put.run(key, value, expires === NEVER ? null : expires, cost, meta.version + 1);
    meta.used += cost - was;
    if (!known) {
      meta.entries++;
      meta.removed -= before === undefined ? 0 : 1;
    }
    this.changed = true;
    return true;
  }

  delete(key: string): void {
    const { meta } = this;
    const before = this.#one.get(key);
    if (before === undefined || before[0] === null) {
      return;
    }
    this.#put.run(key, null, null, 0, meta.version + 1);
    meta.used -= before[2];
    meta.entries--;
    meta.removed++;
    this.changed = true;
  }

  clear(): void {
    const { meta } = this;
    this.#dropAll.run();
    meta.floor = meta.version + 1;
    meta.used = meta.entries = meta.removed = 0;
    this.changed = true;
  }
}
