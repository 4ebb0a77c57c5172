import { closeSync, mkdirSync, openSync } from 'node:fs';
import { fsPath } from '../../../shared/files/fs-path.js';
import { ALERT, CRIT, type Level } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import { network } from '../../net/engine/network.js';
import type { FileTaker } from '../../net/file-reads.js';
import { enter, leave, type Work } from '../../task/at-work.js';
import type { TempPath } from './client-settings.js';

/** Who has something of a temporary file read. */
export interface TempFileTaker {
  /** As many bytes as were asked for, lent until this returns. */
  fileRead(bytes: Buffer): void;
  /** The bytes cannot be had; the message is for the log. */
  fileFailed(level: Level, message: string): void;
}

/** An open temporary file. */
export class TempFile {
  readonly path: string;
  readonly fd: number;
  #reads = 0;
  #closing = false;

  constructor(path: string, fd: number) {
    this.path = path;
    this.fd = fd;
  }

  /** Bytes that are had at once, lent until the next call; null when they are to be read with {@link read}. */
  present(at: number, size: number): Buffer | null {
    return network.files.present(this.fd, at, size);
  }

  /** Reads in the background, for somebody's work. The taker is told once, and never before this returns, unless the read is dropped. */
  read(work: Work, at: number, size: number, taker: TempFileTaker): TempFileRead {
    this.#reads++;
    const read = new TempFileRead(this, work, size, taker);
    network.files.read(this.fd, at, size, false, read);
    return read;
  }

  /** A read is over. */
  readEnded(): void {
    this.#reads--;
    if (this.#closing && this.#reads === 0) {
      closeSync(this.fd);
    }
  }

  /** Closes the descriptor, which outlives the reads that are under way: the kernel would read whatever got its number. */
  close(): void {
    if (this.#reads > 0) {
      this.#closing = true;
    } else {
      closeSync(this.fd);
    }
  }
}

/** A read of a temporary file that is under way. */
export class TempFileRead implements FileTaker {
  readonly #file: TempFile;
  readonly #work: Work;
  readonly #size: number;
  #taker: TempFileTaker | null;

  constructor(file: TempFile, work: Work, size: number, taker: TempFileTaker) {
    this.#file = file;
    this.#work = work;
    this.#size = size;
    this.#taker = taker;
  }

  /** Nobody wants it any more. */
  drop(): void {
    this.#taker = null;
    if (network.files.withdraw(this)) {
      this.#file.readEnded();
    }
  }

  fileRead(bytes: Buffer): void {
    if (bytes.length < this.#size) {
      this.#failed(ALERT, `pread() read only ${bytes.length} of ${this.#size} from "${this.#file.path}"`);
    } else {
      this.#ended((taker) => taker.fileRead(bytes));
    }
  }

  fileFailed(error: Error): void {
    this.#failed(CRIT, `pread() "${this.#file.path}" failed (${errnoText(error)})`);
  }

  #failed(level: Level, message: string): void {
    this.#ended((taker) => taker.fileFailed(level, message));
  }

  #ended(tell: (taker: TempFileTaker) => void): void {
    const before = enter(this.#work);
    try {
      if (this.#taker !== null) {
        tell(this.#taker);
      }
    } finally {
      this.#file.readEnded();
    }
    leave(before);
  }
}

let counter = Math.floor(Math.random() * 1000);

/** The place of a numbered file under hashed sub-folders taken from the number's end. nginx: ngx_create_hashed_filename. */
function hashedName(base: TempPath, name: string): string {
  let path = base.path;
  let end = name.length;
  for (const level of base.levels) {
    path += `/${name.slice(end - level, end)}`;
    end -= level;
  }
  return `${path}/${name}`;
}

/** Makes a new temporary file, private to the user. Throws with nginx's message when it cannot. nginx: ngx_create_temp_file. */
export function openTempFile(base: TempPath): TempFile {
  for (;;) {
    counter = (counter + 1) % 10_000_000_000;
    const path = hashedName(base, String(process.pid % 1000).padStart(3, '0') + String(counter).padStart(7, '0'));
    try {
      return new TempFile(path, openSync(fsPath(path), 'wx+', 0o600));
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'EEXIST') {
        continue;
      }
      if (code !== 'ENOENT') {
        throw new Error(`open() "${path}" failed (${errnoText(error)})`);
      }
      const folder = path.slice(0, path.lastIndexOf('/'));
      try {
        mkdirSync(fsPath(folder), { recursive: true, mode: 0o700 });
      } catch (failure) {
        throw new Error(`mkdir() "${folder}" failed (${errnoText(failure)})`);
      }
    }
  }
}
