import type { Socket } from '../../../shared/net/socket.js';
import type { ClientTunnel } from '../request/client-exchange.js';
import type { Request } from '../request/request.js';

/** A client's connection that carries another protocol. */
export class ConnectionTunnel implements ClientTunnel {
  readonly pending: Buffer | null;
  readonly halfCloses = false;
  /** The socket sends what is left before it is closed. */
  readonly flushed = true;
  readonly #r: Request;
  readonly #socket: Socket;

  /** `pending`: what came behind the request. */
  constructor(r: Request, socket: Socket, pending: Buffer | null) {
    this.#r = r;
    this.#socket = socket;
    this.pending = pending;
  }

  writeLent(bytes: Buffer, start: number, end: number): boolean {
    this.#r.bytesSent += end - start;
    return this.#socket.writeLent('', bytes, start, end, '');
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  failed(): void {}
}
