import { Lru } from '../../../shared/collection/lru.js';
import { nowSeconds } from '../../../shared/time/unix-time.js';
import type { FileInfo } from '../../files/file-info.js';
import type { FileCache, FileSettings, SymlinkRule } from '../request/file-settings.js';
import type { Request } from '../request/request.js';
import { freshFile } from './open-file.js';

class Entry {
  info: FileInfo;
  rule: SymlinkRule | undefined;
  /** Second at which the file system was asked. */
  created: number;
  /** Second of the latest use. */
  accessed: number;
  uses = 1;
  constructor(info: FileInfo, rule: SymlinkRule | undefined, now: number) {
    this.info = info;
    this.rule = rule;
    this.created = now;
    this.accessed = now;
  }
}

/**
 * What `open_file_cache` remembers: for some seconds the file system is not asked again about a file, folder or error.
 * It holds no descriptors; the content of small files is remembered with them. nginx: ngx_open_file_cache.c.
 */
export class OpenFileCache implements FileCache {
  readonly #entries: Lru<Entry>;
  readonly #inactive: number;

  /** `max`: number of entries; `inactive`: seconds without use after which an entry goes. */
  constructor(max: number, inactive: number) {
    this.#entries = new Lru(max);
    this.#inactive = inactive;
  }

  find(r: Request, path: string, open: boolean, settings: FileSettings, rule: SymlinkRule | undefined): FileInfo {
    const now = nowSeconds();
    const entry = this.#entries.get(path);
    if (entry !== undefined) {
      // A file, unlike a folder or an error, is only remembered once it was used often enough.
      const settled = entry.uses >= settings.openFileCacheMinUses || entry.info.errno !== 0 || !entry.info.isFile;
      entry.uses++;
      entry.accessed = now;
      if (settled && now - entry.created < settings.openFileCacheValid && sameRule(entry.rule, rule)) {
        const info = entry.info;
        if (!open || info.body !== null || info.errno !== 0 || !info.isFile) {
          return info;
        }
      }
    }
    const info = freshFile(r, path, open, settings, rule);
    if (info.errno !== 0 && !settings.openFileCacheErrors) {
      this.#entries.delete(path);
    } else if (entry !== undefined) {
      entry.info = info;
      entry.rule = rule;
      entry.created = now;
    } else {
      this.#entries.set(path, new Entry(info, rule, now));
    }
    this.#expire(now);
    return info;
  }

  /** Drops up to two entries that nobody uses any more. nginx: ngx_expire_old_cached_files. */
  #expire(now: number): void {
    for (let i = 0; i < 2; i++) {
      const oldest = this.#entries.oldestKey();
      if (oldest === undefined || now - this.#entries.peek(oldest)!.accessed <= this.#inactive) {
        return;
      }
      this.#entries.delete(oldest);
    }
  }
}

function sameRule(a: SymlinkRule | undefined, b: SymlinkRule | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && a.ownerOnly === b.ownerOnly && a.from === b.from);
}
