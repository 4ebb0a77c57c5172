import type { Socket, SocketAddress, SocketOwner } from '../../shared/net/socket.js';

/** A client's connection that leads nowhere: what is sent on it is kept. */
export class MemorySocket implements Socket {
  readonly #remote: SocketAddress;
  readonly #local: SocketAddress;
  readonly #sent: Buffer[] = [];
  owner: SocketOwner | undefined = undefined;
  /** The server sends no more. */
  ended = false;
  /** The server has closed it. */
  closed = false;
  readonly descriptor = -1;
  readonly flushed = true;
  readonly pending = false;
  readonly unsent = 0;
  readonly offerLimit = 65536;

  constructor(remote: SocketAddress, local: SocketAddress) {
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

  pause(): void {}

  resume(): void {}

  expectMuch(): void {}

  write(data: string | Buffer): boolean {
    this.#sent.push(Buffer.from(data as string, 'latin1'));
    return true;
  }

  writeJoined(before: string, bytes: Buffer, after: string): boolean {
    return this.writeLent(before, bytes, 0, bytes.length, after);
  }

  writeLent(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    this.#sent.push(Buffer.from(before, 'latin1'), Buffer.from(bytes.subarray(start, end)), Buffer.from(after, 'latin1'));
    return true;
  }

  offer(bytes: Buffer): number {
    this.#sent.push(Buffer.from(bytes));
    return bytes.length;
  }

  cork(): void {}

  uncork(): void {}

  awaitFlush(): void {
    setImmediate(() => this.owner?.socketDrained());
  }

  end(): void {
    this.ended = true;
  }

  close(): void {
    this.ended = this.closed = true;
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
