import type { SocketAddress, SocketOwner } from '../../shared/net/socket.js';
import { UnboundSocket } from '../../worker/net/unbound-socket.js';

/** A client's connection that leads nowhere: what is sent on it is kept. */
export class MemorySocket extends UnboundSocket {
  readonly #remote: SocketAddress;
  readonly #local: SocketAddress;
  readonly #sent: Buffer[] = [];
  owner: SocketOwner | undefined = undefined;
  /** The server sends no more. */
  ended = false;
  /** The server has closed it. */
  closed = false;

  constructor(remote: SocketAddress, local: SocketAddress) {
    super();
    this.#remote = remote;
    this.#local = local;
  }

  /** How much was sent. */
  get size(): number {
    return this.#sent.reduce((sum, piece) => sum + piece.length, 0);
  }

  /** All that was sent. */
  get bytes(): Buffer {
    return Buffer.concat(this.#sent);
  }

  remote(): SocketAddress {
    return this.#remote;
  }

  local(): SocketAddress {
    return this.#local;
  }

  start(owner: SocketOwner): void {
    this.owner = owner;
  }

  write(data: string | Buffer): boolean {
    this.#sent.push(Buffer.from(data as string, 'latin1'));
    return true;
  }

  awaitFlush(): void {
    setImmediate(() => this.owner?.socketDrained());
  }

  end(): void {
    this.ended = true;
  }

  close(): void {
    this.ended = this.closed = true;
  }
}
