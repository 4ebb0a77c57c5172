// A worker that is started before the master knows what it is to serve, so that both load the program at the same time.
import cluster, { type ClusterSettings, type Worker } from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { Role } from '../../shared/ipc/messages.js';
import { DAEMON } from './daemon-mark.js';
import { optionsOfForked } from './program-again.js';

/**
 * Node's option that gives V8 one thread, in place of four, to compile and mark in. On a busy core each of them has as many turns as
 * the main thread, which answers no request meanwhile.
 */
const ONE_HELPER = '--v8-pool-size=1';

/**
 * V8's option that lets its new space grow to three times so many megabytes, in place of 16. Under load it always grows to the most, and a
 * worker's requests leave next to nothing that lives, so that a larger one gains nothing; a smaller one costs more where many requests are
 * under way.
 */
const NEW_SPACE = '--max-semi-space-size=8';

/** {@link NEW_SPACE}, unless whoever has started the server says what it is to be. */
const newSpace = (): readonly string[] => (/semi[-_]space/.test(process.env['NODE_OPTIONS'] ?? '') ? [] : [NEW_SPACE]);

/** What the processes that the master forks are started with, but for their descriptors. */
export function workerSettings(role: Role): ClusterSettings {
  const script = role === 'cache-manager' || role === 'cache-loader' ? 'cache-worker.js' : 'worker.js';
  return {
    exec: fileURLToPath(new URL(script, import.meta.url)),
    // Room for the titles, which replace the command line where it stands.
    args: [' '.repeat(40)],
    execArgv: [...optionsOfForked([...newSpace(), ONE_HELPER])],
    serialization: 'advanced',
  };
}

/** One worker, which waits for its first message. It ends with this process, unless that takes it. */
export class SpareWorker {
  #worker: Worker | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('error', this.#lost);
    worker.process.on('exit', this.#lost);
    process.on('exit', this.drop);
  }

  /** Starts one. Undefined when the system could not fork, of which the master tells when it tries itself. */
  static start(): SpareWorker | undefined {
    const mark = process.env[DAEMON];
    delete process.env[DAEMON];
    try {
      cluster.setupPrimary({ ...workerSettings('worker'), stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
      return new SpareWorker(cluster.fork());
    } catch {
      return undefined;
    } finally {
      if (mark !== undefined) {
        process.env[DAEMON] = mark;
      }
    }
  }

  /** The worker, once; undefined when there is none any more. */
  take(): Worker | undefined {
    const worker = this.#worker;
    this.#forget();
    return worker?.isConnected() && worker.process.exitCode === null && worker.process.signalCode === null ? worker : undefined;
  }

  /** Ends the worker if nobody has taken it. */
  readonly drop = (): void => {
    const worker = this.#worker;
    this.#forget();
    worker?.process.on('error', () => {});
    worker?.process.kill('SIGKILL');
  };

  readonly #lost = (): void => this.#forget();

  #forget(): void {
    this.#worker?.off('error', this.#lost);
    this.#worker?.process.off('exit', this.#lost);
    this.#worker = undefined;
    process.off('exit', this.drop);
  }
}
