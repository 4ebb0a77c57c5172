import type { PreparedStatement, Sql, ZoneKind, ZoneRef } from '../../shared/zone/kind.js';

/** The zone that the workers keep sets of keys in, and its size in bytes. */
export const KEY_ZONE = 'sluice_jwt_key_urls';
export const KEY_ZONE_BYTES: number = 4 * 1024 * 1024;

/** Sets that nobody had again for so many milliseconds are of URLs that are in no configuration any more. */
const OLDEST = 7 * 24 * 3_600_000;

/** A set of keys as it came. */
export interface KeptSet {
  readonly body: Uint8Array;
  /** When it was had last, in milliseconds of the wall clock. */
  readonly at: number;
}

/** The last good sets of keys, for workers that start while a provider is down. */
export class KeyZone {
  readonly #sql: Sql;
  readonly #find: PreparedStatement<[body: unknown, at: unknown]>;
  readonly #keep: PreparedStatement<never>;
  readonly #drop: PreparedStatement<never>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#find = sql.prepare('SELECT body, at FROM sets WHERE url = ?');
    this.#keep = sql.prepare('INSERT OR REPLACE INTO sets VALUES (?, ?, ?)');
    this.#drop = sql.prepare('DELETE FROM sets WHERE at < ?');
  }

  /** The set of a URL and of who is trusted there; undefined where there was none. */
  find(name: string): KeptSet | undefined {
    const [body, at] = this.#sql.read(() => this.#find.get(name)) ?? [];
    return body instanceof Uint8Array && typeof at === 'number' ? { body, at } : undefined;
  }

  /** Keeps a set that was just had. */
  keep(name: string, body: Uint8Array): void {
    const now = Date.now();
    this.#sql.submit({
      work: () => {
        this.#keep.run(name, body, now);
        this.#drop.run(now - OLDEST);
      },
      after() {},
    });
  }
}

export type KeyZoneRef = ZoneRef<KeyZone, undefined>;

export const keyZone: ZoneKind<KeyZone, undefined> = {
  id: 'jwt_key_urls',
  ddl: 'CREATE TABLE IF NOT EXISTS sets (url TEXT PRIMARY KEY, body BLOB, at INTEGER) WITHOUT ROWID;',
  open: (sql) => new KeyZone(sql),
};
