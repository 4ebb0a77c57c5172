// Long, because one object is all of a session: with parts of its own for the socket, the client and the log, each of many thousand idle
// connections would cost more.

import { debugOf } from '../../../shared/log/error-log.js';
import { ALERT, DEBUG, INFO, type Level } from '../../../shared/log/level.js';
import type { LogContext } from '../../../shared/log/log-line.js';
import type { Socket, SocketOwner } from '../../../shared/net/socket.js';
import { requestSteps } from '../../../shared/regex/compile.js';
import { errnoText } from '../../../shared/system/errno.js';
import type { Meter } from '../../../shared/zone/meters.js';
import { GrowingBytes } from '../../bytes/growing-bytes.js';
import type { Connections } from '../../connections/connections.js';
import type { HeldConnection } from '../../connections/held-list.js';
import type { PassedClient, PassTarget } from '../../connections/passing.js';
import type { ProxyProtocolHeader } from '../../net/proxy-protocol.js';
import { enter, leave } from '../../task/at-work.js';
import type { Client, TlsConnection } from '../../task/client.js';
import type { ClientTask } from '../../task/client-task.js';
import type { Result } from '../../task/codes.js';
import type { Handshaking } from '../../task/tls-terminator.js';
import { Deadline, type Expiring } from '../../time/deadline.js';
import { countBegin, countSession } from './count-session.js';
import { runSessionPhases } from './phases.js';
import { readProxyHeader } from './proxy-header.js';
import type { StreamAddress, StreamListener, StreamRuntime, StreamServer } from './runtime.js';
import { sessionSlot } from './session-settings.js';
import type { SessionUpstream } from './session-upstream.js';
import { INTERNAL_SERVER_ERROR, STATUS_OK } from './status.js';

/** Whoever uses what the client of a session sends. One object may serve all sessions. */
export interface SessionReader {
  /** The first `length` of these bytes came; their memory is used again after the call. */
  received(s: StreamSession, bytes: Buffer, length: number): void;
  /** The client sends no more. */
  ended(s: StreamSession): void;
  /** The kernel took everything that a write had left over. */
  flushed(s: StreamSession): void;
  /** The time that was set on the session's deadline is over. */
  expired(s: StreamSession): void;
  /** The client's connection broke. */
  broken(s: StreamSession): void;
  /** Reading failed with this error of the system, which a reader may put in its own words; the connection breaks thereafter. */
  failed?(s: StreamSession, error: Error): void;
}

/**
 * One client's connection to a `server {}` of `stream`, and what is done with it. It is its own {@link Client}, since there is one for each
 * connection. nginx: ngx_stream_session_t.
 */
export class StreamSession implements ClientTask, Client, SocketOwner, Expiring, HeldConnection {
  // --- where it came from
  readonly stream: StreamRuntime;
  readonly connections: Connections;
  readonly listener: StreamListener;
  readonly address: StreamAddress;
  server: StreamServer;
  socket: Socket;
  /** Datagrams come on it. */
  readonly udp: boolean;

  // --- the client
  readonly id: number;
  readonly acceptedAt: number;
  remoteAddress: string;
  remotePort: number;
  /** `debug_connection` names it: all its lines are logged. */
  readonly #named: boolean;
  tls: TlsConnection | undefined = undefined;
  /** A TLS handshake is under way, and has the socket. */
  handshake: Handshaking | null = null;
  sni: string | undefined = undefined;
  proxyProtocol: ProxyProtocolHeader | undefined = undefined;
  closed = false;
  heldAt = -1;
  #localAddress: string | undefined = undefined;
  #localPort = 0;

  // --- Subject
  readonly vars: (string | null | undefined)[] = [];
  captures: readonly (string | undefined)[] | null = null;
  evaluating = 0;
  matchSteps = requestSteps;
  lasting: unknown[] = [];
  readonly spans = null;

  // --- phases
  phase = 0;
  step = 0;
  action: string | undefined = 'initializing session';
  finished = false;
  /** 0 until the session is over. */
  status = 0;

  // --- bytes
  /** From the client, and to it. */
  bytesReceived = 0;
  bytesSent = 0;
  /** How many more were given to the socket, which has not told that they have left. */
  bytesWaiting = 0;
  /** What counts it as being under way. */
  zone: Meter | null = null;
  /** How much of the bytes has been counted. */
  countedReceived = 0;
  countedSent = 0;
  /** What came before somebody used it. */
  #held: GrowingBytes | null = null;
  #reader: SessionReader | null = null;
  #started = false;
  #reading = false;
  /** Some handler has looked at what is held. */
  prereads = false;
  /** The client sends no more. */
  ended = false;

  /** The session's business with backends. */
  upstream: SessionUpstream | null = null;
  readonly deadline = new Deadline(this);
  #cleanups: (() => void)[] | null = null;

  constructor(
    connections: Connections,
    stream: StreamRuntime,
    listener: StreamListener,
    address: StreamAddress,
    socket: Socket,
    id: number,
  ) {
    this.connections = connections;
    this.stream = stream;
    this.listener = listener;
    this.udp = listener.udp;
    this.address = address;
    this.server = address.defaultServer;
    this.socket = socket;
    this.id = id;
    this.acceptedAt = performance.now();
    const { address: remote, port } = socket.remote();
    this.remoteAddress = remote ?? 'unix:';
    this.remotePort = port ?? 0;
    this.#named = connections.debugClients?.match(this.remoteAddress) ?? false;
  }

  get connection(): this {
    return this;
  }

  get main(): this {
    return this;
  }

  get protocol(): StreamRuntime {
    return this.stream;
  }

  get connectionId(): number {
    return this.id;
  }

  get localAddress(): string {
    this.#findLocal();
    return this.#localAddress as string;
  }

  get localPort(): number {
    this.#findLocal();
    return this.#localPort;
  }

  /** Another listener passed the session on to this address. */
  cameTo({ address, port, unix }: PassTarget): void {
    this.#localAddress = unix ? `unix:${address}` : address;
    this.#localPort = port;
  }

  // Few ask for it, and it takes a call of the system.
  #findLocal(): void {
    if (this.#localAddress !== undefined) {
      return;
    }
    const { address, port } = this.socket.local();
    // A socket that is closed does not know it any more: what `listen` says of it has to do.
    this.#localAddress = address ?? (this.listener.unix ? this.listener.key : (this.address.address ?? ''));
    this.#localPort = port ?? this.address.port ?? 0;
  }

  /** Goes through the phases from the first one. nginx: the end of ngx_stream_init_connection. */
  begin(): void {
    this.connections.hold(this);
    countBegin(this);
    const { log } = this.server;
    if (log.level >= INFO || this.#named) {
      const client = this.listener.unix
        ? 'unix:'
        : `${this.remoteAddress.includes(':') ? `[${this.remoteAddress}]` : this.remoteAddress}:${this.remotePort}`;
      const { id, listener } = this;
      (this.#named ? debugOf(log) : log).log(INFO, `*${id} ${this.udp ? 'udp ' : ''}client ${client} connected to ${listener.key}`);
    }
    if (this.address.proxyProtocol) {
      readProxyHeader(this);
    } else {
      runSessionPhases(this);
    }
  }

  // ---------------------------------------------------------------- what the client sends

  /** Gives what the client sends to `reader` from now on, but not what is {@link held}. */
  readTo(reader: SessionReader): void {
    this.#reader = reader;
    if (this.finished) {
      return;
    }
    this.#reading = true;
    if (this.#started) {
      this.socket.resume();
    } else {
      this.#started = true;
      this.socket.start(this);
    }
  }

  /** Tells `reader` what happens from now on, while the client waits. */
  wait(reader: SessionReader): void {
    this.stopReading();
    this.#reader = reader;
  }

  /** Lets the client wait. */
  stopReading(): void {
    if (this.#reading && !this.finished) {
      this.#reading = false;
      this.socket.pause();
    }
  }

  /** Goes on with another socket, which has decrypted what the one before brings. */
  useSocket(socket: Socket): void {
    this.socket = socket;
    this.#started = true;
    this.#reading = false;
    this.#reader = holding;
    socket.pause();
    socket.start(this);
  }

  /** What came before somebody used it; valid until more is held. */
  get held(): Buffer | null {
    return this.#held === null ? null : this.#held.all;
  }

  /** As much of it as `preread_buffer_size` lets handlers of the preread phase see. */
  get preread(): Buffer | null {
    return this.#held === null ? null : this.#held.all.subarray(0, this.server.conf(sessionSlot).prereadBufferSize);
  }

  /** Keeps bytes behind those that are held. */
  hold(bytes: Buffer, length: number): void {
    if (this.#held === null) {
      this.#held = new GrowingBytes(Buffer.from(bytes.subarray(0, length)));
    } else {
      this.#held.add(bytes, length);
    }
  }

  /** Takes the first bytes of what is held away; by default all of it. */
  take(length = Number.POSITIVE_INFINITY): void {
    const { held } = this;
    if (held === null || length >= held.length) {
      this.#held = null;
    } else if (length > 0) {
      this.#held = new GrowingBytes(Buffer.from(held.subarray(length)));
    }
  }

  /** Sends text (latin1) or bytes. Returns false when that takes time: the reader is told. */
  send(data: string | Buffer): boolean {
    if (!this.#started) {
      this.#started = true;
      this.socket.start(this);
      this.socket.pause();
    }
    return this.socket.write(data);
  }

  /** Ends the session without its connection, which somebody else takes over. */
  leave(): PassedClient {
    const { id, socket, remoteAddress, remotePort, proxyProtocol, tls, held, lasting } = this;
    countSession(this, STATUS_OK);
    this.finished = true;
    this.deadline.close();
    this.connections.drop(this);
    const endings = this.#cleanups ?? [];
    return { id, socket, remoteAddress, remotePort, proxyProtocol, tls, held, lasting, endings };
  }

  // ---------------------------------------------------------------- the socket

  socketReceived(bytes: Buffer, length: number): void {
    if (this.finished || this.#reader === null) {
      return;
    }
    const before = enter(this);
    this.#reader.received(this, bytes, length);
    leave(before);
  }

  socketFailed(error: Error): void {
    if (this.finished) {
      return;
    }
    if (this.#reader?.failed === undefined) {
      this.log(INFO, `recv() failed (${errnoText(error)})`);
      return;
    }
    const before = enter(this);
    this.#reader.failed(this, error);
    leave(before);
  }

  socketEnded(): void {
    if (this.finished || this.ended) {
      return;
    }
    this.ended = true;
    const before = enter(this);
    this.#reader?.ended(this);
    leave(before);
  }

  socketDrained(): void {
    if (this.finished) {
      return;
    }
    const before = enter(this);
    this.#reader?.flushed(this);
    leave(before);
  }

  socketClosed(): void {
    this.closed = true;
    if (this.finished) {
      this.connections.closed(this);
      return;
    }
    const before = enter(this);
    if (this.#reader === null) {
      this.finalize(STATUS_OK);
    } else {
      this.#reader.broken(this);
    }
    leave(before);
  }

  expired(): void {
    if (this.finished) {
      return;
    }
    const before = enter(this);
    this.#reader?.expired(this);
    leave(before);
  }

  // ---------------------------------------------------------------- its life

  /** Goes on after a handler returned AGAIN, with the code it would have returned. */
  resume(code: Result): void {
    runSessionPhases(this, code);
  }

  /** Asks the handler that the session waits for again. */
  askAgain(): void {
    runSessionPhases(this);
  }

  onFinish(callback: () => void): void {
    if (this.#cleanups === null) {
      this.#cleanups = [callback];
    } else {
      this.#cleanups.push(callback);
    }
  }

  giveUp(reason: string): void {
    this.log(ALERT, `the session is given up after an exception: ${reason}`);
    this.finalize(INTERNAL_SERVER_ERROR);
  }

  breakOff(): void {
    this.finalize(INTERNAL_SERVER_ERROR);
  }

  /** Ends the session: logs it and closes the connection. nginx: ngx_stream_finalize_session. */
  finalize(status: number): void {
    if (this.finished) {
      return;
    }
    if (this.debugging) {
      this.log(DEBUG, `finalize stream session: ${status}`);
    }
    this.status = status;
    this.upstream?.release();
    if (this.closed || this.socket.pending) {
      // What the client has not taken until now is dropped.
      this.bytesSent = Math.max(0, this.bytesSent + this.bytesWaiting - this.socket.unsent);
    }
    countSession(this, status);
    const handlers = this.server.logPhase;
    for (let i = 0; i < handlers.length; i++) {
      handlers[i]!(this);
    }
    this.finished = true;
    this.deadline.close();
    for (const cleanup of this.#cleanups?.reverse() ?? []) {
      cleanup();
    }
    this.#held = null;
    this.#close();
  }

  #close(): void {
    if (this.closed) {
      this.connections.closed(this);
      return;
    }
    this.connections.uncount(this);
    if (this.handshake !== null) {
      this.handshake.close();
      this.connections.closed(this);
      return;
    }
    // What the client has not taken until now, nobody waits for.
    if (this.socket.blocked) {
      this.socket.close();
    } else {
      this.socket.closeSoon();
    }
    if (!this.#started) {
      this.connections.closed(this);
    }
  }

  /** A session under way is no concern of a worker that leaves: it lasts. */
  drain(): void {}

  /** The worker must go. */
  kill(): void {
    this.log(INFO, 'shutdown timeout');
    this.finalize(STATUS_OK);
  }

  // ---------------------------------------------------------------- the log

  get debugging(): boolean {
    return this.stream.debugs && (this.#named || this.server.log.level >= DEBUG);
  }

  log(level: Level, message: string): void {
    const log = this.#named ? debugOf(this.server.log) : this.server.log;
    if (level <= log.level) {
      log.log(level, message, this);
    }
  }

  /** Writes a line without what is known about the session, as nginx does with some that tell of all of it. */
  logBare(level: Level, message: string): void {
    const log = this.#named ? debugOf(this.server.log) : this.server.log;
    if (level <= log.level) {
      log.log(level, message, { connectionId: this.id, logContext: () => ({}) });
    }
  }

  // nginx: ngx_stream_log_error.
  logContext(): LogContext {
    return {
      action: this.action,
      client: this.remoteAddress,
      udp: this.udp,
      server: this.listener.key,
      upstream: this.upstream?.name,
      transferred: this.upstream?.transferred(),
    };
  }
}

/** Keeps what a socket has brought already until somebody wants it. */
const holding: SessionReader = {
  received: (s, bytes, length) => s.hold(bytes, length),
  ended() {},
  flushed() {},
  expired: (s) => s.finalize(STATUS_OK),
  broken: (s) => s.finalize(STATUS_OK),
};
