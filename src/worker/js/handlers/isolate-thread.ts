// What runs in a thread of `js_isolation`: fetch handlers, which get copies of requests and whose responses are copied.
import nodeProcess from 'node:process';
import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { ERROR, type Level } from '../../../shared/log/level.js';
import { type Collect, garbageCollector } from '../../../shared/system/garbage.js';
import { ownThreadId } from '../../../shared/system/turn-delay.js';
import { giveParts, loadParts } from '../late-parts.js';
import type { LoaderGate } from '../module-loader.js';
import { ScriptLibrary, type Scripts, scriptFiles } from '../scripts.js';
import { endFailedTask, exceptionText, Task } from '../task.js';
import { confine } from './confine.js';
import { findHandler } from './content-handler.js';
import { type FetchFunction, openGlobals } from './fetch-handler.js';
import { BEAT, BEAT_MS, BEGUN, type FromIsolate, type IsolateStart, THREAD_ID, type ToIsolate } from './isolate-messages.js';
import { LightResponse } from './light-response.js';

const { data } = workerData as IsolateStart;
giveParts(data.parts);
const port = parentPort!;
const say = (message: FromIsolate): void => port.postMessage(message);
// The code that runs here may have no atomic operations, and another `process`.
const { add, store } = Atomics;

const logger = (id: number) => ({ log: (level: Level, message: string): void => say({ t: 'log', id, level, message }) });

/** Looks for a file that a directive names. */
const fileOf = (file: string): string[] => scriptFiles([file], data.folders).slice(0, 1);

const beat = setInterval;
let gate: LoaderGate | undefined;
const library = new ScriptLibrary({
  ...(data.grants === undefined ? {} : { gate: { builtin: (name) => gate!.builtin(name), allows: (file) => gate!.allows(file) } }),
  log: logger(0),
  prefix: data.prefix,
  confPrefix: data.confPrefix,
  confFile: data.confFile,
  workerId: data.workerId,
  version: data.version,
  argv: ['sluice'],
  errorLog: '',
  dict: () => undefined,
  dictNames: () => [],
});
let scripts: Scripts | undefined;
let broken: unknown;
const handlers = new Map<string, FetchFunction | undefined>();

/** A run whose answer is not complete. */
class Run {
  readonly task: Task;
  readonly controller = new AbortController();
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined = undefined;

  constructor(id: number) {
    this.task = new Task(logger(id), { settled() {}, failed: () => breakOff(id) });
    this.task.hold();
  }
}

const runs = new Map<number, Run>();

/** The third argument of handlers. */
class IsolateContext {
  readonly #id: number;

  constructor(id: number) {
    this.#id = id;
  }

  /** What the promise rejects with is logged. */
  waitUntil(work: unknown): void {
    Promise.resolve(work).catch((error: unknown) => logger(this.#id).log(ERROR, `js exception: ${exceptionText(error)}`));
  }

  passThroughOnException(): void {}
}

async function run(message: ToIsolate & { readonly t: 'run' }): Promise<void> {
  const { id, name, body, remoteAddress } = message;
  store(data.state, BEGUN, id);
  let time = 0;
  try {
    if (scripts === undefined) {
      throw broken;
    }
    if (!handlers.has(name)) {
      handlers.set(name, findHandler(scripts, name, 'fetch')?.run as FetchFunction | undefined);
    }
    const handler = handlers.get(name);
    if (handler === undefined) {
      throw new Error(`js function "${name}" not found`);
    }
    const own = new Run(id);
    runs.set(id, own);
    const headers = new Headers();
    for (let i = 0; i < message.headers.length; i += 2) {
      try {
        headers.append(message.headers[i]!, message.headers[i + 1]!);
      } catch {
        // The server lets names through that the class has no place for.
      }
    }
    const request = new Request(message.url, { method: message.method, headers, body: body as never, signal: own.controller.signal });
    const start = performance.now();
    let result: unknown;
    try {
      result = own.task.within(() => handler(request, { remoteAddress }, new IsolateContext(id)));
    } finally {
      time = performance.now() - start;
    }
    const response = await result;
    if (!runs.has(id)) {
      say({ t: 'left', id });
      (response as Response | undefined)?.body?.cancel().catch(() => {});
      return;
    }
    if (!(response instanceof Response)) {
      throw new TypeError('the handler has returned no Response');
    }
    answer(id, own, response, time);
  } catch (error) {
    say({ t: 'left', id });
    runs.delete(id);
    say({ t: 'failed', id, message: exceptionText(error), time });
  }
}

function answer(id: number, own: Run, response: Response, time: number): void {
  const light = LightResponse.is(response) ? (response as unknown as LightResponse) : undefined;
  const headers: string[] = [];
  for (const [name, value] of response.headers) {
    // What Node fetched it has unpacked already.
    if (light !== undefined || response.url === '' || (name !== 'content-encoding' && name !== 'content-length')) {
      headers.push(name, value);
    }
  }
  const head = { t: 'head', id, status: response.status, statusText: response.statusText, headers, time } as const;
  const plain = light === undefined ? undefined : LightResponse.plain(light);
  if (typeof plain === 'string' || plain instanceof Uint8Array) {
    runs.delete(id);
    say({ ...head, body: Buffer.from(plain as string) });
    return;
  }
  if (plain === null || response.body === null) {
    runs.delete(id);
    say({ ...head, body: new Uint8Array(0) });
    return;
  }
  own.reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  say({ ...head, body: null });
}

async function more(id: number): Promise<void> {
  const own = runs.get(id);
  if (own?.reader === undefined) {
    return;
  }
  try {
    const { done, value } = await own.task.within(() => own.reader!.read());
    if (done) {
      runs.delete(id);
      say({ t: 'end', id });
    } else if (value instanceof Uint8Array) {
      say({ t: 'piece', id, bytes: value });
    } else {
      throw new TypeError('a body has to be a stream of bytes');
    }
  } catch (error) {
    runs.delete(id);
    say({ t: 'failed', id, message: exceptionText(error), time: 0 });
  }
}

/** Ends a run whose code has thrown something; the log has it. */
function breakOff(id: number): void {
  if (runs.delete(id)) {
    say({ t: 'failed', id, message: '', time: 0 });
  }
}

function cancel(id: number): void {
  const own = runs.get(id);
  runs.delete(id);
  const reason = new DOMException('the client has left', 'AbortError');
  if (own === undefined) {
    say({ t: 'left', id });
    return;
  }
  own.task.guarded(() => {
    own.controller.abort(reason);
    if (own.reader !== undefined) {
      const left = (): void => say({ t: 'left', id });
      own.reader.cancel(reason).then(left, left);
    }
  }, undefined);
}

let collect: Collect | undefined;

/** Bytes outside of V8's heap: one of the two counts knows WebAssembly and long texts, the other one shared buffers and Blobs. */
const outside = (): number => Math.max(getHeapStatistics().external_memory, nodeProcess.memoryUsage().arrayBuffers);

/** Says so when Buffers and the like take more memory than the thread may have, not counting garbage, of which V8 lets much gather. */
function measure(): void {
  if (outside() <= data.external) {
    return;
  }
  collect ??= garbageCollector();
  // Memory of Buffers is given back beside the collection, and counted with the next one.
  collect();
  collect();
  if (outside() > data.external) {
    say({ t: 'full', id: 0 });
  }
}

/** Loads the modules and begins to take requests. */
async function start(): Promise<void> {
  openGlobals();
  try {
    // Once for the thread, before anything of the user's runs; where it fails nothing does.
    if (data.grants !== undefined) {
      loadParts();
      const files = data.imports.flatMap(({ file }) => fileOf(file));
      gate = await confine(data.grants, files, data.jsPath);
    }
    scripts = library.scripts(data.imports, data.folders, data.preloads, 'http');
  } catch (error) {
    broken = error;
  }
  // From here on it is measured whether the thread goes round.
  store(data.state, THREAD_ID, ownThreadId());
  store(data.state, BEAT, 1);
  port.on('message', (message: ToIsolate) => {
    switch (message.t) {
      case 'run':
        void run(message);
        break;
      case 'more':
        void more(message.id);
        break;
      case 'cancel':
        cancel(message.id);
    }
  });
  beat(() => {
    add(data.state, BEAT, 1);
    if (data.external > 0) {
      measure();
    }
  }, BEAT_MS);
}

const stray = (error: unknown): void => {
  if (!endFailedTask(error, null)) {
    say({ t: 'log', id: 0, level: ERROR, message: `js exception: ${exceptionText(error)}` });
  }
};
nodeProcess.on('uncaughtException', stray);
void start();
