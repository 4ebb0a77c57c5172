import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { HashJob } from './hash-thread.js';

class Thread {
  readonly worker: Worker;
  /** Who waits for the hash that is computed; undefined where none is. */
  callback: ((hash: string | undefined) => void) | undefined = undefined;

  constructor(worker: Worker) {
    this.worker = worker;
  }

  answer(hash: string | undefined): void {
    const { callback } = this;
    this.callback = undefined;
    callback?.(hash);
  }
}

/**
 * Hashes passwords in threads of their own, as many as there are passwords at one time: HashQueue bounds these. Threads are started when
 * first needed and never keep the process alive. `script` is the compiled form of hash-thread.ts, which is read at once: a worker that has
 * dropped its rights may no longer be able to.
 */
export class HashPool {
  readonly #script: string;
  readonly #threads: Thread[] = [];
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
    const thread = this.#threads.find((one) => one.callback === undefined) ?? this.#start();
    thread.callback = callback;
    thread.worker.postMessage({ password, stored } satisfies HashJob);
  }

  /** Ends the threads; what they were asked is answered with undefined. */
  close(): void {
    this.#closed = true;
    for (const thread of this.#threads.splice(0)) {
      void thread.worker.terminate();
    }
  }

  #start(): Thread {
    const worker = new Worker(this.#script, { eval: true, stdin: false, stdout: false, stderr: false });
    worker.unref();
    const thread = new Thread(worker);
    worker.on('message', (hash: string) => thread.answer(hash));
    worker.on('error', () => {
      // The exit that follows answers what is open.
    });
    worker.on('exit', () => {
      const at = this.#threads.indexOf(thread);
      if (at >= 0) {
        this.#threads.splice(at, 1);
      }
      thread.answer(undefined);
    });
    this.#threads.push(thread);
    return thread;
  }
}
