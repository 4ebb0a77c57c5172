import type { Sql, Statement, ZoneJob, ZoneKind, ZoneRef } from './kind.js';
import { monotonicMs } from './monotonic.js';

/** A worker writes its numbers at the end of a turn, but no more often than this (milliseconds). */
const FLUSH_MS = 4;
/** The same while no page shows the numbers. */
const UNWATCHED_MS = 1000;
/** So long (milliseconds) a reader waits for the other workers' numbers: FLUSH_MS and a turn of the event loop. */
const SETTLE_MS = 6;

/** The names of the numbers, in the order of the columns. */
const NAMES = [
  'accepts',
  'handled',
  'requests',
  'active',
  'reading',
  'writing',
  'waiting',
  'informational',
  'successful',
  'redirected',
  'refused',
  'failed',
] as const;

/** What a worker, or all together, have done and are doing. nginx: ngx_stat_accepted and its neighbours. */
export interface Totals {
  accepts: number;
  handled: number;
  requests: number;
  active: number;
  reading: number;
  writing: number;
  waiting: number;
  /** Finished requests by the first digit of their status: 1xx, 2xx, 3xx, 4xx, 5xx. */
  informational: number;
  successful: number;
  redirected: number;
  refused: number;
  failed: number;
}

/** The numbers of one worker. */
export interface WorkerTotals extends Totals {
  /** The process id; 0 is the sum of workers that have ended. */
  readonly worker: number;
}

/**
 * Connection and request counters. The engine changes the public fields as plain numbers and calls `changed`; each worker has
 * one row, which a flush overwrites with the worker's present numbers. So nothing is counted twice, and a row that was lost comes
 * back with the next flush.
 *
 * The rule for readers: `totals` and `perWorker` first write this worker's own numbers, so a reader never misses its own request;
 * those of other workers are at most FLUSH_MS and a turn of their event loop old. `settle` waits for that time, after which
 * everything that happened before the call is in.
 */
export class Counters implements Totals, ZoneJob {
  accepts = 0;
  handled = 0;
  requests = 0;
  active = 0;
  reading = 0;
  writing = 0;
  waiting = 0;
  informational = 0;
  successful = 0;
  redirected = 0;
  refused = 0;
  failed = 0;
  readonly #sql: Sql;
  readonly #worker: number;
  readonly #write: Statement<never>;
  readonly #rows: Statement<number[]>;
  #interval = UNWATCHED_MS;
  #armed = false;
  #timer: NodeJS.Timeout | undefined;
  #flushed = 0;

  constructor(sql: Sql, worker: number) {
    this.#sql = sql;
    this.#worker = worker;
    this.#write = sql.prepare(`INSERT OR REPLACE INTO counters VALUES (?${', ?'.repeat(NAMES.length)})`);
    this.#rows = sql.prepare(`SELECT worker, ${NAMES.join(', ')} FROM counters ORDER BY worker`);
  }

  /** Some page or variable shows the numbers: from now on they are written often. */
  watch(): void {
    this.#interval = FLUSH_MS;
  }

  /** Tells that a number has changed. Costs one comparison while a flush is due anyway. */
  changed(): void {
    if (this.#armed) return;
    this.#armed = true;
    const wait = this.#flushed + this.#interval - monotonicMs();
    if (wait <= 0) {
      this.#sql.submit(this);
    } else {
      this.#timer = setTimeout(() => this.#sql.submit(this), wait);
      this.#timer.unref();
    }
  }

  /** Counts a finished request. */
  finished(status: number): void {
    if (status < 300) {
      if (status >= 200) this.successful++;
      else this.informational++;
    } else if (status < 400) this.redirected++;
    else if (status < 500) this.refused++;
    else this.failed++;
    this.changed();
  }

  /** Calls back when everything that happened in any worker before this call is in the totals. Returns a way to give up. */
  settle(workers: number, then: () => void): () => void {
    const timer = setTimeout(then, workers > 1 ? SETTLE_MS : 0);
    return () => clearTimeout(timer);
  }

  /** The numbers of all workers, this one's present ones included. */
  perWorker(): WorkerTotals[] {
    this.flush();
    const rows = this.#sql.read(() => this.#rows.all()) ?? [];
    const all = rows.map((row) => named(row));
    // The zone cannot be written or read now: at least this worker's own.
    const own = all.findIndex((row) => row.worker === this.#worker);
    const present = named([this.#worker, ...NAMES.map((name) => this[name])]);
    if (own >= 0) all[own] = present;
    else all.push(present);
    return all;
  }

  /** The sum over all workers, those that have ended included. */
  totals(): Totals {
    const sum = named(new Array(NAMES.length + 1).fill(0));
    for (const row of this.perWorker()) for (const name of NAMES) sum[name] += row[name];
    return sum;
  }

  /** Writes this worker's numbers now. */
  flush(): void {
    this.#sql.now(() => this.work());
  }

  work(): void {
    this.#write.run(
      this.#worker,
      this.accepts,
      this.handled,
      this.requests,
      this.active,
      this.reading,
      this.writing,
      this.waiting,
      this.informational,
      this.successful,
      this.redirected,
      this.refused,
      this.failed,
    );
  }

  after(): void {
    this.#armed = false;
    this.#flushed = monotonicMs();
  }
}

function named(row: readonly number[]): WorkerTotals {
  const totals = { worker: row[0]! } as WorkerTotals;
  for (const [i, name] of NAMES.entries()) totals[name] = row[i + 1]!;
  return totals;
}

/** The kind of the one zone that holds the counters. */
export const counterKind: ZoneKind<Counters, undefined> = {
  id: 'counters',
  ddl: `CREATE TABLE IF NOT EXISTS counters (worker INTEGER PRIMARY KEY, ${NAMES.map((name) => `${name} INTEGER`).join(', ')})`,
  open: (sql, _zone, worker) => new Counters(sql, worker),
  release(sql, worker) {
    // What the worker had done stays counted, under number 0; what it was doing has ended with it.
    const done = NAMES.map((name) =>
      name === 'active' || name === 'reading' || name === 'writing' || name === 'waiting' ? '0' : `total(${name})`,
    );
    sql
      .prepare(
        `INSERT OR REPLACE INTO counters SELECT 0, ${done.map((sum) => `CAST(${sum} AS INTEGER)`).join(', ')} FROM counters WHERE worker IN (0, ?)`,
      )
      .run(worker);
    sql.prepare('DELETE FROM counters WHERE worker = ?').run(worker);
  },
};

/** The zone of the counters; no configuration names it. */
export const counterZone: ZoneRef<Counters, undefined> = { name: ' counters', kind: counterKind, bytes: 32768, data: undefined };
