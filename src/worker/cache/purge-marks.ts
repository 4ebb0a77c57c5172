import type { PreparedStatement, Sql } from '../../shared/zone/kind.js';
import { preciseMs } from '../../shared/zone/monotonic.js';
import { nowPatiently } from '../../shared/zone/patience.js';
import { md5Hex } from '../digest/md5.js';
import type { Purge } from './purge-text.js';

/** How many purges are remembered for responses that are on their way. */
const KEPT = 4096;
/** So long (milliseconds) after a purge others are expected. */
const RECENT_MS = 60_000;
/** So often, a millisecond apart, a zone is tried that another process holds. */
const TRIES = 3;

// `at` is in milliseconds of the machine's monotonic clock. Keys stand here by their digests. `latest` is the latest purge, `unknown` the
// latest of those that are not remembered any more.
export const MARKS_DDL = `CREATE TABLE IF NOT EXISTS marks (seq INTEGER PRIMARY KEY AUTOINCREMENT, what TEXT, text TEXT, soft INTEGER, at REAL, UNIQUE (what, text, soft));
  CREATE TABLE IF NOT EXISTS purging (id INTEGER PRIMARY KEY, latest REAL, unknown REAL);
  INSERT INTO purging SELECT 1, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM purging);
  CREATE TABLE IF NOT EXISTS purge_counts (kind TEXT PRIMARY KEY, purges INTEGER, entries INTEGER) WITHOUT ROWID;`;

/** What was purged since a moment: nothing, or what makes an entry stale, or what takes it off. */
export type Purged = 'no' | 'soft' | 'hard';

/** What is done with the file of an entry. */
export interface FileWork {
  work(): void;
  /** Tells the index, in the transaction in which the work was done. */
  note?(): void;
  /** Goes on, whether the work was done or not. */
  after(): void;
}

/** How often something was purged in one way, and how many entries that took. */
export interface PurgeCount {
  readonly what: Purge['what'];
  readonly soft: boolean;
  readonly purges: number;
  readonly entries: number;
}

/** All ways, in the order in which they are shown. */
const WAYS = (['key', 'prefix', 'tag'] as const).flatMap((what) => [false, true].map((soft) => ({ what, soft })));
const kindOf = (purge: Pick<Purge, 'what' | 'soft'>): string => (purge.soft ? `soft-${purge.what}` : purge.what);

/**
 * The latest purges of a cache. A response that was asked for before a purge and comes after it finds it here, so that it is not kept as if
 * it were new. Operations but those named "read" run inside a transaction.
 */
export class PurgeMarks {
  /** The latest purge that this process has seen. */
  #seen = 0;
  readonly #sql: Sql;
  readonly #note: PreparedStatement<never>;
  readonly #newest: PreparedStatement<number>;
  readonly #dropped: PreparedStatement<number | null>;
  readonly #drop: PreparedStatement<never>;
  readonly #latest: PreparedStatement<never>;
  readonly #unknown: PreparedStatement<never>;
  readonly #state: PreparedStatement<[latest: number, unknown: number]>;
  readonly #of: PreparedStatement<number>;
  readonly #prefixes: PreparedStatement<[text: string, soft: number]>;
  readonly #count: PreparedStatement<never>;
  readonly #took: PreparedStatement<never>;
  readonly #counts: PreparedStatement<[kind: string, purges: number, entries: number]>;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#note = sql.prepare(
      'INSERT INTO marks (what, text, soft, at) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET at = max(at, excluded.at)',
    );
    this.#newest = sql.prepare('SELECT seq FROM marks ORDER BY seq DESC LIMIT 1');
    this.#dropped = sql.prepare('SELECT max(at) FROM marks WHERE seq <= ?');
    this.#drop = sql.prepare('DELETE FROM marks WHERE seq <= ?');
    this.#latest = sql.prepare('UPDATE purging SET latest = max(latest, ?)');
    this.#unknown = sql.prepare('UPDATE purging SET unknown = max(unknown, ?)');
    this.#state = sql.prepare('SELECT latest, unknown FROM purging');
    this.#of = sql.prepare('SELECT soft FROM marks WHERE what = ? AND text = ? AND at >= ? ORDER BY soft LIMIT 1');
    this.#prefixes = sql.prepare("SELECT text, soft FROM marks WHERE what = 'prefix' AND at >= ?");
    this.#count = sql.prepare('INSERT INTO purge_counts VALUES (?, 1, 0) ON CONFLICT DO UPDATE SET purges = purges + 1');
    this.#took = sql.prepare('UPDATE purge_counts SET entries = entries + ? WHERE kind = ?');
    this.#counts = sql.prepare('SELECT kind, purges, entries FROM purge_counts');
  }

  /** Notes a purge that was made at a moment of the monotonic clock. */
  note(purge: Omit<Purge, 'at'>, at: number): void {
    const { what, text } = purge;
    this.#note.run(what, what === 'key' ? md5Hex(text) : text, purge.soft ? 1 : 0, at);
    this.#latest.run(at);
    this.#count.run(kindOf(purge));
    const last = (this.#newest.get() ?? 0) - KEPT;
    const dropped = this.#dropped.get(last) ?? null;
    if (dropped !== null) {
      this.#drop.run(last);
      this.#unknown.run(dropped);
    }
  }

  /** A purge has taken so many entries. */
  took(purge: Omit<Purge, 'at'>, entries: number): void {
    this.#took.run(entries, kindOf(purge));
  }

  /** What was purged of an entry with these tags since it was asked for. Within a transaction, or read. */
  since(key: string, tags: readonly string[], asked: number): Purged {
    const [latest, unknown] = this.#state.one();
    this.#seen = latest;
    if (latest < asked) {
      return 'no';
    }
    if (unknown >= asked) {
      return 'hard';
    }
    let soft = this.#of.get('key', md5Hex(key), asked) ?? 2;
    for (let i = 0; i < tags.length && soft !== 0; i++) {
      soft = Math.min(soft, this.#of.get('tag', tags[i]!, asked) ?? 2);
    }
    if (soft !== 0) {
      for (const [prefix, softly] of this.#prefixes.all(asked)) {
        if (key.startsWith(prefix)) {
          soft = Math.min(soft, softly);
        }
      }
    }
    return soft === 0 ? 'hard' : soft === 1 ? 'soft' : 'no';
  }

  /** Whether a response was purged since it was asked for, outside of a transaction. */
  readSince(key: string, tags: readonly string[], asked: number): Purged {
    return this.#sql.read(() => this.since(key, tags, asked)) ?? 'no';
  }

  /**
   * Does something with files if no more was purged of an entry since it was asked for than was just read. While purges come, none comes
   * between the look, the work and its note in the index, so that nobody sees what was asked for before it; the first one after a while
   * may, and whoever notes the file finds it. Returns false where another process holds the zone: all is done at the end of the tick.
   */
  unlessPurged(key: string, tags: readonly string[], asked: number, known: Purged, { work, note, after }: FileWork): boolean {
    if (preciseMs() - this.#seen > RECENT_MS) {
      work();
      after();
      return true;
    }
    let done = false;
    // A transaction that is repeated finds the work done and the note gone.
    const look = (): void => {
      if (done || this.since(key, tags, asked) === known) {
        if (!done) {
          done = true;
          work();
        }
        note?.();
      }
    };
    if (nowPatiently(this.#sql, look, TRIES)) {
      after();
      return true;
    }
    this.#sql.submit({ work: look, after });
    return false;
  }

  /** How often was purged in each way. Read. */
  counts(): readonly PurgeCount[] {
    const rows = this.#sql.read(() => this.#counts.all()) ?? [];
    return WAYS.map((way) => {
      const row = rows.find(([kind]) => kind === kindOf(way));
      return { ...way, purges: row?.[1] ?? 0, entries: row?.[2] ?? 0 };
    });
  }
}
