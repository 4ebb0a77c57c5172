import { ERROR } from '../../../shared/log/level.js';
import { EMPTY } from '../../bytes/empty.js';
import type { FileInfo } from '../../files/file-info.js';
import type { Request } from '../../http/request/request.js';
import { bigU64, u32, u64 } from './big-endian.js';
import { bytesOf } from './file-bytes.js';

/** What {@link AtomReader.next} found. */
export const Found = { END: 0, ATOM: 1, BROKEN: 2 } as const;
export type Found = (typeof Found)[keyof typeof Found];

/** Bytes that are read of the file around the heads of its outermost atoms. */
const PIECE = 4096;
/** The head of an atom, and of one whose size has 64 bits. */
const HEAD = 8;
const LONG_HEAD = 16;
/** What nginx has of the file behind the index that it keeps. */
const BEHIND_INDEX = 4096;

/**
 * Goes through the atoms of a file, or of one of them. Where nginx's buffer would begin and end is followed, since some files are refused
 * for it; less of the file is read. nginx: ngx_http_mp4_read_atom, ngx_http_mp4_read.
 */
export class AtomReader {
  /** Place in the file: of the data of the atom that was found, then of what comes next. */
  offset = 0;
  /** Name and bytes of data of the atom that was found. */
  name = 0;
  size = 0;
  /** What was read, and its place in the file. */
  bytes: Buffer = EMPTY;
  base = 0;
  /** Bytes that nginx would read next, and where those end that it has. */
  #window: number;
  #windowEnd = -1;
  readonly #r: Request;
  readonly #path: string;
  readonly #info: FileInfo;
  /** Bytes of the file. */
  readonly end: number;

  constructor(r: Request, path: string, info: FileInfo, window: number) {
    this.#r = r;
    this.#path = path;
    this.#info = info;
    this.end = info.size;
    this.#window = window;
  }

  /** Where the data of the atom that was found is in {@link bytes}. */
  get place(): number {
    return this.offset - this.base;
  }

  /** Goes to the data of the next atom before `end`, if there is one, which an atom of size 0 is not. */
  next(end: number): Found {
    if (this.offset >= end) {
      return Found.END;
    }
    if (!this.#need(4)) {
      return Found.BROKEN;
    }
    let head = HEAD;
    let size = u32(this.bytes, this.place);
    if (size === 0) {
      return Found.END;
    }
    if (size === 1) {
      if (!this.#need(LONG_HEAD)) {
        return Found.BROKEN;
      }
      head = LONG_HEAD;
      size = u64(this.bytes, this.place + 8);
    }
    if (size < head) {
      return this.fail(`"${this.#path}" mp4 atom is too small:${size}`);
    }
    if (!this.#need(HEAD)) {
      return Found.BROKEN;
    }
    this.name = u32(this.bytes, this.place + 4);
    if (this.offset + size > end) {
      return this.fail(`"${this.#path}" mp4 atom too large:${head === HEAD ? size : bigU64(this.bytes, this.place + 8)}`);
    }
    this.offset += head;
    this.size = size - head;
    return Found.ATOM;
  }

  /** Goes on behind the atom that was found. */
  skip(): void {
    this.offset += this.size;
  }

  /** Whether nginx's buffer has all data of the atom that was found. */
  get inWindow(): boolean {
    return this.offset + this.size <= this.#windowEnd;
  }

  /** Whether nginx would need a larger buffer for the data of the atom that was found. */
  get exceedsWindow(): boolean {
    return this.size > this.#window;
  }

  /** Has all data of the atom that was found in {@link bytes}, which are {@link PIECE} at most. */
  hold(): boolean {
    return this.place + this.size <= this.bytes.length || this.#load(PIECE);
  }

  /**
   * Reads all data of the atom that was found, with what the head of an atom that stands at its end and is longer has of the next. `more`:
   * nginx reads on behind it.
   */
  take(more: boolean): boolean {
    if (this.exceedsWindow) {
      this.#windowEnd = -1;
      this.#window = this.size + (more ? BEHIND_INDEX : 0);
    }
    return this.#shift(this.size) && this.#load(this.size + LONG_HEAD);
  }

  /** The data that was taken is done with, and `more` is to be looked at behind it. */
  taken(more: boolean): void {
    if (!more) {
      this.offset = this.end;
      return;
    }
    this.#window = BEHIND_INDEX;
    if (this.offset + BEHIND_INDEX > this.#windowEnd) {
      this.#windowEnd = -1;
    }
  }

  /** Tells the log why the file cannot be cut. */
  fail(message: string): typeof Found.BROKEN {
    this.#r.log(ERROR, message);
    return Found.BROKEN;
  }

  #need(size: number): boolean {
    if (!this.#shift(size)) {
      return false;
    }
    return this.place + size <= this.bytes.length || this.#load(PIECE);
  }

  /** Moves nginx's buffer to where we are unless it has the next `size` bytes. */
  #shift(size: number): boolean {
    if (this.offset + size <= this.#windowEnd) {
      return true;
    }
    this.#window = Math.min(this.#window, this.end - this.offset);
    if (this.#window < size) {
      this.fail(`"${this.#path}" mp4 file truncated`);
      return false;
    }
    this.#windowEnd = this.offset + this.#window;
    return true;
  }

  #load(size: number): boolean {
    const bytes = bytesOf(this.#r, this.#path, this.#info, this.offset, Math.min(size, this.end - this.offset));
    if (bytes === null) {
      return false;
    }
    this.bytes = bytes;
    this.base = this.offset;
    return true;
  }
}
