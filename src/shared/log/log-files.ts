import { errnoText } from '../system/errno.js';
import { ALERT, EMERG, type Level } from './level.js';
import { openAsStandardError, openLogFd, stderrLogFd } from './log-fd.js';
import { LogFile } from './log-file.js';

/** Where failures of log files are told. */
export interface FailureLog {
  log(level: Level, message: string): void;
}

/**
 * The log files of one configuration in one process: one descriptor per path, however many directives name it.
 * What is still held when the process exits is written. nginx: the open_files list of a cycle.
 */
export class LogFiles {
  /** The log that failures to write or to reopen go to; set once the error log is open. */
  failures: FailureLog | undefined;
  readonly #files = new Map<string, LogFile>();
  /** Files with error lines since the last `flushErrors`. */
  readonly #errors: LogFile[] = [];
  readonly #atExit = (): void => this.flushAll();

  constructor() {
    process.on('exit', this.#atExit);
  }

  /** The log at a full path, opened for appending and created when missing; throws node:fs's error. */
  open(path: string): LogFile {
    return this.#files.get(path) ?? this.#add(path, new LogFile(path, openLogFd(path), this.#report));
  }

  /** Standard error as a log file; it is never reopened. */
  stderr(): LogFile {
    return this.#files.get('') ?? this.#add('', new LogFile('', stderrLogFd(), this.#report));
  }

  /**
   * Opens every file anew under its name, after what is held went to the old one, so that a file that was renamed is let go of. With `uid`
   * (a master that runs as root), the files are given to that user, whose workers reopen them next. A file that cannot be reopened stays
   * as it is, with a line of level emerg. nginx: ngx_reopen_files.
   */
  reopenAll(uid?: number): void {
    for (const file of this.#files.values()) {
      if (file.path === '') {
        file.flush();
        continue;
      }
      try {
        file.reopen(openLogFd(file.path), uid);
      } catch (error) {
        this.failures?.log(EMERG, reopenFailure(file.path, uid, error));
      }
    }
  }

  /** Opens the log at this path once more, as descriptor 2; a failure is a line of level alert. */
  replaceStandardError(path: string): void {
    try {
      openAsStandardError(path);
    } catch (error) {
      this.failures?.log(ALERT, openFailure(path, error));
    }
  }

  /** Adds an error line to one of these files, its line feed included; one character per byte. */
  writeError(file: LogFile, line: string): void {
    if (!this.#errors.includes(file)) {
      this.#errors.push(file);
    }
    file.write(line);
  }

  /** Writes the error lines of this tick, so that a client which has its response finds its errors in the log. */
  flushErrors(): void {
    if (this.#errors.length === 0) {
      return;
    }
    for (const file of this.#errors) {
      file.flushTick();
    }
    this.#errors.length = 0;
  }

  /** Writes the lines of this tick, so that a client which sees its connection end finds its requests in the log. */
  flushTick(): void {
    for (const file of this.#files.values()) {
      file.flushTick();
    }
  }

  /** Writes what all files hold. */
  flushAll(): void {
    for (const file of this.#files.values()) {
      file.flush();
    }
  }

  /** Writes what all files hold and closes them. */
  closeAll(): void {
    process.off('exit', this.#atExit);
    for (const file of this.#files.values()) {
      file.close();
    }
    this.#files.clear();
  }

  readonly #report = (message: string): void => {
    this.failures?.log(ALERT, message);
  };

  #add(path: string, file: LogFile): LogFile {
    this.#files.set(path, file);
    return file;
  }
}

/** The text of a failure to open a log file. nginx: ngx_init_cycle. */
export function openFailure(path: string, error: unknown): string {
  return `open() "${path}" failed (${errnoText(error)})`;
}

function reopenFailure(path: string, uid: number | undefined, error: unknown): string {
  switch ((error as NodeJS.ErrnoException).syscall) {
    case 'chown':
      return `chown("${path}", ${uid}) failed (${errnoText(error)})`;
    case 'chmod':
      return `chmod() "${path}" failed (${errnoText(error)})`;
    default:
      return openFailure(path, error);
  }
}
