import { BulkWriter } from './bulk.js';
import type { PreparedStatement, Sql, SqlValue, ZoneStats } from './kind.js';
import { areNumbers } from './row-bytes.js';
import { slabCapacity, slabCost } from './slab.js';

/** Rows the hand passes for each entry added to a full zone. With 3, forgotten rows take at most half as much room again as the zone. */
const SWEEP = 3;

/** The tables of an {@link LruTable} with these integer columns. */
export function lruDdl(columns: readonly string[]): string {
  return `CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, ${columns.map((name) => `${name} INTEGER`).join(', ')}, seq INTEGER) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS meta (id INTEGER PRIMARY KEY, total INTEGER, used INTEGER, entries INTEGER, hand TEXT, evictions INTEGER, rejections INTEGER);
    INSERT INTO meta SELECT 1, 0, 0, 0, '', 0, 0 WHERE NOT EXISTS (SELECT 1 FROM meta);`;
}

const KEPT = 0;
const CHANGED = 1;
const ADDED = 2;
/** The row is there, but by the rules of the zone it is not. */
const FORGOTTEN = 3;

/** One entry as it stands inside a transaction. `values` are the table's own columns. */
export class LruEntry {
  readonly key: string;
  readonly values: number[];
  /** The meter's reading at the last use. */
  seq: number;
  state: number;

  constructor(key: string, values: number[], seq: number, state: number) {
    this.key = key;
    this.values = values;
    this.seq = seq;
    this.state = state;
  }
}

/**
 * Entries by key in a zone of bounded size; a full one forgets what was used least recently. All calls but `stats` are for
 * inside a transaction.
 *
 * An exact order would cost a second index and a write for each look. Instead each row carries `seq`, the reading of a meter
 * (`total`, in bytes) at its last use. The meter advances by an entry's cost when the entry is added, and when it is used for the
 * first time since the meter passed a multiple of the capacity. What lies a whole capacity behind the meter has seen a zone's worth
 * of other entries used after it; once the zone is full, it is forgotten. The rows of forgotten entries go when a hand passes that
 * moves along the keys as entries are added, a few rows each time, so that no addition has to clear a backlog.
 */
export class LruTable {
  /** Bytes that entries can take, by the measure of nginx's allocator. */
  readonly capacity: number;
  readonly #overhead: number;
  readonly #entries = new Map<string, LruEntry>();
  readonly #get: PreparedStatement<number[]>;
  readonly #writer: BulkWriter;
  readonly #readMeta: PreparedStatement<[number, number, number, number, number]>;
  readonly #readHand: PreparedStatement<unknown>;
  readonly #writeMeta: PreparedStatement<never>;
  readonly #ahead: PreparedStatement<string>;
  readonly #sweepTo: PreparedStatement<string>;
  readonly #sweepRest: PreparedStatement<string>;
  #total = 0;
  #used = 0;
  #count = 0;
  /** Where the hand stands, once the transaction has moved it. */
  #hand: string | null = null;
  #evictions = 0;
  #rejections = 0;
  #metaRead = false;
  #metaChanged = false;
  #added = 0;

  /** `bytes` is the zone's size, `overhead` what nginx stores beside each key. */
  constructor(sql: Sql, columns: readonly string[], bytes: number, overhead: number) {
    this.capacity = slabCapacity(bytes);
    this.#overhead = overhead;
    const names = columns.join(', ');
    this.#get = sql.prepare(`SELECT ${names}, seq FROM entries WHERE key = ?`);
    this.#writer = new BulkWriter(sql, 'entries', ['key', ...columns, 'seq']);
    this.#readMeta = sql.prepare('SELECT total, used, entries, evictions, rejections FROM meta');
    this.#readHand = sql.prepare('SELECT hand FROM meta');
    this.#writeMeta = sql.prepare(
      'UPDATE meta SET total = ?, used = ?, entries = ?, hand = coalesce(?, hand), evictions = ?, rejections = ?',
    );
    this.#ahead = sql.prepare('SELECT key FROM entries WHERE key > ? ORDER BY key LIMIT 1 OFFSET ?');
    this.#sweepTo = sql.prepare('DELETE FROM entries WHERE key > ? AND key <= ? AND seq <= ? RETURNING key');
    this.#sweepRest = sql.prepare('DELETE FROM entries WHERE key > ? AND seq <= ? RETURNING key');
    sql.hook({ begin: () => this.#begin(), end: () => this.#end() });
  }

  /** The entry of a key, or undefined when there is none. */
  get(key: string): LruEntry | undefined {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      const row = this.#get.get(key);
      // A row that came to harm is none.
      if (row === undefined || !areNumbers(row)) {
        return undefined;
      }
      this.#load();
      const seq = row.pop()!;
      const forgotten = this.#total - seq >= this.capacity && this.#used > this.capacity;
      entry = new LruEntry(key, row, seq, forgotten ? FORGOTTEN : KEPT);
      this.#entries.set(key, entry);
    }
    return entry.state === FORGOTTEN ? undefined : entry;
  }

  /** Adds an entry for a key that `get` did not find. undefined: it is larger than the whole zone. */
  add(key: string, values: number[]): LruEntry | undefined {
    const cost = this.#cost(key);
    if (cost > this.capacity) {
      return undefined;
    }
    this.#load();
    this.#total += cost;
    this.#metaChanged = true;
    this.#added++;
    const old = this.#entries.get(key);
    const entry = new LruEntry(key, values, this.#total, old === undefined ? ADDED : CHANGED);
    if (old === undefined) {
      this.#used += cost;
      this.#count++;
    } else {
      this.#evictions++;
    }
    this.#entries.set(key, entry);
    return entry;
  }

  /** Counts a use of an entry and stores its values. */
  save(entry: LruEntry): void {
    if (Math.floor(entry.seq / this.capacity) < Math.floor(this.#total / this.capacity)) {
      this.#total += this.#cost(entry.key);
      this.#metaChanged = true;
    }
    entry.seq = this.#total;
    if (entry.state === KEPT) {
      entry.state = CHANGED;
    }
  }

  /** Counts a use of an entry whose values stay. Saves the write while the entry is among the newest anyway. */
  touch(entry: LruEntry): void {
    if (this.#total - entry.seq >= this.capacity / 8) {
      this.save(entry);
    }
  }

  /** Counts a refused request, for the status page. */
  reject(): void {
    this.#load();
    this.#rejections++;
    this.#metaChanged = true;
  }

  /** For a status page; runs without a transaction. */
  stats(): ZoneStats {
    const [, used, entries, evictions, rejections] = this.#readMeta.one();
    const full = Math.min(1, this.capacity / used);
    return { entries: Math.round(entries * full), used: Math.min(used, this.capacity), evictions, rejections };
  }

  #cost(key: string): number {
    return slabCost(this.#overhead + key.length);
  }

  #begin(): void {
    this.#entries.clear();
    this.#metaRead = this.#metaChanged = false;
    this.#added = 0;
  }

  #load(): void {
    if (this.#metaRead) {
      return;
    }
    this.#metaRead = true;
    [this.#total, this.#used, this.#count, this.#evictions, this.#rejections] = this.#readMeta.one();
    this.#hand = null;
  }

  #end(): void {
    const rows: SqlValue[] = [];
    for (const entry of this.#entries.values()) {
      if (entry.state === CHANGED || entry.state === ADDED) {
        rows.push(entry.key, ...entry.values, entry.seq);
      }
    }
    this.#writer.write(rows);
    if (this.#added > 0 && this.#used > this.capacity) {
      this.#sweep();
    }
    if (this.#metaChanged) {
      this.#writeMeta.run(this.#total, this.#used, this.#count, this.#hand, this.#evictions, this.#rejections);
    }
  }

  #sweep(): void {
    const last = this.#total - this.capacity;
    const found = this.#readHand.get();
    const hand = typeof found === 'string' ? found : '';
    const stop = this.#ahead.get(hand, this.#added * SWEEP - 1);
    const gone = stop === undefined ? this.#sweepRest.all(hand, last) : this.#sweepTo.all(hand, stop, last);
    this.#hand = stop ?? '';
    for (const key of gone) {
      this.#used -= this.#cost(key);
    }
    this.#count -= gone.length;
    this.#evictions += gone.length;
  }
}
