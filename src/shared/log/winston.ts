// The only file that imports winston. It is loaded with the first line that is written, not at start: loading takes some 30 ms, and most
// starts write nothing. Everything below runs synchronously, so that the lines before a crash are in the file and the order is that of the
// calls.
import { createRequire } from 'node:module';
import type { LoggerOptions, Logger as WinstonLogger } from 'winston';
import type Transport from 'winston-transport';
import type { LogTarget } from './error-log.js';
import { type Level, levelNames } from './level.js';
import { jsonLine, type LogSubject, textLine } from './log-line.js';

/** Writes one line to those of its targets whose level admits it. */
export type Carrier = (level: Level, message: string, subject: LogSubject | undefined) => void;

/** What travels through winston for each line. */
interface Line {
  readonly level: string;
  readonly message: string;
  readonly number: Level;
  readonly subject: LogSubject | undefined;
}

interface Parts {
  readonly createLogger: (options: LoggerOptions) => WinstonLogger;
  readonly TargetTransport: new (target: LogTarget) => Transport;
}

const LEVELS = Object.fromEntries(levelNames.slice(1).map((name, i) => [name, i + 1]));
const UNCHANGED = { transform: (line: unknown) => line } as NonNullable<LoggerOptions['format']>;

let parts: Parts | undefined;

function load(): Parts {
  const require = createRequire(import.meta.url);
  // The parts that are needed take half the time of the whole package, which also loads its network transports.
  const createLogger = require('winston/lib/winston/create-logger') as Parts['createLogger'];
  const Base = createRequire(require.resolve('winston'))('winston-transport') as typeof Transport;
  class TargetTransport extends Base {
    readonly #target: LogTarget;

    constructor(target: LogTarget) {
      super({ level: levelNames[target.level] });
      this.#target = target;
    }

    override log(line: Line, done: () => void): void {
      const render = this.#target.json ? jsonLine : textLine;
      this.#target.write(line.number, render(line.number, line.message, line.subject));
      done();
    }
  }
  return { createLogger, TargetTransport };
}

/** A winston logger over the targets, as a function. */
export function winstonCarrier(targets: readonly LogTarget[]): Carrier {
  parts ??= load();
  const { createLogger, TargetTransport } = parts;
  const logger = createLogger({
    levels: LEVELS,
    level: 'debug',
    format: UNCHANGED,
    transports: targets.map((target) => new TargetTransport(target)),
  });
  return (number, message, subject) => {
    logger.log({ level: levelNames[number] as string, message, number, subject } satisfies Line);
  };
}
