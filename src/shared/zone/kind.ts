/** A value SQLite stores. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** The part of a database that zone operations use: prepared statements. */
export interface Sql {
  prepare<Row>(text: string): {
    get(...args: SqlValue[]): Row | undefined;
    all(...args: SqlValue[]): Row[];
    run(...args: SqlValue[]): number;
  };
}

/**
 * One kind of shared state: its table and the operations on it. A module owns its kind; every operation is one
 * statement, so that it is atomic across workers.
 */
export interface ZoneKind<Z, D> {
  /** Unique name, also part of the database file's name. */
  readonly id: string;
  readonly ddl: string;
  open(sql: Sql, zone: ZoneRef<Z, D>, worker: number): Z;
  /** Gives back what a dead worker held. */
  release?(sql: Sql, worker: number): void;
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
