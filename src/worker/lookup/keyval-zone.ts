import { renameSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import type { Logger } from '../../shared/log/error-log.js';
import { ALERT, ERROR } from '../../shared/log/level.js';
import { AtTickEnd, endOfTick, type TickTask } from '../../shared/time/end-of-tick.js';
import { setTimer } from '../../shared/time/timer.js';
import type { Sql, ZoneJob, ZoneKind, ZoneStats } from '../../shared/zone/kind.js';
import { nowInNewest, nowPatiently } from '../../shared/zone/patience.js';
import type { Outbox } from '../fleet/outbox.js';
import type { ReplicaChange, ReplicaValue, ReplicaZone } from '../fleet/replica-zone.js';
import { readKeyvalFile, writeKeyvalFile } from './keyval-file.js';
import { type KeyvalIndex, type KeyvalRecord, type KeyvalType, keyvalIndex } from './keyval-index.js';
import { KEYVAL_DDL, KEYVAL_SYNC_DDL, type KeyvalChanges, type KeyvalRow, KeyvalTable, NEVER } from './keyval-table.js';

/** What `keyval_zone` says of a zone. */
export interface KeyvalData {
  readonly type: KeyvalType;
  /** Milliseconds that a pair lives; 0 for ever. */
  readonly timeout: number;
  /** The file that keeps the pairs over restarts. */
  readonly state: string | undefined;
  /** All machines of a fleet have the pairs. */
  readonly sync: boolean;
}

/** How often a zone that another process holds is asked for again, a millisecond apart: until after its lock counts as stuck. */
const TRIES = 1000;
/** A state file is written again after this many times of what it took the last time, and at most after {@link LATEST_MS}. */
const REST = 20;
const LATEST_MS = 1000;
/** How many pairs of others are taken over in one transaction. */
const MAX_TAKEN = 512;
/** Ends of a pair that are as near to each other (milliseconds) are one. */
const SAME_MS = 1000;
/** How long (milliseconds) what variables set may wait for the file. */
const SET_MS = 1000;

/**
 * The pairs of a `keyval_zone`. The database is what counts; each worker has all pairs in an index of its own, and asks with the first
 * look-up of a tick whether the database has changed.
 */
export class KeyvalZone implements ZoneJob, TickTask, ReplicaZone {
  readonly name: string;
  readonly replicaName: string;
  readonly data: KeyvalData;
  readonly #sql: Sql;
  readonly #table: KeyvalTable;
  #log: Logger | undefined;
  #index: KeyvalIndex;
  /** What the index is up to date with. */
  #version = -1;
  #epoch: number;
  /** The index was compared with the zone in this tick, and is up to date. */
  #fresh = false;
  /** What variables have set in this tick; undefined: removed. */
  readonly #waiting = new Map<string, KeyvalRecord | undefined>();
  #timer: NodeJS.Timeout | undefined;
  /** When, in milliseconds of the wall clock, the state file may be written again. */
  #restsUntil = 0;

  constructor(sql: Sql, name: string, bytes: number, data: KeyvalData, kind: string) {
    this.replicaName = `${kind}:${name}`;
    this.#sql = sql;
    this.name = name;
    this.data = data;
    this.#table = new KeyvalTable(sql, bytes, data.type, data.sync);
    this.#index = keyvalIndex(data.type);
    this.#epoch = sql.epoch;
  }

  /** Begins to serve a worker: reads the state file, if no process of the service has read it. */
  start(log: Logger): void {
    this.#log = log;
    this.#refresh();
    const meta = this.#sql.read(() => this.#table.readMeta());
    if (this.data.state !== undefined && meta !== undefined && meta.written < meta.version) {
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
      this.#refresh();
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
    this.#refresh();
    return [...this.#index.all()].filter(([, { expires }]) => expires > now);
  }

  /** See {@link KeyvalTable.accepts}. */
  accepts(key: string): boolean {
    return this.#table.accepts(key);
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
    const table = this.#table;
    table.begin();
    for (const [key, record] of this.#waiting) {
      if (record === undefined) {
        table.delete(key);
      } else if (!table.put(key, record)) {
        this.#log?.log(ALERT, `keyval zone "${this.name}" has no room for another pair`);
        // So that the index loses it again.
        this.#version = -1;
      }
    }
    table.end();
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
    const change = (): void => {
      this.#table.begin();
      outcome = { value: work(this.#table) };
      this.#table.end();
    };
    const done = nowInNewest(this.#sql, change, TRIES);
    this.#fresh = false;
    if (!done) {
      return undefined;
    }
    if (this.#table.changed && this.data.state !== undefined) {
      this.#writeLater(this.#restsUntil - Date.now());
    }
    return outcome?.value;
  }

  /**
   * Changes pairs in the transaction at the end of this tick, and then hands over what came of it. `work` may run again after a rollback.
   */
  later<T>(work: (changes: KeyvalChanges) => T, done: (value: T) => void = () => {}): void {
    let value!: T;
    let changed = false;
    this.#sql.submit({
      work: () => {
        this.#table.begin();
        value = work(this.#table);
        this.#table.end();
        ({ changed } = this.#table);
      },
      after: () => {
        this.#fresh = false;
        if (changed && this.data.state !== undefined) {
          this.#writeLater(SET_MS);
        }
        done(value);
      },
    });
  }

  get outbox(): Outbox {
    return this.#table.outbox!;
  }

  current(key: string): ReplicaValue | undefined {
    const record = this.#sql.read(() => this.#table.get(key));
    return record === undefined ? undefined : { text: record.value, life: lifeOf(record.expires) };
  }

  takeOver(changes: readonly ReplicaChange[]): void {
    for (let from = 0; from < changes.length; from += MAX_TAKEN) {
      const some = changes.slice(from, from + MAX_TAKEN);
      const fits = this.change((table) => some.filter((one) => !this.#takeOver(table, one)).length === 0);
      if (fits === undefined) {
        throw new Error(`the zone "${this.name}" is held by another process`);
      }
      if (!fits) {
        this.#log?.log(ERROR, `keyval zone "${this.name}" has no room for all pairs of the shared store`);
      }
    }
  }

  /** Takes a change over; false when there is no room for it. For inside a transaction. */
  #takeOver(table: KeyvalChanges, { key, value }: ReplicaChange): boolean {
    if (this.outbox.has(key) || !this.accepts(key)) {
      return true;
    }
    let fits = true;
    if (value === undefined) {
      table.delete(key);
    } else {
      const expires = value.life === 0 ? NEVER : Date.now() + value.life;
      const known = table.get(key);
      // A change of this machine's own comes back as it is.
      if (known?.value !== value.text || Math.abs(lifeOf(known.expires) - value.life) > SAME_MS) {
        fits = table.put(key, { value: value.text, expires });
      }
    }
    this.outbox.forget(key);
    return fits;
  }

  replicaKeys(): readonly string[] {
    return this.pairs().map(([key]) => key);
  }

  stats(): ZoneStats {
    const { entries, used } = this.#table.readMeta();
    return { entries, used, evictions: 0, rejections: 0 };
  }

  /** Runs a transaction now, and waits for a process that holds the zone. */
  #transact(work: () => void): boolean {
    return nowPatiently(this.#sql, work, TRIES);
  }

  /** Brings the index up to date. */
  #refresh(): void {
    const version = this.#sql.read(this.#table.readVersion);
    if (version !== undefined && (version !== this.#version || this.#sql.epoch !== this.#epoch)) {
      this.#catchUp();
    }
  }

  #catchUp(): void {
    const meta = this.#sql.read(() => this.#table.readMeta());
    // Another process may have put a fresh file in place of the one that was open.
    const fresh = meta !== undefined && (meta.loaded === 0 || meta.version < this.#version);
    const anew = fresh || this.#version === -1 || this.#sql.epoch !== this.#epoch;
    if (anew) {
      this.#seed();
    }
    this.#sql.read(() => {
      const { epoch } = this.#sql;
      const { version, floor } = this.#table.readMeta();
      // What is removed below the floor leaves no row.
      const whole = anew || this.#version < floor;
      const rows = this.#table.since(whole ? -1 : this.#version);
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
    const table = this.#table;
    this.#transact(() => {
      table.begin();
      if (table.meta.loaded !== 0) {
        return;
      }
      const now = Date.now();
      const known = this.#index.size > 0 ? new Map(this.#index.all()) : this.#readState();
      for (const [key, record] of known) {
        if (record.expires > now && table.accepts(key) && !table.put(key, record)) {
          this.#log?.log(ERROR, `keyval zone "${this.name}" has no room for all pairs of its state`);
          break;
        }
      }
      table.meta.loaded = 1;
      table.meta.written = table.meta.version + 1;
      table.changed = true;
      table.end();
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
      const table = this.#table;
      table.meta = table.readMeta();
      if (table.meta.written === table.meta.version) {
        return;
      }
      try {
        writeKeyvalFile(this.data.state!, liveRecords(table.since(-1), Date.now()));
      } catch (error) {
        this.#log?.log(ALERT, `keyval zone "${this.name}": the state cannot be written (${(error as Error).message})`);
        return;
      }
      table.meta.written = table.meta.version;
      table.writeMeta();
    });
    this.#restsUntil = Date.now() + Math.min(LATEST_MS, (performance.now() - before) * REST);
  }
}

/** How long a pair still lives, in milliseconds; 0 for ever. */
const lifeOf = (expires: number): number => (expires === NEVER ? 0 : Math.max(1, Math.ceil(expires - Date.now())));

/** The pairs among rows that have not ended. */
const liveRecords = (rows: readonly KeyvalRow[], now: number): [key: string, record: KeyvalRecord][] =>
  rows.flatMap(([key, value, expires]) =>
    value !== null && (expires ?? NEVER) > now ? [[key, { value, expires: expires ?? NEVER }]] : [],
  );

const kind = (id: string): ZoneKind<KeyvalZone, KeyvalData> => ({
  id,
  ddl: KEYVAL_DDL,
  moreDdl: (data) => (data?.sync ? KEYVAL_SYNC_DDL : ''),
  open: (sql, zone) => new KeyvalZone(sql, zone.name, zone.bytes, zone.data, id),
  stats: (zone) => zone.stats(),
});

/** The zones of `keyval_zone` in `http` and in `stream`, which do not see each other's. */
export const httpKeyvals = kind('keyval');
export const streamKeyvals = kind('stream_keyval');
