// The only file that imports proper-lockfile. It is loaded when the lock is taken, after our own signal handlers are there: what it brings
// along listens for signals too, and would end the process on one that nobody else handles.
import fs, {
  accessSync,
  closeSync,
  constants,
  ftruncateSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fsPath } from '../../shared/files/fs-path.js';
import { replaceStateFile } from '../../shared/files/state-file.js';
import type { Logger } from '../../shared/log/error-log.js';
import { ALERT, INFO, WARN } from '../../shared/log/level.js';
import { errnoCode, errnoText } from '../../shared/system/errno.js';

/** Milliseconds after which a lock that its holder does not renew counts as abandoned. */
const STALE = 10_000;

/** A daemon has no umask, and a lock that everybody may put files into is one that cannot be removed. */
const privateFs = (): typeof fs => ({
  ...fs,
  mkdir: ((path: string, done: fs.NoParamCallback): void => fs.mkdir(path, 0o755, done)) as typeof fs.mkdir,
});

/**
 * The file that names the running master, and the lock beside it that keeps a second one away. The text is nginx's: the number and a line
 * feed. nginx: ngx_create_pidfile, ngx_delete_pidfile.
 */
export class PidFile {
  #path: string;
  /** Where the lock is to be: beside this file; undefined for nowhere. */
  #wanted: string | undefined;
  #held: { readonly path: string; readonly release: () => Promise<void> } | undefined;
  /** Ends when the lock is where it was last wanted. It never rejects. */
  #moving: Promise<void> = Promise.resolve();
  readonly #log: Logger;

  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
  }

  get path(): string {
    return this.#path;
  }

  /**
   * Takes the lock. What another master left behind, which was killed, is taken over. Rejects with an Error for the log when one is
   * alive. A folder in which no lock can be made is no reason not to start.
   */
  lock(): Promise<void> {
    this.#wanted = this.#path;
    return this.#moveLock();
  }

  /** Writes this process's number, at once and whole. Throws an Error with nginx's message. */
  write(): void {
    const text = Buffer.from(`${process.pid}\n`);
    try {
      replaceStateFile(this.#path, text, { mode: 0o644 });
    } catch {
      try {
        this.#overwrite(text);
      } catch (error) {
        throw new Error(`open() "${this.#path}" failed (${errnoText(error)})`);
      }
    }
  }

  /** Writes into the file that is there: a folder that takes no new files may hold one that was made for us. */
  #overwrite(text: Buffer): void {
    const fd = openSync(fsPath(this.#path), constants.O_WRONLY | constants.O_NOFOLLOW);
    try {
      ftruncateSync(fd);
      writeSync(fd, text, 0, text.length, 0);
    } finally {
      closeSync(fd);
    }
  }

  /**
   * Gives the file another name, as an upgrade does. The lock follows on its own, so the next rename may come at any time. Throws
   * node:fs's error when the file cannot be renamed.
   */
  rename(path: string): void {
    renameSync(fsPath(this.#path), fsPath(path));
    this.#path = path;
    this.lock().catch((error: Error) => this.#log.log(WARN, error.message));
  }

  /** Removes the file if it is ours. */
  remove(): void {
    if (pidIn(this.#path) !== process.pid) {
      return;
    }
    try {
      unlinkSync(fsPath(this.#path));
    } catch (error) {
      this.#log.log(ALERT, `unlink() "${this.#path}" failed (${errnoText(error)})`);
    }
  }

  /** Gives the lock back; the end of the process does the same. */
  unlock(): Promise<void> {
    this.#wanted = undefined;
    return this.#moveLock();
  }

  /** Brings the lock to where it is wanted, after what is under way with it. Rejects as `lock` does. */
  #moveLock(): Promise<void> {
    const moved = this.#moving.then(async () => {
      if (this.#held !== undefined && this.#held.path !== this.#wanted) {
        const { release } = this.#held;
        this.#held = undefined;
        await release().catch(() => {});
      }
      if (this.#wanted !== undefined && this.#held === undefined) {
        await this.#takeLock(this.#wanted);
      }
    });
    this.#moving = moved.catch(() => {});
    return moved;
  }

  /** Takes the lock beside this file, unless it is wanted elsewhere in the meantime. */
  async #takeLock(path: string): Promise<void> {
    const { lock } = await import('proper-lockfile');
    while (this.#wanted === path) {
      try {
        const release = await lock(path, {
          realpath: false,
          stale: STALE,
          fs: privateFs(),
          onCompromised: (error) => this.#compromised(path, error),
        });
        this.#held = { path, release };
        return;
      } catch (error) {
        if (errnoCode(error) !== 'ELOCKED') {
          this.#log.log(INFO, `no lock beside the pid file "${path}" (${errnoText(error)})`);
          return;
        }
      }
      if (isOthers(`${path}.lock`)) {
        this.#log.log(WARN, `no lock beside the pid file "${path}": "${path}.lock" belongs to another user`);
        return;
      }
      const owner = pidIn(path);
      if (owner !== undefined && owner !== process.pid && isMaster(owner)) {
        throw new Error(runningMessage(path, owner));
      }
      if (owner === undefined) {
        // Its owner is about to write the pid file, or died before it could; then the lock is soon too old.
        await sleep(100);
      } else {
        removeDirectory(`${path}.lock`);
      }
    }
  }

  #compromised(path: string, error: Error): void {
    // The machine slept, or the lock was removed. The pid file still names this master.
    this.#log.log(WARN, `the lock beside the pid file "${path}" was lost (${error.message})`);
    if (this.#held?.path === path) {
      this.#held = undefined;
    }
  }
}

/** The process id of the master that a pid file names, if it is alive. */
export function runningMaster(path: string): number | undefined {
  const pid = pidIn(path);
  return pid !== undefined && isMaster(pid) ? pid : undefined;
}

/** The message for a master that is alive and has the pid file that we want; undefined when there is none. */
export function runningInstance(path: string): string | undefined {
  const pid = runningMaster(path);
  return pid !== undefined && pid !== process.pid ? runningMessage(path, pid) : undefined;
}

/** Makes sure that a pid file can be written, as `-t` does: creates it when it is missing. Throws an Error with nginx's message. */
export function touchPidFile(path: string): void {
  try {
    closeSync(openOrMake(fsPath(path)));
  } catch (error) {
    if (errnoCode(error) === 'ELOOP' && mayWriteWhereItLeads(path)) {
      return;
    }
    throw new Error(`open() "${path}" failed (${errnoText(error)})`);
  }
}

function mayWriteWhereItLeads(path: string): boolean {
  try {
    accessSync(fsPath(path), constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * A link is not followed: to open a device does things, and `write` puts the file in the link's place. One that leads nowhere is no place
 * to make a file.
 */
function openOrMake(path: string | Buffer): number {
  const access = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
  try {
    return openSync(path, access);
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT') {
      throw error;
    }
    return openSync(path, access | constants.O_CREAT | constants.O_EXCL, 0o644);
  }
}

const runningMessage = (path: string, pid: number): string =>
  `the pid file "${path}" belongs to process ${pid}, which is running: stop it first, or give this server a "pid" of its own`;

function pidIn(path: string): number | undefined {
  try {
    const text = readFileSync(fsPath(path), 'latin1');
    return /^\d+\r?\n?$/.test(text) ? Number.parseInt(text, 10) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a process is there and, as far as one can see, is a master: numbers of processes are used again. */
function isMaster(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errnoCode(error) !== 'EPERM') {
      return false;
    }
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(': master process');
  } catch {
    return true;
  }
}

/** Whether another user has made what is there. */
function isOthers(path: string): boolean {
  const stat = lstatSync(fsPath(path), { throwIfNoEntry: false });
  return stat !== undefined && stat.uid !== process.geteuid?.();
}

function removeDirectory(path: string): void {
  try {
    rmdirSync(fsPath(path));
  } catch {
    // Gone already, or not ours to remove; taking the lock shows it.
  }
}
