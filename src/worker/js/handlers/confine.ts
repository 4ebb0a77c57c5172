import type { LoaderGate } from '../module-loader.js';
import { grantedFetch } from './confine-fetch.js';
import { type FolderGrant, grantedFs } from './confine-fs.js';
import { confineModules, HARMLESS } from './confine-modules.js';
import { harden } from './harden.js';

// What a thread of `js_isolation ... allow=` takes from the code that it runs: everything of Node's that reaches beyond the thread,
// and each way to change what others call.

/** What code in a thread may do beside computing. */
export interface Grants {
  /** Hosts that `fetch` may ask: `host`, `host:port`, `*.host`, or `*`. */
  readonly fetch: readonly string[];
  readonly folders: readonly FolderGrant[];
}

/** Globals that reach other threads, processes or machines, or measure and interrupt whatever runs. */
const TAKEN = [
  'WebSocket',
  'EventSource',
  'CloseEvent',
  'BroadcastChannel',
  'MessageChannel',
  'MessagePort',
  'MessageEvent',
  'Worker',
  'SharedArrayBuffer',
  'Atomics',
  'WebAssembly',
  'PerformanceObserver',
  'PerformanceObserverEntryList',
  'localStorage',
  'sessionStorage',
  'Storage',
  'gc',
  'navigator',
  'Navigator',
  'require',
  'module',
  'setImmediate',
  'clearImmediate',
];

/** A timer as code in the thread has it: Node's own lead from one to the next. */
class Timer {
  readonly #node: NodeJS.Timeout;

  constructor(node: NodeJS.Timeout) {
    this.#node = node;
  }

  static stop(this: void, timer: unknown): void {
    if (typeof timer === 'object' && timer !== null && #node in timer) {
      clear(timer.#node);
    }
  }

  ref(): this {
    this.#node.ref();
    return this;
  }

  unref(): this {
    this.#node.unref();
    return this;
  }

  hasRef(): boolean {
    return this.#node.hasRef();
  }

  refresh(): this {
    this.#node.refresh();
    return this;
  }
}

const { clearTimeout: clear, setTimeout: timeout, setInterval: interval } = globalThis;

type Callback = (...args: unknown[]) => void;

const timers = {
  setTimeout: (run: Callback, ms?: number, ...args: unknown[]) => new Timer(timeout(run, ms, ...args)),
  setInterval: (run: Callback, ms?: number, ...args: unknown[]) => new Timer(interval(run, ms, ...args)),
  setImmediate: (run: Callback, ...args: unknown[]) => new Timer(timeout(run, 0, ...args)),
  clearTimeout: Timer.stop,
  clearInterval: Timer.stop,
  clearImmediate: Timer.stop,
};

/** The object `process` for packages that look at it. */
function littleProcess(builtin: (name: string) => object): object {
  const { version, versions, nextTick, hrtime, memoryUsage } = process;
  const time = Object.assign((before?: [number, number]) => hrtime(before), { bigint: () => hrtime.bigint() });
  return {
    env: {},
    argv: ['node'],
    execArgv: [],
    platform: 'linux',
    arch: process.arch,
    version,
    versions: { node: versions.node, v8: versions.v8 },
    release: { name: 'node' },
    pid: 1,
    cwd: () => '/',
    nextTick: (run: Callback, ...args: unknown[]) => nextTick(run, ...args),
    hrtime: time,
    uptime: () => 0,
    memoryUsage: () => ({ heapUsed: memoryUsage().heapUsed }),
    emitWarning: () => undefined,
    on: () => undefined,
    once: () => undefined,
    off: () => undefined,
    removeListener: () => undefined,
    getBuiltinModule: (name: string) => {
      try {
        return builtin(name);
      } catch {
        return undefined;
      }
    },
  };
}

/**
 * Takes from the thread what is not granted. `files` are those that directives name, `folders` those of `js_path`. Returns what the
 * loader of modules asks. Nothing of the user's may have run before.
 */
export async function confine(grants: Grants, files: readonly string[], folders: readonly string[]): Promise<LoaderGate> {
  const nodeProcess = process;
  const modules = HARMLESS.map((name) => [name, nodeProcess.getBuiltinModule(name)] as const);
  const byName = new Map<string, object>(modules as never);
  const fs = grants.folders.length === 0 ? undefined : grantedFs(grants.folders);
  // What Node loads when it is first named comes now, with its prototypes.
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    void (globalThis as Record<string, unknown>)[name];
  }
  const fetch = await grantedFetch(grants.fetch, globalThis.fetch);
  let builtin: (name: string) => object = () => ({});
  const own = littleProcess((name) => builtin(name));
  const confined = confineModules(files, folders, fs, own, (name) => byName.get(name)!);
  builtin = confined.gate.builtin as typeof builtin;
  const global = globalThis as Record<string, unknown>;
  for (const name of TAKEN) {
    delete global[name];
  }
  const put = {
    ...timers,
    fetch,
    process: own,
    performance: { now: performance.now.bind(performance), timeOrigin: performance.timeOrigin },
  };
  for (const [name, value] of Object.entries(put)) {
    Object.defineProperty(globalThis, name, { value, writable: false, enumerable: false, configurable: false });
  }
  // Packages read and set these; what they are told when they do is nobody's but theirs.
  Object.defineProperty(Error, 'prepareStackTrace', { get: () => undefined, set: () => undefined, configurable: false });
  harden([globalThis, ...confined.modules, own, Timer, Timer.prototype, ...Object.values(timers)], new Set([nodeProcess]));
  return confined.gate;
}
