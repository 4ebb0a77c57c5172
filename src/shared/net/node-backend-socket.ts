import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { EMPTY } from '../lib/empty.js';
import { withoutZone } from '../lib/zone-id.js';
import type { BackendSocket, BackendSocketOwner } from './backend-socket.js';
import type { SocketAddress } from './client-socket.js';
import { readInto } from './read-into.js';

/** All connections of a worker read into this, one after another: whoever keeps bytes copies them. */
const SHARED = Buffer.allocUnsafeSlow(64 * 1024);

/** A connection to a backend on one of Node's sockets: one with TLS, or any where the handles below cannot be used. */
export class NodeBackendSocket implements BackendSocket {
  readonly #owner: BackendSocketOwner;
  #socket!: Socket;
  #paused = false;
  #closed = false;
  /** What the socket is to be made with. */
  readonly onread: { readonly buffer: Buffer; readonly callback: (length: number) => boolean };

  constructor(owner: BackendSocketOwner) {
    this.#owner = owner;
    this.onread = { buffer: SHARED, callback: (length) => this.#read(length) };
  }

  /** Takes the socket, which was made with {@link onread}. */
  attach(socket: Socket, tls: boolean): void {
    const owner = this.#owner;
    this.#socket = socket;
    socket.on('connect', () => owner.socketConnected());
    if (tls) {
      socket.on('secureConnect', () => owner.socketReady());
    }
    socket.on('end', () => owner.socketEnded());
    socket.on('error', (error) => owner.socketFailed(error));
    socket.on('drain', () => owner.socketDrained());
    socket.on('close', () => owner.socketEnded());
  }

  /** Takes a socket of TLS that was made on another one: such a socket does not read into memory that it is given when it is made. */
  attachBehind(socket: TLSSocket): void {
    this.attach(socket, true);
    const take = (bytes: Buffer, length: number): boolean => {
      this.#owner.socketReceived(bytes, length);
      return !this.#paused && !this.#closed;
    };
    if (!readInto(socket, take)) {
      socket.on('data', (bytes: Buffer) => void take(bytes, bytes.length));
    }
  }

  /** So many bytes came into the shared memory. Returns false to stop reading. */
  #read(length: number): boolean {
    this.#owner.socketReceived(SHARED, length);
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
    return this.#socket.writableLength === 0;
  }

  awaitFlush(): void {
    this.#socket.write(EMPTY, () => this.#owner.socketDrained());
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
