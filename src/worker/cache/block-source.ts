import { closeSync, fstatSync, openSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import { CRIT } from '../../shared/log/level.js';
import { errnoText } from '../../shared/system/errno.js';
import type { Source } from '../http/request/body-stage.js';
import type { Request } from '../http/request/request.js';
import { network } from '../net/engine/network.js';
import type { FileTaker } from '../net/file-reads.js';
import { enter, leave } from '../task/at-work.js';
import { FAILED } from '../task/codes.js';
import type { DiskCache } from './disk-cache.js';
import type { CacheEntry } from './entry.js';
import { BLOCK, isBlock } from './file-format.js';

/** Opens the body of a large entry. undefined when the file is no longer the one that was read. */
export function openBody(disk: DiskCache, entry: CacheEntry): Source | undefined {
  let fd: number;
  try {
    fd = openSync(fsPath(entry.path), 'r');
  } catch {
    return undefined;
  }
  if (entry.isFile(fstatSync(fd))) {
    return new BlockSource(disk, entry, fd);
  }
  closeSync(fd);
  return undefined;
}

/** The body of a large entry, block by block as the client takes it; a block that is not what was stored breaks the response off. */
class BlockSource implements Source, FileTaker {
  readonly #disk: DiskCache;
  readonly #entry: CacheEntry;
  readonly #fd: number;
  #at = 0;
  #end: number;
  #request: Request | null = null;
  #aborted = false;

  constructor(disk: DiskCache, entry: CacheEntry, fd: number) {
    this.#disk = disk;
    this.#entry = entry;
    this.#fd = fd;
    this.#end = entry.header.bodyLength;
  }

  pull(r: Request): void {
    this.#request = r;
    const start = this.#at - (this.#at % BLOCK);
    const size = Math.min(BLOCK, this.#entry.header.bodyLength - start);
    network.files.read(this.#fd, this.#entry.bodyStart + start, size, true, this);
  }

  fileRead(buffer: Buffer): void {
    const r = this.#readEnded();
    if (r !== null) {
      const before = enter(r);
      this.#send(r, buffer);
      leave(before);
    }
  }

  fileFailed(error: Error): void {
    const r = this.#readEnded();
    if (r !== null) {
      const before = enter(r);
      r.log(CRIT, `pread() "${this.#entry.path}" failed (${errnoText(error)})`);
      r.finalize(FAILED);
      leave(before);
    }
  }

  /** Whose read has ended; null for nobody's any more. */
  #readEnded(): Request | null {
    const r = this.#request;
    this.#request = null;
    if (this.#aborted) {
      closeSync(this.#fd);
      return null;
    }
    return r;
  }

  #send(r: Request, buffer: Buffer): void {
    const { path, table, header } = this.#entry;
    const block = Math.floor(this.#at / BLOCK);
    if (buffer.length < Math.min(BLOCK, header.bodyLength - block * BLOCK) || !isBlock(buffer, table!, block)) {
      r.log(CRIT, `cache file "${path}" has a damaged body`);
      this.#disk.deleteFile(path.slice(-32));
      r.finalize(FAILED);
      return;
    }
    const from = this.#at % BLOCK;
    const to = Math.min(buffer.length, this.#end - block * BLOCK);
    this.#at += to - from;
    const last = this.#at >= this.#end;
    if (last && r.source === this) {
      r.source = null;
      closeSync(this.#fd);
    }
    r.first!.send(r, from === 0 && to === buffer.length ? buffer : buffer.subarray(from, to), last);
  }

  abort(): void {
    this.#aborted = true;
    // The descriptor must outlive a read that is under way.
    if (this.#request === null || network.files.withdraw(this)) {
      closeSync(this.#fd);
    }
  }

  seek(start: number, end: number): void {
    this.#at = start;
    this.#end = end;
  }
}
