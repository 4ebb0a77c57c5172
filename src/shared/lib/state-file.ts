import { closeSync, constants, fsync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { fsPath } from './fs-path.js';

/** Only the workers' user reads what is in such files. */
const MODE = 0o600;

/**
 * Replaces a file in which workers keep something over restarts; whoever opens it finds it whole, before or after. Only one process may do
 * so at a time. Throws the system's error.
 */
export function replaceStateFile(path: string, text: Buffer): void {
  const fresh = fsPath(`${path}.${process.pid}.new`);
  const fd = openSync(fresh, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW, MODE);
  try {
    for (let at = 0; at < text.length; ) {
      at += writeSync(fd, text, at);
    }
    renameSync(fresh, fsPath(path));
  } catch (error) {
    closeSync(fd);
    try {
      unlinkSync(fresh);
    } catch {
      // It cannot be removed either.
    }
    throw error;
  }
  // A disk may take long, and the writer holds a zone.
  fsync(fd, () => closeSync(fd));
}
