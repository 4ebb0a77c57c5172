import { parseSize } from '../config/language/units.js';
import { ErrorLog, fileTarget } from './error-log.js';
import { ALERT, DEBUG, ERROR, type Level, levelByName } from './level.js';
import type { LogFiles } from './log-files.js';
import type { LogTarget } from './log-target.js';
import { memoryTarget } from './memory-target.js';
import { parseSyslog, type SyslogSpec } from './syslog.js';
import { openSyslog, syslogTarget } from './syslog-peer.js';

/** One `error_log` directive, read but not open yet. */
export interface ErrorLogSpec {
  /** What the lines go to. */
  readonly to:
    | { readonly kind: 'file'; readonly path: string }
    | { readonly kind: 'stderr' }
    | { readonly kind: 'memory'; readonly size: number; readonly where: string }
    | { readonly kind: 'syslog'; readonly syslog: SyslogSpec };
  readonly level: Level;
  readonly json: boolean;
}

/** What reading an `error_log` needs from the place where it stands. */
export interface ErrorLogContext {
  /** The configuration file and line of the directive. */
  readonly file: string;
  readonly line: number;
  /** The tag of syslog messages that name none. */
  readonly tag: string;
  /** Completes a path relative to the prefix. */
  fullPath(path: string): string;
  /** Receives nginx's message; does not return. */
  fail(message: string): never;
}

/** Categories of debug lines, which nginx can also ask for one by one. Here each of them is level debug. */
const DEBUG_LEVELS = ['debug_core', 'debug_alloc', 'debug_mutex', 'debug_event', 'debug_http', 'debug_mail', 'debug_stream'];
/** Length of nginx's smallest memory log less that of the configuration file's name. */
const MEMORY_OVERHEAD = 2099;

/** Reads the arguments of an `error_log`: `FILE|stderr|memory:SIZE|syslog:... [LEVEL] [json]`. nginx: ngx_log_set_log. */
export function parseErrorLog(args: readonly string[], place: ErrorLogContext): ErrorLogSpec {
  const [target = '', ...rest] = args;
  const to = parseTarget(target, place);
  const words = rest.filter((word) => word !== 'json');
  let level: Level | undefined;
  let categories = false;
  for (const word of words) {
    const named = levelByName(word);
    if (named !== undefined) {
      if (level !== undefined) {
        place.fail(`duplicate log level "${word}"`);
      }
      level = named;
    } else if (DEBUG_LEVELS.includes(word) && (level === undefined || categories)) {
      level = DEBUG;
      categories = true;
    } else {
      place.fail(`invalid log level "${word}"`);
    }
  }
  return { to, level: level ?? ERROR, json: words.length < rest.length };
}

function parseTarget(target: string, place: ErrorLogContext): ErrorLogSpec['to'] {
  if (target === 'stderr') {
    return { kind: 'stderr' };
  }
  if (target.startsWith('memory:')) {
    const text = target.slice('memory:'.length);
    const size = parseSize(text);
    if (size === undefined || size < MEMORY_OVERHEAD + place.file.length) {
      return place.fail(`invalid buffer size "${text}"`);
    }
    return { kind: 'memory', size, where: `${place.file}:${place.line}` };
  }
  if (target.startsWith('syslog:')) {
    return { kind: 'syslog', syslog: parseSyslog(target, place.tag, place.fail) };
  }
  return { kind: 'file', path: place.fullPath(target) };
}

/**
 * Opens the error logs of one configuration level. `addressOf` gives the numeric address of a syslog server. Throws node:fs's error when a
 * file cannot be opened.
 */
export function openErrorLog(specs: readonly ErrorLogSpec[], files: LogFiles, addressOf: (syslog: SyslogSpec) => string): ErrorLog {
  const open = ({ to, level, json }: ErrorLogSpec): LogTarget => {
    switch (to.kind) {
      case 'file':
        return fileTarget(files, files.open(to.path), level, json);
      case 'stderr':
        return fileTarget(files, files.stderr(), level, json);
      case 'memory':
        return memoryTarget(to.size, to.where, level, json);
      case 'syslog': {
        const report = (message: string): void => files.failures?.log(ALERT, message);
        return syslogTarget(openSyslog(to.syslog, addressOf(to.syslog), report), level, json);
      }
    }
  };
  return new ErrorLog(specs.map(open));
}

/**
 * The error logs of the main level: those that were given, and the default file at level error unless one of them is a file or standard
 * error already. nginx: ngx_log_open_default.
 */
export function withDefaultErrorLog(specs: readonly ErrorLogSpec[], path: string): readonly ErrorLogSpec[] {
  if (specs.some(({ to }) => to.kind === 'file' || to.kind === 'stderr')) {
    return specs;
  }
  return [...specs, { to: { kind: 'file', path }, level: ERROR, json: false }];
}
