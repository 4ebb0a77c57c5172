import { rmSync } from 'node:fs';
import { fsPath } from '../files/fs-path.js';
import { DatabaseConnection, faultOf, type NativeStatement } from './sqlite.js';

/** How often a file that another process has locked is tried again. */
const TRIES = 20;
/** Pages of 4 kB that a file may have. */
const MAX_PAGES = 16384;

interface Open {
  readonly db: DatabaseConnection;
  readonly write: NativeStatement;
  readonly trim: NativeStatement;
  readonly shorten: NativeStatement;
  readonly read: NativeStatement;
}

/**
 * Texts by time, at several intervals, in a file that outlives the service. It has at most 64 MB: when it is full, the older half of an
 * interval goes. A damaged file is replaced.
 */
export class Journal {
  readonly #path: string;
  #open: Open | undefined = undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Adds a text at a time (seconds) of an interval, in place of one that is there, and drops those before `oldest`. Returns the error if
   * the file cannot be used; it is tried again with the next call.
   */
  add(interval: number, at: number, text: string, oldest: number): Error | undefined {
    return this.#try(({ write, trim, shorten }) => {
      trim.run(interval, oldest);
      try {
        write.run(interval, at, text);
      } catch (error) {
        if ((error as { code?: string }).code !== 'SQLITE_FULL') {
          throw error;
        }
        shorten.run(interval, interval);
        write.run(interval, at, text);
      }
    });
  }

  /** The texts of an interval from a time on, oldest first; none while the file cannot be used. */
  read(interval: number, from: number): [at: number, text: string][] {
    let rows: [number, string][] = [];
    this.#try(({ read }) => {
      rows = read.all(interval, from) as [number, string][];
    });
    return rows;
  }

  close(): void {
    this.#open?.db.close();
    this.#open = undefined;
  }

  #try(work: (open: Open) => void): Error | undefined {
    try {
      this.#open ??= openJournal(this.#path);
      work(this.#open);
      return undefined;
    } catch (error) {
      const fault = faultOf(error);
      if (fault === undefined) {
        throw error;
      }
      if (fault !== 'locked') {
        this.close();
      }
      if (fault === 'damaged') {
        for (const end of ['', '-wal', '-shm']) {
          rmSync(fsPath(this.#path + end), { force: true });
        }
      }
      return error as Error;
    }
  }
}

function openJournal(path: string): Open {
  const db = new DatabaseConnection(
    path,
    `PRAGMA max_page_count = ${MAX_PAGES};
    CREATE TABLE IF NOT EXISTS samples (interval INTEGER, at INTEGER, text TEXT, PRIMARY KEY (interval, at)) WITHOUT ROWID`,
    TRIES,
  );
  return {
    db,
    write: db.prepare('INSERT OR REPLACE INTO samples VALUES (?, ?, ?)'),
    trim: db.prepare('DELETE FROM samples WHERE interval = ? AND at < ?'),
    shorten: db.prepare('DELETE FROM samples WHERE interval = ? AND at < (SELECT (min(at) + max(at)) / 2 FROM samples WHERE interval = ?)'),
    read: db.prepare('SELECT at, text FROM samples WHERE interval = ? AND at >= ? ORDER BY at'),
  };
}
