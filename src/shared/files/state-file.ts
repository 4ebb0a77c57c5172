import { randomBytes } from 'node:crypto';
import { closeSync, constants, fchmodSync, fchownSync, fsync, fsyncSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { errnoCode } from '../system/errno.js';
import { fsPath } from './fs-path.js';

/** Only the user who wrote it reads a file, unless it says otherwise. */
const PRIVATE = 0o600;
const FRESH = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** Names that are tried for a file that is not complete. */
const TRIES = 3;

/** How a file is written. */
export interface StateFileSettings {
  /** The file's mode whatever the process's umask is: a daemon has none. 0600 unless told. */
  readonly mode?: number;
  /** Who it is given to. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /**
   * When the disk has it: `before` its name says so, for what is lost otherwise; or `after`, where the writer cannot wait for a disk.
   * Unless told, the system decides.
   */
  readonly onDisk?: 'before' | 'after';
}

/**
 * Replaces a file that is kept over restarts; whoever opens it finds it whole, before or after, and a link of that name is replaced, not
 * followed. The path is latin1. Throws the system's error.
 */
export function replaceStateFile(path: string, bytes: Uint8Array, settings: StateFileSettings = {}): void {
  for (let tries = 1; ; tries++) {
    // Always the same name while that works: what a process that was killed leaves behind is replaced by the next with its number.
    const fresh = fsPath(`${path}.${tries === 1 ? process.pid : randomBytes(8).toString('hex')}.new`);
    try {
      writeFresh(fresh, bytes, settings);
    } catch (error) {
      if (errnoCode(error) === 'EEXIST' && tries < TRIES) {
        // It is another user's, who may keep us from removing it.
        continue;
      }
      throw error;
    }
    try {
      renameSync(fresh, fsPath(path));
    } catch (error) {
      remove(fresh);
      throw error;
    }
    return;
  }
}

/**
 * Writes a file that nobody had before: one of this name is removed, and what comes there meanwhile is an error. The path is one for
 * node:fs. Throws the system's error, and then leaves nothing behind.
 */
export function writeFresh(path: string | Buffer, bytes: Uint8Array, { mode = PRIVATE, owner, onDisk }: StateFileSettings = {}): void {
  remove(path);
  const fd = openSync(path, FRESH, PRIVATE);
  try {
    for (let at = 0; at < bytes.length; ) {
      at += writeSync(fd, bytes, at);
    }
    if (owner !== undefined) {
      fchownSync(fd, owner.uid, owner.gid);
    }
    fchmodSync(fd, mode);
    if (onDisk === 'before') {
      fsyncSync(fd);
    }
  } catch (error) {
    closeSync(fd);
    remove(path);
    throw error;
  }
  if (onDisk === 'after') {
    fsync(fd, () => closeSync(fd));
  } else {
    closeSync(fd);
  }
}

function remove(path: string | Buffer): void {
  try {
    unlinkSync(path);
  } catch {
    // It is not there, or cannot be removed; then the next step fails.
  }
}
