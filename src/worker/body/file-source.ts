import { closeSync, read } from 'node:fs';
import { errnoText } from '../../shared/lib/errno.js';
import { ALERT, CRIT } from '../../shared/log/level.js';
import type { FileSettings } from '../http/file-settings.js';
import { finalize } from '../http/finalize.js';
import type { Request } from '../http/request.js';
import { ERROR } from '../phases/codes.js';
import { chainEnd } from './chain-end.js';
import type { Source } from './stage.js';

/** A client that asks for the next piece within this time, in milliseconds, is a quick one. */
const QUICK = 20;

/** Tells whether nobody can still look at the pieces that were sent: no filter, no parent request, no queue of the connection. */
const isFree = (r: Request): boolean => r === r.main && r.stream.allSent && r.first === chainEnd(r);

/**
 * The body of a large file: read piece by piece as the client takes it, so that memory does not grow with the file or
 * with slow clients. Owns the descriptor. A file that shrinks meanwhile breaks the response off, since its length was
 * announced. nginx: ngx_output_chain_copy_buf.
 */
export class FileSource implements Source {
  readonly #fd: number;
  readonly #path: string;
  readonly #settings: FileSettings;
  #at: number;
  #end: number;
  /** What the latest piece was read into. Used again once the piece has left, which spares the kernel making new pages. */
  #buffer: Buffer | null = null;
  #size: number;
  #sentAt = 0;
  #request: Request | null = null;
  #aborted = false;
  readonly #onRead = (error: Error | null, count: number, piece: Buffer): void => this.#readDone(error, count, piece);

  /** Sends the bytes from `start` up to, not including, `end`. `path` is for log lines. */
  constructor(fd: number, path: string, start: number, end: number, settings: FileSettings) {
    this.#fd = fd;
    this.#path = path;
    this.#at = start;
    this.#end = end;
    this.#settings = settings;
    this.#size = settings.readSize;
  }

  pull(r: Request): void {
    this.#request = r;
    if (this.#sentAt !== 0) {
      const quick = performance.now() - this.#sentAt < QUICK;
      this.#size = quick ? Math.min(this.#size * 2, this.#settings.maxReadSize) : this.#settings.readSize;
    }
    const size = Math.min(this.#size, this.#end - this.#at);
    let buffer = this.#buffer;
    if (buffer === null || buffer.length !== this.#size || !isFree(r)) {
      buffer = Buffer.allocUnsafeSlow(Math.max(size, 1));
      this.#buffer = buffer;
    }
    read(this.#fd, buffer.length === size ? buffer : buffer.subarray(0, size), 0, size, this.#at, this.#onRead);
  }

  #readDone(error: Error | null, count: number, piece: Buffer): void {
    const r = this.#request!;
    this.#request = null;
    if (this.#aborted) {
      closeSync(this.#fd);
      return;
    }
    if (error !== null || count < piece.length) {
      if (error !== null) r.log(CRIT, `pread() "${this.#path}" failed (${errnoText(error)})`);
      else r.log(ALERT, `pread() read only ${count} of ${piece.length} from "${this.#path}"`);
      finalize(r, ERROR);
      return;
    }
    this.#at += count;
    this.#sentAt = performance.now();
    const last = this.#at >= this.#end;
    if (last && r.source === this) {
      r.source = null;
      closeSync(this.#fd);
    }
    r.first!.send(r, piece, last);
  }

  abort(): void {
    this.#aborted = true;
    // The descriptor must outlive a read that is under way.
    if (this.#request === null) closeSync(this.#fd);
  }

  seek(start: number, end: number): void {
    this.#at = start;
    this.#end = end;
  }
}
