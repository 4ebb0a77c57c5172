import type { PreparedStatement, Sql, ZoneKind, ZoneRef } from '../../../shared/zone/kind.js';
import { nowInNewest } from '../../../shared/zone/patience.js';
import { noteKey, OUTBOX_DDL, Outbox } from '../../fleet/outbox.js';
import type { SealedZone } from '../../fleet/settings.js';

/** The text of a server that was taken away. */
export const REMOVED = 'removed';

export const SERVER_CHANGES_BYTES: number = 256 * 1024;

export type ServerChangesRef = ZoneRef<ServerChanges, SealedZone>;

/** What was changed of the servers of groups while the server ran, for all machines of a fleet: a text for each server. */
export class ServerChanges {
  readonly sql: Sql;
  readonly outbox: Outbox;
  readonly #get: PreparedStatement<string>;
  readonly #put: PreparedStatement<never>;
  readonly #keys: PreparedStatement<string>;

  constructor(sql: Sql) {
    this.sql = sql;
    this.outbox = new Outbox(sql);
    this.#get = sql.prepare('SELECT text FROM servers WHERE key = ?');
    this.#put = sql.prepare('INSERT OR REPLACE INTO servers VALUES (?, ?)');
    this.#keys = sql.prepare('SELECT key FROM servers');
  }

  get(key: string): string | undefined {
    const text: unknown = this.sql.read(() => this.#get.get(key));
    return typeof text === 'string' ? text : undefined;
  }

  keys(): readonly string[] {
    return this.sql.read(() => this.#keys.all()) ?? [];
  }

  /** For inside a transaction. */
  put(key: string, text: string): void {
    this.#put.run(key, text);
  }

  /** Notes changes of this machine. */
  note(changes: readonly (readonly [key: string, text: string])[]): boolean {
    const work = (): void => {
      for (const [key, text] of changes) {
        this.#put.run(key, text);
      }
    };
    return nowInNewest(this.sql, work);
  }
}

/** The kind of zone that `sync` of an upstream's `zone` declares. */
export const serverChangesZone: ZoneKind<ServerChanges, SealedZone> = {
  id: 'upstream_changes',
  ddl: `CREATE TABLE IF NOT EXISTS servers (key TEXT PRIMARY KEY, text TEXT);
    ${OUTBOX_DDL}
    CREATE TRIGGER IF NOT EXISTS note_insert AFTER INSERT ON servers BEGIN ${noteKey('new')} END;
    CREATE TRIGGER IF NOT EXISTS note_update AFTER UPDATE ON servers BEGIN ${noteKey('new')} END;`,
  open: (sql) => new ServerChanges(sql),
};
