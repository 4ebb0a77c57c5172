import { setTimer } from '../../shared/lib/timer.js';
import { DEBUG, ERROR as ERR, INFO, type Level, WARN } from '../../shared/log/level.js';
import { namedValues } from './header-objects.js';
import type { SharedDict } from './shared-dict.js';
import { SharedMemoryError } from './shared-dict.js';
import { currentTask, logNow, type TaskOwner } from './task.js';
import { bytesOf } from './text.js';

/** What scripts are told of the server. */
export interface ScriptHost {
  readonly log: TaskOwner;
  readonly prefix: string;
  readonly confPrefix: string;
  readonly confFile: string;
  readonly workerId: number;
  readonly version: string;
  dict(name: string): SharedDict | undefined;
  dictNames(): string[];
}

/** The version of njs whose interfaces these are. */
const NJS_VERSION = '0.9.4';

/** What the user's files find beside Node's globals: `ngx`, `njs`, `console`, and timers that a handler waits for. */
export function scriptGlobals(host: ScriptHost): Readonly<Record<string, unknown>> {
  const shared = namedValues((name) => host.dict(name), host.dictNames);
  const ngx = {
    INFO,
    WARN,
    ERR,
    build: '',
    conf_file_path: host.confFile,
    conf_prefix: host.confPrefix,
    prefix: host.prefix,
    error_log_path: '',
    version: host.version,
    version_number: versionNumber(host.version),
    worker_id: host.workerId,
    shared,
    log: (level: unknown, message: unknown) => logNow(Number(level) as Level, bytesOf(String(message)), host.log),
    fetch: guardedFetch,
  };
  return {
    ngx,
    njs: { version: NJS_VERSION, version_number: versionNumber(NJS_VERSION), engine: 'V8', dump, on() {} },
    console: scriptConsole(host.log),
    setTimeout: scriptTimeout,
    clearTimeout: scriptClearTimeout,
    SharedMemoryError,
  };
}

const versionNumber = (version: string): number => {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  return (major << 16) | (minor << 8) | patch;
};

const dump = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value)));

function scriptConsole(fallback: TaskOwner): object {
  const writer =
    (level: Level) =>
    (...values: unknown[]): void =>
      logNow(level, bytesOf(values.map(dump).join(' ')), fallback);
  const loose = new Map<string, number>();
  const times = (): Map<string, number> => currentTask()?.times ?? loose;
  return {
    log: writer(INFO),
    info: writer(INFO),
    dump: writer(INFO),
    debug: writer(DEBUG),
    warn: writer(WARN),
    error: writer(ERR),
    time(label: unknown = 'default'): void {
      const name = String(label);
      if (times().has(name)) {
        logNow(INFO, `Timer "${bytesOf(name)}" already exists.`, fallback);
        return;
      }
      times().set(name, performance.now());
    },
    timeEnd(label: unknown = 'default'): void {
      const name = String(label);
      const start = times().get(name);
      if (start === undefined) {
        logNow(INFO, `Timer "${bytesOf(name)}" doesn't exist.`, fallback);
        return;
      }
      times().delete(name);
      logNow(INFO, `${bytesOf(name)}: ${(performance.now() - start).toFixed(6)}ms`, fallback);
    },
  };
}

function scriptTimeout(callback: (...args: unknown[]) => unknown, delay: unknown = 0, ...args: unknown[]): NodeJS.Timeout {
  if (typeof callback !== 'function') {
    throw new TypeError('first arg must be a function');
  }
  const ms = Math.max(0, Number(delay) || 0);
  return currentTask()?.startTimer(callback, ms, args) ?? setTimer(() => callback(...args), ms);
}

function scriptClearTimeout(timer: unknown): void {
  if (timer !== undefined && !currentTask()?.stopTimer(timer as NodeJS.Timeout)) {
    clearTimeout(timer as NodeJS.Timeout);
  }
}

/** Node's fetch, for which the handler that called it waits. */
function guardedFetch(resource: unknown, options?: unknown): Promise<Response> {
  const task = currentTask();
  task?.hold();
  const result = fetch(resource as string, options as RequestInit);
  const release = (): void => void setImmediate(() => task?.release());
  result.then(release, release);
  return result;
}
