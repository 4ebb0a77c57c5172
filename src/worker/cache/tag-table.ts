import type { PreparedStatement, Sql } from '../../shared/zone/kind.js';

/** The table of tags, and what keeps it to the entries that there are. `room` of an entry is 0 where it has no tags. */
export const TAG_DDL = `CREATE TABLE IF NOT EXISTS tags (tag TEXT, hash TEXT, PRIMARY KEY (tag, hash)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS by_hash ON tags (hash);
  CREATE TRIGGER IF NOT EXISTS replaced AFTER UPDATE OF room ON entries WHEN old.room > 0 BEGIN DELETE FROM tags WHERE hash = old.hash; END;
  CREATE TRIGGER IF NOT EXISTS untagged AFTER DELETE ON entries WHEN old.room > 0 BEGIN DELETE FROM tags WHERE hash = old.hash; END;`;

/** Which entries a tag has. What an entry's own tags are its file says; this is where to look. Operations run inside a transaction. */
export class TagTable {
  readonly #sql: Sql;
  readonly #put: PreparedStatement<never>;
  readonly #drop: PreparedStatement<never>;
  readonly #hashes: PreparedStatement<string>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#put = sql.prepare('INSERT OR IGNORE INTO tags VALUES (?, ?)');
    this.#drop = sql.prepare('DELETE FROM tags WHERE tag = ? AND hash = ?');
    this.#hashes = sql.prepare('SELECT hash FROM tags WHERE tag = ? AND hash > ? ORDER BY hash LIMIT ?');
  }

  put(hash: string, tags: readonly string[]): void {
    for (const tag of tags) {
      this.#put.run(tag, hash);
    }
  }

  /** An entry does not have the tag any more. */
  drop(tag: string, hash: string): void {
    this.#drop.run(tag, hash);
  }

  /** Up to `limit` digests of entries with a tag, in their order, from beyond one of them. Read. */
  hashesAfter(tag: string, hash: string, limit: number): string[] {
    return this.#sql.read(() => this.#hashes.all(tag, hash, limit)) ?? [];
  }
}
