import { CRIT, DEBUG, EMERG, type Level } from './level.js';
import type { LogFile } from './log-file.js';
import type { LogFiles } from './log-files.js';
import type { LogSubject } from './log-line.js';
import type { LogTarget } from './log-target.js';
import { type Carrier, lineCarrier, winstonCarrier } from './winston.js';

/** Where error lines go. A call whose level is above `level` costs one comparison of integers. */
export interface Logger {
  /** The highest level that is written. A caller whose message is costly to build checks it first: `if (log.level >= DEBUG)`. */
  readonly level: Level;
  /** Writes one line if the level admits it; `subject` adds the connection's number and the context. */
  log(level: Level, message: string, subject?: LogSubject): void;
}

/** The log with all its targets at level debug, for a connection that `debug_connection` picks out. */
export function debugOf(log: Logger): Logger {
  return log instanceof ErrorLog ? log.debug : log;
}

/**
 * A target that appends to one of `files`; crit and graver lines are in the file when the call returns, others before the next
 * answer leaves.
 */
export function fileTarget(files: LogFiles, file: LogFile, level: Level, json: boolean): LogTarget {
  return {
    level,
    json,
    path: file.path,
    write(lineLevel, line) {
      files.writeError(file, line);
      if (lineLevel <= CRIT) {
        file.flush();
      }
    },
  };
}

/** The error logs of one configuration level: every line goes to each target whose own level admits it. */
export class ErrorLog implements Logger {
  readonly level: Level;
  readonly targets: readonly LogTarget[];
  #carrier: Carrier | undefined;
  #debug: ErrorLog | undefined;

  constructor(targets: readonly LogTarget[]) {
    this.targets = targets;
    this.level = Math.max(EMERG, ...targets.map((target) => target.level)) as Level;
  }

  log(level: Level, message: string, subject?: LogSubject): void {
    if (level > this.level) {
      return;
    }
    (this.#carrier ?? this.#load())(level, message, subject);
  }

  #load(): Carrier {
    try {
      this.#carrier = winstonCarrier(this.targets);
      return this.#carrier;
    } catch {
      // A process without descriptors cannot load it, and its lines say why.
      return lineCarrier(this.targets);
    }
  }

  /** This log's targets, all at level debug: the log of a client that `debug_connection` names. nginx: NGX_LOG_DEBUG_CONNECTION. */
  get debug(): ErrorLog {
    this.#debug ??= new ErrorLog(
      this.targets.map((target) => ({ level: DEBUG, json: target.json, write: (level, line) => target.write(level, line) })),
    );
    return this.#debug;
  }

  /** Lets go of the targets' connections; files belong to their registry. */
  close(): void {
    for (const target of this.targets) {
      target.close?.();
    }
  }
}
