import { closeSync } from 'node:fs';
import { ALERT, CRIT, type Level } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import { network } from '../../net/engine/network.js';
import { type FileTaker, PRESENT_MOST, READ_MOST } from '../../net/file-reads.js';
import { enter, leave } from '../../task/at-work.js';
import { FAILED } from '../../task/codes.js';
import type { SharingReader } from '../../time/fair-share.js';
import type { Source } from '../request/body-stage.js';
import { chainEnd } from '../request/chain-end.js';
import type { FileSettings } from '../request/file-settings.js';
import type { Request } from '../request/request.js';

/** What waits for a client that takes no more of what was read: the kernel tells when it has room for it, and for much more behind it. */
const WAITING = 4 * 1024;

/** As much as the kernel is asked to send by itself at a time. nginx sends more, but then one client has a worker for longer. */
const UNREAD = 512 * 1024;

/** How many bytes may be offered to the client as they are read, so that what it does not take can be read again. */
const offerLimit = (r: Request): number => (r === r.main && r.first === chainEnd(r) ? r.clientExchange.offerLimit(r) : 0);

/**
 * The body of a large file: read piece by piece as the client takes it, so that memory does not grow with the file or
 * with slow clients. Owns the descriptor. A file that shrinks meanwhile breaks the response off, since its length was
 * announced. nginx: ngx_output_chain_copy_buf.
 */
export class FileSource implements Source, FileTaker, SharingReader {
  readonly #fd: number;
  readonly #path: string;
  readonly #settings: FileSettings;
  #at: number;
  #end: number;
  #size: number;
  #limit = 0;
  #request: Request | null = null;
  /** How many bytes are being read in the background; -1 when no read is under way. */
  #reading = -1;
  #aborted = false;
  /** The kernel sends the file by itself as far as is known. */
  #unread = true;

  /** Sends the bytes from `start` up to, not including, `end`. `path` is for log lines. */
  constructor(fd: number, path: string, start: number, end: number, settings: FileSettings) {
    this.#fd = fd;
    this.#path = path;
    this.#at = start;
    this.#end = end;
    this.#settings = settings;
    this.#size = Math.min(settings.readSize, READ_MOST);
  }

  pull(r: Request): void {
    const share = r.http.fairShare;
    if (share.over) {
      this.#request = r;
      share.wait(this);
      return;
    }
    this.#limit = offerLimit(r);
    if (this.#limit > 0 && !this.#settings.aio && this.#sentNow(r)) {
      return;
    }
    this.#request = r;
    const most = this.#limit > 0 ? Math.min(this.#size, this.#limit) : Math.min(this.#settings.readSize, READ_MOST);
    this.#reading = Math.min(most, this.#end - this.#at);
    // What a stage keeps cannot be lent.
    network.files.read(this.#fd, this.#at, this.#reading, this.#limit === 0, this);
  }

  /** With the file in the system's memory, to hand the work to others and back costs more than the work. */
  #sentNow(r: Request): boolean {
    const share = r.http.fairShare;
    if (this.#unread) {
      const size = Math.min(UNREAD, this.#end - this.#at);
      if (!network.files.sendable(this.#fd, this.#at, size)) {
        return false;
      }
      const taken = r.clientExchange.offerFile(r, this.#fd, this.#at, size);
      if (taken >= 0) {
        share.spend(taken);
        this.#send(r, null, taken);
        return true;
      }
      this.#unread = false;
    }
    const size = Math.min(this.#settings.readSize, PRESENT_MOST, this.#limit, this.#end - this.#at);
    const piece = network.files.present(this.#fd, this.#at, size);
    if (piece === null) {
      return false;
    }
    share.spend(size);
    const taken = r.clientExchange.offer(r, piece);
    this.#at += taken;
    const rest = taken === size ? null : Buffer.from(piece.subarray(taken, taken + WAITING));
    this.#send(r, rest, rest === null ? 0 : rest.length);
    return true;
  }

  readShare(): void {
    const r = this.#request;
    this.#request = null;
    if (this.#aborted || r === null) {
      return;
    }
    const before = enter(r);
    this.pull(r);
    leave(before);
  }

  fileRead(piece: Buffer): void {
    const size = this.#reading;
    const r = this.#readEnded();
    if (r === null) {
      return;
    }
    const before = enter(r);
    r.http.fairShare.spend(piece.length);
    if (piece.length < size) {
      this.#failed(r, `pread() read only ${piece.length} of ${size} from "${this.#path}"`, ALERT);
    } else if (this.#limit === 0) {
      this.#send(r, piece, size);
    } else {
      const rest = this.#offer(r, piece);
      this.#send(r, rest, rest === null ? 0 : rest.length);
    }
    leave(before);
  }

  fileFailed(error: Error): void {
    const r = this.#readEnded();
    if (r === null) {
      return;
    }
    const before = enter(r);
    this.#failed(r, `pread() "${this.#path}" failed (${errnoText(error)})`, CRIT);
    leave(before);
  }

  /** Whose read has ended; null for nobody's any more. */
  #readEnded(): Request | null {
    const r = this.#request;
    this.#request = null;
    this.#reading = -1;
    if (this.#aborted) {
      closeSync(this.#fd);
      return null;
    }
    return r;
  }

  #failed(r: Request, message: string, level: Level): void {
    r.log(level, message);
    r.finalize(FAILED);
  }

  /** Sends what the client takes of a piece. Returns a little of what it did not take, as memory of its own. */
  #offer(r: Request, piece: Buffer): Buffer | null {
    const taken = r.clientExchange.offer(r, piece);
    this.#at += taken;
    // The client's pace says how much to read for it next.
    if (taken === piece.length) {
      this.#size = Math.min(this.#size * 2, this.#settings.maxReadSize, READ_MOST);
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
    if (this.#reading < 0 || network.files.withdraw(this)) {
      closeSync(this.#fd);
    }
  }

  seek(start: number, end: number): void {
    this.#at = start;
    this.#end = end;
  }
}
