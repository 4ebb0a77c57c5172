import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { buildSync } from 'esbuild';
import type { Question } from './zone-worker.js';

/** Builds the worker script into a folder; one bundled file starts many times faster than TypeScript does. */
export function buildWorker(folder: string): string {
  const outfile = `${folder}/zone-worker.mjs`;
  const entry = new URL('./zone-worker.ts', import.meta.url).pathname;
  buildSync({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', packages: 'external', outfile });
  return outfile;
}

/** One process of a crew. */
export class Member {
  readonly child: ChildProcess;
  #asked = 0;

  constructor(script: string) {
    this.child = fork(script, { execArgv: [] });
  }

  get pid(): number {
    return this.child.pid!;
  }

  ask<T = number>(question: Question): Promise<T> {
    const id = this.#asked++;
    return new Promise((resolve, reject) => {
      this.child.once('exit', () => reject(new Error('the process has ended')));
      const hear = (message: { id: number; answer: T }): void => {
        if (message.id !== id) {
          return;
        }
        this.child.off('message', hear);
        resolve(message.answer);
      };
      this.child.on('message', hear);
      this.child.send({ id, question });
    });
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) {
      return;
    }
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }
}
