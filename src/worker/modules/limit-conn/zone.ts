import type { ComplexValue } from '../../../shared/value/complex.js';
import { BulkWriter } from '../../../shared/zone/bulk.js';
import type { PreparedStatement, Sql, SqlValue, TransactionHooks, ZoneJob, ZoneKind, ZoneStats } from '../../../shared/zone/kind.js';
import type { Meter } from '../../../shared/zone/meters.js';
import { slabCapacity, slabCost } from '../../../shared/zone/slab.js';
import type { ClientTask } from '../../task/client-task.js';

/** What a zone of connections is keyed by. */
export interface ConnData {
  readonly key: ComplexValue<ClientTask>;
  /** The machines of a fleet count together. */
  readonly sync: boolean;
}

/**
 * Results of {@link ConnZone.enter}. CONTESTED: there is no place because of what other workers hold, one of which may just have been given
 * back. FULL: the zone has no room for another key.
 */
export const ENTERED = 0;
export const LIMITED = 1;
export const CONTESTED = 2;
export const FULL = 3;

/** Bytes that nginx stores beside each key: ngx_rbtree_node_t up to `color` and ngx_http_limit_conn_node_t up to `data`. */
const NODE = 36;

// Rows under the empty key, which no request has, hold the zone's own numbers in place of a worker's.
const USED = -1;
const REJECTIONS = -2;
const DDL = 'CREATE TABLE IF NOT EXISTS held (key TEXT, worker INTEGER, n INTEGER, PRIMARY KEY (key, worker)) WITHOUT ROWID';

// What this worker holds under one key.
class Held {
  readonly key: string;
  /** Requests under way. */
  count = 0;
  /** Requests admitted by the transaction that runs. */
  entering = 0;
  /** What the row in the database says. */
  stored = 0;
  /** What the other workers hold, as read in the transaction that runs. */
  others = -1;

  constructor(key: string) {
    this.key = key;
  }

  /** Drops what belongs to one transaction. */
  forget(): void {
    this.entering = 0;
    this.others = -1;
  }
}

/**
 * Requests under way by key. The database has one row for each key and worker with what that worker holds. The worker keeps
 * its own number in memory too, so rows that were lost are written again; and a dead worker's share is its rows.
 */
export class ConnZone implements ZoneJob, TransactionHooks {
  readonly name: string;
  /** Counts what is decided; null where nothing is counted. */
  meter: Meter | null = null;
  readonly #sql: Sql;
  readonly #worker: number;
  readonly #capacity: number;
  readonly #held = new Map<string, Held>();
  /** Whose rows may have to change. */
  readonly #touched = new Set<Held>();
  readonly #readOthers: PreparedStatement<number>;
  readonly #read: PreparedStatement<number>;
  readonly #writer: BulkWriter;
  readonly #delete: PreparedStatement<never>;
  readonly #countKeys: PreparedStatement<number>;
  #epoch: number;
  #used = 0;
  #usedStored = 0;
  #usedRead = false;
  /** Room taken by the keys that the running transaction adds. */
  #claimed = 0;
  #rejections = 0;
  #leaving = false;
  #max = 0;
  #uniform = true;

  constructor(sql: Sql, name: string, bytes: number, worker: number) {
    this.name = name;
    this.#sql = sql;
    this.#worker = worker;
    this.#capacity = slabCapacity(bytes);
    this.#epoch = sql.epoch;
    this.#readOthers = sql.prepare('SELECT CAST(total(n) AS INTEGER) FROM held WHERE key = ? AND worker <> ?');
    this.#read = sql.prepare('SELECT n FROM held WHERE key = ? AND worker = ?');
    this.#writer = new BulkWriter(sql, 'held', ['key', 'worker', 'n']);
    this.#delete = sql.prepare('DELETE FROM held WHERE key = ? AND worker = ?');
    this.#countKeys = sql.prepare("SELECT count(DISTINCT key) FROM held WHERE key > ''");
    sql.hook(this);
  }

  /** Tells the zone of a limit in force on it. */
  limit(max: number): void {
    if (this.#max !== 0 && this.#max !== max) {
      this.#uniform = false;
    }
    this.#max = max;
  }

  /**
   * Whether `enterNow` has a place: one of this worker's own that was left but is still in the database. To take it is to leave and to
   * enter in one step, which only the holder of the place can do. It needs no look at the others while all limits on the zone are the
   * same.
   */
  hasPlace(key: string): boolean {
    const held = this.#held.get(key);
    return held !== undefined && held.count < held.stored && this.#uniform;
  }

  /** Takes a place of which `hasPlace` told. */
  enterNow(key: string): void {
    const held = this.#held.get(key)!;
    held.count++;
    this.#touched.add(held);
  }

  /** Takes a place under the key if fewer than `max` are taken. For inside a transaction. nginx: ngx_http_limit_conn_handler. */
  enter(key: string, max: number): number {
    let held = this.#held.get(key);
    if (held === undefined) {
      held = new Held(key);
      this.#held.set(key, held);
    }
    this.#touched.add(held);
    const own = held.count + held.entering;
    if (own >= max) {
      return LIMITED;
    }
    if (held.others < 0) {
      held.others = this.#readOthers.one(key, this.#worker);
    }
    if (held.others + own >= max) {
      return CONTESTED;
    }
    if (own === 0 && held.stored === 0) {
      const cost = slabCost(NODE + key.length);
      if (this.#loadUsed() + this.#claimed + cost > this.#capacity) {
        return FULL;
      }
      this.#claimed += cost;
    }
    held.entering++;
    return ENTERED;
  }

  /** Counts a refused request, for the status page. For inside a transaction. */
  reject(): void {
    this.#rejections++;
  }

  /** Takes back what `enter` did in this transaction. nginx: ngx_http_limit_conn_cleanup_all. */
  undo(key: string): void {
    const held = this.#held.get(key)!;
    held.entering--;
    if (held.count + held.entering === 0 && held.stored === 0) {
      this.#claimed -= slabCost(NODE + key.length);
    }
  }

  /** Ends a connection's count at the end of the next tick, unless a request takes it over before. nginx: ngx_http_limit_conn_cleanup. */
  leave(key: string): void {
    const held = this.#held.get(key)!;
    held.count--;
    this.#touched.add(held);
    if (this.#leaving) {
      return;
    }
    this.#leaving = true;
    this.#sql.defer(this);
  }

  /** For a status page; runs without a transaction. */
  stats(): ZoneStats {
    const used = this.#read.get('', USED) ?? 0;
    return { entries: this.#countKeys.one(), used, evictions: 0, rejections: this.#read.get('', REJECTIONS) ?? 0 };
  }

  // The rows are written by `end`, in whichever transaction of the zone comes first.
  work(): void {}

  after(): void {
    this.#leaving = false;
  }

  idle(): boolean {
    for (const held of this.#touched) {
      if (held.count !== held.stored) {
        return false;
      }
    }
    this.#touched.clear();
    return true;
  }

  begin(): void {
    this.#usedRead = false;
    this.#claimed = this.#rejections = 0;
    if (this.#epoch !== this.#sql.epoch) {
      this.#epoch = this.#sql.epoch;
      for (const held of this.#held.values()) {
        held.stored = this.#read.get(held.key, this.#worker) ?? 0;
        this.#touched.add(held);
      }
    }
    for (const held of this.#touched) {
      held.forget();
    }
  }

  end(): void {
    const rows: SqlValue[] = [];
    for (const held of this.#touched) {
      const own = held.count + held.entering;
      if (own === held.stored) {
        continue;
      }
      if (own > 0) {
        rows.push(held.key, this.#worker, own);
      } else {
        this.#delete.run(held.key, this.#worker);
      }
      if (own === 0) {
        this.#used = this.#loadUsed() - slabCost(NODE + held.key.length);
      } else if (held.stored === 0) {
        this.#used = this.#loadUsed() + slabCost(NODE + held.key.length);
      }
    }
    if (this.#usedRead && this.#used !== this.#usedStored) {
      rows.push('', USED, this.#used);
    }
    if (this.#rejections > 0) {
      rows.push('', REJECTIONS, (this.#read.get('', REJECTIONS) ?? 0) + this.#rejections);
    }
    this.#writer.write(rows);
  }

  committed(): void {
    for (const held of this.#touched) {
      held.count += held.entering;
      held.stored = held.count;
      held.forget();
      if (held.count === 0) {
        this.#held.delete(held.key);
      }
    }
    this.#touched.clear();
  }

  #loadUsed(): number {
    if (!this.#usedRead) {
      this.#usedRead = true;
      this.#used = this.#usedStored = this.#read.get('', USED) ?? 0;
    }
    return this.#used;
  }
}

/** The kind of zone that `limit_conn_zone` declares. */
export const connZone: ZoneKind<ConnZone, ConnData> = {
  id: 'limit_conn',
  ddl: DDL,
  open: (sql, zone, worker) => new ConnZone(sql, zone.name, zone.bytes, worker),
  release(sql, worker) {
    const rows = sql.prepare<[string, number]>("SELECT key, n FROM held WHERE worker = ? AND key > ''").all(worker);
    if (rows.length === 0) {
      return;
    }
    sql.prepare("DELETE FROM held WHERE worker = ? AND key > ''").run(worker);
    const freed = rows.reduce((sum, [key]) => sum + slabCost(NODE + key.length), 0);
    sql.prepare('UPDATE held SET n = n - ? WHERE key = ? AND worker = ?').run(freed, '', USED);
  },
  stats: (zone) => zone.stats(),
  conflict: (name, before, after) =>
    before.key.text === after.key.text
      ? undefined
      : `limit_conn_zone "${name}" uses the "${after.key.text}" key while previously it used the "${before.key.text}" key`,
};
