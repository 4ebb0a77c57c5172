import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';

const PIECE = 1024 * 1024;

/** Reads the lines of a file, and those that are added to it later. The file may be replaced, as by logrotate, or cut short. */
export class LogTail {
  readonly #path: string;
  readonly #line: (line: string) => void;
  readonly #buffer = Buffer.allocUnsafe(PIECE);
  #fd: number;
  #at = 0;
  #rest = '';

  /** `line` gets each line without its end, one character a byte. Throws when the file cannot be opened. */
  constructor(path: string, line: (line: string) => void) {
    this.#path = path;
    this.#line = line;
    this.#fd = openSync(fsPath(path), 'r');
  }

  /** Goes on behind what there is. */
  skip(): void {
    this.#at = fstatSync(this.#fd).size;
  }

  /** Reads what there is now. */
  read(): void {
    for (;;) {
      const length = readSync(this.#fd, this.#buffer, 0, PIECE, this.#at);
      if (length === 0) {
        return;
      }
      this.#at += length;
      this.#take(this.#rest + this.#buffer.toString('latin1', 0, length));
    }
  }

  /** Reads what has been added, from the new file if there is one. */
  follow(): void {
    this.read();
    let now: { readonly ino: number; readonly size: number };
    try {
      now = statSync(fsPath(this.#path));
    } catch {
      return;
    }
    if (now.ino !== fstatSync(this.#fd).ino) {
      closeSync(this.#fd);
      this.#fd = openSync(fsPath(this.#path), 'r');
      this.#at = 0;
      this.#rest = '';
    } else if (now.size < this.#at) {
      this.#at = 0;
    }
    this.read();
  }

  /** The last line may have no end. */
  close(): void {
    if (this.#rest !== '') {
      this.#line(this.#rest);
    }
    closeSync(this.#fd);
  }

  #take(text: string): void {
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      this.#line(text.slice(from, end));
      from = end + 1;
    }
    this.#rest = text.slice(from);
  }
}
