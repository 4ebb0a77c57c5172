/** A value SQLite stores. Text is latin1: one character stands for one byte. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** A prepared statement of one zone. Rows are arrays in the order of the columns; a statement of one column gives the bare value. */
export interface PreparedStatement<Row> {
  /** The first row, or undefined when there is none. */
  get(...args: SqlValue[]): Row | undefined;
  /** The row of numbers that every zone of the kind has. A zone without it is damaged, and started anew. */
  one(...args: SqlValue[]): Row;
  all(...args: SqlValue[]): Row[];
  /** Runs a statement that returns no rows; the result is the number of rows it changed. */
  run(...args: SqlValue[]): number;
}

/**
 * A piece of work on zones. The jobs that one tick submits share one transaction, which starts when
 * the tick ends and is over before anything else runs, so the lock is held for the statements alone.
 */
export interface ZoneJob {
  /**
   * Runs inside the transaction. It may run again after a rollback, so it changes nothing but the database and what the
   * next run sets anew.
   */
  work(): void;
  /** Runs once, after the commit. */
  after(): void;
  /** Tells right before the transaction that there is nothing left to do. When that goes for all its jobs, there is no transaction. */
  idle?(): boolean;
}

/** Takes jobs for one transaction over one zone or several. */
export interface ZoneScope {
  /** Adds a job to the transaction at the end of this tick. */
  submit(job: ZoneJob): void;
  /** Adds a job to the transaction at the end of the tick after the one that submits it, or to one before. */
  defer(job: ZoneJob): void;
}

/** What a table object does around each transaction of its zone. */
export interface TransactionHooks {
  /** Runs after BEGIN, before the first job; also before each repetition. */
  begin?(): void;
  /** Runs after the last job, before COMMIT. */
  end?(): void;
  /** Runs after COMMIT, before the first `after`. */
  committed?(): void;
}

/** A zone's database as its kind sees it. Statements run only inside `work`, the hooks, `now` and `read`. */
export interface Sql extends ZoneScope {
  /** Grows each time this process finds itself with new, empty tables: after damage, or while the file cannot be used. */
  readonly epoch: number;
  prepare<Row>(text: string): PreparedStatement<Row>;
  /** Adds hooks to all transactions of the zone. */
  hook(hooks: TransactionHooks): void;
  /** Runs a transaction at once. False when another process holds the zone now: nothing was done. */
  now(work: () => void): boolean;
  /** Makes sure that what is read next is the file that the others have. It is done once a second by itself. */
  look(): void;
  /** Does so, and tries to share a file again that could not be used. False while this process still counts for itself. */
  regain(): boolean;
  /** Reads without a lock. undefined when the zone cannot be read now. */
  read<T>(work: () => T): T | undefined;
}

/** What a status page tells of a zone. */
export interface ZoneStats {
  readonly entries: number;
  /** Bytes of the zone in use, by nginx's measure. */
  readonly used: number;
  /** Entries forgotten because the zone was full. */
  readonly evictions: number;
  /** Requests refused. */
  readonly rejections: number;
}

/** One kind of shared state: its tables and the operations on them. A module owns its kind. */
export interface ZoneKind<Z, D> {
  /** Unique name. */
  readonly id: string;
  /** Makes the tables; each statement has IF NOT EXISTS. */
  readonly ddl: string;
  /** What a zone with these data has besides; each statement has IF NOT EXISTS. */
  readonly moreDdl?: (data: D) => string;
  /** A reload gives the zone new, empty tables even when size and kind agree. nginx: shm_zone->noreuse. */
  readonly noreuse?: true;
  /** A reload keeps what the zone has when only its size is another one. */
  readonly anySize?: true;
  /** `worker` is the number of this process, which no other living process of the service has. */
  open(sql: Sql, zone: ZoneRef<Z, D>, worker: number): Z;
  /** Gives back what a dead worker held. Runs inside a transaction. */
  release?(sql: Sql, worker: number): void;
  stats?(zone: Z): ZoneStats;
  /** nginx's words when a reload changes what the zone is keyed by; undefined when old and new agree. */
  conflict?(name: string, before: D, after: D): string | undefined;
}

/** A zone as the configuration names it. `bytes` is 0 until a directive gives its size. */
export interface ZoneRef<Z, D> {
  readonly name: string;
  readonly kind: ZoneKind<Z, D>;
  readonly bytes: number;
  readonly data: D;
}

// biome-ignore lint/suspicious/noExplicitAny: zones of all kinds stand in one list
export type AnyZoneRef = ZoneRef<any, any>;
