import type { PreparedStatement, Sql, SqlValue } from './kind.js';

/** Rows that one statement writes, largest first. Sixteen in one cost six tenths of sixteen statements; more gain little. */
const SIZES = [16, 4, 1];

/** Writes many rows of a table, replacing those with the same key, by few statements. For tables whose primary key is their only index. */
export class BulkWriter {
  readonly #width: number;
  readonly #statements: readonly PreparedStatement<never>[];

  constructor(sql: Sql, table: string, columns: readonly string[]) {
    this.#width = columns.length;
    const row = `(${columns.map(() => '?').join(', ')})`;
    this.#statements = SIZES.map((size) =>
      sql.prepare(`INSERT OR REPLACE INTO ${table} (${columns.join(', ')}) VALUES ${new Array(size).fill(row).join(', ')}`),
    );
  }

  /** Writes rows; `values` has them one after the other, each in the order of the columns. For inside a transaction. */
  write(values: readonly SqlValue[]): void {
    let at = 0;
    for (let i = 0; i < SIZES.length; i++) {
      const length = SIZES[i]! * this.#width;
      for (; values.length - at >= length; at += length) {
        this.#statements[i]!.run(...(length === values.length ? values : values.slice(at, at + length)));
      }
    }
  }
}
