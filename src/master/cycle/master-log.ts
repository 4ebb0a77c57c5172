import { writeSync } from 'node:fs';
import type { Finding } from '../../shared/config/configuration.js';
import type { Logger } from '../../shared/log/error-log.js';
import { EMERG, INFO, type Level, levelNames, NOTICE, WARN } from '../../shared/log/level.js';
import { closeLogFd, type LogFd, openLogFd, stderrLogFd } from '../../shared/log/log-fd.js';
import { textLine } from '../../shared/log/log-line.js';
import { errnoText } from '../../shared/system/errno.js';

/**
 * The log of the master. Before a configuration says where lines go, they go to the file of the command line (`-e`); warnings and graver
 * ones also to the terminal until the server is up. nginx: ngx_log_init, ngx_use_stderr.
 */
export class MasterLog implements Logger {
  readonly #name: string;
  #write: ((text: string) => void) | undefined;
  #file: LogFd | undefined;
  #configured: Logger | undefined;
  /** Lines reach the terminal as they are, so they need not go there again. */
  #onTerminal = false;
  #testing = false;
  /** The first message of the level emerg since {@link forget}: why something could not be done. */
  #reason = '';

  /** `name` begins each line on the terminal; `write` (latin1) puts a text there. */
  constructor(name: string, write: (text: string) => void) {
    this.#name = name;
    this.#write = write;
  }

  get level(): Level {
    return this.#configured?.level ?? (this.#testing ? INFO : NOTICE);
  }

  /** Opens the log file of the command line, a full path, or standard error for the empty string. */
  openFile(path: string, testing: boolean): void {
    this.#testing = testing;
    try {
      this.#file = path === '' ? stderrLogFd() : openLogFd(path);
      this.#onTerminal = path === '';
    } catch (error) {
      this.say(`[alert] could not open error log file: open() "${path}" failed (${errnoText(error)})`);
      this.#file = stderrLogFd();
      this.#onTerminal = true;
    }
  }

  /** Writes to the logs of a configuration from now on. */
  use(log: Logger, onTerminal: boolean): void {
    this.#configured = log;
    this.#onTerminal = onTerminal;
    if (this.#file !== undefined) {
      closeLogFd(this.#file);
      this.#file = undefined;
    }
  }

  /** The server is up: the terminal gets nothing any more. */
  leaveTerminal(): void {
    this.#write = undefined;
  }

  /** Why what was tried since {@link forget} could not be done; empty when nothing was in the way. */
  get reason(): string {
    return this.#reason;
  }

  /** Something is tried anew. */
  forget(): void {
    this.#reason = '';
  }

  log(level: Level, message: string): void {
    if (level <= EMERG && this.#reason === '') {
      this.#reason = message;
    }
    if (level > this.level) {
      return;
    }
    if (this.#configured !== undefined) {
      this.#configured.log(level, message);
    } else if (this.#file !== undefined) {
      append(this.#file, textLine(level, message, undefined));
    }
    if (level <= WARN && !this.#onTerminal) {
      this.say(`[${levelNames[level]}] ${message}`);
    }
  }

  /** Logs the errors of a configuration, and prints more about them if standard error is a terminal. */
  report(finding: Finding): void {
    this.log(finding.level, finding.message);
    this.#write?.(finding.detail);
  }

  /** Puts a line on the terminal only. nginx: ngx_log_stderr. */
  say(message: string): void {
    this.#write?.(`${this.#name}: ${message}\n`);
  }
}

function append(log: LogFd, line: string): void {
  try {
    writeSync(log.fd, line, null, 'latin1');
  } catch {
    // A log that cannot be written to must not stop the server; there is no other place to say so.
  }
}

/** Writes a text (latin1) to standard error before returning. */
export function writeTerminal(text: string): void {
  try {
    writeSync(2, text, null, 'latin1');
  } catch {
    // Nobody is there to read it.
  }
}
