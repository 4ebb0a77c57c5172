// What may go wrong with a zone's file and what is done then is one state, with the statements that have to be compiled anew.
import { readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Logger } from '../log/error-log.js';
import { ALERT, NOTICE, WARN } from '../log/level.js';
import type { PreparedStatement, SqlValue, TransactionHooks } from './kind.js';
import { monotonicMs } from './monotonic.js';
import { areNumbers } from './row-bytes.js';
import { DatabaseConnection, type FaultKind, faultOf, MissingRow, makePrivate, type NativeStatement } from './sqlite.js';

/** A lock that another process holds for so long (milliseconds) belongs to a stuck process; transactions last microseconds. */
const STUCK_MS = 500;
/** How often (milliseconds) the file is looked at, and how long a worker counts for itself before it tries the file again. */
const LOOK_MS = 1000;
/** A file that soon fails again is tried less and less often, down to this. */
const LONGEST_MS = 32_000;
/**
 * How often opening is tried, some milliseconds apart, while another process sets the file up. A process that starts waits for one that has
 * lost its processor as long as for a lock that may be stuck; a worker that serves clients must not wait long.
 */
const START_TRIES = 400;
const REPAIR_TRIES = 3;
/** More repairs than this between two looks mean that the disk, not the file, is at fault. */
const MAX_REPAIRS = 3;
/** So often a file that cannot be opened is tried. */
const OPENINGS = 3;

const MISSING = 'missing';
/** A folder that changed less than this ago (milliseconds) may change again and bear the same time. */
const CLOCK_STEP_MS = 1000;

// Notes on its file which error came from it, since a transaction may span several files.
class ZoneStatement<Row> implements PreparedStatement<Row> {
  readonly text: string;
  readonly file: ZoneFile;
  native!: NativeStatement;

  constructor(text: string, file: ZoneFile) {
    this.text = text;
    this.file = file;
  }

  get(...args: SqlValue[]): Row | undefined {
    try {
      return this.native.get(...args) as Row | undefined;
    } catch (error) {
      this.file.failure = error;
      throw error;
    }
  }

  one(...args: SqlValue[]): Row {
    const row = this.get(...args);
    if (!areNumbers(row)) {
      this.file.failure = new MissingRow(this.text);
      throw this.file.failure;
    }
    return row as Row;
  }

  all(...args: SqlValue[]): Row[] {
    try {
      return this.native.all(...args) as Row[];
    } catch (error) {
      this.file.failure = error;
      throw error;
    }
  }

  run(...args: SqlValue[]): number {
    try {
      return this.native.run(...args).changes;
    } catch (error) {
      this.file.failure = error;
      throw error;
    }
  }
}

/**
 * One zone's database with all that can go wrong with it. The files are `BASE.N` with SQLite's `-wal` and `-shm` beside
 * it. Whoever finds number N damaged, replaced or gone removes it and goes on with N+1, and the others follow when they
 * look; a number is never used twice, so no two processes can pull a file from under each other. While no file can be
 * used (disk full or read-only, lock held by a stuck process), the worker counts for itself in its own memory.
 */
export class ZoneFile {
  readonly name: string;
  /** Grows each time the tables are new to this process. */
  epoch = 0;
  readonly hooks: TransactionHooks[] = [];
  /** The last error of a statement. */
  failure: unknown;
  readonly #base: string | undefined;
  readonly #ddl: string;
  readonly #log: Logger;
  readonly #statements: ZoneStatement<unknown>[] = [];
  #number = 0;
  /** The shared database; undefined while none can be opened. */
  #shared: DatabaseConnection | undefined;
  #private: DatabaseConnection | undefined;
  /** The database that counters are kept in now: the shared one, or the private one of this process. */
  #db!: DatabaseConnection;
  /** Inodes of the three files as this process opened them. */
  #inodes = '';
  #nextLook = 0;
  /** When the folder had last changed as this process looked for newer files in it; in milliseconds of Unix time. */
  #searchedAt = 0;
  #lockedSince = 0;
  #lastLocked = 0;
  /** Half of the time has passed after which a lock counts as stuck. */
  #halfWaited = false;
  /** What the others had committed then. */
  #othersVersion: number | undefined;
  #repairs = 0;
  /** When this process came back to the file, and how long it stays away from it next time. */
  #sharedSince = Number.NEGATIVE_INFINITY;
  #pause = LOOK_MS;

  /** Opens or makes the file, which may wait for a lock for some 800 ms. Without `base` there is no file to share. */
  constructor(name: string, base: string | undefined, ddl: string, log: Logger) {
    this.name = name;
    this.#base = base;
    this.#ddl = ddl;
    this.#log = log;
    if (base === undefined) {
      this.#private = new DatabaseConnection(undefined, ddl, 0);
      this.#nextLook = Number.POSITIVE_INFINITY;
      this.#use(this.#private);
      return;
    }
    this.#number = this.#newest();
    this.#openShared(START_TRIES);
  }

  /** True while the zone is this process's own and not shared. */
  get isolated(): boolean {
    return this.#db !== this.#shared;
  }

  prepare<Row>(text: string): PreparedStatement<Row> {
    const statement = new ZoneStatement<Row>(text, this);
    try {
      statement.native = this.#db.prepare(text);
    } catch (error) {
      if (this.#db.inTransaction) {
        // Whoever runs the transaction repairs the file, and begins again.
        this.failure = error;
        throw error;
      }
      this.recover(error);
      statement.native = this.#db.prepare(text);
    }
    this.#statements.push(statement);
    return statement;
  }

  /**
   * Begins a transaction for nothing when it is time to look at the file: a process that never writes would otherwise not notice that it
   * was replaced or came to harm.
   */
  lookBeforeRead(): void {
    if (monotonicMs() >= this.#nextLook) {
      this.lookNow();
    }
  }

  /**
   * Looks at once, and tries a file before its time that could not be used. False while the process counts for itself although the zone is
   * to be shared.
   */
  regain(): boolean {
    if (this.#base === undefined) {
      return true;
    }
    this.#nextLook = 0;
    this.lookNow();
    return !this.isolated;
  }

  /** Looks at once, unless the process is within a transaction. */
  lookNow(): void {
    if (this.#db.inTransaction) {
      return;
    }
    if (!this.isolated) {
      this.#nextLook = 0;
    }
    if (!this.begin()) {
      return;
    }
    try {
      // With its first one a process notes which files it has.
      this.commit();
    } catch (error) {
      this.failure = undefined;
      this.rollback();
      this.recover(error);
    }
  }

  /** Starts a transaction. False while another process holds the lock. */
  begin(): boolean {
    const now = monotonicMs();
    if (now >= this.#nextLook) {
      this.#look(now);
    }
    for (;;) {
      try {
        if (this.#db.begin()) {
          this.#lastLocked = 0;
          return true;
        }
      } catch (error) {
        this.recover(error);
        continue;
      }
      if (!this.#isStuck(now)) {
        return false;
      }
      this.#isolate('is locked by another process');
    }
  }

  // On an overloaded machine this worker may find the lock taken each time although others release it. As long as others commit, no one is
  // stuck.
  #isStuck(now: number): boolean {
    // A lock met again after a pause in between is another one.
    if (now - this.#lastLocked > STUCK_MS / 2) {
      this.#waitFrom(now);
    }
    this.#lastLocked = now;
    const waited = now - this.#lockedSince;
    if (waited < STUCK_MS / 2) {
      return false;
    }
    if (!this.#halfWaited) {
      this.#halfWaited = true;
      this.#othersVersion = this.#db.othersVersion();
      return false;
    }
    if (waited < STUCK_MS) {
      return false;
    }
    if (this.#othersVersion === this.#db.othersVersion()) {
      return true;
    }
    this.#waitFrom(now);
    return false;
  }

  #waitFrom(now: number): void {
    this.#lockedSince = now;
    this.#halfWaited = false;
  }

  commit(): void {
    try {
      this.#db.commit();
    } catch (error) {
      this.failure = error;
      throw error;
    }
    if (this.#inodes === '' && !this.isolated) {
      this.#inodes = this.#readInodes();
    }
  }

  rollback(): void {
    this.#db.rollback();
  }

  /**
   * Handles a statement that failed, outside a transaction or in one that was rolled back; the caller can then repeat it. Rethrows
   * bugs.
   */
  recover(error: unknown): void {
    const fault = faultOf(error);
    if (fault === undefined || this.isolated) {
      throw error;
    }
    this.#fault(fault, (error as Error).message);
  }

  close(): void {
    this.#shared?.close();
    this.#private?.close();
    this.#shared = this.#private = undefined;
  }

  #path(): string {
    return `${this.#base}.${this.#number}`;
  }

  // The highest number in the folder; other processes may have moved on.
  #newest(): number {
    const base = this.#base!;
    const prefix = `${basename(base)}.`;
    let newest = this.#number;
    try {
      for (const file of readdirSync(dirname(base))) {
        if (file.startsWith(prefix)) {
          newest = Math.max(newest, Number.parseInt(file.slice(prefix.length), 10) || 0);
        }
      }
    } catch {
      // Opening reports a folder that cannot be read.
    }
    return newest;
  }

  #openShared(tries: number): void {
    for (let opening = 1; ; opening++) {
      try {
        this.#shared = this.#connect(tries);
        this.#use(this.#shared);
        return;
      } catch (error) {
        const fault = faultOf(error);
        if (fault === undefined) {
          throw error;
        }
        // SQLite cannot open a file at the moment when the last other process that had it open removes what belongs to it.
        if (fault === 'unusable' && opening < OPENINGS) {
          continue;
        }
        this.#fault(fault, (error as Error).message);
        return;
      }
    }
  }

  #connect(tries: number): DatabaseConnection {
    this.#inodes = '';
    return new DatabaseConnection(this.#path(), this.#ddl, tries);
  }

  #fault(fault: FaultKind, message: string): void {
    if (fault === 'damaged' && ++this.#repairs <= MAX_REPAIRS) {
      this.#log.log(ALERT, `zone "${this.name}": "${this.#path()}" is damaged (${message}), started anew`);
      this.#replace();
    } else {
      this.#isolate(fault === 'locked' ? 'is locked by another process' : `cannot be used (${message})`);
    }
  }

  // Leaves the present file for the next number, or for the one that others have moved on to.
  #replace(): void {
    this.#shared?.close();
    this.#shared = undefined;
    this.#retire();
    this.#openShared(REPAIR_TRIES);
  }

  // Whoever looks for the newest file meanwhile must find one, or begins with the first number.
  #retire(): void {
    const old = this.#path();
    this.#number = Math.max(this.#newest(), this.#number + 1);
    try {
      makePrivate(this.#path());
    } catch {
      // Opening reports it.
    }
    for (const suffix of ['', '-wal', '-shm']) {
      try {
        rmSync(old + suffix, { force: true });
      } catch {
        // A read-only folder keeps it; the next number then cannot be opened either, and that is reported.
      }
    }
  }

  #isolate(reason: string): void {
    this.#log.log(ALERT, `zone "${this.name}": "${this.#path()}" ${reason}, this process counts for itself`);
    this.#private ??= new DatabaseConnection(undefined, this.#ddl, 0);
    const now = monotonicMs();
    this.#pause = now - this.#sharedSince < LONGEST_MS ? Math.min(this.#pause * 2, LONGEST_MS) : LOOK_MS;
    this.#nextLook = now + this.#pause;
    this.#lastLocked = 0;
    this.#use(this.#private);
  }

  #use(db: DatabaseConnection): void {
    const natives = this.#statements.map((statement) => db.prepare(statement.text));
    for (const [i, statement] of this.#statements.entries()) {
      statement.native = natives[i]!;
    }
    this.#db = db;
    this.epoch++;
  }

  // Once a second: is the file still the one in the folder, and can it be used again?
  #look(now: number): void {
    this.#nextLook = now + (this.isolated ? this.#pause : LOOK_MS);
    this.#repairs = 0;
    if (!this.isolated) {
      const inodes = this.#readInodes();
      if (this.#inodes === '' || inodes === '') {
        return;
      }
      const isSame = inodes === this.#inodes && !inodes.includes(MISSING);
      if (isSame && !this.#isLeft()) {
        return;
      }
      this.#log.log(WARN, `zone "${this.name}": "${this.#path()}" was removed or replaced, started anew`);
      this.#replace();
      return;
    }
    this.#tryShared();
    if (!this.isolated) {
      this.#sharedSince = now;
      this.#log.log(NOTICE, `zone "${this.name}": "${this.#path()}" is shared again`);
      this.#private!.close();
      this.#private = undefined;
    }
  }

  #tryShared(): void {
    try {
      if (this.#shared === undefined) {
        this.#number = this.#newest();
        this.#shared = this.#connect(0);
      }
      if (!this.#shared.begin()) {
        return;
      }
      // Writing the version proves that the disk takes writes.
      this.#shared.touch();
      this.#shared.commit();
      this.#use(this.#shared);
    } catch (error) {
      const fault = faultOf(error);
      if (fault === undefined) {
        throw error;
      }
      this.#shared?.close();
      this.#shared = undefined;
      if (fault === 'damaged') {
        this.#retire();
      }
    }
  }

  /**
   * Whether others have gone on with a newer file. A process that starts at the moment when somebody removes the newest one makes one of
   * its own, which nothing happens to.
   */
  #isLeft(): boolean {
    let changedAt: number;
    try {
      changedAt = statSync(dirname(this.#base!)).mtimeMs;
    } catch {
      return false;
    }
    if (changedAt === this.#searchedAt) {
      return false;
    }
    this.#searchedAt = Math.abs(Date.now() - changedAt) < CLOCK_STEP_MS ? 0 : changedAt;
    return this.#newest() > this.#number;
  }

  /** Which files these are; empty where the file system does not say. */
  #readInodes(): string {
    const path = this.#path();
    let inodes = '';
    try {
      for (const suffix of ['', '-wal', '-shm']) {
        const stat = statSync(path + suffix, { throwIfNoEntry: false });
        // A database is never empty once it was opened, and SQLite would go on for a while with what it remembers of it.
        inodes += ` ${stat === undefined || (suffix === '' && stat.size === 0) ? MISSING : stat.ino}`;
      }
    } catch {
      return '';
    }
    return inodes;
  }
}
