// The only file that imports winston. It is loaded with the first line that is written, not at start: loading takes some 15 ms, and many
// processes write nothing. Workers load it before they serve, so that no client waits for it. Everything below runs synchronously, so that
// the lines before a crash are in the file and the order is that of the
// calls.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { LoggerOptions, Logger as WinstonLogger } from 'winston';
import type Transport from 'winston-transport';
import { loadCompiled } from '../system/compiled.js';
import { type Level, levelNames } from './level.js';
import { jsonLine, type LogSubject, textLine } from './log-line.js';
import type { LogTarget } from './log-target.js';

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

/** The file that the build makes of the parts of winston in use; it does not exist when the sources run unbuilt. */
declare const WINSTON_PARTS: string | undefined;

let parts: Parts | undefined;

/** Loads winston, which takes a while: for processes that must not stop for it later. */
export function loadWinston(): void {
  parts ??= load();
}

function load(): Parts {
  const { createLogger, Base } = typeof WINSTON_PARTS === 'string' ? loadCompiled<Needed>(beside(WINSTON_PARTS)) : needed();
  class TargetTransport extends Base {
    readonly #target: LogTarget;

    constructor(target: LogTarget) {
      super({ level: levelNames[target.level] });
      this.#target = target;
    }

    override log(line: Line, done: () => void): void {
      write(this.#target, line.number, line.message, line.subject);
      done();
    }
  }
  return { createLogger, TargetTransport };
}

interface Needed {
  readonly createLogger: Parts['createLogger'];
  readonly Base: typeof Transport;
}

const beside = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** The parts that are needed take half the time of the whole package, which also loads its network transports. */
function needed(): Needed {
  const require = createRequire(import.meta.url);
  const createLogger = require('winston/lib/winston/create-logger') as Parts['createLogger'];
  return { createLogger, Base: createRequire(require.resolve('winston'))('winston-transport') as typeof Transport };
}

/** Writes to the targets itself, where winston cannot be loaded. */
export function lineCarrier(targets: readonly LogTarget[]): Carrier {
  return (number, message, subject) => {
    for (const target of targets) {
      if (number <= target.level) {
        write(target, number, message, subject);
      }
    }
  };
}

function write(target: LogTarget, number: Level, message: string, subject: LogSubject | undefined): void {
  const render = target.json ? jsonLine : textLine;
  target.write(number, render(number, message, subject));
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
