import type { Socket, SocketOwner } from '../../shared/net/socket.js';

/** Stands for a connection to a backend that there is no socket for: its owner is told why after the call. */
export class FailedSocket implements Socket {
  #closed = false;
  readonly descriptor = -1;
  readonly flushed = true;
  readonly pending = false;
  readonly unsent = 0;
  readonly offerLimit = Number.POSITIVE_INFINITY;

  constructor(error: Error, owner: SocketOwner) {
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

  pause(): void {}

  resume(): void {}

  expectMuch(): void {}

  write(): boolean {
    return true;
  }

  writeJoined(): boolean {
    return true;
  }

  writeLent(): boolean {
    return true;
  }

  offer({ length }: Buffer): number {
    return length;
  }

  cork(): void {}

  uncork(): void {}

  awaitFlush(): void {}

  end(): void {}

  close(): void {
    this.#closed = true;
  }

  closeSoon(): void {
    this.close();
  }

  leave(): void {
    this.close();
  }

  reset(): void {
    this.close();
  }
}
