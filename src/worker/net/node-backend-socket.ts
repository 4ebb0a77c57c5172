import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { withoutZone } from '../../shared/address/zone-id.js';
import type { BackendSocket, BackendSocketOwner, BackendTarget } from '../../shared/net/backend-socket.js';
import type { SocketAddress } from '../../shared/net/client-socket.js';
import { spoil } from '../../shared/system/spoil.js';
import { EMPTY } from '../bytes/empty.js';
import { isFlushed } from './tls-binding.js';

/** All connections of a worker read into this, one after another: whoever keeps bytes copies them. */
const SHARED = Buffer.allocUnsafeSlow(64 * 1024);

/** What one of Node's sockets to a backend is made with. */
export function nodeTarget(target: BackendTarget, onread: NodeBackendSocket['onread']): TcpNetConnectOpts {
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

/** A connection to a backend on one of Node's sockets, where the handles below cannot be used. */
export class NodeBackendSocket implements BackendSocket {
  protected readonly owner: BackendSocketOwner;
  #socket!: Socket;
  #paused = false;
  #closed = false;
  /** What the socket is to be made with. */
  readonly onread: { readonly buffer: Buffer; readonly callback: (length: number) => boolean };

  constructor(owner: BackendSocketOwner) {
    this.owner = owner;
    this.onread = { buffer: SHARED, callback: (length) => this.came(SHARED, length) };
  }

  /** Begins to connect. What comes of it is told to the owner, never before this returns. */
  static connect(target: BackendTarget, owner: BackendSocketOwner): NodeBackendSocket {
    const socket = new NodeBackendSocket(owner);
    socket.take(connect(nodeTarget(target, socket.onread)));
    return socket;
  }

  /** Takes the socket, which was made with {@link onread}. */
  protected take(socket: Socket): void {
    const { owner } = this;
    this.#socket = socket;
    socket.on('connect', () => owner.socketConnected());
    socket.on('end', () => owner.socketEnded());
    socket.on('error', (error) => owner.socketFailed(error));
    socket.on('drain', () => owner.socketDrained());
    socket.on('close', () => owner.socketEnded());
  }

  /** Tells the owner of bytes that came. Returns false to stop reading. */
  protected came(bytes: Buffer, length: number): boolean {
    this.owner.socketReceived(bytes, length);
    spoil(bytes, 0, length);
    return !this.#paused && !this.#closed;
  }

  write(data: string | Buffer): boolean {
    return typeof data === 'string' ? this.#socket.write(data, 'latin1') : this.#socket.write(data);
  }

  // The socket, and a cipher, are still at work on what they are given when the call returns.
  writeLent(bytes: Buffer, start: number, end: number): boolean {
    return this.#socket.write(Buffer.from(bytes.subarray(start, end)));
  }

  offer(bytes: Buffer): number {
    this.#socket.write(Buffer.from(bytes));
    return bytes.length;
  }

  get pending(): boolean {
    return this.#socket.writableNeedDrain;
  }

  local(): SocketAddress {
    return { address: withoutZone(this.#socket.localAddress), port: this.#socket.localPort };
  }

  cork(): void {
    this.#socket.cork();
  }

  uncork(): void {
    this.#socket.uncork();
  }

  get flushed(): boolean {
    return isFlushed(this.#socket);
  }

  awaitFlush(): void {
    this.#socket.write(EMPTY, () => this.owner.socketDrained());
  }

  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#socket.resume();
  }

  end(): void {
    this.#socket.end();
  }

  close(): void {
    this.#closed = true;
    this.#socket.destroy();
  }
}
