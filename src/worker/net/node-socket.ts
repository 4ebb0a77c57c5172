import { connect, type Socket as NetSocket, type TcpNetConnectOpts } from 'node:net';
import { withoutZone } from '../../shared/address/zone-id.js';
import type { AcceptedSocket, BackendTarget, SocketAddress, SocketOwner } from '../../shared/net/socket.js';
import { spoil } from '../../shared/system/spoil.js';
import { EMPTY } from '../bytes/empty.js';
import { isFlushed } from './tls-binding.js';
import { CIPHER_OFFER } from './write-limits.js';

/** All connections to backends read into this, one after another: whoever keeps bytes copies them. */
const SHARED = Buffer.allocUnsafeSlow(64 * 1024);

/** What one of Node's sockets to a backend is made with. */
export function nodeTarget(target: BackendTarget, onread: NodeSocket['onread']): TcpNetConnectOpts {
  const { address, port, localAddress, localPort, keepAlive } = target;
  if (port === 0) {
    return { path: address, onread, allowHalfOpen: true } as never;
  }
  const options: TcpNetConnectOpts = { host: address, port, onread, noDelay: true, allowHalfOpen: true } as never;
  if (localAddress !== undefined) {
    options.localAddress = localAddress;
  }
  if (localPort !== undefined) {
    options.localPort = localPort;
  }
  if (keepAlive) {
    options.keepAlive = true;
  }
  return options;
}

/**
 * A connection on one of Node's sockets, accepted or begun here, for a Node whose handles or ciphers have another form than is known
 * ({@link handleBinding}, {@link cipherMaker}). It does without Node's inside, and is slower.
 */
export class NodeSocket implements AcceptedSocket {
  protected socket!: NetSocket;
  protected owner: SocketOwner | undefined = undefined;
  readonly #onDrained = (): void => this.owner?.socketDrained();
  #paused = false;
  #closed = false;
  /** How many bytes were never sent, once it is closed. */
  #left: number | undefined = undefined;

  /** A client's connection. */
  static accepted(socket: NetSocket): NodeSocket {
    const accepted = new NodeSocket();
    accepted.takeAccepted(socket);
    return accepted;
  }

  /** Begins to connect to a backend. What comes of it is told to the owner, never before this returns. */
  static connect(target: BackendTarget, owner: SocketOwner): NodeSocket {
    const socket = new NodeSocket();
    socket.takeOutward(connect(nodeTarget(target, socket.onread)), owner);
    return socket;
  }

  protected takeAccepted(socket: NetSocket): void {
    this.socket = socket;
    // One that breaks before it has an owner is closed, and the owner is told then.
    socket.on('error', () => {});
  }

  /** Takes a socket to a backend, which was made with {@link onread}. */
  protected takeOutward(socket: NetSocket, owner: SocketOwner): void {
    this.socket = socket;
    this.owner = owner;
    socket.on('connect', () => owner.socketOpened?.());
    socket.on('end', () => owner.socketEnded(false));
    socket.on('error', (error) => owner.socketFailed?.(error));
    socket.on('drain', this.#onDrained);
    socket.on('close', () => owner.socketEnded(false));
  }

  /** What a socket to a backend is to be made with. */
  get onread(): { readonly buffer: Buffer; readonly callback: (length: number) => boolean } {
    return { buffer: SHARED, callback: (length) => this.came(SHARED, length) };
  }

  /** Tells the owner of bytes that came, in memory that is used again. Returns false to stop reading. */
  protected came(bytes: Buffer, length: number): boolean {
    this.owner!.socketReceived(bytes, length, true);
    spoil(bytes, 0, length);
    return !this.#paused && !this.#closed;
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

  get flushed(): boolean {
    return isFlushed(this.socket);
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
      socket.on('drain', this.#onDrained);
      socket.on('end', () => this.ended());
      socket.on('close', () => {
        this.#noteUnsent();
        this.owner!.socketClosed?.();
      });
      socket.on('data', (bytes: Buffer) => this.owner!.socketReceived(bytes, bytes.length, false));
    }
  }

  protected ended(): void {
    this.owner!.socketEnded(false);
  }

  pause(): void {
    this.#paused = true;
    this.socket.pause();
  }

  resume(): void {
    this.#paused = false;
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

  // The socket, and a cipher, are still at work on what they are given when the call returns.
  writeLent(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    const copy = Buffer.from(bytes.subarray(start, end));
    return before === '' && after === '' ? this.socket.write(copy) : this.writeJoined(before, copy, after);
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

  cork(): void {
    this.socket.cork();
  }

  uncork(): void {
    this.socket.uncork();
  }

  // Node tells when its buffer has drained only if a write returned false.
  awaitFlush(): void {
    this.socket.write(EMPTY, this.#onDrained);
  }

  end(): void {
    this.socket.end();
  }

  close(): void {
    this.#closed = true;
    this.#noteUnsent();
    this.socket.destroy();
  }

  closeSoon(): void {
    this.socket.destroySoon();
  }

  leave(): void {
    this.close();
  }

  reset(): void {
    this.#noteUnsent();
    this.socket.resetAndDestroy();
  }

  /** Gives Node's socket to somebody who does all else with it. Nothing is read until then. */
  release(): NetSocket {
    const { socket } = this;
    for (const event of ['drain', 'end', 'close', 'data']) {
      socket.removeAllListeners(event);
    }
    return socket.pause();
  }
}
