import { close, open, url } from 'node:inspector';
import { WARN } from '../../shared/log/level.js';
import { setTimer } from '../../shared/time/timer.js';
import type { WorkerEnv } from '../env.js';

const PAUSE_MS = 200;
/** The worker before gives the port back when it begins to leave. */
const TRIES = 50;

/** Lets debuggers of this machine connect to the worker, at a port of 127.0.0.1, until it takes no more connections. */
export function openInspector(port: number, env: WorkerEnv): void {
  let left = false;
  const attempt = (tries: number): void => {
    if (left) {
      return;
    }
    try {
      open(port, '127.0.0.1');
    } catch {
      // Without an address below, it is tried again.
    }
    const where = url();
    if (where !== undefined) {
      env.log.log(WARN, `whoever may use this machine can run code in this worker: a debugger can connect to ${where}`);
    } else if (tries > 0) {
      setTimer(() => attempt(tries - 1), PAUSE_MS).unref();
    } else {
      env.log.log(WARN, `no debugger can connect: 127.0.0.1:${port} is in use`);
    }
  };
  attempt(TRIES);
  env.onDrain(() => {
    left = true;
    if (url() !== undefined) {
      close();
    }
  });
}
