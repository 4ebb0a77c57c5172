import type { Logger } from '../../shared/log/error-log.js';
import { INFO, type Level } from '../../shared/log/level.js';
import type { LogFd } from '../../shared/log/log-fd.js';
import { LogFile } from '../../shared/log/log-file.js';
import { LogFiles } from '../../shared/log/log-files.js';

/** A line for an error log. */
export interface ErrorLine {
  readonly level: Level;
  readonly message: string;
}

/**
 * Keeps what goes to the error logs, whatever the configuration says of files and levels: its level is `info`, so that reasons which a
 * file would not show are shown.
 */
export class CapturedLog implements Logger {
  readonly level: Level = INFO;
  #lines: ErrorLine[] = [];

  log(level: Level, message: string): void {
    if (level <= this.level) {
      this.#lines.push({ level, message });
    }
  }

  /** The lines since the last call. */
  take(): ErrorLine[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }
}

class DroppedFile extends LogFile {
  override write(): void {}
  override buffer(): void {}
  override flush(): void {}
  override flushTick(): void {}
  override close(): void {}
}

/** Log files that are neither opened nor written. */
export class NoLogFiles extends LogFiles {
  override open(path: string): LogFile {
    return new DroppedFile(path, {} as LogFd, () => {});
  }

  override stderr(): LogFile {
    return this.open('');
  }
}
