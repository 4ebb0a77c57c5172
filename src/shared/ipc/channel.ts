import type { Worker } from 'node:cluster';
import type { ToMaster, ToWorker } from './messages.js';

/** Sends a message to a worker; one that is gone by now does not get it. */
export function sendToWorker(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) {
    worker.send(message, undefined, ignore);
  }
}

/** Calls back for each message of a worker. */
export function onWorkerMessage(worker: Worker, callback: (message: ToMaster) => void): void {
  worker.on('message', (message: ToMaster) => callback(message));
}

/** Sends a message to the master, `then` when it is on its way (or the master is gone). */
export function sendToMaster(message: ToMaster, then: () => void = ignore): void {
  if (process.connected && process.send !== undefined) {
    process.send(message, undefined, {}, () => then());
  } else {
    then();
  }
}

/** Calls back for each message of the master. */
export function onMasterMessage(callback: (message: ToWorker) => void): void {
  process.on('message', (message) => callback(message as ToWorker));
}

function ignore(): void {
  // A process that ended meanwhile reports that by its exit.
}
