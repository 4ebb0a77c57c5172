// One file: what is in memory, what is in the temporary file and what the client has asked for decide together what is sent next.
import { unlinkSync, writeSync } from 'node:fs';
import { fsPath } from '../../../shared/files/fs-path.js';
import { CRIT, type Level, WARN } from '../../../shared/log/level.js';
import { SEGMENT } from '../../../shared/net/segment.js';
import { errnoText } from '../../../shared/system/errno.js';
import { copied, Gathered } from '../../bytes/gathered.js';
import type { Source } from '../../http/request/body-stage.js';
import type { Request } from '../../http/request/request.js';
import { openTempFile, type TempFile, type TempFileRead, type TempFileTaker } from '../../http/request/temp-file.js';
import { FAILED, OK } from '../../task/codes.js';
import type { SharingReader } from '../../time/fair-share.js';
import type { ResponseBodyReader } from './response-body-reader.js';
import type { UpstreamRequest } from './upstream-request.js';

/** More of the response is to come. */
const OPEN = 0;
/** The whole response is here. */
const ENDED = 1;
/** The backend broke off: what is here is sent, then the connection ends without an end of the body. */
const BROKEN = 2;
/** The client gets nothing more of it. */
const ABANDONED = 3;

/** As many pieces are kept apart. */
const MOST_APART = 256;

/**
 * Holds a response's body between the backend and the client: in memory up to the size of `*_buffers`, then in a
 * temporary file up to `*_max_temp_file_size`; past that, the backend is not read. nginx: ngx_event_pipe.c.
 */
export class ResponsePipe implements Source, SharingReader, TempFileTaker {
  readonly #u: UpstreamRequest;
  readonly #reader: ResponseBodyReader;
  readonly #buffering: boolean;
  /** Bytes kept in memory while the client is busy. */
  readonly #limit: number;
  /** What came last, in memory that is not ours: a copy is made only if it has to wait. */
  #lent: Buffer | null = null;
  #lentStart = 0;
  #lentEnd = 0;
  /** The first piece that waits, and what is behind it. */
  #first: Buffer | null = null;
  #rest: Gathered | null = null;
  /** Pieces between these two that are not joined; null for none. */
  #apart: Buffer[] | null = null;
  /** Bytes in them. */
  #queued = 0;
  #state = OPEN;
  /** Something of the body has come. */
  begun = false;
  /** The client's side waits for a piece. */
  #demand = false;
  #flushed = false;
  /** What is here is passed on, however little it is. */
  #flows = false;
  #file: TempFile | undefined = undefined;
  #fileRead = 0;
  #fileEnd = 0;
  /** The system fetches the piece of the file that the client's side waits for. */
  #reading: TempFileRead | null = null;
  /** Others have their turn first. */
  #aside = false;

  constructor(u: UpstreamRequest, reader: ResponseBodyReader, buffering: boolean) {
    this.#u = u;
    this.#reader = reader;
    this.#buffering = buffering;
    const settings = u.conf.settings;
    this.#limit = buffering ? settings.buffers.number * settings.buffers.size : 1;
  }

  /** Takes a piece of the body in memory that is not ours; {@link own} follows before that is used again. */
  add(bytes: Buffer, start: number, end: number): void {
    const size = end - start;
    if (size === 0) {
      return;
    }
    this.begun = true;
    this.#u.tee?.write(bytes, start, end);
    if (this.#state === ABANDONED) {
      return;
    }
    if (this.#queued === 0) {
      this.#lent = bytes;
      this.#lentStart = start;
      this.#lentEnd = end;
    } else {
      this.own();
      this.#keep(bytes, start, end);
    }
    this.#queued += size;
  }

  /** What comes apart is kept apart, as long as these are not many pieces. */
  get apart(): boolean {
    return this.#rest === null && this.#u.r.first?.apart === true && (this.#apart === null || this.#apart.length < MOST_APART);
  }

  /** What is left of the pieces that were added is ours from now on. */
  own(): void {
    const lent = this.#lent;
    if (lent !== null) {
      this.#lent = null;
      this.#keep(lent, this.#lentStart, this.#lentEnd);
    }
  }

  #keep(bytes: Buffer, start: number, end: number): void {
    if (this.#first === null) {
      this.#first = copied(bytes, start, end);
    } else if (this.apart) {
      this.#apart ??= [];
      this.#apart.push(copied(bytes, start, end));
    } else {
      this.#rest ??= new Gathered();
      this.#rest.add(bytes, start, end);
    }
  }

  /** Has what is here passed on, however little it is, and with it all that comes until there is nothing left. */
  flow(): void {
    this.#flows = this.#queued > 0;
  }

  /** After pieces were added from `read` bytes: passes them on, or puts them away, or stops the backend. Returns false when that failed. */
  settle(read: number): boolean {
    const share = this.#u.r.http.fairShare;
    share.spend(read);
    if (this.#demand) {
      this.#serve();
    }
    if (this.#queued >= this.#limit && !this.#demand && this.#state === OPEN) {
      const settings = this.#u.conf.settings;
      const room = this.#u.tee !== null || (this.#buffering && this.#fileEnd + this.#queued <= settings.maxTempFileSize);
      if (!room) {
        this.#reader.pause();
        return true;
      }
      if (!this.#spill()) {
        return false;
      }
    }
    // Libuv reads a socket on for as long as it brings more, two megabytes at a time: with many responses others would wait for seconds.
    if (share.over && !this.#aside) {
      this.#aside = true;
      this.#reader.pause();
      share.wait(this);
    }
    return true;
  }

  readShare(): void {
    this.#aside = false;
    if (this.#queued < this.#limit) {
      this.#reader.resume();
    }
  }

  /** The backend has sent all (`complete`), or will send no more of what it began. */
  finish(complete: boolean): void {
    if (this.#state !== OPEN) {
      return;
    }
    this.#state = complete ? ENDED : BROKEN;
    if (this.#demand) {
      this.#serve();
    }
  }

  /**
   * The backend fell silent: as nginx, what was not sent on yet is lost with the rest of the response. nginx:
   * ngx_http_upstream_process_upstream.
   */
  forget(): void {
    this.#drop();
    this.#fileRead = this.#fileEnd;
    if (this.#reading !== null) {
      this.#reading.drop();
      this.#reading = null;
      this.#demand = true;
    }
  }

  #drop(): void {
    this.#lent = null;
    this.#first = null;
    this.#apart = null;
    this.#rest = null;
    this.#queued = 0;
  }

  /** The client is gone; what comes is only kept where it is stored. */
  abandon(): void {
    this.#state = ABANDONED;
    this.#demand = false;
    this.#release();
    if (!this.#aside) {
      this.#reader.resume();
    }
  }

  get abandoned(): boolean {
    return this.#state === ABANDONED;
  }

  get works(): boolean {
    return !this.#u.done;
  }

  pull(_r: Request): void {
    this.#demand = true;
    this.#serve();
    if (this.#state === OPEN && this.#queued < this.#limit && !this.#aside) {
      this.#reader.resume();
    }
  }

  abort(_r: Request): void {
    this.#release();
    this.#state = ABANDONED;
    this.#u.downstreamAborted();
  }

  #serve(): void {
    const r = this.#u.r;
    if (this.#fileRead < this.#fileEnd) {
      this.#serveStored(r);
      return;
    }
    const queued = this.#queued;
    if (queued > 0) {
      // As nginx, a buffered response is sent on by whole buffers where nothing tells what has to come at least.
      if (this.#buffering && this.#state === OPEN && !this.#flows && queued < this.#u.conf.settings.buffers.size) {
        return;
      }
      if (this.#lent === null) {
        this.#send(r, this.#takeQueued());
      } else {
        this.#sendLent(r, this.#lent);
      }
      return;
    }
    if (this.#state === ENDED) {
      this.#send(r, null);
    } else if (this.#state === BROKEN) {
      this.#breakOff(r);
    }
  }

  #send(r: Request, piece: Buffer | null): void {
    r.first!.send(r, piece, this.#leaves());
  }

  /** Sends what came last past the queue. */
  #sendLent(r: Request, lent: Buffer): void {
    const stage = r.first!;
    if (stage.sendLent === undefined) {
      this.own();
      this.#send(r, this.#takeQueued());
      return;
    }
    this.#lent = null;
    this.#queued = 0;
    stage.sendLent(r, lent, this.#lentStart, this.#lentEnd, this.#leaves());
  }

  /** A piece is about to be sent. Returns whether it is the last. */
  #leaves(): boolean {
    this.#demand = false;
    if (this.#queued === 0) {
      this.#flows = false;
    }
    const last = this.#state === ENDED && this.#queued === 0 && this.#fileRead === this.#fileEnd;
    if (last) {
      this.#release();
    }
    return last;
  }

  /** Ends the response without the end of its body, so that the client can tell. */
  #breakOff(r: Request): void {
    this.#demand = false;
    if (!this.#flushed) {
      this.#flushed = true;
      r.flushBody = true;
      r.first!.send(r, null, false);
      return;
    }
    this.#release();
    r.source = null;
    if (r.children !== null && r.children.awaited > 0) {
      // The client is not to wait for mirrors to learn of it.
      r.terminate(FAILED);
    } else {
      r.finalize(OK);
    }
  }

  #takeQueued(): Buffer {
    const first = this.#first as Buffer;
    const rest = this.#rest;
    const next = this.#apart?.shift();
    if (next !== undefined) {
      this.#first = next;
      this.#queued -= first.length;
      return first;
    }
    if (rest === null) {
      this.#drop();
      return first;
    }
    const behind = rest.takeUpTo(SEGMENT - first.length);
    const piece = behind.length === 0 ? first : Buffer.concat([first, ...behind]);
    this.#first = rest.shift();
    if (rest.length === 0) {
      this.#rest = null;
    }
    this.#queued -= piece.length;
    return piece;
  }

  /** Moves what is in memory to the temporary file. */
  #spill(): boolean {
    const { r } = this.#u;
    if (this.#file === undefined) {
      try {
        this.#file = openTempFile(this.#u.conf.settings.tempPath);
        unlinkSync(fsPath(this.#file.path));
      } catch (error) {
        r.log(CRIT, (error as Error).message);
        return false;
      }
      if (this.#u.tee === null) {
        r.log(WARN, `an upstream response is buffered to a temporary file ${this.#file.path}`);
      }
    }
    const file = this.#file;
    if (this.#fileRead === this.#fileEnd) {
      this.#fileRead = 0;
      this.#fileEnd = 0;
    }
    try {
      if (this.#lent !== null) {
        this.#write(file, this.#lent, this.#lentStart, this.#lentEnd);
      }
      if (this.#first !== null) {
        this.#write(file, this.#first, 0, this.#first.length);
      }
      for (const piece of [...(this.#apart ?? []), ...(this.#rest?.pieces ?? [])]) {
        this.#write(file, piece, 0, piece.length);
      }
    } catch (error) {
      r.log(CRIT, `pwritev() "${file.path}" failed (${errnoText(error)})`);
      return false;
    }
    this.#drop();
    return true;
  }

  #write(file: TempFile, bytes: Buffer, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const written = writeSync(file.fd, bytes, at, end - at, this.#fileEnd);
      at += written;
      this.#fileEnd += written;
    }
  }

  #serveStored(r: Request): void {
    const file = this.#file as TempFile;
    const size = Math.min(SEGMENT, this.#fileEnd - this.#fileRead);
    const piece = file.present(this.#fileRead, size);
    if (piece === null) {
      this.#demand = false;
      this.#reading = file.read(r, this.#fileRead, size, this);
    } else {
      this.#sendStored(r, piece);
    }
  }

  #sendStored(r: Request, piece: Buffer): void {
    this.#fileRead += piece.length;
    const stage = r.first!;
    if (stage.sendLent === undefined) {
      this.#send(r, Buffer.from(piece));
    } else {
      stage.sendLent(r, piece, 0, piece.length, this.#leaves());
    }
  }

  fileRead(bytes: Buffer): void {
    this.#reading = null;
    this.#sendStored(this.#u.r, bytes);
  }

  fileFailed(level: Level, message: string): void {
    const { r } = this.#u;
    this.#reading = null;
    r.log(level, message);
    r.finalize(FAILED);
  }

  #release(): void {
    if (this.#queued !== 0 || this.#fileRead !== this.#fileEnd) {
      this.forget();
    }
    if (this.#file === undefined) {
      return;
    }
    this.#file.close();
    this.#file = undefined;
  }
}
