import type { Socket } from 'node:net';
import { EMPTY } from '../../../shared/lib/empty.js';
import { readDirectly } from '../../../shared/net/direct-reader.js';
import { DirectWriter, REFUSED, WRITTEN } from '../../../shared/net/direct-writer.js';
import { enter, leave } from '../../http/request/at-work.js';
import type { Request } from '../../http/request/request.js';
import { Deadline, type Expiring } from '../../io/deadline.js';
import type { SavedSession, TlsIdentity } from '../balancing/peer.js';

/** Whoever uses a connection to a backend is told what happens on it. */
export interface ConnectionOwner {
  /** Whose business it is; null for none's. */
  readonly r: Request | null;
  /** TCP is connected; with TLS, the handshake follows. */
  connected(c: UpstreamConnection): void;
  /** Ready for use: connected, and the TLS handshake is over. */
  ready(c: UpstreamConnection): void;
  /** Bytes `0..end` came. The memory is used again after the call. */
  received(c: UpstreamConnection, bytes: Buffer, end: number): void;
  /** The peer sends no more. */
  ended(c: UpstreamConnection): void;
  /** The connection broke or could not be made. */
  failed(c: UpstreamConnection, error: Error): void;
  /** Everything written has left, after a write that returned false. */
  drained(c: UpstreamConnection): void;
  /** The time that was set on {@link UpstreamConnection.deadline} is over. */
  timedOut(c: UpstreamConnection): void;
}

/** All connections of a worker read into this, one after another: whoever keeps bytes copies them. */
const SHARED = Buffer.allocUnsafeSlow(64 * 1024);

/** What {@link UpstreamConnection} needs to be told when its socket is made. */
export const sharedRead = (c: UpstreamConnection): { buffer: Buffer; callback: (bytes: number) => boolean } => ({
  buffer: SHARED,
  callback: (bytes) => c.read(bytes),
});

/** One connection to a backend, in use or waiting for the next request. */
export class UpstreamConnection implements Expiring {
  socket!: Socket;
  owner: ConnectionOwner;
  readonly deadline = new Deadline(this);
  readonly tls: boolean;
  /** Undefined for TLS: its socket's own machinery writes. */
  #direct: DirectWriter | undefined = undefined;
  /** Requests sent on it. */
  requests = 0;
  /** Monotonic milliseconds when it was begun. */
  readonly startedAt: number;
  /** Bytes given to the socket since the count was last set to 0. */
  sent = 0;
  connected = false;
  ready = false;
  /** The peer has closed its side. */
  ended = false;
  broken = false;
  paused = false;
  closed = false;
  /** Whom it leads to and which location opened it, while it is idle. */
  peerName = '';
  location: object | undefined = undefined;
  /** Of TLS: the session that the handshake may resume, and what a whole handshake tells. */
  resuming: SavedSession | undefined = undefined;
  identity: TlsIdentity | undefined = undefined;

  constructor(owner: ConnectionOwner, tls: boolean) {
    this.owner = owner;
    this.tls = tls;
    this.startedAt = performance.now();
  }

  /** Takes the socket, whose `onread` is {@link sharedRead}. */
  attach(socket: Socket): void {
    this.socket = socket;
    if (!this.tls) {
      this.#direct = new DirectWriter(socket, () => this.#drained(), false);
      readDirectly(socket, (bytes) => this.read(bytes));
    }
    socket.on('connect', () => this.#connected());
    if (this.tls) {
      socket.on('secureConnect', () => this.#ready());
    }
    socket.on('end', () => this.#ended());
    socket.on('error', (error) => this.#failed(error));
    socket.on('drain', () => this.#drained());
    socket.on('close', () => this.#ended());
  }

  #connected(): void {
    if (this.closed) {
      return;
    }
    this.connected = true;
    const before = enter(this.owner.r);
    this.owner.connected(this);
    leave(before);
    if (!this.tls) {
      this.#ready();
    }
  }

  #ready(): void {
    if (this.closed || this.ready) {
      return;
    }
    this.ready = true;
    const before = enter(this.owner.r);
    this.owner.ready(this);
    leave(before);
  }

  /** Called by the socket with what it has read into the shared memory. Returns false to stop reading. */
  read(bytes: number): boolean {
    if (this.closed) {
      return false;
    }
    const before = enter(this.owner.r);
    this.owner.received(this, SHARED, bytes);
    leave(before);
    return !this.paused && !this.closed;
  }

  #ended(): void {
    if (this.closed || this.ended || this.broken) {
      return;
    }
    this.ended = true;
    const before = enter(this.owner.r);
    this.owner.ended(this);
    leave(before);
  }

  #failed(error: Error): void {
    if (this.closed || this.broken) {
      return;
    }
    this.broken = true;
    const before = enter(this.owner.r);
    this.owner.failed(this, error);
    leave(before);
  }

  #drained(): void {
    if (this.closed) {
      return;
    }
    const before = enter(this.owner.r);
    this.owner.drained(this);
    leave(before);
  }

  expired(): void {
    if (this.closed) {
      return;
    }
    const before = enter(this.owner.r);
    this.owner.timedOut(this);
    leave(before);
  }

  /** Writes latin1 text. Returns false when the socket's buffer is full; `drained` follows then. */
  writeText(text: string): boolean {
    this.sent += text.length;
    const code = this.#writeDirectly(text);
    return code === REFUSED ? this.socket.write(text, 'latin1') : code === WRITTEN;
  }

  write(bytes: Buffer): boolean {
    this.sent += bytes.length;
    const code = this.#writeDirectly(bytes);
    return code === REFUSED ? this.socket.write(bytes) : code === WRITTEN;
  }

  /** Writes past the socket's own machinery, unless that is collecting pieces. */
  #writeDirectly(data: string | Buffer): number {
    return this.#direct === undefined || this.socket.writableCorked !== 0 ? REFUSED : this.#direct.write(data);
  }

  /** Nothing that was written still waits to leave. */
  get flushed(): boolean {
    return this.socket.writableLength === 0 && !(this.#direct?.pending ?? false);
  }

  /** Has `drained` called once everything has left, although the last write returned true. */
  awaitFlush(): void {
    this.socket.write(EMPTY, () => this.#drained());
  }

  pause(): void {
    if (this.paused) {
      return;
    }
    this.paused = true;
    this.socket.pause();
  }

  resume(): void {
    if (!this.paused) {
      return;
    }
    this.paused = false;
    if (!this.closed) {
      this.socket.resume();
    }
  }

  close(): void {
    if (this.closed) {
      return;
    }
    this.closed = true;
    this.deadline.close();
    this.socket.destroy();
  }
}
