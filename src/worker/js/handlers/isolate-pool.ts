import { Worker } from 'node:worker_threads';
import { setTimer } from '../../../shared/lib/timer.js';
import { ERROR as ERR, type Level } from '../../../shared/log/level.js';
import type { TaskOwner } from '../task.js';
import { BEAT, BEAT_MS, BEGUN, type FromIsolate, type IsolateData, type ToIsolate } from './isolate-messages.js';

/** Runs that wait for their turn at most; more are refused. */
const MOST_RUNS = 4096;

/** What a pool is made with. */
export interface IsolateOptions {
  /** How many threads there are at most. */
  readonly threads: number;
  /** MiB of objects that a thread may hold; 0: as V8 has it. */
  readonly memory: number;
  /** Milliseconds for which a run may hold its thread. 0: for ever. */
  readonly block: number;
  readonly data: Omit<IsolateData, 'state'>;
}

/** Whoever waits for a run. */
export interface IsolateUser extends TaskOwner {
  head(message: FromIsolate & { readonly t: 'head' }): void;
  piece(bytes: Uint8Array): void;
  end(): void;
  /** It has failed; `message` is for the log. */
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
  lastBeat: number;
  missed: number;
}

/** Threads that run a location's handlers apart from the worker. One that is held too long is ended, and another one begins. */
export class IsolatePool {
  readonly #options: IsolateOptions;
  readonly #log: TaskOwner;
  readonly #threads: Thread[] = [];
  readonly #owners = new Map<number, Thread>();
  #lastId = 0;
  #watch: NodeJS.Timeout | undefined = undefined;
  #closed = false;

  constructor(options: IsolateOptions, log: TaskOwner) {
    this.#options = options;
    this.#log = log;
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

  /** Nobody waits for the run any more. */
  cancel(id: number): void {
    const thread = this.#owners.get(id);
    if (thread !== undefined) {
      thread.worker.postMessage({ t: 'cancel', id } satisfies ToIsolate);
      this.#done(thread, id);
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
    for (const thread of this.#threads) {
      if (best === undefined || thread.runs.size < best.runs.size) {
        best = thread;
      }
    }
    return best === undefined || (best.runs.size > 0 && this.#threads.length < this.#options.threads) ? this.#start() : best;
  }

  #start(): Thread {
    const { memory, data } = this.#options;
    const state = new Int32Array(new SharedArrayBuffer(8));
    const worker = new Worker(new URL('./js-isolate.js', import.meta.url), {
      workerData: { ...data, state } satisfies IsolateData,
      stdin: false,
      ...(memory === 0 ? {} : { resourceLimits: { maxOldGenerationSizeMb: memory } }),
    });
    worker.unref();
    const thread: Thread = { worker, state, runs: new Map(), lastBeat: 0, missed: 0 };
    this.#threads.push(thread);
    let why = 'its thread has ended';
    worker.on('message', (message: FromIsolate) => this.#received(thread, message));
    worker.on('error', (error: NodeJS.ErrnoException) => {
      why = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? `its thread has used more than ${memory}m of memory` : error.message;
    });
    worker.on('exit', () => this.#ended(thread, why));
    return thread;
  }

  #received(thread: Thread, message: FromIsolate): void {
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
  }

  /** A thread has ended: what it had begun has failed, the rest is for other threads. */
  #ended(thread: Thread, why: string): void {
    const at = this.#threads.indexOf(thread);
    if (at !== -1) {
      this.#threads.splice(at, 1);
    }
    const begun = Atomics.load(thread.state, BEGUN);
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

  /** Looks whether the threads that have something to do go round. */
  #look(): void {
    const { block } = this.#options;
    if (block === 0 || this.#watch !== undefined) {
      return;
    }
    const interval = Math.max(BEAT_MS * 2, Math.min(1000, Math.floor(block / 4)));
    this.#watch = setTimer(() => {
      this.#watch = undefined;
      let busy = false;
      for (const thread of this.#threads) {
        const beat = Atomics.load(thread.state, BEAT);
        // A thread that has not gone round once is still loading.
        thread.missed = beat === thread.lastBeat && beat > 0 ? thread.missed + 1 : 0;
        thread.lastBeat = beat;
        // One that is held goes on being so when nobody waits for it any more.
        busy ||= thread.runs.size > 0 || thread.missed > 0;
        if (thread.missed * interval >= block) {
          this.#endHeld(thread);
        }
      }
      if (busy && !this.#closed) {
        this.#look();
      }
    }, interval) as NodeJS.Timeout;
    this.#watch.unref();
  }

  /** Ends a thread that a run holds. */
  #endHeld(thread: Thread): void {
    const begun = Atomics.load(thread.state, BEGUN);
    const culprit = thread.runs.get(begun);
    const name = culprit?.request.name;
    const message = `js handler${name === undefined ? '' : ` "${name}"`} has held its thread for more than ${this.#options.block} ms, ending the thread`;
    (culprit?.user ?? this.#log).log(ERR, message);
    const at = this.#threads.indexOf(thread);
    if (at !== -1) {
      this.#threads.splice(at, 1);
    }
    void thread.worker.terminate();
  }
}
