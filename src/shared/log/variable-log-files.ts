import { statSync } from 'node:fs';
import { Lru } from '../collection/lru.js';
import { fsPath } from '../files/fs-path.js';
import { nowSeconds } from '../time/unix-time.js';
import { type LogFd, openLogFd } from './log-fd.js';
import { LogFile } from './log-file.js';

/** The parameters of `open_log_file_cache`. */
export interface OpenLogFileCache {
  /** How many names are remembered. */
  readonly max: number;
  /** Seconds without a line after which a name is forgotten. */
  readonly inactive: number;
  /** Seconds after which it is checked that the open file still has its name. */
  readonly valid: number;
  /** Lines from which on the file stays open. */
  readonly minUses: number;
}

class Entry {
  uses = 0;
  /** Seconds. */
  accessed = 0;
  checked = 0;
  fd: LogFd | undefined;
  file: LogFile | undefined;

  close(): void {
    this.file?.close();
    this.file = undefined;
    this.fd = undefined;
  }
}

/**
 * Files whose paths have variables in them. Without a cache each line opens, writes and closes; with one, the files of the names that come
 * up most often stay open. nginx: ngx_http_log_script_write over ngx_open_cached_file.
 */
export class VariableLogFiles {
  readonly #cache: OpenLogFileCache | undefined;
  readonly #entries: Lru<Entry>;
  readonly #report: (message: string) => void;

  /** `report` receives failures to write, in nginx's words, for a line of level alert. */
  constructor(cache: OpenLogFileCache | undefined, report: (message: string) => void) {
    this.#cache = cache;
    this.#entries = new Lru(cache?.max ?? 0, (_path, entry) => entry.close());
    this.#report = report;
  }

  /** Adds a line, its line feed included, to the file at a full path; throws node:fs's error when it cannot be opened. */
  write(path: string, line: string): void {
    const cache = this.#cache;
    if (cache === undefined) {
      const file = new LogFile(path, openLogFd(path), this.#report);
      file.write(line);
      file.close();
      return;
    }
    const now = nowSeconds();
    this.#forgetUnused(now, cache.inactive);
    const known = this.#entries.get(path);
    const entry = known ?? new Entry();
    entry.uses++;
    entry.accessed = now;
    if (entry.file !== undefined && now - entry.checked >= cache.valid) {
      if (isStill(path, entry.fd)) {
        entry.checked = now;
      } else {
        entry.close();
      }
    }
    if (entry.file === undefined) {
      this.#open(path, entry);
      entry.checked = now;
    }
    entry.file?.write(line);
    if (entry.uses < cache.minUses) {
      entry.close();
    }
    if (known === undefined) {
      this.#entries.set(path, entry);
    }
  }

  /** Writes buffered lines and closes all files. */
  close(): void {
    for (let path = this.#entries.oldestKey(); path !== undefined; path = this.#entries.oldestKey()) {
      this.#forget(path);
    }
  }

  #open(path: string, entry: Entry): void {
    try {
      entry.fd = openLogFd(path);
    } catch (error) {
      // A name that leads nowhere must not push out one that does.
      this.#entries.delete(path);
      throw error;
    }
    entry.file = new LogFile(path, entry.fd, this.#report);
  }

  #forgetUnused(now: number, inactive: number): void {
    for (let oldest = this.#entries.oldestKey(); oldest !== undefined; oldest = this.#entries.oldestKey()) {
      if (now - (this.#entries.peek(oldest)?.accessed ?? 0) <= inactive) {
        break;
      }
      this.#forget(oldest);
    }
  }

  #forget(path: string): void {
    this.#entries.peek(path)?.close();
    this.#entries.delete(path);
  }
}

function isStill(path: string, fd: LogFd | undefined): boolean {
  const stat = statSync(fsPath(path), { throwIfNoEntry: false });
  return stat !== undefined && stat.ino === fd?.ino && stat.dev === fd.dev;
}
