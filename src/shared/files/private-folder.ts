import { closeSync, constants, existsSync, fchmodSync, fstatSync, mkdirSync, openSync, type Stats, statSync } from 'node:fs';
import { errnoCode } from '../system/errno.js';
import { fsPath } from './fs-path.js';

/**
 * A folder of this process's user that nobody else may look into, held open: it stays the one that was checked, whatever becomes of its
 * name.
 */
export class PrivateFolder {
  /** Latin1. */
  readonly path: string;
  readonly fd: number;

  private constructor(path: string, fd: number) {
    this.path = path;
    this.fd = fd;
  }

  /**
   * Opens the folder, which is made if it is missing. Throws the system's error; an Error in words for a folder that another user owns, or
   * in which others may have put something.
   */
  static make(path: string): PrivateFolder {
    try {
      mkdirSync(fsPath(path), 0o700);
    } catch (error) {
      if (errnoCode(error) !== 'EEXIST') {
        throw error;
      }
    }
    const fd = openSync(fsPath(path), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      refuseOthers(path, fstatSync(fd));
      fchmodSync(fd, 0o700);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    return new PrivateFolder(path, fd);
  }

  /** One that another process opened, which passed the descriptor on. */
  static adopt(path: string, fd: number): PrivateFolder {
    return new PrivateFolder(path, fd);
  }

  /**
   * The path by which this process reaches a file in it, or without a name the folder itself: through the descriptor, and so short however
   * deep the folder lies, since the address of a socket has few bytes. Latin1.
   */
  within(name = ''): string {
    const through = `/proc/self/fd/${this.fd}`;
    return `${existsSync(through) ? through : this.path}/${name}`;
  }

  /** Whether the folder still is where it was. */
  get isInPlace(): boolean {
    try {
      const [now, own] = [statSync(fsPath(this.path)), fstatSync(this.fd)];
      return now.ino === own.ino && now.dev === own.dev;
    } catch {
      return false;
    }
  }

  close(): void {
    closeSync(this.fd);
  }
}

function refuseOthers(path: string, { uid, mode }: Stats): void {
  if (uid !== process.geteuid?.()) {
    throw new Error(`"${path}" belongs to the user ${uid}`);
  }
  if ((mode & 0o022) !== 0) {
    throw new Error(`others may write into "${path}"`);
  }
}
