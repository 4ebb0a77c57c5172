import type { Socket } from 'node:net';
import { withoutZone } from '../../shared/address/zone-id.js';
import type { AcceptedSocket, SocketAddress, SocketOwner } from '../../shared/net/client-socket.js';
import { EMPTY } from '../bytes/empty.js';
import { CIPHER_OFFER } from './write-limits.js';

/**
 * A client's connection on one of Node's sockets, for a Node whose handles or ciphers have another form than is known
 * ({@link handleBinding}, {@link cipherMaker}). It does without Node's inside, and is slower.
 */
export class NodeSocket implements AcceptedSocket {
  protected readonly socket: Socket;
  protected owner: SocketOwner | undefined = undefined;
  readonly #onFlushed = (): void => this.owner?.flushed();
  /** How many bytes were never sent, once it is closed. */
  #left: number | undefined = undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    // One that breaks before it has an owner is closed, and the owner is told then.
    socket.on('error', () => {});
  }

  get descriptor(): number {
    return (this.socket as unknown as { readonly _handle: { readonly fd?: number } | null })._handle?.fd ?? -1;
  }

  remote(): SocketAddress {
    return { address: withoutZone(this.socket.remoteAddress), port: this.socket.remotePort };
  }

  local(): SocketAddress {
    return { address: withoutZone(this.socket.localAddress), port: this.socket.localPort };
  }

  keepAlive(): void {
    this.socket.setKeepAlive(true);
  }

  get empty(): boolean {
    return this.socket.writableLength === 0;
  }

  /** What Node holds; what the kernel took of a write that goes on is not known here. */
  get unsent(): number {
    return this.#left ?? this.socket.writableLength;
  }

  /** Notes what was never sent, while that is known. */
  #noteUnsent(): void {
    this.#left ??= this.socket.writableLength;
  }

  get pending(): boolean {
    return this.socket.writableNeedDrain;
  }

  start(owner: SocketOwner): void {
    const first = this.owner === undefined;
    this.owner = owner;
    if (first) {
      const { socket } = this;
      socket.on('drain', this.#onFlushed);
      socket.on('end', () => this.ended());
      socket.on('close', () => {
        this.#noteUnsent();
        this.owner!.socketClosed();
      });
      socket.on('data', (bytes: Buffer) => void this.owner!.received(bytes, bytes.length, false));
    }
  }

  protected ended(): void {
    this.owner!.clientEnded(false);
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  // Node reads as much as it likes.
  expectMuch(): void {}

  write(data: string | Buffer): boolean {
    return typeof data === 'string' ? this.socket.write(data, 'latin1') : this.socket.write(data);
  }

  writeJoined(before: string, bytes: Buffer, after: string): boolean {
    const { socket } = this;
    socket.cork();
    let flowing = socket.write(before, 'latin1');
    flowing = socket.write(bytes) && flowing;
    flowing = socket.write(after, 'latin1') && flowing;
    socket.uncork();
    return flowing;
  }

  // The socket is still at work on what it is given when the call returns.
  writeLent(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    return this.writeJoined(before, Buffer.from(bytes.subarray(start, end)), after);
  }

  get offerLimit(): number {
    return CIPHER_OFFER;
  }

  offer(bytes: Buffer): number {
    if (this.pending || this.socket.destroyed) {
      return 0;
    }
    this.socket.write(Buffer.from(bytes));
    return bytes.length;
  }

  // Node tells when its buffer has drained only if a write returned false.
  awaitFlush(): void {
    this.socket.write(EMPTY, this.#onFlushed);
  }

  end(): void {
    this.socket.end();
  }

  close(): void {
    this.#noteUnsent();
    this.socket.destroy();
  }

  closeSoon(): void {
    this.socket.destroySoon();
  }

  reset(): void {
    this.#noteUnsent();
    this.socket.resetAndDestroy();
  }

  /** Gives Node's socket to somebody who does all else with it. Nothing is read until then. */
  release(): Socket {
    const { socket } = this;
    for (const event of ['drain', 'end', 'close', 'data']) {
      socket.removeAllListeners(event);
    }
    return socket.pause();
  }
}
