import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { EMPTY } from '../lib/empty.js';
import { withoutZone } from '../lib/zone-id.js';
import type { BackendSocket, BackendSocketOwner } from './backend-socket.js';
import type { SocketAddress } from './client-socket.js';
import { readDirectly } from './direct-reader.js';
import { DirectWriter, JOIN_LIMIT, REFUSED, WRITTEN } from './direct-writer.js';
import { readInto } from './read-into.js';

/** All connections of a worker read into this, one after another: whoever keeps bytes copies them. */
const SHARED = Buffer.allocUnsafeSlow(64 * 1024);
/** The same for what is only passed on: so much stays in a processor's nearest cache from the read to the write. */
const RELAYED = Buffer.allocUnsafeSlow(16 * 1024);

/** A connection to a backend on one of Node's sockets. */
export class NodeBackendSocket implements BackendSocket {
  readonly #owner: BackendSocketOwner;
  readonly #buffer: Buffer;
  #socket!: Socket;
  /** Undefined for TLS: its socket's own machinery writes. */
  #direct: DirectWriter | undefined = undefined;
  #paused = false;
  #closed = false;
  /** What the socket is to be made with. */
  readonly onread: { readonly buffer: Buffer; readonly callback: (length: number) => boolean };

  /** `relays`: what comes is only passed on. */
  constructor(owner: BackendSocketOwner, relays = false) {
    this.#owner = owner;
    this.#buffer = relays ? RELAYED : SHARED;
    this.onread = { buffer: this.#buffer, callback: (length) => this.#read(length) };
  }

  /** Takes the socket, which was made with {@link onread}. */
  attach(socket: Socket, tls: boolean): void {
    const owner = this.#owner;
    this.#socket = socket;
    if (!tls) {
      this.#direct = new DirectWriter(socket, () => owner.socketDrained(), false);
      readDirectly(socket, (length) => this.#read(length));
    }
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
    this.#owner.socketReceived(this.#buffer, length);
    return !this.#paused && !this.#closed;
  }

  write(data: string | Buffer): boolean {
    const direct = this.#direct;
    const socket = this.#socket;
    // While the socket collects pieces, nothing goes past it.
    const code = direct === undefined || socket.writableCorked !== 0 ? REFUSED : direct.write(data);
    if (code !== REFUSED) {
      return code === WRITTEN;
    }
    return typeof data === 'string' ? socket.write(data, 'latin1') : socket.write(data);
  }

  writeLent(bytes: Buffer, start: number, end: number): boolean {
    const direct = this.#direct;
    // A cipher is at work on what it is given after the call has returned; so is a socket that collects pieces.
    if (direct === undefined || this.#socket.writableCorked !== 0) {
      return this.#socket.write(Buffer.from(bytes.subarray(start, end)));
    }
    if (end - start <= JOIN_LIMIT) {
      const code = direct.writeJoined('', bytes, start, end, '');
      return code === REFUSED ? this.#socket.write(Buffer.from(bytes.subarray(start, end))) : code === WRITTEN;
    }
    const from = start + direct.offer(bytes.subarray(start, end));
    return from === end || this.write(Buffer.from(bytes.subarray(from, end)));
  }

  offer(bytes: Buffer): number {
    const direct = this.#direct;
    if (direct !== undefined) {
      return direct.offer(bytes);
    }
    // A cipher is still at work on what it is given when the call returns.
    this.#socket.write(Buffer.from(bytes));
    return bytes.length;
  }

  get pending(): boolean {
    return this.#socket.writableNeedDrain || (this.#direct?.pending ?? false);
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
    return this.#socket.writableLength === 0 && !(this.#direct?.pending ?? false);
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
