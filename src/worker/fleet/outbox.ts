import type { PreparedStatement, Sql } from '../../shared/zone/kind.js';
import { CHANGE_TRIES, nowPatiently } from '../../shared/zone/patience.js';

/** The table of an {@link Outbox}, which triggers of the zone's own tables fill. `refill`: the store is only to have again what it lost. */
export const OUTBOX_DDL = `CREATE TABLE IF NOT EXISTS outbox (seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE, refill INTEGER DEFAULT 0);
  CREATE TABLE IF NOT EXISTS replica (id INTEGER PRIMARY KEY, epoch TEXT);`;

/** The statement of a trigger that notes a key. */
export const noteKey = (row: 'new' | 'old'): string => `INSERT OR REPLACE INTO outbox (key) VALUES (${row}.key);`;

/** A key that waits to be sent; `refill` is 1 where the store is only to have again what it lost. */
export type WaitingKey = readonly [seq: number, key: string, refill: number];

/** The keys of a zone whose changes the fleet does not know yet. They stand in the zone's file, with the changes themselves. */
export class Outbox {
  readonly #sql: Sql;
  readonly #first: PreparedStatement<WaitingKey>;
  readonly #has: PreparedStatement<number>;
  readonly #sent: PreparedStatement<never>;
  readonly #forget: PreparedStatement<never>;
  readonly #note: PreparedStatement<never>;
  readonly #refill: PreparedStatement<never>;
  readonly #epoch: PreparedStatement<string>;
  readonly #setEpoch: PreparedStatement<never>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#first = sql.prepare('SELECT seq, key, refill FROM outbox ORDER BY seq LIMIT ?');
    this.#has = sql.prepare('SELECT 1 FROM outbox WHERE key = ? AND refill = 0');
    this.#sent = sql.prepare('DELETE FROM outbox WHERE seq = ?');
    this.#forget = sql.prepare('DELETE FROM outbox WHERE key = ?');
    this.#note = sql.prepare('INSERT OR REPLACE INTO outbox (key) VALUES (?)');
    this.#refill = sql.prepare('INSERT OR IGNORE INTO outbox (key, refill) VALUES (?, 1)');
    this.#epoch = sql.prepare('SELECT epoch FROM replica');
    this.#setEpoch = sql.prepare('INSERT OR REPLACE INTO replica VALUES (1, ?)');
  }

  /** The keys that wait longest. */
  first(most: number): readonly WaitingKey[] {
    return this.#sql.read(() => this.#first.all(most)) ?? [];
  }

  /** Whether a change of a key waits. For inside a transaction. */
  has(key: string): boolean {
    return this.#has.get(key) !== undefined;
  }

  /** A key needs not to be sent. For inside a transaction. */
  forget(key: string): void {
    this.#forget.run(key);
  }

  /** A key is to be sent. For inside a transaction. */
  note(key: string): void {
    this.#note.run(key);
  }

  /**
   * The store has lost these keys. Each machine sends what it has of them, which may be old: one that has changed a key meanwhile is right,
   * whenever it comes.
   */
  refill(keys: readonly string[]): void {
    nowPatiently(
      this.#sql,
      () => {
        for (const key of keys) {
          this.#refill.run(key);
        }
      },
      CHANGE_TRIES,
    );
  }

  /** Changes have been sent, by their numbers. False: the zone is busy. */
  sent(numbers: readonly number[]): boolean {
    return this.#sql.now(() => {
      for (const seq of numbers) {
        this.#sent.run(seq);
      }
    });
  }

  /** The store whose content the zone has, by a name that it was given when it was empty. */
  get epoch(): string | undefined {
    return this.#sql.read(() => this.#epoch.get());
  }

  set epoch(epoch: string) {
    nowPatiently(this.#sql, () => void this.#setEpoch.run(epoch), CHANGE_TRIES);
  }
}
