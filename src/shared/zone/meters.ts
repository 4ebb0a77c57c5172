import { bucketOf } from './histogram.js';
import type { PreparedStatement, Sql } from './kind.js';
import { CODES_END, type Codes, decodeCodes, encodeCodes, encodeCounted } from './meter-codes.js';
import type { MeterKind } from './meter-kinds.js';
import { monotonicMs } from './monotonic.js';
import { CHANGE_TRIES, nowPatiently } from './patience.js';
import { floatsOf, rowBytes } from './row-bytes.js';

/** A worker's meters of one kind; what would be more is counted under one name for all. */
const MAX_OF_KIND = 2048;
/** The name under which a worker counts what it has no meter of its own for. */
const OTHERS = '(others)';
/** How many rows of meters that no living worker has are kept: those that changed last. */
const MAX_KEPT = 4096;

/**
 * How many meters are published with each flush, those first that have waited longest: a row takes five microseconds. Where there are more
 * meters, each flush has its share of them, so that none waits for more than {@link MOST_FLUSHES}.
 */
const EACH_FLUSH = 64;
const MOST_FLUSHES = 16;

/** The statuses of a meter that has seen none. */
const NO_CODES: Float64Array = new Float64Array(0);

/** The row that holds what workers had counted that have ended. */
const ENDED = 0;

/** The numbers of one counted thing in this worker: changed in place on the hot path, followed by `touch`. */
export class Meter {
  readonly kind: MeterKind;
  readonly name: string;
  readonly values: Float64Array;
  /** How often each status was seen, by the status; null before the first, for there may be thousands of meters that count none. */
  #codes: Float64Array | null = null;
  readonly #meters: Pick<Meters, 'add'>;
  #waiting = false;

  constructor(kind: MeterKind, name: string, meters: Pick<Meters, 'add'>) {
    this.kind = kind;
    this.name = name;
    this.values = new Float64Array(kind.length);
    this.#meters = meters;
  }

  /** Counts a status one by one. */
  code(status: number): void {
    if (status < CODES_END) {
      const codes = (this.#codes ??= new Float64Array(CODES_END));
      codes[status]!++;
    }
  }

  /** The statuses that were seen, as rows have them. */
  get codesSeen(): Uint8Array | null {
    return this.kind.codes ? encodeCounted(this.#codes ?? NO_CODES) : null;
  }

  /** Counts a time in milliseconds in the histogram that begins at a place. */
  time(at: number, ms: number): void {
    this.values[at + bucketOf(ms)]!++;
  }

  /** Adds one to a field, and says so. */
  count(at: number): void {
    this.values[at]!++;
    this.touch();
  }

  /** Says that something has changed: it is published soon. */
  touch(): void {
    if (!this.#waiting) {
      this.#waiting = true;
      this.#meters.add(this);
    }
  }

  /** The row has been published. */
  written(): void {
    this.#waiting = false;
  }
}

/** What all workers have counted together of one thing. */
export interface Reading {
  readonly name: string;
  readonly values: Float64Array;
  readonly codes: Codes;
}

type Row = [name: string, vals: Uint8Array, codes: Uint8Array | null];

/**
 * Counters by kind and name. As with {@link Counters}, each worker has one row for each of its meters, which it overwrites; what a dead
 * worker had counted goes to the row {@link ENDED}.
 */
export class Meters {
  readonly #sql: Sql;
  readonly #worker: number;
  readonly #write: PreparedStatement<never>;
  readonly #read: PreparedStatement<Row>;
  readonly #readOne: PreparedStatement<Row>;
  readonly #known = new Map<string, Map<string, Meter>>();
  readonly #arm: () => void;
  /** Meters that have changed since they were published. */
  readonly #waiting: Meter[] = [];
  #epoch: number;
  /** How many meters there are. */
  #count = 0;
  /** How many of those that wait the transaction at hand publishes. */
  #writes = 0;

  /** `arm` is called when there is something to publish. */
  constructor(sql: Sql, worker: number, arm: () => void) {
    this.#sql = sql;
    this.#worker = worker;
    this.#arm = arm;
    this.#epoch = sql.epoch;
    this.#write = sql.prepare('INSERT OR REPLACE INTO meters VALUES (?, ?, ?, ?, ?, ?)');
    this.#read = sql.prepare('SELECT name, vals, codes FROM meters WHERE kind = ?');
    this.#readOne = sql.prepare('SELECT name, vals, codes FROM meters WHERE kind = ? AND name = ? AND worker = ?');
  }

  /** The meter of a thing; always the same for one name. */
  meter(kind: MeterKind, name: string): Meter {
    let known = this.#known.get(kind.id);
    if (known === undefined) {
      this.#known.set(kind.id, (known = new Map()));
    }
    const given = known.size < MAX_OF_KIND || known.has(name) ? name : OTHERS;
    let meter = known.get(given);
    if (meter === undefined) {
      known.set(given, (meter = new Meter(kind, given, this)));
      this.#count++;
    }
    return meter;
  }

  /** The names of this worker's meters of a kind: what the configuration counts, in its order. */
  names(kind: MeterKind): string[] {
    return [...(this.#known.get(kind.id)?.keys() ?? [])];
  }

  /** The sum of this worker's meters of a kind. */
  sum(kind: MeterKind): Float64Array {
    const sum = new Float64Array(kind.length);
    for (const { values } of this.#known.get(kind.id)?.values() ?? []) {
      for (let i = 0; i < sum.length; i++) {
        sum[i]! += values[i]!;
      }
    }
    return sum;
  }

  add(meter: Meter): void {
    this.#waiting.push(meter);
    this.#arm();
  }

  /** Some have changed and are not published. */
  get waits(): boolean {
    return this.#waiting.length > 0;
  }

  get #share(): number {
    return Math.max(EACH_FLUSH, Math.ceil(this.#count / MOST_FLUSHES));
  }

  /** How many flushes it takes to publish all meters of a worker with this configuration. */
  get flushes(): number {
    return Math.max(1, Math.ceil(this.#count / this.#share));
  }

  /** Writes what has changed: `all` of it, or a share. For inside a transaction. */
  work(all: boolean): void {
    const { epoch } = this.#sql;
    const anew = epoch !== this.#epoch;
    this.#writes = all || anew ? this.#waiting.length : Math.min(this.#share, this.#waiting.length);
    const waiting = anew ? [...this.#known.values()].flatMap((known) => [...known.values()]) : this.#waiting.slice(0, this.#writes);
    const now = monotonicMs();
    for (const { kind, name, values, codesSeen } of waiting) {
      this.#write.run(kind.id, name, this.#worker, now, rowBytes(values), codesSeen);
    }
  }

  /** The transaction is over. */
  written(): void {
    this.#epoch = this.#sql.epoch;
    const written = this.#waiting.splice(0, this.#writes);
    this.#writes = 0;
    for (let i = 0; i < written.length; i++) {
      written[i]!.written();
    }
  }

  /** What has been counted of a kind, by name. Whoever reads has this worker's numbers published first. */
  read(kind: MeterKind): Map<string, Reading> {
    return collect(kind, this.#sql.read(() => this.#read.all(kind.id)) ?? []);
  }

  /**
   * Takes back all that was counted so far of a kind, or of one name of it; what is under way stays. False: the zone stayed busy, and
   * nothing was done.
   */
  reset(kind: MeterKind, name?: string): boolean {
    const work = (): void => {
      for (const [found, reading] of collect(kind, this.#read.all(kind.id))) {
        if (name === undefined || name === found) {
          this.#changeEnded(kind, found, (ended) => takeOff(kind, ended, reading));
        }
      }
    };
    return nowPatiently(this.#sql, work, CHANGE_TRIES);
  }

  /** Changes what is counted for no living worker. False: the zone stayed busy, and nothing was done. */
  change(kind: MeterKind, name: string, change: (values: Float64Array) => void): boolean {
    return nowPatiently(this.#sql, () => this.#changeEnded(kind, name, ({ values }) => change(values)), CHANGE_TRIES);
  }

  #changeEnded(kind: MeterKind, name: string, change: (ended: Reading) => void): void {
    const ended = collect(kind, this.#readOne.all(kind.id, name, ENDED)).get(name) ?? emptyReading(kind, name);
    change(ended);
    const codes = kind.codes ? encodeCodes(ended.codes) : null;
    this.#write.run(kind.id, name, ENDED, monotonicMs(), rowBytes(ended.values), codes);
  }
}

function takeOff(kind: MeterKind, from: Reading, counted: Reading): void {
  for (let i = 0; i < kind.length; i++) {
    from.values[i] = kind.merge[i] === 'sum' ? from.values[i]! - counted.values[i]! : 0;
  }
  for (const [code, n] of counted.codes) {
    from.codes.set(code, (from.codes.get(code) ?? 0) - n);
  }
}

/** Puts rows of one kind together by their names. */
function collect(kind: MeterKind, rows: readonly Row[]): Map<string, Reading> {
  const all = new Map<string, Reading>();
  for (const [name, vals, codes] of rows) {
    let reading = all.get(name);
    if (reading === undefined) {
      all.set(name, (reading = emptyReading(kind, name)));
    }
    merge(kind, reading, floatsOf(vals), decodeCodes(codes));
  }
  return all;
}

/** The table of all meters. */
export const METERS_DDL = `CREATE TABLE IF NOT EXISTS meters (kind TEXT, name TEXT, worker INTEGER, at INTEGER, vals BLOB, codes BLOB,
  PRIMARY KEY (kind, name, worker)) WITHOUT ROWID`;

/** Keeps what a worker had counted that has ended, by the kinds that there are. For inside a transaction. */
export function releaseMeters(sql: Sql, worker: number, kinds: readonly MeterKind[]): void {
  type Kept = [kind: string, name: string, at: number, vals: Uint8Array, codes: Uint8Array | null];
  const rows = sql.prepare<Kept>('SELECT kind, name, at, vals, codes FROM meters WHERE worker = ?');
  const one = sql.prepare<Row>('SELECT name, vals, codes FROM meters WHERE kind = ? AND name = ? AND worker = ?');
  const write = sql.prepare('INSERT OR REPLACE INTO meters VALUES (?, ?, ?, ?, ?, ?)');
  for (const [id, name, at, vals, codes] of rows.all(worker)) {
    const kind = kinds.find((known) => known.id === id);
    if (kind === undefined) {
      continue;
    }
    const sum = emptyReading(kind, name);
    const before = one.get(id, name, ENDED);
    if (before !== undefined) {
      merge(kind, sum, floatsOf(before[1]), decodeCodes(before[2]));
    }
    merge(kind, sum, floatsOf(vals), decodeCodes(codes));
    for (let i = 0; i < kind.length; i++) {
      if (kind.merge[i] === 'gauge') {
        sum.values[i] = 0;
      }
    }
    write.run(id, name, ENDED, at, rowBytes(sum.values), kind.codes ? encodeCodes(sum.codes) : null);
  }
  sql.prepare('DELETE FROM meters WHERE worker = ?').run(worker);
  sql
    .prepare(
      `DELETE FROM meters WHERE worker = ${ENDED} AND (kind, name) IN
        (SELECT kind, name FROM meters WHERE worker = ${ENDED} ORDER BY at DESC LIMIT -1 OFFSET ${MAX_KEPT})`,
    )
    .run();
}

/** What nobody has counted anything of. */
export const emptyReading = (kind: MeterKind, name: string): Reading => ({
  name,
  values: new Float64Array(kind.length),
  codes: new Map(),
});

function merge(kind: MeterKind, into: Reading, values: Float64Array, codes: Codes): void {
  for (let i = 0; i < kind.length; i++) {
    const value = values[i] ?? 0;
    into.values[i] = kind.merge[i] === 'latest' ? Math.max(into.values[i]!, value) : into.values[i]! + value;
  }
  for (const [code, n] of codes) {
    into.codes.set(code, (into.codes.get(code) ?? 0) + n);
  }
}
