import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ERROR, type Level } from '../../../shared/log/level.js';
import { turnDelay } from '../../../shared/system/turn-delay.js';
import { setTimer } from '../../../shared/time/timer.js';
import { type PartTexts, partTexts } from '../late-parts.js';
import type { TaskOwner } from '../task.js';
import {
  BEAT,
  BEAT_MS,
  BEGUN,
  FIRST_SCRIPT,
  type FromIsolate,
  type IsolateData,
  type IsolateStart,
  STATE_BYTES,
  THREAD_ID,
  type ToIsolate,
} from './isolate-messages.js';
import { LeavingRun } from './leaving-run.js';

/** Runs that wait for their turn at most; more are refused. */
const MOST_RUNS = 4096;

/** What a pool is made with. */
export interface IsolateOptions {
  /** How many threads there are at most. */
  readonly threads: number;
  /** MiB of objects that a thread may hold, and as many outside of V8's heap, as Buffers are; 0: as V8 has it. */
  readonly memory: number;
  /** Milliseconds for which a run may hold its thread. 0: for ever. */
  readonly block: number;
  readonly data: Omit<IsolateData, 'state' | 'external' | 'parts'>;
}

/** Whoever waits for a run. */
export interface IsolateUser extends TaskOwner {
  head(message: FromIsolate & { readonly t: 'head' }): void;
  piece(bytes: Uint8Array): void;
  end(): void;
  /** The thread has failed; `message` is for the log. */
  isolateFailed(message: string): void;
}

interface Running {
  readonly user: IsolateUser;
  readonly request: ToIsolate & { readonly t: 'run' };
}

interface Thread {
  readonly worker: Worker;
  readonly state: Int32Array;
  readonly runs: Map<number, Running>;
  readonly leaving: Map<number, LeavingRun>;
  lastBeat: number;
  missed: number;
  /** Milliseconds that it had waited for a processor when it last went round. */
  delayBefore: number;
  /** The process's memory in bytes when the thread last went round. */
  memoryBefore: number;
  /** The thread was asked what memory it has, and has not answered. */
  asked: boolean;
  /** The thread gets no more runs, and ends with the last that it has. */
  retired: boolean;
  /** Why it ends, for the log. */
  why: string;
}

/** Node 24 can ask a thread while its JavaScript runs. */
type Measured = Worker & { getHeapStatistics?(): Promise<{ readonly external_memory: number }> };

const MIB = 1024 * 1024;
/** Bytes outside of V8's heap that may be garbage while JavaScript holds a thread: V8 collects it when there are some 64 MiB. */
const GARBAGE = 96 * MIB;
/** Milliseconds between two looks at a thread whose memory is bounded. */
const MEMORY_LOOK = 75;

/** Threads that run a location's handlers apart from the worker. One that is held too long is ended, and another one begins. */
export class IsolatePool {
  readonly #options: IsolateOptions;
  readonly #log: TaskOwner;
  readonly #threads: Thread[] = [];
  readonly #owners = new Map<number, Thread>();
  readonly #file = fileURLToPath(new URL('./js-isolate.js', import.meta.url));
  readonly #script: string;
  readonly #parts: PartTexts;
  #lastId = 0;
  #watch: NodeJS.Timeout | undefined = undefined;
  #closed = false;

  /** What threads run is read at once: a worker that has dropped its rights may no longer be able to. */
  constructor(options: IsolateOptions, log: TaskOwner) {
    this.#options = options;
    this.#log = log;
    this.#script = readFileSync(this.#file, 'utf8');
    this.#parts = partTexts();
  }

  /** Starts the first thread before there is a request. */
  warm(): void {
    this.#start();
  }

  /** Has a request answered. Returns the number of the run; 0 if there are too many. */
  run(user: IsolateUser, request: Omit<ToIsolate & { readonly t: 'run' }, 't' | 'id'>): number {
    if (this.#owners.size >= MOST_RUNS || this.#closed) {
      return 0;
    }
    this.#lastId = (this.#lastId % 0x7fff_fffe) + 1;
    const id = this.#lastId;
    this.#send({ user, request: { t: 'run', id, ...request } });
    return id;
  }

  #send(running: Running): void {
    const thread = this.#leastBusy();
    const { id } = running.request;
    thread.runs.set(id, running);
    this.#owners.set(id, thread);
    thread.worker.postMessage(running.request);
    this.#look();
  }

  /** Asks for the next piece of a body. */
  more(id: number): void {
    this.#owners.get(id)?.worker.postMessage({ t: 'more', id } satisfies ToIsolate);
  }

  /** Nobody waits for the run any more; it has `grace` milliseconds to come to its end, or its thread gets no more runs. */
  cancel(id: number, grace: number): void {
    const thread = this.#owners.get(id);
    const running = thread?.runs.get(id);
    if (thread !== undefined && running !== undefined) {
      thread.worker.postMessage({ t: 'cancel', id } satisfies ToIsolate);
      thread.leaving.set(id, new LeavingRun(running.request.name, thread.state[THREAD_ID]!, grace));
      this.#done(thread, id);
      this.#look();
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#watch);
    for (const { worker } of this.#threads.splice(0)) {
      void worker.terminate();
    }
  }

  #leastBusy(): Thread {
    let best: Thread | undefined;
    let serving = 0;
    for (const thread of this.#threads) {
      if (thread.retired) {
        continue;
      }
      serving++;
      if (best === undefined || thread.runs.size < best.runs.size) {
        best = thread;
      }
    }
    return best === undefined || (best.runs.size > 0 && serving < this.#options.threads) ? this.#start() : best;
  }

  #start(): Thread {
    const { memory, data } = this.#options;
    const state = new Int32Array(new SharedArrayBuffer(STATE_BYTES));
    const worker = new Worker(FIRST_SCRIPT, {
      eval: true,
      workerData: {
        data: { ...data, state, external: memory * MIB, parts: this.#parts },
        text: this.#script,
        file: this.#file,
      } satisfies IsolateStart,
      stdin: false,
      ...(memory === 0 ? {} : { resourceLimits: { maxOldGenerationSizeMb: memory } }),
    });
    worker.unref();
    const thread: Thread = {
      worker,
      state,
      runs: new Map(),
      leaving: new Map(),
      lastBeat: 0,
      missed: 0,
      delayBefore: 0,
      memoryBefore: 0,
      asked: false,
      retired: false,
      why: 'its thread has ended',
    };
    this.#threads.push(thread);
    worker.on('message', (message: FromIsolate) => this.#received(thread, message));
    worker.on('error', (error: NodeJS.ErrnoException) => {
      thread.why = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? this.#fullText : error.message;
    });
    worker.on('exit', () => this.#ended(thread));
    return thread;
  }

  get #fullText(): string {
    return `its thread has used more than ${this.#options.memory}m of memory`;
  }

  #received(thread: Thread, message: FromIsolate): void {
    if (message.t === 'left') {
      thread.leaving.delete(message.id);
      return;
    }
    if (message.t === 'full') {
      this.#end(thread, this.#fullText);
      return;
    }
    const running = thread.runs.get(message.id);
    if (message.t === 'log') {
      (running?.user ?? this.#log).log(message.level as Level, message.message);
      return;
    }
    if (running === undefined) {
      return;
    }
    switch (message.t) {
      case 'head':
        if (message.body !== null) {
          this.#done(thread, message.id);
        }
        running.user.head(message);
        break;
      case 'piece':
        running.user.piece(message.bytes);
        break;
      case 'end':
        this.#done(thread, message.id);
        running.user.end();
        break;
      case 'failed':
        this.#done(thread, message.id);
        running.user.isolateFailed(message.message);
    }
  }

  #done(thread: Thread, id: number): void {
    thread.runs.delete(id);
    this.#owners.delete(id);
    if (thread.retired && thread.runs.size === 0) {
      this.#end(thread, thread.why);
    }
  }

  /** Ends a thread, and all that it had begun with it. */
  #end(thread: Thread, why: string): void {
    thread.why = why;
    thread.retired = true;
    void thread.worker.terminate();
  }

  /** A thread has ended: what it had begun has failed, the rest is for other threads. */
  #ended(thread: Thread): void {
    const { why } = thread;
    const at = this.#threads.indexOf(thread);
    if (at !== -1) {
      this.#threads.splice(at, 1);
    }
    // One that has not come to its first turn will not the next time either.
    const begun = Atomics.load(thread.state, BEAT) === 0 ? Number.MAX_SAFE_INTEGER : Atomics.load(thread.state, BEGUN);
    const runs = [...thread.runs.values()];
    thread.runs.clear();
    for (const running of runs) {
      this.#owners.delete(running.request.id);
      if (running.request.id <= begun) {
        running.user.isolateFailed(why);
      } else if (this.#closed) {
        running.user.isolateFailed('the worker is leaving');
      } else {
        this.#send(running);
      }
    }
  }

  /** Looks whether the threads that have something to do go round, and what memory they have. */
  #look(): void {
    const { block, memory } = this.#options;
    if (this.#watch !== undefined || this.#closed || !this.#threads.some((thread) => this.#isWatched(thread))) {
      return;
    }
    const usual = Math.max(BEAT_MS * 2, Math.min(1000, block === 0 ? 1000 : Math.floor(block / 4)));
    const interval = memory === 0 ? usual : MEMORY_LOOK;
    this.#watch = setTimer(() => {
      this.#watch = undefined;
      for (const thread of [...this.#threads]) {
        this.#lookAt(thread, interval);
      }
      this.#look();
    }, interval) as NodeJS.Timeout;
    this.#watch.unref();
  }

  // One that is held goes on being so when nobody waits for it any more.
  #isWatched({ runs, leaving, missed }: Thread): boolean {
    const { block, memory } = this.#options;
    return leaving.size > 0 || ((block > 0 || memory > 0) && (runs.size > 0 || missed > 0));
  }

  #lookAt(thread: Thread, interval: number): void {
    const { block, memory } = this.#options;
    const beat = Atomics.load(thread.state, BEAT);
    // A thread that has not gone round once is still loading.
    const held = beat === thread.lastBeat && beat > 0;
    thread.missed = held ? thread.missed + 1 : 0;
    thread.lastBeat = beat;
    if (block > 0) {
      const delay = turnDelay(thread.state[THREAD_ID]!);
      if (!held) {
        thread.delayBefore = delay;
      } else if (thread.missed * interval - (delay - thread.delayBefore) >= block) {
        this.#endHeld(thread);
        return;
      }
    }
    if (memory > 0) {
      this.#measure(thread, held);
    }
    for (const [id, run] of thread.leaving) {
      if (run.goesOn()) {
        thread.leaving.delete(id);
        this.#retire(thread, run.name);
      }
    }
  }

  /** One that goes round measures itself; of one that is held it is found out from here. */
  #measure(thread: Thread, held: boolean): void {
    const most = this.#options.memory * MIB + GARBAGE;
    const worker: Measured = thread.worker;
    if (!held) {
      thread.memoryBefore = process.memoryUsage.rss();
      return;
    }
    const asks = worker.getHeapStatistics !== undefined;
    // What others in the process take meanwhile is in this, too; what threads are asked for leaves out shared buffers.
    if (process.memoryUsage.rss() - thread.memoryBefore > (asks ? 2 * most : most)) {
      this.#end(thread, this.#fullText);
      return;
    }
    if (worker.getHeapStatistics === undefined || thread.asked) {
      return;
    }
    thread.asked = true;
    worker.getHeapStatistics().then(
      ({ external_memory }) => {
        thread.asked = false;
        if (external_memory > most) {
          this.#end(thread, this.#fullText);
        }
      },
      () => undefined,
    );
  }

  /** A handler goes on although nobody waits for it: its thread ends once the others there are done. */
  #retire(thread: Thread, name: string): void {
    if (thread.retired) {
      return;
    }
    this.#log.log(ERROR, `js handler "${name}" goes on after its time, ending the thread`);
    thread.retired = true;
    const retired = this.#threads.filter((one) => one.retired);
    if (thread.runs.size === 0) {
      this.#end(thread, thread.why);
    } else if (retired.length > this.#options.threads) {
      this.#end(retired[0]!, retired[0]!.why);
    }
  }

  /** Ends a thread that a run holds. */
  #endHeld(thread: Thread): void {
    const begun = Atomics.load(thread.state, BEGUN);
    const culprit = thread.runs.get(begun);
    const name = culprit?.request.name ?? thread.leaving.get(begun)?.name;
    const message = `js handler${name === undefined ? '' : ` "${name}"`} has held its thread for more than ${this.#options.block} ms, ending the thread`;
    (culprit?.user ?? this.#log).log(ERROR, message);
    const at = this.#threads.indexOf(thread);
    if (at !== -1) {
      this.#threads.splice(at, 1);
    }
    this.#end(thread, thread.why);
  }
}
