import { closeSync, lstatSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Database from 'better-sqlite3';
import { loadCompiled } from '../system/compiled.js';
import type { SqlValue } from './kind.js';

/**
 * Why an operation failed. `locked`: another process holds the lock; `damaged`: the file is no sound database; `unusable`: no room,
 * no right, no disk.
 */
export type FaultKind = 'locked' | 'damaged' | 'unusable';

/** Pages (of 4 kB) in the write-ahead log that start a checkpoint: at most some hundreds of microseconds of copying. */
const CHECKPOINT_PAGES = 400;

/** Pages of a zone that a process keeps in memory, at most; each zone of each worker has such a cache. */
const CACHE_KB = 4096;

/** The file that the build makes of better-sqlite3's scripts; it does not exist when the sources run unbuilt. */
declare const SQLITE_PARTS: string | undefined;

type Sqlite = typeof Database;

/** What is in that file: the scripts, and the version of the package that they are from. */
interface Scripts {
  readonly version: string;
  readonly createDatabase: (addon: () => unknown, anyAddon: boolean) => Sqlite;
  readonly SqliteError: Sqlite['SqliteError'];
}

let loaded: Sqlite | undefined;

/** better-sqlite3, which the first caller loads: a process that only tests a configuration has no database. */
function sqlite(): Sqlite {
  if (loaded === undefined) {
    const made = load();
    // SQLite itself comes with the first database, for which the process may have other rights.
    new made(':memory:').close();
    loaded = made;
  }
  return loaded;
}

/** The package: its scripts are a dozen files, which it takes longer to find, to read and to compile than to load the addon. */
function load(): Sqlite {
  const require = createRequire(import.meta.url);
  if (typeof SQLITE_PARTS === 'string') {
    const scripts = loadCompiled<Scripts>(fileURLToPath(new URL(SQLITE_PARTS, import.meta.url)));
    const folder = dirname(dirname(require.resolve('better-sqlite3')));
    // The addon of another version, which somebody has installed, may expect other scripts.
    if (JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')).version === scripts.version) {
      const { getBinding } = require(`${folder}/lib/binding.js`) as { getBinding: () => unknown };
      return Object.assign(scripts.createDatabase(getBinding, true), { SqliteError: scripts.SqliteError });
    }
  }
  return require('better-sqlite3') as Sqlite;
}

/** Loads SQLite: for a process that takes on rights with which it could not read it. */
export const loadSqlite = (): void => void sqlite();

/** A statement compiled on one connection. */
export interface NativeStatement {
  get(...args: SqlValue[]): unknown;
  all(...args: SqlValue[]): unknown[];
  run(...args: SqlValue[]): { readonly changes: number };
}

/** One connection to a database file, or to a database in this process's memory. */
export class DatabaseConnection {
  readonly #db: Database.Database;
  readonly #begin: Database.Statement;
  readonly #commit: Database.Statement;
  readonly #version: Database.Statement;

  /**
   * Opens or creates the file; `undefined` gives a database in memory. Throws what {@link faultOf} names. A locked file is tried
   * `tries` times more, a millisecond or two apart.
   */
  constructor(path: string | undefined, ddl: string, tries: number) {
    if (path !== undefined) {
      makePrivate(path);
    }
    this.#db = new (sqlite())(path ?? ':memory:', { timeout: 0 });
    try {
      if (path !== undefined) {
        // A zone does not outlive a crash of the machine, so nothing is ever synced. No page of the database file is
        // mapped: a file that someone truncates must end in an error, not in SIGBUS.
        retryLocked(tries, () => this.#db.pragma('journal_mode = WAL'));
        this.#db.pragma('synchronous = OFF');
        this.#db.pragma('mmap_size = 0');
        this.#db.pragma(`cache_size = -${CACHE_KB}`);
        this.#db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
        this.#db.pragma(`journal_size_limit = ${4 * CHECKPOINT_PAGES * 4096}`);
      }
      this.#db.pragma('temp_store = MEMORY');
      this.#begin = this.#db.prepare('BEGIN IMMEDIATE');
      this.#commit = this.#db.prepare('COMMIT');
      this.#version = this.#db.prepare('PRAGMA data_version').pluck();
      retryLocked(tries, () => this.#db.exec(ddl));
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** Compiles a statement whose rows come as arrays, or bare when they have one column. */
  prepare(text: string): NativeStatement {
    const statement = this.#db.prepare(text);
    if (statement.reader) {
      return statement.columns().length === 1 ? statement.pluck() : statement.raw();
    }
    return statement;
  }

  /** Starts a writing transaction. False when another process holds the lock. */
  begin(): boolean {
    // The stack of an error that is caught at once would cost more than the attempt. V8 finds out where it comes from all the same, which
    // takes up to 20 µs: another attempt at once costs more than it gains, since the lock's holder may have lost the processor.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    try {
      this.#begin.run();
      return true;
    } catch (error) {
      if (faultOf(error) !== 'locked') {
        throw error;
      }
      return false;
    } finally {
      Error.stackTraceLimit = limit;
    }
  }

  commit(): void {
    this.#commit.run();
  }

  /** A number that another one follows once another connection has committed a change. undefined when it cannot be read. */
  othersVersion(): number | undefined {
    try {
      return this.#version.get() as number;
    } catch (error) {
      if (faultOf(error) === undefined) {
        throw error;
      }
      return undefined;
    }
  }

  /** Changes the file without changing its tables; tells by an error whether it takes writes. */
  touch(): void {
    this.#db.exec('PRAGMA user_version = 1');
  }

  /**
   * Whether no other connection, of this process or another, has the file open; false where that cannot be found out. Afterwards the file
   * is good for nothing but removal.
   */
  isAlone(): boolean {
    try {
      return this.#db.pragma('journal_mode = DELETE', { simple: true }) === 'delete';
    } catch (error) {
      if (faultOf(error) === undefined) {
        throw error;
      }
      return faultOf(error) === 'damaged';
    }
  }

  get inTransaction(): boolean {
    return this.#db.inTransaction;
  }

  /** Undoes the transaction, if there still is one. */
  rollback(): void {
    if (this.#db.inTransaction) {
      try {
        this.#db.exec('ROLLBACK');
      } catch (error) {
        // A damaged database may refuse even this; it is closed next.
        if (faultOf(error) === undefined) {
          throw error;
        }
      }
    }
  }

  close(): void {
    this.#db.close();
  }
}

/** A row of numbers is not there, or not sound, that the tables of a zone begin with. */
export class MissingRow extends Error {
  constructor(statement: string) {
    super(`no sound row for ${statement}`);
  }
}

/** Sorts an error: undefined when it is not the file's fault, which makes it a bug of ours. */
export function faultOf(error: unknown): FaultKind | undefined {
  if (error instanceof MissingRow) {
    return 'damaged';
  }
  if (!(error instanceof sqlite().SqliteError)) {
    // A failed system call, or what better-sqlite3 says of a missing folder.
    const { syscall } = error as NodeJS.ErrnoException;
    return syscall !== undefined || (error instanceof TypeError && error.message.includes('directory does not exist'))
      ? 'unusable'
      : undefined;
  }
  const code = error.code;
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED') || code === 'SQLITE_PROTOCOL') {
    return 'locked';
  }
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB' || code === 'SQLITE_FORMAT' || code === 'SQLITE_SCHEMA') {
    return 'damaged';
  }
  if (code === 'SQLITE_IOERR_SHORT_READ' || code === 'SQLITE_IOERR_READ' || code === 'SQLITE_IOERR_CORRUPTFS') {
    return 'damaged';
  }
  if (code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_CANTOPEN') || code.startsWith('SQLITE_READONLY')) {
    return 'unusable';
  }
  if (code === 'SQLITE_FULL' || code === 'SQLITE_PERM' || code === 'SQLITE_NOLFS' || code === 'SQLITE_NOMEM') {
    return 'unusable';
  }
  // The statements are right for the tables that a zone's kind makes, so these are others. What is said of transactions is our own mistake.
  const otherTables = (code === 'SQLITE_ERROR' && !error.message.includes('transaction')) || code === 'SQLITE_MISMATCH';
  return otherTables || code.startsWith('SQLITE_CONSTRAINT') ? 'damaged' : undefined;
}

/**
 * Makes an empty file that its owner alone may read and write; a file that exists stays. SQLite gives its other files the rights of this
 * one. An existing file is not opened here: closing it would give up the locks that this process may hold on it. Throws what the system
 * says.
 */
export function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !lstatSync(path).isFile()) {
      throw error;
    }
  }
}

const pause = new Int32Array(new SharedArrayBuffer(4));

// Several workers open one zone at the same moment, and the switch to WAL takes an exclusive lock.
function retryLocked(limit: number, operation: () => void): void {
  for (let tries = 0; ; tries++) {
    try {
      operation();
      return;
    } catch (error) {
      if (faultOf(error) !== 'locked' || tries >= limit) {
        throw error;
      }
      Atomics.wait(pause, 0, 0, 1 + Math.random() * 2);
    }
  }
}
