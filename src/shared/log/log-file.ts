import { fchmodSync, fchownSync, fstatSync } from 'node:fs';
import { constants } from 'node:os';
import { gzipSync } from 'node:zlib';
import { errnoCode, errnoText } from '../system/errno.js';
import { AtTickEnd, endOfTick, type TickTask } from '../time/end-of-tick.js';
import { setTimer } from '../time/timer.js';
import { nowSeconds } from '../time/unix-time.js';
import { appendWhole, closeLogFd, feedPipe, type LogFd } from './log-fd.js';
import { countLost, linesIn } from './lost-lines.js';

/** How an access log is buffered. */
export interface LogBuffering {
  /** Bytes that are held before they are written. */
  readonly size: number;
  /** Milliseconds after which they are written in any case; 0 for never. */
  readonly flush: number;
  /** Level from 1 to 9 at which each write is compressed, as a gzip member of its own; 0 for not at all. */
  readonly gzip: number;
}

/** Lines of one tick leave together, up to this many bytes. */
const TICK_LIMIT = 64 * 1024;
/** What a pipe does not take is held up to this many bytes; later lines are lost. */
const BACKLOG_LIMIT = 256 * 1024;
/** Milliseconds between two tries to feed a pipe that is full. */
const PIPE_RETRY = 50;
/** Seconds between two reports about one file. */
const REPORT_INTERVAL = 60;

/**
 * One open log. Lines are collected and leave in one write at the end of the tick, or as its buffering says; every write holds
 * whole lines, so that several processes can append to one file. No write ever blocks or throws: what cannot be written is dropped and
 * reported, at most once a minute.
 */
export class LogFile implements TickTask {
  /** The full path, or the empty string for standard error. */
  readonly path: string;
  readonly #report: (message: string) => void;
  #log: LogFd | undefined;
  #pending = '';
  #backlog = '';
  #buffering: LogBuffering | undefined;
  #limit = TICK_LIMIT;
  /** The file will be called at the end of the tick. */
  #asked = false;
  #timer: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #fullSecond = 0;
  #reportSecond = 0;

  /** `report` receives errors in nginx's words, for a line of level alert. */
  constructor(path: string, log: LogFd, report: (message: string) => void) {
    this.path = path;
    this.#log = log;
    this.#report = report;
  }

  /** Present when the file is buffered. */
  get buffering(): LogBuffering | undefined {
    return this.#buffering;
  }

  /** True when this is the file that it is open on. */
  leadsTo({ ino, dev }: { readonly ino: number; readonly dev: number }): boolean {
    return this.#log?.ino === ino && this.#log.dev === dev;
  }

  /** Makes the file buffered from now on. */
  buffer(buffering: LogBuffering): void {
    this.flush();
    this.#buffering = buffering;
    this.#limit = buffering.size;
  }

  /** Adds one line, its line feed included; one character per byte. */
  write(line: string): void {
    const length = this.#pending.length;
    if (length + line.length > this.#limit) {
      this.flush();
      if (line.length > this.#limit) {
        this.#out(line);
        return;
      }
    }
    if (this.#pending === '') {
      this.#schedule();
    }
    this.#pending += line;
  }

  tickEnded(): void {
    this.#asked = false;
    this.flush();
  }

  /** Writes the lines of this tick now; a buffered file keeps its own time. */
  flushTick(): void {
    if (this.#buffering === undefined && this.#pending !== '') {
      this.flush();
    }
  }

  /** Writes buffered lines. */
  flush(): void {
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    if (this.#pending !== '') {
      const data = this.#pending;
      this.#pending = '';
      this.#out(data);
    } else if (this.#backlog !== '') {
      this.#feed();
    }
  }

  /**
   * Swaps the descriptor for that of `next`, just opened under the same path, after what is held went to the old one. With `uid`, the file
   * is given to that user first; a failure of that is thrown and leaves the old descriptor in use. nginx: ngx_reopen_files.
   */
  reopen(next: LogFd, uid: number | undefined): void {
    this.flush();
    if (uid !== undefined) {
      try {
        giveTo(next, uid);
      } catch (error) {
        closeLogFd(next);
        throw error;
      }
    }
    const old = this.#log;
    this.#log = next;
    this.#fullSecond = 0;
    if (old !== undefined) {
      closeLogFd(old);
    }
  }

  /** Writes buffered lines and closes the file; later lines are dropped. */
  close(): void {
    this.flush();
    clearTimeout(this.#retry);
    const old = this.#log;
    this.#log = undefined;
    if (old !== undefined) {
      closeLogFd(old);
    }
  }

  #schedule(): void {
    if (this.#buffering === undefined) {
      if (this.#asked) {
        return;
      }
      this.#asked = true;
      endOfTick.ask(AtTickEnd.LOGS, this);
    } else if (this.#buffering.flush > 0) {
      this.#timer = setTimer(() => this.flush(), this.#buffering.flush).unref();
    }
  }

  #out(data: string): void {
    const log = this.#log;
    if (log === undefined || this.#fullSecond === nowSeconds()) {
      countLost(linesIn(data));
      return;
    }
    const gzip = this.#buffering?.gzip ?? 0;
    const bytes = gzip === 0 ? data : gzipSync(Buffer.from(data, 'latin1'), { level: gzip }).toString('latin1');
    if (log.kind !== 'file') {
      if (this.#backlog.length + (this.#backlog === '' ? 0 : bytes.length) > BACKLOG_LIMIT) {
        countLost(linesIn(data));
        this.#failed(constants.errno.EAGAIN);
      } else {
        this.#backlog += bytes;
      }
      this.#feed();
      return;
    }
    try {
      appendWhole(log, bytes, gzip === 0);
    } catch (error) {
      if (gzip > 0) {
        countLost(linesIn(data));
      }
      this.#failed(error);
    }
  }

  #feed(): void {
    try {
      this.#backlog = this.#log === undefined ? '' : feedPipe(this.#log, this.#backlog);
    } catch (error) {
      // Of compressed lines it is only known that they were some.
      countLost(this.#buffering === undefined || this.#buffering.gzip === 0 ? linesIn(this.#backlog) : 1);
      this.#backlog = '';
      this.#failed(error);
    }
    if (this.#backlog !== '') {
      this.#retry ??= setTimer(() => {
        this.#retry = undefined;
        this.#feed();
      }, PIPE_RETRY).unref();
    }
  }

  #failed(error: unknown): void {
    const second = nowSeconds();
    if (errnoCode(error) === 'ENOSPC') {
      // nginx: the rest of the second goes by without trying, since a write to a full disk can be slow.
      this.#fullSecond = second;
    }
    if (second - this.#reportSecond >= REPORT_INTERVAL) {
      this.#reportSecond = second;
      this.#report(`write() to "${this.path}" failed (${errnoText(error)})`);
    }
  }
}

function giveTo(log: LogFd, uid: number): void {
  if (log.kind === 'other') {
    // nginx gives away /dev/null and the terminal too, for everybody else on the machine to notice.
    return;
  }
  const stat = fstatSync(log.fd);
  if (stat.uid !== uid) {
    fchownSync(log.fd, uid, stat.gid);
  }
  if ((stat.mode & 0o600) !== 0o600) {
    fchmodSync(log.fd, (stat.mode & 0o7777) | 0o600);
  }
}
