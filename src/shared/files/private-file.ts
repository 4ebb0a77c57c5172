import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { fsPath } from './fs-path.js';

/** Reads a file that only its owner may read: a small one that belongs to root or to this process's user. Throws why it cannot be. */
export function readPrivateFile(path: string, most: number): string {
  // A pipe would wait for a writer.
  const fd = openSync(fsPath(path), constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    const refuse = (why: string): never => {
      throw new Error(why);
    };
    if (!stat.isFile()) {
      refuse('is not a file');
    }
    if (stat.uid !== 0 && stat.uid !== process.geteuid!()) {
      refuse('belongs to another user');
    }
    if ((stat.mode & 0o077) !== 0) {
      refuse(`can be used by others than its owner (its mode is ${(stat.mode & 0o777).toString(8).padStart(4, '0')}, not 0600)`);
    }
    if (stat.size > most) {
      refuse('is too long');
    }
    const bytes = Buffer.alloc(most);
    return bytes.toString('latin1', 0, readSync(fd, bytes, 0, most, 0));
  } finally {
    closeSync(fd);
  }
}
