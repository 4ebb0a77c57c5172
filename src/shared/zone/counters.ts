import { linesLost } from '../log/lost-lines.js';
import { setTimer } from '../time/timer.js';
import type { PreparedStatement, Sql, ZoneJob, ZoneKind, ZoneRef } from './kind.js';
import * as kinds from './meter-kinds.js';
import { METERS_DDL, Meters, releaseMeters } from './meters.js';
import { monotonicMs } from './monotonic.js';
import { nowPatiently } from './patience.js';

/** A worker writes its numbers at the end of a tick, but no more often than this (milliseconds). */
const FLUSH_MS = 20;
/** So long (milliseconds) a reader waits for the other workers' numbers: FLUSH_MS and a tick. */
const SETTLE_MS = 24;

/** So often a worker tries to publish its numbers at once: a process that holds the lock needs microseconds, or lost its processor. */
const TRIES = 50;

const NAMES = [
  'accepts',
  'handled',
  'requests',
  'active',
  'reading',
  'writing',
  'waiting',
  'abandoned',
  'c1xx',
  'c2xx',
  'c3xx',
  'c4xx',
  'c5xx',
  'linesLost',
] as const;

/** What is said of each worker by itself: how late (microseconds) its event loop was lately, in the worst case and in 99 of 100. */
const OWN = ['delayMax', 'delay99'] as const;
const COLUMNS = [...NAMES, ...OWN];

/** What a worker, or all together, have done and are doing. nginx: ngx_stat_accepted and its neighbours. */
export type Totals = { [name in (typeof NAMES)[number]]: number };

/** The plain numbers that the engine changes in place. */
export interface CounterSource {
  readonly accepted: number;
  readonly handled: number;
  readonly requests: number;
  readonly active: number;
  readonly reading: number;
  readonly writing: number;
  readonly waiting: number;
  /** Finished requests by the first digit of their status; index 0 counts those that got none. */
  readonly statusClasses: readonly number[];
  /** Called whenever a number has changed. */
  changed: () => void;
}

const NOTHING: CounterSource = {
  accepted: 0,
  handled: 0,
  requests: 0,
  active: 0,
  reading: 0,
  writing: 0,
  waiting: 0,
  statusClasses: [0, 0, 0, 0, 0, 0],
  changed: () => {},
};

/** The numbers of one worker. */
export interface WorkerTotals extends Totals {
  /** The process id; 0 is the sum of workers that have ended. */
  readonly worker: number;
  /** How late (microseconds) the event loop was at worst lately; 0 where nobody watches it. */
  delayMax: number;
  /** ... and how late at most in 99 of 100 samples. */
  delay99: number;
}

/**
 * Connection and request counters of all workers. Each worker has one row, which a flush overwrites with the worker's present
 * numbers: so nothing is counted twice, and a row that was lost comes back with the next flush.
 *
 * The rule for readers: `totals` and `perWorker` first write this worker's own numbers, so a reader never misses its own request;
 * those of other workers are at most FLUSH_MS and a tick of theirs old, and their meters a little older where there are hundreds.
 * `settle` and `settleMeters` wait for that time, after which everything that happened before the call is in. A variable cannot wait: where
 * one is in use, what connections are doing is published at once, before the client can see it (see `publishAtOnce`).
 */
export class Counters implements ZoneJob {
  /** What is counted by name. */
  readonly meters: Meters;
  readonly #sql: Sql;
  readonly #worker: number;
  readonly #write: PreparedStatement<never>;
  readonly #rows: PreparedStatement<number[]>;
  readonly #sumOthers: PreparedStatement<number[]>;
  #others: readonly number[] | undefined;
  #atOnce = false;
  /** What of them was published at once last. */
  #published: readonly [active: number, reading: number, writing: number, waiting: number] = [0, 0, 0, 0];
  #source = NOTHING;
  #armed = false;
  #flushed = 0;
  #delayMax = 0;
  #delay99 = 0;

  constructor(sql: Sql, worker: number) {
    this.#sql = sql;
    this.#worker = worker;
    this.meters = new Meters(sql, worker, () => this.#arm());
    this.#write = sql.prepare(`INSERT OR REPLACE INTO counters VALUES (?${', ?'.repeat(COLUMNS.length)})`);
    this.#rows = sql.prepare(`SELECT worker, ${COLUMNS.join(', ')} FROM counters ORDER BY worker`);
    this.#sumOthers = sql.prepare(
      `SELECT ${NAMES.map((name) => `CAST(total(${name}) AS INTEGER)`).join(', ')} FROM counters WHERE worker <> ?`,
    );
  }

  /** Publishes these numbers as this worker's. */
  attach(source: CounterSource): void {
    this.#source = source;
    source.changed = () => this.#changed();
  }

  /** Publishes how late (microseconds) this worker's event loop has been lately. */
  loopDelay(max: number, of99: number): void {
    this.#delayMax = Math.round(max);
    this.#delay99 = Math.round(of99);
    this.#arm();
  }

  /** From now on what connections are doing is published with each change: some 15 µs, for configurations whose variables ask for it. */
  publishAtOnce(): void {
    this.#atOnce = true;
  }

  /** Calls back when everything that happened in any worker before this call is in the totals. Returns a way to give up. */
  settle(workers: number, then: () => void): () => void {
    const timer = setTimer(then, workers > 1 ? SETTLE_MS : 0);
    return () => clearTimeout(timer);
  }

  /** Calls `then` once the meters of `workers` workers are published, too; returns what calls that off. */
  settleMeters(workers: number, then: () => void): () => void {
    const timer = setTimer(then, workers > 1 ? SETTLE_MS * this.meters.flushes : 0);
    return () => clearTimeout(timer);
  }

  /** The numbers of all workers, this one's present ones included. */
  perWorker(): WorkerTotals[] {
    this.flush();
    const rows = this.#sql.read(() => this.#rows.all()) ?? [];
    const all = rows.map((row) => named(row));
    // This worker's own are right even while the zone cannot be written or read.
    const present = named(this.#present());
    const own = all.findIndex(({ worker }) => worker === this.#worker);
    if (own >= 0) {
      all[own] = present;
    } else {
      all.push(present);
    }
    return all;
  }

  /** The sum over all workers, those that have ended included. */
  totals(): Totals {
    const sum = named(new Array(COLUMNS.length + 1).fill(0));
    for (const row of this.perWorker()) {
      for (const name of NAMES) {
        sum[name] += row[name];
      }
    }
    return sum;
  }

  /**
   * The sum over all workers for a variable: this worker's present numbers with those that the others have published. Exact for
   * connections where every worker publishes them at once.
   */
  current(name: (typeof NAMES)[number]): number {
    this.#others = this.#sql.read(() => this.#sumOthers.get(this.#worker)) ?? this.#others;
    const i = NAMES.indexOf(name);
    return (this.#others?.[i] ?? 0) + this.#present()[i + 1]!;
  }

  /** Writes this worker's numbers now. */
  flush(): void {
    if (this.#source !== NOTHING && this.#sql.now(this.#writeAll)) {
      this.meters.written();
    }
  }

  work(): void {
    this.#publishAll(false);
  }

  #publishAll(all: boolean): void {
    this.#write.run(...this.#present());
    this.meters.work(all);
  }

  after(): void {
    this.meters.written();
    this.#armed = false;
    this.#flushed = monotonicMs();
    if (this.meters.waits) {
      this.#arm();
    }
  }

  // Costs one comparison while a flush is due anyway.
  #changed(): void {
    if (this.#atOnce && this.#moved()) {
      this.#publish();
    }
    this.#arm();
  }

  #arm(): void {
    if (this.#armed) {
      return;
    }
    this.#armed = true;
    const wait = this.#flushed + FLUSH_MS - monotonicMs();
    if (wait <= 0) {
      this.#sql.submit(this);
    } else {
      setTimer(() => this.#sql.submit(this), wait).unref();
    }
  }

  /** Whether a connection has begun, ended or taken up something else since the latest publication. */
  #moved(): boolean {
    const { active, reading, writing, waiting } = this.#source;
    const was = this.#published;
    return active !== was[0] || reading !== was[1] || writing !== was[2] || waiting !== was[3];
  }

  /** Should another process hold the lock all the time, the usual publication follows soon. */
  #publish(): void {
    const { active, reading, writing, waiting } = this.#source;
    if (nowPatiently(this.#sql, this.#writeNow, TRIES)) {
      this.meters.written();
      this.#published = [active, reading, writing, waiting];
    }
  }

  readonly #writeNow = (): void => this.work();

  readonly #writeAll = (): void => this.#publishAll(true);

  #present(): number[] {
    const { accepted, handled, requests, active, reading, writing, waiting, statusClasses } = this.#source;
    return [
      this.#worker,
      accepted,
      handled,
      requests,
      active,
      reading,
      writing,
      waiting,
      ...statusClasses,
      linesLost(),
      this.#delayMax,
      this.#delay99,
    ];
  }
}

function named(row: readonly number[]): WorkerTotals {
  const totals = { worker: row[0]! } as WorkerTotals;
  for (const [i, name] of COLUMNS.entries()) {
    totals[name] = row[i + 1]!;
  }
  return totals;
}

const METER_KINDS: readonly kinds.MeterKind[] = [
  kinds.serverKind,
  kinds.locationKind,
  kinds.peerKind,
  kinds.streamServerKind,
  kinds.streamPeerKind,
  kinds.groupKind,
  kinds.cacheKind,
  kinds.limitReqKind,
  kinds.limitConnKind,
  kinds.streamLimitConnKind,
  kinds.authKind,
  kinds.loginKind,
  kinds.resolverKind,
  kinds.tlsKind,
  kinds.backendTlsKind,
  kinds.reasonKind,
  kinds.jsKind,
  kinds.storeKind,
];

/** What a worker is doing, of which nothing is left when it has ended. */
const ENDS_WITH_WORKER: ReadonlySet<string> = new Set(['active', 'reading', 'writing', 'waiting', ...OWN]);

/** The kind of the one zone that holds the counters. */
const counterKind: ZoneKind<Counters, undefined> = {
  id: 'counters',
  ddl: `CREATE TABLE IF NOT EXISTS counters (worker INTEGER PRIMARY KEY, ${COLUMNS.map((name) => `${name} INTEGER`).join(', ')});
    ${METERS_DDL}`,
  open: (sql, _zone, worker) => new Counters(sql, worker),
  release(sql, worker) {
    // What the worker had done stays counted, under number 0; what it was doing has ended with it.
    const done = COLUMNS.map((name) => (ENDS_WITH_WORKER.has(name) ? '0' : `total(${name})`));
    sql
      .prepare(
        `INSERT OR REPLACE INTO counters SELECT 0, ${done.map((sum) => `CAST(${sum} AS INTEGER)`).join(', ')} FROM counters WHERE worker IN (0, ?)`,
      )
      .run(worker);
    sql.prepare('DELETE FROM counters WHERE worker = ?').run(worker);
    releaseMeters(sql, worker, METER_KINDS);
  },
};

/** The zone of the counters; no configuration can name it so. */
export const counterZone: ZoneRef<Counters, undefined> = { name: ':counters', kind: counterKind, bytes: 32768, data: undefined };
