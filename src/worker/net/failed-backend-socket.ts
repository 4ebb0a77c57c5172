import type { BackendSocket, BackendSocketOwner } from '../../shared/net/backend-socket.js';

/** Stands for a connection to a backend that there is no socket for: its owner is told why after the call. */
export class FailedBackendSocket implements BackendSocket {
  #closed = false;
  readonly flushed = true;
  readonly pending = false;

  constructor(error: Error, owner: BackendSocketOwner) {
    setImmediate(() => {
      if (!this.#closed) {
        owner.socketFailed(error);
      }
    });
  }

  write(): boolean {
    return true;
  }

  writeLent(): boolean {
    return true;
  }

  offer({ length }: Buffer): number {
    return length;
  }

  local(): Record<string, never> {
    return {};
  }

  cork(): void {}

  uncork(): void {}

  awaitFlush(): void {}

  end(): void {}

  pause(): void {}

  resume(): void {}

  close(): void {
    this.#closed = true;
  }
}
