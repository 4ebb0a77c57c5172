import { randomBytes } from 'node:crypto';
import { Lru } from '../../shared/collection/lru.js';
import { nowSeconds } from '../../shared/time/unix-time.js';
import type { PreparedStatement, Sql, ZoneJob, ZoneKind, ZoneStats } from '../../shared/zone/kind.js';
import { nowPatiently } from '../../shared/zone/patience.js';
import { slabCapacity, slabCost } from '../../shared/zone/slab.js';

/** A place that keeps sessions under their ids for a time. */
export interface TlsSessionStore {
  get(id: Buffer): Buffer | undefined;
  /** Calls back once the session can be found by all who share the store; `timeout` in seconds. */
  put(id: Buffer, session: Buffer, timeout: number, done: () => void): void;
}

/** Bytes that nginx stores beside each session: ngx_ssl_sess_id_t. */
const NODE = 128;
/** Keys of tickets: the one in use, the one before it, the one to come. */
export const CURRENT = 0;
const PREVIOUS = 1;
export const NEXT = 2;

/** Bytes of such a key: name, AES key, HMAC key of 16 each. */
const KEY = 48;

/** A key that tickets are encrypted with; `expire` in seconds of the wall clock, 0 while it is not in use. */
export interface StoredKey {
  /** Name, AES key, HMAC key: 16 bytes each. */
  key: Buffer;
  expire: number;
}

/** Sessions and ticket keys that all workers share. nginx: ngx_ssl_session_cache_t. */
export class SessionZone implements TlsSessionStore {
  readonly #sql: Sql;
  readonly #capacity: number;
  readonly #get: PreparedStatement<[Uint8Array, number]>;
  readonly #drop: PreparedStatement<never>;
  readonly #insert: PreparedStatement<never>;
  readonly #oldest: PreparedStatement<[number, number, number]>;
  readonly #forget: PreparedStatement<never>;
  readonly #used: PreparedStatement<number>;
  readonly #setUsed: PreparedStatement<never>;
  readonly #count: PreparedStatement<number>;
  readonly #keys: PreparedStatement<[number, Uint8Array, number]>;
  readonly #dropKeys: PreparedStatement<never>;
  readonly #addKey: PreparedStatement<never>;

  constructor(sql: Sql, bytes: number) {
    this.#sql = sql;
    this.#capacity = slabCapacity(bytes);
    this.#get = sql.prepare('SELECT der, expires FROM sessions WHERE id = ?');
    this.#drop = sql.prepare('DELETE FROM sessions WHERE id = ?');
    this.#insert = sql.prepare('INSERT OR REPLACE INTO sessions (id, expires, cost, der) VALUES (?, ?, ?, ?)');
    this.#oldest = sql.prepare('SELECT seq, expires, cost FROM sessions ORDER BY seq LIMIT 1');
    this.#forget = sql.prepare('DELETE FROM sessions WHERE seq = ?');
    this.#used = sql.prepare('SELECT used FROM room');
    this.#setUsed = sql.prepare('UPDATE room SET used = ?');
    this.#count = sql.prepare('SELECT count(*) FROM sessions');
    this.#keys = sql.prepare('SELECT slot, key, expire FROM ticket_keys ORDER BY slot');
    this.#dropKeys = sql.prepare('DELETE FROM ticket_keys');
    this.#addKey = sql.prepare('INSERT INTO ticket_keys VALUES (?, ?, ?)');
  }

  get(id: Buffer): Buffer | undefined {
    const row = this.#sql.read(() => this.#get.get(id.toString('hex')));
    return row === undefined || !(row[0] instanceof Uint8Array) || !(row[1] > nowSeconds()) ? undefined : Buffer.from(row[0]);
  }

  put(id: Buffer, session: Buffer, timeout: number, done: () => void): void {
    this.#sql.submit(new Put(this, id.toString('hex'), session, nowSeconds() + timeout, done));
  }

  /** Stores a session and forgets the oldest ones, as far as they have expired or their room is needed. For inside a transaction. */
  store(id: string, session: Buffer, expires: number): void {
    const now = nowSeconds();
    const cost = slabCost(NODE + session.length);
    if (cost > this.#capacity) {
      return;
    }
    let used = this.#used.one() + cost;
    for (let expired = 0; ; ) {
      const oldest = this.#oldest.get();
      if (oldest === undefined) {
        // What was counted beside no session came from harm.
        used = cost;
        break;
      }
      const [seq, until, size] = oldest;
      const full = used > this.#capacity;
      if (!full && (until > now || expired === 2)) {
        break;
      }
      if (until <= now) {
        expired++;
      }
      if (this.#forget.run(seq) === 0) {
        break;
      }
      used -= size;
    }
    this.#drop.run(id);
    this.#insert.run(id, expires, cost, session);
    this.#setUsed.run(Math.max(cost, used));
  }

  /** For a status page; runs without a transaction. */
  stats(): ZoneStats {
    return { entries: this.#count.one(), used: this.#used.one(), evictions: 0, rejections: 0 };
  }

  /**
   * Brings the keys in `keys` up to date with the zone and changes them when it is time. A key is in use for one `timeout` (seconds) and
   * opens tickets for another. The key to come is known one step ahead, so that no worker meets a ticket whose key it cannot know.
   * Returns whether they were looked at anew. nginx: ngx_ssl_rotate_ticket_keys.
   */
  rotate(keys: StoredKey[], timeout: number): boolean {
    const now = nowSeconds();
    const expire = now + timeout;
    if (keys.length === 3 && keys[CURRENT]!.expire >= expire && keys[PREVIOUS]!.expire >= now) {
      return false;
    }
    const work = (): void => {
      const rows = this.#keys.all().filter(([slot, key, until], i) => slot === i && isKey(key) && Number.isSafeInteger(until));
      let stored = rows.map(([, key, until]) => ({ key: Buffer.from(key), expire: until }));
      if (stored.length !== 3) {
        const key = randomBytes(KEY);
        stored = [
          { key, expire },
          { key, expire: 0 },
          { key, expire: 0 },
        ];
      }
      if (stored[PREVIOUS]!.expire < now) {
        stored[PREVIOUS] = { ...stored[CURRENT]! };
        stored[CURRENT] = { ...stored[NEXT]! };
        stored[NEXT] = { key: randomBytes(KEY), expire: 0 };
      }
      if (expire > stored[CURRENT]!.expire) {
        stored[CURRENT]!.expire = expire;
      }
      // What came to harm goes, too: rows that no key keeps apart would only become more.
      this.#dropKeys.run();
      for (const [slot, { key, expire: until }] of stored.entries()) {
        this.#addKey.run(slot, key, until);
      }
      keys.splice(0, keys.length, ...stored);
    };
    nowPatiently(this.#sql, work, 5);
    if (keys.length === 3) {
      return true;
    }
    // Another process holds the zone just now: this one ticket gets a key of this worker's own.
    const key = randomBytes(KEY);
    keys.push({ key, expire: 0 }, { key, expire: 0 }, { key, expire: 0 });
    return true;
  }
}

const isKey = (key: unknown): boolean => key instanceof Uint8Array && key.length === KEY;

class Put implements ZoneJob {
  readonly #zone: SessionZone;
  readonly #id: string;
  readonly #session: Buffer;
  readonly #expires: number;
  readonly after: () => void;

  constructor(zone: SessionZone, id: string, session: Buffer, expires: number, done: () => void) {
    this.after = done;
    this.#zone = zone;
    this.#id = id;
    this.#session = session;
    this.#expires = expires;
  }

  work(): void {
    this.#zone.store(this.#id, this.#session, this.#expires);
  }
}

/** The kind of zone that `ssl_session_cache shared:NAME:SIZE` declares. */
export const sessionZone: ZoneKind<SessionZone, undefined> = {
  id: 'ssl_session_cache',
  ddl: `CREATE TABLE IF NOT EXISTS sessions (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, expires INTEGER, cost INTEGER, der BLOB);
    CREATE TABLE IF NOT EXISTS room (id INTEGER PRIMARY KEY, used INTEGER);
    INSERT INTO room SELECT 1, 0 WHERE NOT EXISTS (SELECT 1 FROM room);
    CREATE TABLE IF NOT EXISTS ticket_keys (slot INTEGER PRIMARY KEY, key BLOB, expire INTEGER);`,
  open: (sql, zone) => new SessionZone(sql, zone.bytes),
  stats: (zone) => zone.stats(),
};

/** The kind of zone that `ssl_ocsp_cache` declares: statuses are kept as sessions are, by what names a certificate to its responder. */
export const statusZone: ZoneKind<SessionZone, undefined> = { ...sessionZone, id: 'ssl_ocsp_cache' };

/** Sessions that one worker keeps for itself: `ssl_session_cache builtin`. */
export class BuiltinSessions implements TlsSessionStore {
  readonly #sessions: Lru<{ readonly session: Buffer; readonly expires: number }>;

  /** `max` is a number of sessions. */
  constructor(max: number) {
    this.#sessions = new Lru(max);
  }

  get(id: Buffer): Buffer | undefined {
    const found = this.#sessions.get(id.toString('latin1'));
    return found === undefined || found.expires <= nowSeconds() ? undefined : found.session;
  }

  put(id: Buffer, session: Buffer, timeout: number, done: () => void): void {
    this.#sessions.set(id.toString('latin1'), { session, expires: nowSeconds() + timeout });
    done();
  }
}
