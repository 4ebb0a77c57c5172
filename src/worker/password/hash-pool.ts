import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { HashJob, HashResult } from './hash-thread.js';

/** Threads are started one by one while others are busy, up to this number. */
const maxThreads = 2;

class Thread {
  readonly worker: Worker;
  /** Jobs sent and not answered yet, in order. */
  readonly jobs = new Map<number, (hash: string | undefined) => void>();

  constructor(worker: Worker) {
    this.worker = worker;
  }
}

/**
 * Hashes passwords in threads of their own, which are started when first needed and never keep the process alive.
 * `script` is the compiled form of hash-thread.ts, which is read at once: a worker that has dropped its rights may no longer be able to.
 */
export class HashPool {
  readonly #script: string;
  readonly #threads: Thread[] = [];
  #lastId = 0;
  #closed = false;

  constructor(script: URL) {
    this.#script = readFileSync(script, 'utf8');
  }

  /** Calls back with the result of crypt(), or undefined if the thread died or the pool is closed. */
  hash(password: string, stored: string, callback: (hash: string | undefined) => void): void {
    if (this.#closed) {
      setImmediate(callback, undefined);
      return;
    }
    const thread = this.#leastBusy();
    const id = ++this.#lastId;
    thread.jobs.set(id, callback);
    thread.worker.postMessage({ id, password, stored } satisfies HashJob);
  }

  /** Ends the threads; what they were asked is answered with undefined. */
  close(): void {
    this.#closed = true;
    for (const thread of this.#threads.splice(0)) {
      void thread.worker.terminate();
    }
  }

  #leastBusy(): Thread {
    let best: Thread | undefined;
    for (const thread of this.#threads) {
      if (best === undefined || thread.jobs.size < best.jobs.size) {
        best = thread;
      }
    }
    return best === undefined || (best.jobs.size > 0 && this.#threads.length < maxThreads) ? this.#start() : best;
  }

  #start(): Thread {
    const worker = new Worker(this.#script, { eval: true, stdin: false, stdout: false, stderr: false });
    worker.unref();
    const thread = new Thread(worker);
    worker.on('message', ({ id, hash }: HashResult) => {
      const callback = thread.jobs.get(id);
      thread.jobs.delete(id);
      callback?.(hash);
    });
    worker.on('error', () => {
      // The exit that follows answers what is open.
    });
    worker.on('exit', () => {
      const at = this.#threads.indexOf(thread);
      if (at >= 0) {
        this.#threads.splice(at, 1);
      }
      for (const callback of thread.jobs.values()) {
        callback(undefined);
      }
      thread.jobs.clear();
    });
    this.#threads.push(thread);
    return thread;
  }
}
