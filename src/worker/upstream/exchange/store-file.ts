import { randomBytes } from 'node:crypto';
import { constants, copyFileSync, fchmodSync, futimesSync, mkdirSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { fsPath } from '../../../shared/files/fs-path.js';
import { CRIT, ERROR } from '../../../shared/log/level.js';
import { errnoCode, errnoText } from '../../../shared/system/errno.js';
import { Gathered } from '../../bytes/gathered.js';
import { climbsByVariables, mapPath } from '../../http/request/map-path.js';
import { openTempFile, type TempFile } from '../../http/request/temp-file.js';
import { parseHttpDate } from '../../text/http-date.js';
import { HeaderKind } from '../response/header-kinds.js';
import type { BodyTee } from './upstream-conf.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Bytes written to the file at once. */
const WRITE_SIZE = 64 * 1024;

/** Keeps a complete 200 response as a file of the document tree. nginx: ngx_http_upstream_store. */
export class StoreFile implements BodyTee {
  readonly #u: UpstreamRequest;
  #file: TempFile | undefined = undefined;
  /** What waits for more to be written with it. */
  readonly #held = new Gathered();
  #length = 0;
  #failed = false;

  constructor(u: UpstreamRequest) {
    this.#u = u;
  }

  write(bytes: Buffer, start: number, end: number): void {
    if (this.#failed) {
      return;
    }
    this.#length += end - start;
    if (this.#held.length + end - start < WRITE_SIZE) {
      this.#held.add(bytes, start, end);
    } else if (this.#writeHeld()) {
      this.#put(bytes, start, end);
    }
  }

  /** Writes what waited for more. */
  #writeHeld(): boolean {
    for (const piece of this.#held.takeForFile()) {
      if (!this.#put(piece, 0, piece.length)) {
        return false;
      }
    }
    return true;
  }

  #put(bytes: Buffer, start: number, end: number): boolean {
    if (!this.#open()) {
      return false;
    }
    const file = this.#file!;
    try {
      for (let at = start; at < end; ) {
        at += writeSync(file.fd, bytes, at, end - at);
      }
      return true;
    } catch (error) {
      this.#failed = true;
      this.#u.log(CRIT, `write() "${file.path}" failed (${errnoText(error)})`);
      return false;
    }
  }

  #open(): boolean {
    if (this.#file !== undefined) {
      return true;
    }
    try {
      this.#file = openTempFile(this.#u.conf.settings.tempPath);
      return true;
    } catch (error) {
      this.#failed = true;
      this.#u.log(CRIT, (error as Error).message);
      return false;
    }
  }

  /** The body is complete: moves the file to its place. */
  commit(): void {
    const { head, r } = this.#u;
    if (this.#failed || head.status !== 200) {
      return;
    }
    if (head.contentLength !== -1 && head.contentLength !== this.#length) {
      return;
    }
    const path = this.#path();
    if (path === undefined || path === '' || !this.#open() || !this.#writeHeld()) {
      return;
    }
    this.#move(this.#file!, path.charCodeAt(0) === 47 ? path : r.http.env.prefix + path);
  }

  #path(): string | undefined {
    const { r, conf } = this.#u;
    const value = conf.settings.store!.path;
    if (value === undefined) {
      return mapPath(r);
    }
    const path = value.eval(r);
    if (!climbsByVariables(value, path)) {
      return path;
    }
    this.#u.log(ERROR, `"${path}" leads out of "${value.text}"`);
    return undefined;
  }

  // nginx: ngx_ext_rename_file.
  #move(file: TempFile, path: string): void {
    const u = this.#u;
    const { storeAccess } = u.conf.settings;
    try {
      fchmodSync(file.fd, storeAccess);
    } catch (error) {
      u.log(CRIT, `chmod() "${file.path}" failed (${errnoText(error)})`);
      return;
    }
    const modified = u.head.value(HeaderKind.LAST_MODIFIED);
    const time = modified === undefined ? -1 : parseHttpDate(modified);
    if (time !== -1) {
      futimesSync(file.fd, time, time);
    }
    try {
      this.#rename(file.path, path, storeAccess);
      file.close();
      this.#file = undefined;
    } catch (error) {
      u.log(CRIT, `rename() "${file.path}" to "${path}" failed (${errnoText(error)})`);
    }
  }

  #rename(from: string, to: string, access: number): void {
    const [source, target] = [fsPath(from), fsPath(to)];
    try {
      renameSync(source, target);
      return;
    } catch (error) {
      const code = errnoCode(error);
      if (code === 'EXDEV') {
        // Nobody sees half a file, and a link in its place is replaced.
        const copy = fsPath(`${to}.${randomBytes(8).toString('hex')}`);
        copyFileSync(source, copy, constants.COPYFILE_EXCL);
        renameSync(copy, target);
        unlinkSync(source);
        return;
      }
      if (code !== 'ENOENT') {
        throw error;
      }
    }
    mkdirSync(fsPath(dirname(to)), { recursive: true, mode: directoryAccess(access) });
    renameSync(source, target);
  }

  /** Removes what was not moved to its place. */
  drop(): void {
    const file = this.#file;
    if (file === undefined) {
      return;
    }
    this.#file = undefined;
    file.close();
    try {
      unlinkSync(fsPath(file.path));
    } catch (error) {
      this.#u.log(CRIT, `unlink() "${file.path}" failed (${errnoText(error)})`);
    }
  }
}

/** Whoever may read a folder may also enter it. nginx: ngx_dir_access. */
const directoryAccess = (access: number): number => access | ((access & 0o444) >> 2);
