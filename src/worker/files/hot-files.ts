import { Lru } from '../../shared/collection/lru.js';
import { AtTickEnd, endOfTick, type TickTask } from '../../shared/time/end-of-tick.js';
import type { FileInfo } from './file-info.js';

/** Memory for file contents in one worker. */
const LIMIT = 32 * 1024 * 1024;
/** What an entry costs beside its content and path, roughly. */
const OVERHEAD = 512;
/**
 * A file that changed this shortly before it was read, in milliseconds, could change again without its times showing
 * it, since the kernel takes them from a clock that ticks every few milliseconds. It is not kept.
 */
const SETTLED = 50;

/**
 * Contents of small files, kept between requests. An entry counts only as long as the file's times, size, number and
 * rights are the same, which the caller asks the file system. Requests that had all arrived when the event loop woke up
 * share one answer: whoever changes a file and then asks for it is served in a later tick.
 */
export class HotFiles implements TickTask {
  readonly #files = new Lru<FileInfo>(LIMIT);
  #tick = 1;
  #asked = false;

  get(path: string): FileInfo | undefined {
    return this.#files.get(path);
  }

  /**
   * Tells whether the file system said in this tick that the file is the same, for a request that began in the same
   * millisecond. `began`: monotonic milliseconds.
   */
  isConfirmed(info: FileInfo, began: number): boolean {
    return info.confirmedTick === this.#tick && info.confirmedAt === Math.floor(began);
  }

  /** The file system just said, for a request that began then, that the file is the same. */
  confirm(info: FileInfo, began: number): void {
    info.confirmedTick = this.#tick;
    info.confirmedAt = Math.floor(began);
    if (this.#asked) {
      return;
    }
    this.#asked = true;
    endOfTick.ask(AtTickEnd.FORGET, this);
  }

  tickEnded(): void {
    this.#asked = false;
    this.#tick++;
  }

  /** Keeps a file that was just read, if its times can be relied on to tell it from later versions. */
  keep(path: string, info: FileInfo): void {
    if (Date.now() - Math.max(info.mtimeMs, info.ctimeMs) < SETTLED) {
      return;
    }
    this.#files.set(path, info, info.size + path.length + OVERHEAD);
  }
}
