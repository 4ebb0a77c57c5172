import type { SendHandle } from 'node:child_process';
import type { Worker } from 'node:cluster';
import type { ListenSocket, SocketHandle } from '../net/listen-socket.js';
import type { Start, ToMaster, ToWorker } from './messages.js';

/** The master's end of the channel to one worker. */
export class WorkerChannel {
  readonly #worker: Worker | undefined;
  #waiting: ToWorker[] | undefined = [];

  /** `receive` gets each message of the worker. One that could not be forked sends none, and gets none. */
  constructor(worker: Worker | undefined, receive: (message: ToMaster) => void) {
    this.#worker = worker;
    worker?.on('message', (message: ToMaster) => {
      if (message.t === 'hello') {
        this.#flush();
      } else {
        receive(message);
      }
    });
  }

  /** Sends a message as soon as the worker listens; one that is gone by then does not get it. */
  send(message: ToWorker): void {
    if (this.#waiting !== undefined) {
      this.#waiting.push(message);
    } else if (this.#worker?.isConnected()) {
      this.#worker.send(message, undefined, ignore);
    }
  }

  /**
   * Starts a process that may not have spoken yet, since it was forked before: messages wait until it reads them. The sockets go with them,
   * the last one with the start.
   */
  handOver(start: Start, sockets: readonly ListenSocket[]): void {
    const last = sockets.at(-1);
    for (const socket of sockets.slice(0, -1)) {
      this.#worker?.send({ t: 'socket' } satisfies ToWorker, sendable(socket), ignore);
    }
    this.#worker?.send(start, last && sendable(last), ignore);
    this.#flush();
  }

  #flush(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const message of waiting) {
      this.send(message);
    }
  }
}

/** Sends a message to the master, `then` when it is on its way (or the master is gone). */
export function sendToMaster(message: ToMaster, then: () => void = ignore): void {
  if (process.connected && process.send !== undefined) {
    process.send(message, undefined, {}, () => then());
  } else {
    then();
  }
}

/** Calls back for each message of the master, and the socket that comes with some, beginning now. */
export function onMasterMessage(callback: (message: ToWorker, handle: SocketHandle | undefined) => void): void {
  process.on('message', (message, handle) => callback(message as ToWorker, handle as SocketHandle | undefined));
  sendToMaster({ t: 'hello' });
}

function ignore(): void {
  // A process that ended meanwhile reports that by its exit.
}

/** Node sends the handles below its sockets, too. */
function sendable({ handle }: ListenSocket): SendHandle {
  return handle as unknown as SendHandle;
}
