import {
  accessSync,
  chownSync,
  closeSync,
  constants,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection, faultOf } from './sqlite.js';

const PREFIX = 'sluice-';
/** So young a folder (milliseconds) is left alone: its owner may be about to lock it. */
const SETTLE_MS = 2000;

/**
 * The folder for zone files of one running service: private to the worker's user, held by a lock as long as the master
 * lives, and removed when it ends. Folders that killed masters left behind go when the next service starts.
 */
export class RunDirectory {
  readonly path: string;
  readonly #owner: Connection;
  readonly #uid: number | undefined;

  /**
   * Makes the folder in `base`, by default in memory (/dev/shm) where there is such a place. The user `uid` owns it when
   * the process runs as root. Throws the error of the system call.
   */
  constructor(base: string | undefined, uid: number | undefined) {
    const parent = base ?? defaultBase();
    this.#uid = process.geteuid?.() === 0 ? uid : undefined;
    removeLeftovers(parent, this.#uid);
    this.path = mkdtempSync(join(parent, PREFIX));
    if (this.#uid !== undefined) chownSync(this.path, this.#uid, process.getegid!());
    this.#owner = this.asUser(() => lock(this.path))!;
  }

  /** Does file work inside the folder with the rights of the user who owns it, so that nothing planted there can lead root elsewhere. */
  asUser<T>(work: () => T): T {
    return withRights(this.#uid, work);
  }

  /** Removes the folder with all that is in it. */
  remove(): void {
    this.#owner.close();
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Where zone files go unless the configuration says otherwise. */
export function defaultBase(): string {
  try {
    accessSync('/dev/shm', constants.W_OK | constants.X_OK);
    if (statSync('/dev/shm').isDirectory()) return '/dev/shm';
  } catch {
    // No such place here.
  }
  return tmpdir();
}

// The lock belongs to the process and ends with it. undefined: a living process holds it.
function lock(folder: string): Connection | undefined {
  const path = join(folder, 'owner');
  closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600));
  const connection = new Connection(path, '', 0);
  if (connection.begin()) return connection;
  connection.close();
  return undefined;
}

function removeLeftovers(parent: string, uid: number | undefined): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    const folder = join(parent, name);
    try {
      const stat = lstatSync(folder);
      if (!stat.isDirectory() || stat.uid !== (uid ?? process.geteuid?.()) || Date.now() - stat.mtimeMs < SETTLE_MS) continue;
      withRights(uid, () => {
        const connection = lock(folder);
        if (connection === undefined) return;
        connection.close();
        for (const file of readdirSync(folder)) rmSync(join(folder, file), { recursive: true, force: true });
      });
      rmdirSync(folder);
    } catch (error) {
      // A folder that is in use, or that its owner removes at this moment.
      if (faultOf(error) === undefined) throw error;
    }
  }
}

function withRights<T>(uid: number | undefined, work: () => T): T {
  if (uid === undefined || uid === 0) return work();
  process.seteuid!(uid);
  try {
    return work();
  } finally {
    process.seteuid!(0);
  }
}
