import { constants as osConstants } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { DEBUG, ERROR, INFO, type Level, WARN } from '../../shared/log/level.js';
import { errnoText } from '../../shared/system/errno.js';
import { setTimer } from '../../shared/time/timer.js';
import type { OnDemand } from '../acme/on-demand.js';
import { dump, say } from './dump.js';
import { onEvent } from './exit-hook.js';
import { namedValues } from './header-objects.js';
import type { LoaderGate } from './module-loader.js';
import { scriptAcme } from './ngx-acme.js';
import { scriptFetch } from './ngx-fetch.js';
import { scriptCrypto } from './script-crypto.js';
import { InternalError, MemoryError } from './script-errors.js';
import { scriptWeb } from './script-web.js';
import type { SharedDict } from './shared-dict.js';
import { SharedMemoryError } from './shared-dict.js';
import { currentTask, type TaskOwner } from './task.js';
import { givenInteger } from './text.js';

/** What scripts are told of the server. */
export interface ScriptHost {
  readonly log: TaskOwner;
  readonly prefix: string;
  readonly confPrefix: string;
  readonly confFile: string;
  readonly workerId: number;
  readonly version: string;
  /** The words of the program's command line. */
  readonly argv: readonly string[];
  /** Where the error log of the main context goes. */
  readonly errorLog: string;
  /** What decides on what the modules may import; they find timers and `process` as globals alone then. */
  readonly gate?: LoaderGate;
  /** Who gives certificates on demand; not there where scripts may have none. */
  readonly onDemand?: () => OnDemand | undefined;
  /** A dictionary of one of the two blocks, and the names of all that it has. */
  dict(name: string, protocol: ScriptProtocol): SharedDict | undefined;
  dictNames(protocol: ScriptProtocol): string[];
}

/** The two blocks that have scripts. */
export type ScriptProtocol = 'http' | 'stream';

/** The version of njs whose interfaces these are. */
const NJS_VERSION = '1.0.1';

/** What the user's files find beside Node's globals: `ngx`, `njs`, `console`, and timers that a handler waits for. */
export function scriptGlobals(host: ScriptHost, protocol: ScriptProtocol): Readonly<Record<string, unknown>> {
  const shared = namedValues(
    (name) => host.dict(name, protocol),
    () => host.dictNames(protocol),
    undefined,
    'GlobalShared',
  );
  const ngx = {
    log: (level: unknown, ...values: unknown[]) => sayNow(levelOf(level), values, host.log),
    fetch: scriptFetch(host.log),
  };
  const facts = {
    build: '',
    conf_file_path: host.confFile,
    conf_prefix: host.confPrefix,
    prefix: host.prefix,
    error_log_path: host.errorLog,
    version: host.version,
    version_number: nginxVersionNumber(host.version),
    worker_id: host.workerId,
    shared,
  };
  for (const [name, value] of Object.entries(facts)) {
    Object.defineProperty(ngx, name, { value, enumerable: true });
  }
  for (const [name, value] of Object.entries({ INFO, WARN, ERR: ERROR })) {
    Object.defineProperty(ngx, name, { value });
  }
  if (host.onDemand !== undefined) {
    Object.defineProperty(ngx, 'acme', { value: scriptAcme(host.onDemand) });
  }
  Object.defineProperty(ngx, 'engine_id', { get: () => currentTask()?.owner.engineId ?? 0, enumerable: true });
  return {
    ngx,
    njs: {
      [Symbol.toStringTag]: 'njs',
      version: NJS_VERSION,
      version_number: versionNumber(NJS_VERSION),
      engine: 'V8',
      get memoryStats() {
        return memoryStats();
      },
      dump,
      on: onEvent,
    },
    console: scriptConsole(host.log),
    ...(host.gate === undefined ? { process: scriptProcess(host.argv), setTimeout: scriptTimeout, clearTimeout: scriptClearTimeout } : {}),
    SharedMemoryError,
    InternalError,
    MemoryError,
    crypto: scriptCrypto(),
    ...scriptWeb(),
  };
}

/** What `njs.memoryStats` tells: bytes that the worker's JavaScript takes. */
function memoryStats(): object {
  const { malloced_memory: malloced, used_heap_size: used } = getHeapStatistics();
  return { size: used + malloced };
}

/** As nginx counts: 1031005 for 1.31.5. */
const nginxVersionNumber = (version: string): number => {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return major * 1_000_000 + minor * 1000 + patch;
};

const versionNumber = (version: string): number => {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return (major << 16) | (minor << 8) | patch;
};

/** Node's process with the command line of the server. */
const scriptProcess = (argv: readonly string[]): NodeJS.Process =>
  new Proxy(process, {
    get: (target, name) => {
      if (name === 'argv') {
        return [...argv];
      }
      const value: unknown = Reflect.get(target, name, target);
      return name === 'kill' ? killProcess : typeof value === 'function' ? value.bind(target) : value;
    },
  });

/** `process.kill`, with njs's errors. nginx: njs_ext_process_kill. */
function killProcess(pid: unknown, signal: unknown = 'SIGTERM'): true {
  if (typeof pid !== 'number') {
    throw new TypeError('"pid" is not a number');
  }
  if (typeof signal !== 'number' && typeof signal !== 'string') {
    throw new TypeError('"signal" invalid type');
  }
  if (typeof signal === 'string' && !Object.hasOwn(osConstants.signals, signal)) {
    throw new TypeError(`"signal" unknown value: "${signal}"`);
  }
  try {
    return process.kill(pid, signal as NodeJS.Signals);
  } catch (error) {
    throw new Error(`kill failed with (${errnoText(error).replace(': ', ':')})`);
  }
}

/** A level that nginx has: numbers beside them are the next that it has. @throws TypeError for what is no number. */
function levelOf(given: unknown): Level {
  return Math.min(Math.max(givenInteger(given), 1), DEBUG) as Level;
}

/** Writes to the log of whatever runs now. */
const sayNow = (level: Level, values: readonly unknown[], fallback: TaskOwner): void =>
  say(currentTask()?.owner ?? fallback, level, values);

function scriptConsole(fallback: TaskOwner): object {
  const writer =
    (level: Level) =>
    (...values: unknown[]): void =>
      sayNow(level, values, fallback);
  const loose = new Map<string, number>();
  const times = (): Map<string, number> => currentTask()?.times ?? loose;
  return {
    [Symbol.toStringTag]: 'Console',
    log: writer(INFO),
    info: writer(INFO),
    dump(...values: unknown[]): void {
      sayNow(
        INFO,
        values.map((value) => dump(value, 1)),
        fallback,
      );
    },
    debug: writer(DEBUG),
    warn: writer(WARN),
    error: writer(ERROR),
    time(label: unknown = 'default'): void {
      const name = String(label);
      if (times().has(name)) {
        sayNow(INFO, [`Timer "${name}" already exists.`], fallback);
        return;
      }
      times().set(name, performance.now());
    },
    timeEnd(label: unknown = 'default'): void {
      const name = String(label);
      const start = times().get(name);
      if (start === undefined) {
        sayNow(INFO, [`Timer "${name}" doesn't exist.`], fallback);
        return;
      }
      times().delete(name);
      sayNow(INFO, [`${name}: ${(performance.now() - start).toFixed(6)}ms`], fallback);
    },
  };
}

function scriptTimeout(callback: (...args: unknown[]) => unknown, delay: unknown = 0, ...args: unknown[]): NodeJS.Timeout {
  if (typeof callback !== 'function') {
    throw new TypeError(callback === undefined ? 'too few arguments' : 'first arg must be a function');
  }
  const ms = Math.max(0, Number(delay) || 0);
  return currentTask()?.startTimer(callback, ms, args) ?? setTimer(() => callback(...args), ms);
}

function scriptClearTimeout(timer: unknown): void {
  if (timer !== undefined && !currentTask()?.stopTimer(timer as NodeJS.Timeout)) {
    clearTimeout(timer as NodeJS.Timeout);
  }
}
