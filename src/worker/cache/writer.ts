import {
  closeSync,
  constants,
  copyFileSync,
  futimesSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { fsPath } from '../../shared/files/fs-path.js';
import { CRIT } from '../../shared/log/level.js';
import { errnoCode, errnoText } from '../../shared/system/errno.js';
import { nowSeconds } from '../../shared/time/unix-time.js';
import { Gathered } from '../bytes/gathered.js';
import type { Request } from '../http/request/request.js';
import type { BodyTee } from '../upstream/exchange/upstream-conf.js';
import { BlockSums, type EntryHeader, encodeHeader, tableChecksum } from './file-format.js';
import { tempName } from './path.js';
import type { Purged } from './purge-marks.js';

/** What is kept in memory before a file is begun. */
const IN_MEMORY = 64 * 1024;
let files = 0;

/** What is known of a response before its body. */
export type HeaderStart = Omit<EntryHeader, 'bodyLength'>;

/**
 * Writes one cache file: in memory while it is small, then to a temporary file, which takes its place only when it is
 * complete. Whatever fails, fails here: the response goes on without being stored.
 */
export class CacheWriter implements BodyTee {
  readonly #r: Request;
  readonly #hash: string;
  readonly #path: string;
  readonly #folder: string;
  readonly #header: HeaderStart;
  readonly #sums = new BlockSums();
  readonly #held = new Gathered();
  #length = 0;
  #headerLength = 0;
  #written = 0;
  #fd = -1;
  #temp = '';
  #failed = false;

  /** `folder` is where the temporary file is made; undefined: beside the file. */
  constructor(r: Request, hash: string, path: string, folder: string | undefined, header: HeaderStart) {
    this.#r = r;
    this.#hash = hash;
    this.#path = path;
    this.#folder = folder ?? dirname(path);
    this.#header = header;
  }

  /** Bytes of the body so far. */
  get length(): number {
    return this.#length;
  }

  write(bytes: Buffer, start: number, end: number): void {
    if (this.#failed) {
      return;
    }
    this.#length += end - start;
    if (this.#held.length + end - start <= IN_MEMORY) {
      this.#held.add(bytes, start, end);
    } else {
      this.#attempt(() => {
        this.#spill();
        this.#append(bytes.subarray(start, end));
      });
    }
  }

  /**
   * Completes the file, which is still to be moved. Returns its size, 0 when that failed. `purged`: what was purged meanwhile; `made`: the
   * seconds since 1970 that the file shows, where they matter.
   */
  complete(purged: Purged, made: number | undefined): number {
    if (purged === 'hard') {
      this.abort();
    }
    if (this.#failed) {
      return 0;
    }
    for (const piece of this.#held.pieces) {
      this.#sums.add(piece);
    }
    const table = this.#sums.table();
    const { validUntil } = this.#header;
    const known = {
      ...this.#header,
      bodyLength: this.#length,
      validUntil: purged === 'no' ? validUntil : Math.min(validUntil, nowSeconds() - 1),
    };
    const header = encodeHeader(known, tableChecksum(table));
    if (header === undefined) {
      this.abort();
      return 0;
    }
    const done = this.#attempt(() => {
      if (this.#fd === -1) {
        this.#open();
        this.#put(Buffer.concat([header, ...this.#held.take(), table]), 0);
      } else {
        for (const piece of this.#held.takeForFile()) {
          this.#writeBody(piece);
        }
        this.#put(table, this.#headerLength + this.#written);
        this.#put(header, 0);
      }
      const fd = this.#fd;
      if (made !== undefined) {
        futimesSync(fd, made, made);
      }
      this.#fd = -1;
      closeSync(fd);
    });
    return done ? header.length + this.#length + table.length : 0;
  }

  /** Moves the complete file to its place. Returns whether that worked. */
  move(): boolean {
    return !this.#failed && this.#attempt(() => this.#move());
  }

  /** Drops what was written. */
  abort(): void {
    this.#failed = true;
    this.#held.clear();
    if (this.#fd !== -1) {
      closeSync(this.#fd);
      this.#fd = -1;
    }
    if (this.#temp !== '') {
      try {
        unlinkSync(fsPath(this.#temp));
      } catch (error) {
        if (errnoCode(error) !== 'ENOENT') {
          this.#r.log(CRIT, `unlink() "${this.#temp}" failed (${errnoText(error)})`);
        }
      }
      this.#temp = '';
    }
  }

  #attempt(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      const { syscall } = error as NodeJS.ErrnoException;
      if (syscall === undefined) {
        throw error;
      }
      this.#r.log(CRIT, `${syscall}() "${this.#temp === '' ? this.#path : this.#temp}" failed (${errnoText(error)})`);
      this.abort();
      return false;
    }
  }

  /** Writes what is in memory to the file. */
  #spill(): void {
    if (this.#fd === -1) {
      const header = encodeHeader({ ...this.#header, bodyLength: 0 }, 0);
      this.#headerLength = header?.length ?? 0;
      this.#open();
    }
    for (const piece of this.#held.takeForFile()) {
      this.#append(piece);
    }
  }

  #append(piece: Buffer): void {
    this.#sums.add(piece);
    this.#writeBody(piece);
  }

  #writeBody(piece: Buffer): void {
    this.#put(piece, this.#headerLength + this.#written);
    this.#written += piece.length;
  }

  #open(): void {
    this.#temp = `${this.#folder}/${tempName(this.#hash, process.pid, files++)}`;
    try {
      this.#fd = openSync(fsPath(this.#temp), 'wx', 0o600);
    } catch (error) {
      if (errnoCode(error) !== 'ENOENT') {
        throw error;
      }
      mkdirSync(fsPath(this.#folder), { recursive: true, mode: 0o700 });
      this.#fd = openSync(fsPath(this.#temp), 'wx', 0o600);
    }
  }

  #put(bytes: Buffer, position: number): void {
    let offset = 0;
    while (offset < bytes.length) {
      offset += writeSync(this.#fd, bytes, offset, bytes.length - offset, position + offset);
    }
  }

  // nginx: ngx_ext_rename_file.
  #move(): void {
    const to = fsPath(this.#path);
    try {
      renameSync(fsPath(this.#temp), to);
    } catch (error) {
      const code = errnoCode(error);
      if (code === 'ENOENT') {
        mkdirSync(fsPath(dirname(this.#path)), { recursive: true, mode: 0o700 });
        renameSync(fsPath(this.#temp), to);
      } else if (code === 'EXDEV') {
        this.#moveAcross();
      } else {
        throw error;
      }
    }
    this.#temp = '';
  }

  /** The temporary folder is on another disk: a copy beside the file takes its place. */
  #moveAcross(): void {
    const from = this.#temp;
    const folder = dirname(this.#path);
    mkdirSync(fsPath(folder), { recursive: true, mode: 0o700 });
    const copy = `${folder}/${tempName(this.#hash, process.pid, files++)}`;
    const { atime, mtime } = statSync(fsPath(from));
    copyFileSync(fsPath(from), fsPath(copy), constants.COPYFILE_EXCL);
    utimesSync(fsPath(copy), atime, mtime);
    unlinkSync(fsPath(from));
    this.#temp = copy;
    renameSync(fsPath(copy), fsPath(this.#path));
  }
}
