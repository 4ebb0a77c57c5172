import { renameSync } from 'node:fs';
import { AtTickEnd, endOfTick, type TickTask } from '../lib/end-of-tick.js';
import { fsPath } from '../lib/fs-path.js';
import { setTimer } from '../lib/timer.js';
import type { Logger } from '../log/error-log.js';
import { ALERT, ERROR } from '../log/level.js';
import type { Sql, Statement, ZoneJob, ZoneKind, ZoneStats } from '../zone/kind.js';
import { slabCapacity, slabCost } from '../zone/slab.js';
import { readKeyvalFile, writeKeyvalFile } from './keyval-file.js';
import { isNetwork, type KeyvalIndex, type KeyvalRecord, type KeyvalType, keyvalIndex } from './keyval-index.js';

/** What `keyval_zone` says of a zone. */
export interface KeyvalData {
  readonly type: KeyvalType;
  /** Milliseconds that a pair lives; 0 for ever. */
  readonly timeout: number;
  /** The file that keeps the pairs over restarts. */
  readonly state: string | undefined;
}

/** Bytes beside key and value, which an allocator of nginx's kind would need; an index of networks or prefixes takes as much again. */
const NODE = 96;
/** How often a zone that another process holds is asked for again, a millisecond apart: until after its lock counts as stuck. */
const TRIES = 1000;
/** How often (milliseconds) a worker that only reads looks whether the zone's file is still there. */
const LOOK_MS = 1000;
/** So many names of removed pairs are kept at least for the workers to learn of. */
const MIN_REMOVED = 64;
/** A state file is written again after this many times of what it took the last time, and at most after {@link LATEST_MS}. */
const REST = 20;
const LATEST_MS = 1000;
/** How long (milliseconds) what variables set may wait for the file. */
const SET_MS = 1000;

const NEVER = Number.POSITIVE_INFINITY;

/** A pair without a value was removed. `version` says with which change; below `floor`, removals are no longer known. */
const DDL = `CREATE TABLE IF NOT EXISTS pairs (key TEXT PRIMARY KEY, value TEXT, expires REAL, cost INTEGER, version INTEGER) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS pairs_version ON pairs (version);
  CREATE INDEX IF NOT EXISTS pairs_expires ON pairs (expires) WHERE expires IS NOT NULL;
  CREATE TABLE IF NOT EXISTS meta (id INTEGER PRIMARY KEY, version INTEGER, floor INTEGER, used INTEGER, entries INTEGER, removed INTEGER,
    loaded INTEGER, written INTEGER);
  INSERT INTO meta SELECT 1, 0, 0, 0, 0, 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM meta);`;

/** What is done to a zone's pairs inside one transaction. */
export interface KeyvalChanges {
  readonly entries: number;
  get(key: string): KeyvalRecord | undefined;
  /** False: the zone has no room for it. */
  put(key: string, record: KeyvalRecord): boolean;
  delete(key: string): void;
  clear(): void;
}

type Meta = [version: number, floor: number, used: number, entries: number, removed: number, loaded: number, written: number];
type Row = [key: string, value: string | null, expires: number | null, version: number];

/**
 * The pairs of a `keyval_zone`. The database is what counts; each worker has all pairs in an index of its own, and asks with the first
 * look-up of a tick whether the database has changed.
 */
export class KeyvalZone implements KeyvalChanges, ZoneJob, TickTask {
  readonly name: string;
  readonly data: KeyvalData;
  readonly #sql: Sql;
  readonly #capacity: number;
  #log: Logger | undefined;
  #index: KeyvalIndex;
  /** What the index is up to date with. */
  #version = -1;
  #epoch: number;
  /** It is, for this tick. */
  #fresh = false;
  #nextLook = 0;
  /** What variables have set in this tick; undefined: removed. */
  readonly #waiting = new Map<string, KeyvalRecord | undefined>();
  #timer: NodeJS.Timeout | undefined;
  /** When, in milliseconds of the wall clock, the state file may be written again. */
  #restsUntil = 0;
  // The row of meta inside a transaction.
  #meta: Meta = [0, 0, 0, 0, 0, 0, 0];
  #changed = false;

  readonly #readVersion: Statement<number>;
  readonly #readMeta: Statement<Meta>;
  readonly #writeMeta: Statement<never>;
  readonly #one: Statement<[value: string | null, expires: number | null, cost: number]>;
  readonly #put: Statement<never>;
  readonly #dropRemoved: Statement<never>;
  readonly #dropAll: Statement<never>;
  readonly #since: Statement<Row>;
  readonly #expired: Statement<string>;

  constructor(sql: Sql, name: string, bytes: number, data: KeyvalData) {
    this.#sql = sql;
    this.name = name;
    this.data = data;
    this.#capacity = slabCapacity(bytes);
    this.#index = keyvalIndex(data.type);
    this.#epoch = sql.epoch;
    this.#readVersion = sql.prepare('SELECT version FROM meta');
    this.#readMeta = sql.prepare('SELECT version, floor, used, entries, removed, loaded, written FROM meta');
    this.#writeMeta = sql.prepare('UPDATE meta SET version = ?, floor = ?, used = ?, entries = ?, removed = ?, loaded = ?, written = ?');
    this.#one = sql.prepare('SELECT value, expires, cost FROM pairs WHERE key = ?');
    this.#put = sql.prepare('INSERT OR REPLACE INTO pairs VALUES (?, ?, ?, ?, ?)');
    this.#dropRemoved = sql.prepare('DELETE FROM pairs WHERE value IS NULL');
    this.#dropAll = sql.prepare('DELETE FROM pairs');
    this.#since = sql.prepare('SELECT key, value, expires, version FROM pairs WHERE version > ?');
    this.#expired = sql.prepare('SELECT key FROM pairs WHERE expires <= ?');
  }

  /** Begins to serve a worker: reads the state file, if no process of the service has read it. */
  start(log: Logger): void {
    this.#log = log;
    this.#refresh(Date.now());
    const meta = this.#sql.read(() => this.#readMeta.get());
    if (this.data.state !== undefined && meta !== undefined && meta[6] < meta[0]) {
      // A worker has ended before it could write what it had changed.
      this.#writeLater(SET_MS);
    }
  }

  /** Writes what has not been written. */
  close(): void {
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer);
      this.#write();
    }
  }

  /** The value that a search key leads to now. */
  find(text: string): string | undefined {
    const now = Date.now();
    if (!this.#fresh) {
      this.#refresh(now);
      this.#fresh = true;
      endOfTick.ask(AtTickEnd.FORGET, this);
    }
    return this.#index.find(text, now);
  }

  tickEnded(): void {
    this.#fresh = false;
  }

  /** The pairs, in no order; those that have ended are left out. */
  pairs(): [key: string, record: KeyvalRecord][] {
    const now = Date.now();
    this.#refresh(now);
    return [...this.#index.all()].filter(([, { expires }]) => expires > now);
  }

  /** Whether a text can be a key: not empty, and for `type=ip` an address or a network. */
  accepts(key: string): boolean {
    return key !== '' && (this.data.type !== 'ip' || isNetwork(key));
  }

  /** When a pair ends that is made now and lives for so many milliseconds; without a time as long as the zone says. */
  endOf(ms = this.data.timeout): number {
    return ms === 0 ? NEVER : Date.now() + ms;
  }

  /** Sets a pair, or removes it, at the end of the tick; this worker sees it at once. */
  assign(key: string, value: string | undefined): void {
    const record = value === undefined ? undefined : { value, expires: this.endOf() };
    if (this.#waiting.size === 0) {
      this.#sql.submit(this);
    }
    this.#waiting.set(key, record);
    if (record === undefined) {
      this.#index.delete(key);
    } else {
      this.#index.set(key, record);
    }
  }

  /** A transaction for what variables have set. */
  work(): void {
    this.#begin();
    for (const [key, record] of this.#waiting) {
      if (record === undefined) {
        this.delete(key);
      } else if (!this.put(key, record)) {
        this.#log?.log(ALERT, `keyval zone "${this.name}" has no room for another pair`);
        // So that the index loses it again.
        this.#version = -1;
      }
    }
    this.#end();
  }

  after(): void {
    this.#waiting.clear();
    if (this.data.state !== undefined) {
      this.#writeLater(SET_MS);
    }
  }

  /**
   * Changes pairs in one transaction and has them written to the state file. `work` may run again after a rollback. undefined: another
   * process has held the zone all the time.
   */
  change<T>(work: (changes: KeyvalChanges) => T): T | undefined {
    let outcome: { readonly value: T } | undefined;
    const done = this.#transact(() => {
      this.#begin();
      outcome = { value: work(this) };
      this.#end();
    });
    this.#fresh = false;
    if (!done) {
      return undefined;
    }
    if (this.#changed && this.data.state !== undefined) {
      this.#writeLater(this.#restsUntil - Date.now());
    }
    return outcome?.value;
  }

  get entries(): number {
    return this.#meta[3];
  }

  get(key: string): KeyvalRecord | undefined {
    const [value, expires] = this.#one.get(key) ?? [null, null];
    return value === null || (expires ?? NEVER) <= Date.now() ? undefined : { value, expires: expires ?? NEVER };
  }

  put(key: string, { value, expires }: KeyvalRecord): boolean {
    const meta = this.#meta;
    const before = this.#one.get(key);
    const was = before === undefined || before[0] === null ? 0 : before[2];
    const cost = this.#costOf(key, value);
    if (meta[2] - was + cost > this.#capacity) {
      return false;
    }
    this.#put.run(key, value, expires === NEVER ? null : expires, cost, meta[0] + 1);
    meta[2] += cost - was;
    if (was === 0) {
      meta[3]++;
      meta[4] -= before === undefined ? 0 : 1;
    }
    this.#changed = true;
    return true;
  }

  delete(key: string): void {
    const meta = this.#meta;
    const before = this.#one.get(key);
    if (before === undefined || before[0] === null) {
      return;
    }
    this.#put.run(key, null, null, 0, meta[0] + 1);
    meta[2] -= before[2];
    meta[3]--;
    meta[4]++;
    this.#changed = true;
  }

  clear(): void {
    const meta = this.#meta;
    this.#dropAll.run();
    meta[1] = meta[0] + 1;
    meta[2] = meta[3] = meta[4] = 0;
    this.#changed = true;
  }

  stats(): ZoneStats {
    const [, , used, entries] = this.#readMeta.get() ?? [0, 0, 0, 0];
    return { entries, used, evictions: 0, rejections: 0 };
  }

  #costOf(key: string, value: string): number {
    return slabCost(NODE + key.length + value.length) * (this.data.type === 'string' ? 1 : 2);
  }

  /** Begins the changes of a transaction: pairs that have ended make room. */
  #begin(): void {
    this.#meta = this.#readMeta.get()!;
    this.#changed = false;
    for (const key of this.#expired.all(Date.now())) {
      this.delete(key);
    }
  }

  #end(): void {
    if (!this.#changed) {
      return;
    }
    const meta = this.#meta;
    meta[0]++;
    if (meta[4] > Math.max(MIN_REMOVED, meta[3])) {
      this.#dropRemoved.run();
      meta[4] = 0;
      meta[1] = meta[0];
    }
    this.#writeMeta.run(...meta);
  }

  /** Runs a transaction now, and waits for a process that holds the zone. */
  #transact(work: () => void): boolean {
    for (let tries = 0; tries < TRIES; tries++) {
      if (this.#sql.now(work)) {
        return true;
      }
      Atomics.wait(pause, 0, 0, 1);
    }
    return false;
  }

  /** Brings the index up to date. */
  #refresh(now: number): void {
    if (now >= this.#nextLook || now < this.#nextLook - LOOK_MS) {
      this.#nextLook = now + LOOK_MS;
      // Every transaction begins with a look at the file.
      this.#sql.now(nothing);
    }
    const version = this.#sql.read(this.#version0);
    if (version !== undefined && (version !== this.#version || this.#sql.epoch !== this.#epoch)) {
      this.#catchUp();
    }
  }

  readonly #version0 = (): number => this.#readVersion.get()!;

  #catchUp(): void {
    const anew = this.#version === -1 || this.#sql.epoch !== this.#epoch;
    if (anew) {
      this.#seed();
    }
    this.#sql.read(() => {
      const { epoch } = this.#sql;
      const [version, floor] = this.#readMeta.get()!;
      // What is removed below the floor leaves no row.
      const whole = anew || this.#version < floor;
      const rows = this.#since.all(whole ? -1 : this.#version);
      if (whole) {
        this.#index.clear();
      }
      for (const [key, value, expires] of rows) {
        if (value === null) {
          this.#index.delete(key);
        } else {
          this.#index.set(key, { value, expires: expires ?? NEVER });
        }
      }
      this.#version = version;
      this.#epoch = epoch;
    });
  }

  /** Fills new, empty tables: with what this worker knows, where the file was damaged, or from the state file. */
  #seed(): void {
    if (this.#log === undefined) {
      return;
    }
    this.#transact(() => {
      this.#begin();
      if (this.#meta[5] !== 0) {
        return;
      }
      this.#meta[5] = 1;
      const now = Date.now();
      const known = this.#index.size > 0 ? new Map(this.#index.all()) : this.#readState();
      for (const [key, record] of known) {
        if (record.expires > now && this.accepts(key) && !this.put(key, record)) {
          this.#log?.log(ERROR, `keyval zone "${this.name}" has no room for all pairs of its state`);
          break;
        }
      }
      this.#changed = true;
      this.#meta[6] = this.#meta[0] + 1;
      this.#end();
    });
  }

  #readState(): ReadonlyMap<string, KeyvalRecord> {
    const path = this.data.state;
    if (path === undefined) {
      return new Map();
    }
    try {
      return readKeyvalFile(path) ?? new Map();
    } catch (error) {
      this.#log?.log(ALERT, `keyval zone "${this.name}": the state "${path}" cannot be used (${(error as Error).message})`);
      this.#setAside(path);
      return new Map();
    }
  }

  /** The next write must not replace what somebody may want to mend. */
  #setAside(path: string): void {
    try {
      renameSync(fsPath(path), fsPath(`${path}.damaged`));
    } catch {
      // Then it cannot be written either.
    }
  }

  #writeLater(ms: number): void {
    if (ms <= 0) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#write();
    } else {
      this.#timer ??= setTimer(() => {
        this.#timer = undefined;
        this.#write();
      }, ms).unref();
    }
  }

  /** Writes the state file. The zone is held meanwhile, so that no older state replaces a newer one. */
  #write(): void {
    const before = performance.now();
    this.#transact(() => {
      const meta = this.#readMeta.get()!;
      if (meta[6] === meta[0]) {
        return;
      }
      const now = Date.now();
      const rows = this.#since.all(-1).filter(([, value, expires]) => value !== null && (expires ?? NEVER) > now);
      try {
        writeKeyvalFile(
          this.data.state!,
          rows.map(([key, value, expires]) => [key, { value: value!, expires: expires ?? NEVER }]),
        );
      } catch (error) {
        this.#log?.log(ALERT, `keyval zone "${this.name}": the state cannot be written (${(error as Error).message})`);
        return;
      }
      meta[6] = meta[0];
      this.#writeMeta.run(...meta);
    });
    this.#restsUntil = Date.now() + Math.min(LATEST_MS, (performance.now() - before) * REST);
  }
}

/** Nothing wakes it: it only gives the other process a millisecond. */
const pause = new Int32Array(new SharedArrayBuffer(4));

const nothing = (): void => {};

const kind = (id: string): ZoneKind<KeyvalZone, KeyvalData> => ({
  id,
  ddl: DDL,
  open: (sql, zone) => new KeyvalZone(sql, zone.name, zone.bytes, zone.data),
  stats: (zone) => zone.stats(),
});

/** The zones of `keyval_zone` in `http` and in `stream`, which do not see each other's. */
export const httpKeyvals = kind('keyval');
export const streamKeyvals = kind('stream_keyval');
