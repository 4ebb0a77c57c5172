import { hash } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** One file that the executable has in it. */
export interface PackedFile {
  /** Relative to the folder that all of them lie in. */
  readonly path: string;
  readonly offset: number;
  readonly length: number;
  /** SHA-256, in hexadecimal digits. */
  readonly digest: string;
}

/** Who may read what is written. Nothing in it is a secret. */
export interface Modes {
  readonly folder: number;
  readonly file: number;
}

/** The files that the executable has in it. */
export class Contents {
  readonly files: readonly PackedFile[];
  readonly #bytes: Uint8Array;

  constructor(files: readonly PackedFile[], bytes: ArrayBuffer) {
    this.files = files;
    this.#bytes = new Uint8Array(bytes);
  }

  /** Whether the folder holds these files as they are in the executable. `chosen`: only the files that it names. */
  isIn(folder: string, chosen: (path: string) => boolean): boolean {
    return this.files.every((file) => !chosen(file.path) || holds(folder, file));
  }

  /**
   * Writes all files into a folder that is not there yet. What stands at its name is whole at all times: the files are written beside it
   * first. Throws the system's error.
   */
  writeTo(folder: string, modes: Modes): void {
    const fresh = `${folder}.${process.pid}.${process.hrtime.bigint()}`;
    try {
      mkdirSync(fresh, { mode: 0o700 });
      const made = new Set([fresh]);
      for (const file of this.files) {
        const path = `${fresh}/${file.path}`;
        for (const missing of foldersAbove(path, made)) {
          mkdirSync(missing, { mode: 0o700 });
          openUp(missing, modes.folder);
          made.add(missing);
        }
        this.#write(path, file, modes.file);
      }
      openUp(fresh, modes.folder);
      replace(folder, fresh);
    } finally {
      rmSync(fresh, { recursive: true, force: true });
    }
  }

  #write(path: string, { offset, length }: PackedFile, mode: number): void {
    const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
    try {
      for (let at = 0; at < length; ) {
        at += writeSync(fd, this.#bytes, offset + at, length - at);
      }
      fchmodSync(fd, mode);
    } finally {
      closeSync(fd);
    }
  }
}

/** Whatever the umask is. */
function openUp(folder: string, mode: number): void {
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
}

function foldersAbove(path: string, made: ReadonlySet<string>): string[] {
  const missing: string[] = [];
  for (let folder = dirname(path); !made.has(folder); folder = dirname(folder)) {
    missing.unshift(folder);
  }
  return missing;
}

/** Puts the new folder in the place of one that came to harm, or of none. Another process may do the same: the last one stays. */
function replace(folder: string, fresh: string): void {
  const aside = `${fresh}.old`;
  try {
    renameSync(folder, aside);
  } catch {
    // It is not there.
  }
  try {
    renameSync(fresh, folder);
  } catch (error) {
    // Another process was faster, and put the same there.
    if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw error;
    }
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** Whether a file of this user's, and no link, has these bytes. */
function holds(folder: string, { path, length, digest }: PackedFile): boolean {
  try {
    const fd = openSync(`${folder}/${path}`, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const found = fstatSync(fd);
      return (
        found.isFile() &&
        found.size === length &&
        found.uid === process.geteuid?.() &&
        (found.mode & 0o022) === 0 &&
        hash('sha256', readFileSync(fd), 'hex') === digest
      );
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
}
