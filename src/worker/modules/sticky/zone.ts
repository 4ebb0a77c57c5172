import type { PreparedStatement, Sql, ZoneKind, ZoneRef, ZoneStats } from '../../../shared/zone/kind.js';
import { monotonicMs } from '../../../shared/zone/monotonic.js';
import { CHANGE_TRIES, nowPatiently } from '../../../shared/zone/patience.js';
import { slabCapacity, slabCost } from '../../../shared/zone/slab.js';
import { noteKey, OUTBOX_DDL, Outbox } from '../../fleet/outbox.js';
import type { ReplicaChange, ReplicaValue, ReplicaZone } from '../../fleet/replica-zone.js';

/** Whose sessions a zone holds, and for how long. */
export interface StickyZoneData {
  /** Name of the `upstream {}`. */
  readonly upstream: string;
  /** Milliseconds after its last use when a session is forgotten. */
  readonly timeout: number;
  /** All machines of a fleet know the sessions. */
  readonly sync: boolean;
}

/** A session as a zone knows it. */
export interface StickySession {
  /** The server's `route`, or the digest that replaces it. */
  readonly sid: string;
  /** Milliseconds of the machine's monotonic clock at the last use. */
  readonly last: number;
}

/** Bytes that a session takes in nginx. nginx: ngx_http_upstream_sticky_sess_node_t. */
const NODE = 144;
/** How many expired sessions go for each one that is added: more than one, so that a backlog gets shorter. */
const SWEEP = 4;

const DDL = `CREATE TABLE IF NOT EXISTS sessions (key TEXT PRIMARY KEY, sid TEXT, last INTEGER) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS sessions_by_last ON sessions (last);
  CREATE TABLE IF NOT EXISTS meta (id INTEGER PRIMARY KEY, entries INTEGER, evictions INTEGER);
  INSERT INTO meta SELECT 1, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM meta);`;

/** The fleet is told of a session's use when a new part of this number of its timeout has begun. */
const PARTS = 4;

const syncDdl = (timeout: number): string => {
  const part = Math.max(1, Math.floor(timeout / PARTS));
  return `${OUTBOX_DDL}
    CREATE TRIGGER IF NOT EXISTS sessions_put AFTER INSERT ON sessions BEGIN ${noteKey('new')} END;
    CREATE TRIGGER IF NOT EXISTS sessions_used AFTER UPDATE ON sessions
      WHEN new.sid <> old.sid OR new.last / ${part} <> old.last / ${part} BEGIN ${noteKey('new')} END;`;
};

/** Sessions by a digest of their names. nginx: ngx_http_upstream_sticky_sess_t. */
export class StickyZone implements ReplicaZone {
  readonly sql: Sql;
  readonly replicaName: string;
  readonly #outbox: Outbox | undefined;
  readonly #delete: PreparedStatement<never>;
  readonly #keys: PreparedStatement<string>;
  readonly timeout: number;
  /** How many sessions there is room for. */
  readonly #capacity: number;
  readonly #find: PreparedStatement<[string, number]>;
  readonly #insert: PreparedStatement<never>;
  readonly #update: PreparedStatement<never>;
  readonly #sweep: PreparedStatement<never>;
  readonly #dropOldest: PreparedStatement<never>;
  readonly #meta: PreparedStatement<[number, number]>;
  readonly #writeMeta: PreparedStatement<never>;
  readonly #live: PreparedStatement<number>;

  constructor(sql: Sql, { name, bytes, data }: { readonly name: string; readonly bytes: number; readonly data: StickyZoneData }) {
    this.sql = sql;
    this.replicaName = `sticky:${name}`;
    this.#outbox = data.sync ? new Outbox(sql) : undefined;
    this.#delete = sql.prepare('DELETE FROM sessions WHERE key = ?');
    this.#keys = sql.prepare('SELECT key FROM sessions WHERE last > ?');
    this.timeout = data.timeout;
    this.#capacity = Math.max(Math.floor(slabCapacity(bytes) / slabCost(NODE)), 1);
    this.#find = sql.prepare('SELECT sid, last FROM sessions WHERE key = ?');
    this.#insert = sql.prepare('INSERT INTO sessions VALUES (?, ?, ?)');
    this.#update = sql.prepare('UPDATE sessions SET sid = ?, last = ? WHERE key = ?');
    this.#sweep = sql.prepare('DELETE FROM sessions WHERE key IN (SELECT key FROM sessions WHERE last <= ? ORDER BY last LIMIT ?)');
    this.#dropOldest = sql.prepare('DELETE FROM sessions WHERE key IN (SELECT key FROM sessions ORDER BY last LIMIT 1)');
    this.#meta = sql.prepare('SELECT entries, evictions FROM meta');
    this.#writeMeta = sql.prepare('UPDATE meta SET entries = ?, evictions = ?');
    this.#live = sql.prepare('SELECT count(*) FROM sessions WHERE last > ?');
  }

  /** The session of a key, unless it has expired. Needs no transaction. */
  find(key: string): StickySession | undefined {
    const row = this.#find.get(key);
    return row === undefined || row[1] <= monotonicMs() - this.timeout ? undefined : { sid: row[0], last: row[1] };
  }

  /**
   * Binds a session to a server, as of now. One that is not known is added only with `create`. For inside a transaction. Returns false when
   * the zone was full, so that the session used least recently had to go.
   */
  learn(key: string, sid: string, create: boolean): boolean {
    const now = monotonicMs();
    const row = this.#find.get(key);
    if (row !== undefined && (create || row[1] > now - this.timeout)) {
      this.#update.run(sid, now, key);
    } else if (create) {
      return this.#add(key, sid, now);
    }
    return true;
  }

  get outbox(): Outbox {
    return this.#outbox!;
  }

  current(key: string): ReplicaValue | undefined {
    const session = this.sql.read(() => this.find(key));
    return session === undefined ? undefined : { text: session.sid, life: Math.max(1, session.last + this.timeout - monotonicMs()) };
  }

  takeOver(changes: readonly ReplicaChange[]): void {
    const done = nowPatiently(
      this.sql,
      () => {
        for (const { key, value } of changes) {
          if (this.outbox.has(key)) {
            continue;
          }
          if (value === undefined) {
            this.#delete.run(key);
          } else {
            this.learn(key, value.text, true);
            this.#update.run(value.text, monotonicMs() + Math.min(0, Math.floor(value.life) - this.timeout), key);
          }
          this.outbox.forget(key);
        }
      },
      CHANGE_TRIES,
    );
    if (!done) {
      throw new Error('the sticky zone is held by another process');
    }
  }

  replicaKeys(): readonly string[] {
    return this.sql.read(() => this.#keys.all(monotonicMs() - this.timeout)) ?? [];
  }

  // nginx: ngx_http_upstream_sticky_sess_create.
  #add(key: string, sid: string, now: number): boolean {
    let [entries, evictions] = this.#meta.one();
    entries -= this.#sweep.run(now - this.timeout, SWEEP);
    const full = entries >= this.#capacity;
    if (full) {
      entries -= this.#dropOldest.run();
      evictions++;
    }
    this.#insert.run(key, sid, now);
    this.#writeMeta.run(entries + 1, evictions);
    return !full;
  }

  /** For a status page; runs without a transaction. */
  stats(): ZoneStats {
    const entries = this.#live.one(monotonicMs() - this.timeout);
    return { entries, used: entries * slabCost(NODE), evictions: this.#meta.one()[1], rejections: 0 };
  }
}

export type SessionZoneRef = ZoneRef<StickyZone, StickyZoneData>;

/** The kind of zone that `sticky learn` declares. */
export const stickyZone: ZoneKind<StickyZone, StickyZoneData> = {
  id: 'sticky',
  ddl: DDL,
  moreDdl: (data) => (data?.sync ? syncDdl(data.timeout) : ''),
  open: (sql, zone) => new StickyZone(sql, zone),
  stats: (zone) => zone.stats(),
  // nginx: the first part of ngx_http_upstream_sticky_sess_init_zone.
  conflict: (name, before, after) =>
    before.upstream === after.upstream
      ? undefined
      : `sticky zone "${name}" is used in upstream "${after.upstream}" while previously it was used in upstream "${before.upstream}"`,
};
