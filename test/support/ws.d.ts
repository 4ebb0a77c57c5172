/** The part of the ws package that tests use; it brings no types along. */
declare module 'ws' {
  import type { EventEmitter } from 'node:events';

  class WebSocket extends EventEmitter {
    constructor(url: string);
    send(data: string | Uint8Array, options?: { binary?: boolean }): void;
    ping(data: string): void;
    close(code: number, reason: string): void;
    terminate(): void;
  }

  class WebSocketServer extends EventEmitter {
    constructor(options: { port: number; host: string });
    readonly clients: ReadonlySet<WebSocket>;
    address(): unknown;
    close(): void;
  }
}
