import { closeSync, read, readSync } from 'node:fs';
import { errnoText } from '../../../shared/lib/errno.js';
import { ALERT, CRIT } from '../../../shared/log/level.js';
import { enter, leave } from '../../client/at-work.js';
import { ERROR } from '../../client/codes.js';
import type { SharingReader } from '../../io/fair-share.js';
import { type BufferTaker, READ_BUFFER } from '../../io/read-buffers.js';
import type { Source } from '../request/body-stage.js';
import { chainEnd } from '../request/chain-end.js';
import type { FileSettings } from '../request/file-settings.js';
import type { Request } from '../request/request.js';

/** What waits for a client that takes no more of what was read: the kernel tells when it has room for it, and for much more behind it. */
const WAITING = 4 * 1024;

/** As much as is read at once where that is not left to a thread: the bytes are still in the processor's cache when they are sent. */
const AT_ONCE = 128 * 1024;

/** As much as the kernel is asked to send by itself at a time. nginx sends more, but then one client has a worker for longer. */
const UNREAD = 512 * 1024;

let common: Buffer | undefined;

/** Memory that is in use only during a call. */
function commonPart(size: number): Buffer {
  common ??= Buffer.allocUnsafeSlow(AT_ONCE);
  return size === AT_ONCE ? common : common.subarray(0, size);
}

/** How many bytes may be offered to the client as they are read, so that what it does not take can be read again. */
const offerLimit = (r: Request): number => (r === r.main && r.first === chainEnd(r) ? r.stream.offerLimit(r) : 0);

/**
 * The body of a large file: read piece by piece as the client takes it, so that memory does not grow with the file or
 * with slow clients. Owns the descriptor. A file that shrinks meanwhile breaks the response off, since its length was
 * announced. nginx: ngx_output_chain_copy_buf.
 */
export class FileSource implements Source, BufferTaker, SharingReader {
  readonly #fd: number;
  readonly #path: string;
  readonly #settings: FileSettings;
  #at: number;
  #end: number;
  #size: number;
  #limit = 0;
  #request: Request | null = null;
  /** A read is under way. */
  #reading = false;
  /** The worker's buffer that is read into; null for memory that stages may keep. */
  #buffer: Buffer | null = null;
  #aborted = false;
  /** The kernel sends the file by itself as far as is known. */
  #unread = true;
  readonly #onRead = (error: Error | null, count: number, piece: Buffer): void => this.#readDone(error, count, piece);

  /** Sends the bytes from `start` up to, not including, `end`. `path` is for log lines. */
  constructor(fd: number, path: string, start: number, end: number, settings: FileSettings) {
    this.#fd = fd;
    this.#path = path;
    this.#at = start;
    this.#end = end;
    this.#settings = settings;
    this.#size = Math.min(settings.readSize, READ_BUFFER);
  }

  pull(r: Request): void {
    this.#limit = offerLimit(r);
    if (this.#limit > 0 && !this.#settings.aio) {
      this.#pullNow(r);
      return;
    }
    this.#request = r;
    if (this.#limit > 0) {
      r.http.readBuffers.request(this);
    } else {
      const size = Math.min(this.#settings.readSize, this.#end - this.#at);
      this.#read(Buffer.allocUnsafeSlow(Math.max(size, 1)), size);
    }
  }

  /** As nginx does without `aio`: with the file in the system's memory, to hand the work to a thread and back costs more than the work. */
  #pullNow(r: Request): void {
    const share = r.http.fairShare;
    if (share.over) {
      this.#request = r;
      share.wait(this);
      return;
    }
    if (this.#unread) {
      const size = Math.min(UNREAD, this.#end - this.#at);
      const taken = r.stream.offerFile(r, this.#fd, this.#at, size);
      if (taken >= 0) {
        share.spend(taken);
        this.#send(r, null, taken);
        return;
      }
      this.#unread = false;
    }
    const size = Math.min(this.#settings.readSize, AT_ONCE, this.#limit, this.#end - this.#at);
    const piece = this.#readNow(r, commonPart(size));
    if (piece === undefined) {
      return;
    }
    share.spend(size);
    const taken = r.stream.offer(r, piece);
    this.#at += taken;
    const rest = taken === size ? null : Buffer.from(piece.subarray(taken, taken + WAITING));
    this.#send(r, rest, rest === null ? 0 : rest.length);
  }

  /** Fills a piece; undefined if that failed, which has ended the request. */
  #readNow(r: Request, piece: Buffer): Buffer | undefined {
    let count = 0;
    try {
      count = readSync(this.#fd, piece, 0, piece.length, this.#at);
    } catch (error) {
      this.#failed(r, error as Error, 0, piece.length);
      return undefined;
    }
    if (count < piece.length) {
      this.#failed(r, null, count, piece.length);
      return undefined;
    }
    return piece;
  }

  readShare(): void {
    const r = this.#request;
    this.#request = null;
    if (this.#aborted || r === null) {
      return;
    }
    const before = enter(r);
    this.#pullNow(r);
    leave(before);
  }

  takeBuffer(buffer: Buffer): void {
    this.#buffer = buffer;
    this.#read(buffer, Math.min(this.#size, this.#limit, this.#end - this.#at));
  }

  #read(buffer: Buffer, size: number): void {
    this.#reading = true;
    read(this.#fd, buffer.length === size ? buffer : buffer.subarray(0, size), 0, size, this.#at, this.#onRead);
  }

  #readDone(error: Error | null, count: number, piece: Buffer): void {
    const r = this.#request!;
    const buffer = this.#buffer;
    this.#request = null;
    this.#reading = false;
    this.#buffer = null;
    if (this.#aborted) {
      closeSync(this.#fd);
      if (buffer !== null) {
        r.http.readBuffers.release(buffer);
      }
      return;
    }
    if (error !== null || count < piece.length) {
      if (buffer !== null) {
        r.http.readBuffers.release(buffer);
      }
      this.#failed(r, error, count, piece.length);
      return;
    }
    if (buffer === null) {
      this.#send(r, piece, count);
    } else {
      const rest = this.#offer(r, piece);
      r.http.readBuffers.release(buffer);
      this.#send(r, rest, rest === null ? 0 : rest.length);
    }
  }

  #failed(r: Request, error: Error | null, count: number, size: number): void {
    if (error !== null) {
      r.log(CRIT, `pread() "${this.#path}" failed (${errnoText(error)})`);
    } else {
      r.log(ALERT, `pread() read only ${count} of ${size} from "${this.#path}"`);
    }
    r.finalize(ERROR);
  }

  /** Sends what the client takes of a piece. Returns a little of what it did not take, as memory of its own. */
  #offer(r: Request, piece: Buffer): Buffer | null {
    const taken = r.stream.offer(r, piece);
    this.#at += taken;
    // The client's pace says how much to read for it next.
    if (taken === piece.length) {
      this.#size = Math.min(this.#size * 2, this.#settings.maxReadSize, READ_BUFFER);
      return null;
    }
    this.#size = Math.max(Math.min(this.#settings.readSize, this.#size), this.#size >> 1);
    return Buffer.from(piece.subarray(taken, taken + WAITING));
  }

  /** Sends a piece, or nothing, after which the next one is asked for when there is room. */
  #send(r: Request, piece: Buffer | null, count: number): void {
    this.#at += count;
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
    if (this.#reading) {
      return;
    }
    this.#request?.http.readBuffers.cancel(this);
    closeSync(this.#fd);
  }

  seek(start: number, end: number): void {
    this.#at = start;
    this.#end = end;
  }
}
