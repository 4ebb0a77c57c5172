import type { Socket, SocketAddress, SocketOwner } from '../../../shared/net/socket.js';
import type { SecureBackendSocket } from '../../net/secure-backend-socket.js';
import { enter, leave } from '../../task/at-work.js';
import { Deadline, type Expiring } from '../../time/deadline.js';
import type { SavedSession, TlsIdentity } from '../balancing/peer.js';
import type { Channel, ChannelOwner } from './channel.js';
import type { HandshakeCount } from './handshake-count.js';
import type { TlsPurpose } from './tls-purpose.js';

/** One connection to a backend, in use or waiting for the next request. */
export class UpstreamConnection implements Channel, Expiring, SocketOwner {
  #socket!: Socket;
  /** Of TLS: the same socket, which knows what was agreed. */
  secure: SecureBackendSocket | undefined = undefined;
  owner: ChannelOwner;
  readonly deadline = new Deadline(this);
  readonly tls: boolean;
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
  /** The value of `*_bind` that it was opened with. */
  boundTo = '';
  /** Of TLS: what it was opened for; null without TLS, and where nobody else gets it. */
  purpose: TlsPurpose | null = null;
  /** Of TLS: the session that the handshake may resume, and what a whole handshake tells. */
  resuming: SavedSession | undefined = undefined;
  identity: TlsIdentity | undefined = undefined;
  /** Counts the handshake; null where nothing is counted. */
  handshake: HandshakeCount | null = null;

  constructor(owner: ChannelOwner, tls: boolean) {
    this.owner = owner;
    this.tls = tls;
    this.startedAt = performance.now();
  }

  get carrier(): UpstreamConnection {
    return this;
  }

  /** Takes the socket that was opened for it. */
  attach(socket: Socket): void {
    this.#socket = socket;
  }

  /** Takes the socket with TLS that was opened for it. */
  attachSecure(socket: SecureBackendSocket): void {
    this.#socket = socket;
    this.secure = socket;
  }

  /** With TLS: the handshake went on with a session. */
  get resumed(): boolean {
    return this.secure?.cipher?.isSessionReused() ?? false;
  }

  socketOpened(): void {
    if (this.closed) {
      return;
    }
    this.connected = true;
    const before = enter(this.owner.r);
    this.owner.connected(this);
    leave(before);
    if (!this.tls) {
      this.socketSecured();
    }
  }

  /** With TLS, the handshake is over. */
  socketSecured(): void {
    if (this.closed || this.ready) {
      return;
    }
    this.ready = true;
    this.handshake?.done(this.resumed);
    const before = enter(this.owner.r);
    this.owner.ready(this);
    leave(before);
  }

  socketReceived(bytes: Buffer, length: number): void {
    if (this.closed) {
      return;
    }
    const before = enter(this.owner.r);
    this.owner.received(this, bytes, length);
    leave(before);
  }

  socketEnded(): void {
    if (this.closed || this.ended || this.broken) {
      return;
    }
    this.ended = true;
    this.handshake?.failed('');
    const before = enter(this.owner.r);
    this.owner.ended(this);
    leave(before);
  }

  socketFailed(error: Error): void {
    if (this.closed || this.broken) {
      return;
    }
    this.broken = true;
    if (this.connected) {
      this.handshake?.failed(error.message);
    }
    const before = enter(this.owner.r);
    this.owner.failed(this, error);
    leave(before);
  }

  socketDrained(): void {
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
    this.handshakeExpired();
    const before = enter(this.owner.r);
    this.owner.timedOut(this);
    leave(before);
  }

  /** The time is over that the backend has; if it is not ready by now, that was the handshake's. */
  handshakeExpired(): void {
    if (this.connected) {
      this.handshake?.timedOut();
    }
  }

  /** Writes latin1 text. Returns false when the socket's buffer is full; `drained` follows then. */
  writeText(text: string): boolean {
    this.sent += text.length;
    return this.#socket.write(text);
  }

  write(bytes: Buffer): boolean {
    this.sent += bytes.length;
    return this.#socket.write(bytes);
  }

  /** Writes the bytes `start..end`, whose memory is the caller's again when this returns. */
  writeLent(bytes: Buffer, start: number, end: number): boolean {
    this.sent += end - start;
    return this.#socket.writeLent('', bytes, start, end, '');
  }

  /**
   * Gives the kernel as many of the bytes as it has room for, and returns how many: their memory is the caller's again. A cipher takes
   * all or nothing.
   */
  offer(bytes: Buffer): number {
    const taken = this.#socket.offer(bytes);
    this.sent += taken;
    return taken;
  }

  /** Something that was written waits for the kernel; `drained` follows. */
  get pending(): boolean {
    return this.#socket.pending;
  }

  /** This end of it. */
  local(): SocketAddress {
    return this.#socket.local();
  }

  /** What is written from now on leaves together. */
  cork(): void {
    this.#socket.cork();
  }

  uncork(): void {
    this.#socket.uncork();
  }

  finishRequest(): void {}

  /** Nothing that was written still waits to leave. */
  get flushed(): boolean {
    return this.#socket.flushed;
  }

  /** Has `drained` called once everything has left, although the last write returned true. */
  awaitFlush(): void {
    this.#socket.awaitFlush();
  }

  pause(): void {
    if (this.paused) {
      return;
    }
    this.paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.paused) {
      return;
    }
    this.paused = false;
    if (!this.closed) {
      this.#socket.resume();
    }
  }

  /** Sends what is left, and then that this is the end. Reading goes on. */
  end(): void {
    this.#socket.end();
  }

  close(): void {
    if (this.closed) {
      return;
    }
    this.closed = true;
    this.deadline.close();
    this.#socket.leave();
  }
}
