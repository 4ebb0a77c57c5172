import { accessSync, chownSync, constants, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseConnection, faultOf, loadSqlite } from './sqlite.js';

const PREFIX = 'sluice-';
/** What mkdtemp makes of that. */
const OURS = /^sluice-[A-Za-z0-9]{6}$/;
const OWNER = 'owner';
/** From its first reading on a connection holds the lock that tells of it. */
const READ = 'SELECT 1 FROM sqlite_schema';
/** So young a folder (milliseconds) is left alone: its owner may not have opened its files yet. */
const SETTLE_MS = 2000;

/**
 * The folder for zone files of one running service: private to the worker's user, and removed when the service ends. Folders of services
 * that were killed go when the next one starts, unless workers still use them that outlived their master.
 */
export class RunDirectory {
  readonly path: string;
  readonly #parent: string;
  readonly #uid: number | undefined;
  /** Open as long as the master lives. */
  readonly #owner: DatabaseConnection;

  /**
   * Makes the folder in `base`, which is made too if it is missing, by default in memory (/dev/shm) where there is such a place. The user
   * `uid` owns it when the process runs as root. Throws the error of the system call.
   */
  constructor(base: string | undefined, uid: number | undefined) {
    this.#parent = base ?? defaultBase();
    this.#uid = process.geteuid?.() === 0 ? uid : undefined;
    makeFolder(this.#parent);
    removeLeftovers(this.#parent, this.#uid);
    this.path = mkdtempSync(join(this.#parent, PREFIX));
    if (this.#uid !== undefined) {
      chownSync(this.path, this.#uid, process.getegid!());
    }
    this.#owner = this.asUser(() => new DatabaseConnection(join(this.path, OWNER), READ, 0));
  }

  /** Does file work inside the folder with the rights of the user who owns it, so that nothing planted there can lead root elsewhere. */
  asUser<T>(work: () => T): T {
    return withRights(this.#uid, work);
  }

  /** Does work as the user that may stay undone where the system refuses it: a folder gone or read-only, no descriptor left. */
  tryAsUser(work: () => void): void {
    attempt(() => this.asUser(work));
  }

  /** Removes the folder with all that is in it. What cannot be removed must not keep the service from ending. */
  remove(): void {
    this.#owner.close();
    attempt(() => rmSync(this.path, { recursive: true, force: true }));
    attempt(() => removeLeftovers(this.#parent, this.#uid));
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (faultOf(error) === undefined) {
      throw error;
    }
  }
}

/** Where zone files go unless the configuration says otherwise. */
function defaultBase(): string {
  try {
    accessSync('/dev/shm', constants.W_OK | constants.X_OK);
    if (statSync('/dev/shm').isDirectory()) {
      return '/dev/shm';
    }
  } catch {
    // No such place here.
  }
  return tmpdir();
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, 0o755);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw error;
    }
  }
}

function removeLeftovers(parent: string, uid: number | undefined): void {
  for (const name of readdirSync(parent)) {
    if (!OURS.test(name)) {
      continue;
    }
    const folder = join(parent, name);
    // Its owner may remove it at this moment.
    attempt(() => {
      const stat = lstatSync(folder);
      if (!stat.isDirectory() || stat.uid !== (uid ?? process.geteuid?.()) || Date.now() - stat.mtimeMs < SETTLE_MS) {
        return;
      }
      const removed = withRights(uid, () => {
        const files = readdirSync(folder);
        // A folder of such a name that holds other things is somebody else's.
        if (files.length > 0 && !files.includes(OWNER)) {
          return false;
        }
        if (files.some((file) => isInUse(join(folder, file)))) {
          return false;
        }
        for (const file of files) {
          rmSync(join(folder, file), { recursive: true, force: true });
        }
        return true;
      });
      if (removed) {
        rmdirSync(folder);
      }
    });
  }
}

// A process that has a zone open holds a lock on its file, which ends with the process. Whoever has no descriptor left to look with
// leaves the file alone.
function isInUse(path: string): boolean {
  if (/-(wal|shm|journal)$/.test(path)) {
    return false;
  }
  let connection: DatabaseConnection;
  try {
    connection = new DatabaseConnection(path, '', 0);
  } catch (error) {
    return faultOf(error) !== 'damaged';
  }
  const alone = connection.isAlone();
  connection.close();
  return !alone;
}

/** Does file work with the rights of a user, where root is about to do it. */
export function withRights<T>(uid: number | undefined, work: () => T): T {
  if (uid === undefined || uid === 0) {
    return work();
  }
  loadSqlite();
  process.seteuid!(uid);
  try {
    return work();
  } finally {
    process.seteuid!(0);
  }
}
