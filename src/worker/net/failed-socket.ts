import type { SocketOwner } from '../../shared/net/socket.js';
import { UnboundSocket } from './unbound-socket.js';

/** Stands for a connection to a backend that there is no socket for: its owner is told why after the call. */
export class FailedSocket extends UnboundSocket {
  #closed = false;

  constructor(error: Error, owner: SocketOwner) {
    super();
    setImmediate(() => {
      if (!this.#closed) {
        owner.socketFailed?.(error);
      }
    });
  }

  remote(): Record<string, never> {
    return {};
  }

  local(): Record<string, never> {
    return {};
  }

  start(): void {}

  write(): boolean {
    return true;
  }

  awaitFlush(): void {}

  end(): void {}

  close(): void {
    this.#closed = true;
  }
}
