import { closeSync, read } from 'node:fs';
import { errnoText } from '../../shared/lib/errno.js';
import { ALERT, CRIT } from '../../shared/log/level.js';
import { finalize } from '../http/finalize.js';
import type { Request } from '../http/request.js';
import { ERROR } from '../phases/codes.js';
import type { Source } from './stage.js';

/**
 * The body of a large file: read piece by piece as the client takes it, so that memory does not grow with the file or
 * with slow clients. Owns the descriptor. A file that shrinks meanwhile breaks the response off, since its length was
 * announced. nginx: ngx_output_chain_copy_buf.
 */
export class FileSource implements Source {
  readonly #fd: number;
  readonly #path: string;
  readonly #pieceSize: number;
  #at: number;
  #end: number;
  #request: Request | null = null;
  #aborted = false;
  readonly #onRead = (error: Error | null, count: number, buffer: Buffer): void => this.#readDone(error, count, buffer);

  /** Sends `end - start` bytes. `path` is for log lines; `pieceSize` is how much is read at a time. */
  constructor(fd: number, path: string, start: number, end: number, pieceSize: number) {
    this.#fd = fd;
    this.#path = path;
    this.#at = start;
    this.#end = end;
    this.#pieceSize = pieceSize;
  }

  pull(r: Request): void {
    this.#request = r;
    const size = Math.min(this.#pieceSize, this.#end - this.#at);
    read(this.#fd, Buffer.allocUnsafeSlow(size), 0, size, this.#at, this.#onRead);
  }

  #readDone(error: Error | null, count: number, buffer: Buffer): void {
    const r = this.#request!;
    this.#request = null;
    if (this.#aborted) {
      closeSync(this.#fd);
      return;
    }
    if (error !== null || count < buffer.length) {
      if (error !== null) r.log(CRIT, `pread() "${this.#path}" failed (${errnoText(error)})`);
      else r.log(ALERT, `pread() read only ${count} of ${buffer.length} from "${this.#path}"`);
      finalize(r, ERROR);
      return;
    }
    this.#at += count;
    const last = this.#at >= this.#end;
    if (last && r.source === this) {
      r.source = null;
      closeSync(this.#fd);
    }
    r.first!.send(r, buffer, last);
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
