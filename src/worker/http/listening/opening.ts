import { INFO, type Level } from '../../../shared/log/level.js';
import type { LogContext, LogSubject } from '../../../shared/log/log-line.js';
import type { Socket, SocketAddress, SocketOwner } from '../../../shared/net/socket.js';
import { GrowingBytes } from '../../bytes/growing-bytes.js';
import type { HeldConnection } from '../../connections/held-list.js';
import type { Idle, IdleQueue } from '../../connections/idle-queue.js';
import type { ProxyProtocolHeader } from '../../net/proxy-protocol.js';
import type { TlsConnection } from '../../task/client.js';
import type { Handshaking, HelloProgress } from '../../task/tls-terminator.js';
import { Deadline, type Expiring } from '../../time/deadline.js';
import type { Opened } from '../connection/opened.js';
import type { AddressRuntime, HttpTlsAccepted } from '../request/address-runtime.js';
import { headSlot } from '../request/client-settings.js';

/** A step's word that more must come. */
export const MORE = -1;
/** A step's word that it has all that came, and goes on by itself. */
export const TAKEN = -2;

/** A thing that may come before the first request. */
export interface OpeningStep {
  /** What is being done, for log lines. */
  readonly action: string;
  /** The line about a client that goes in the middle of it, where there is a special one. */
  readonly broken?: string;
  /** What ends the connection meanwhile is a matter of HTTP/1. */
  readonly ofHttp1: boolean;
  applies(address: AddressRuntime): boolean;
  /** Reads all that has come since the step began. Returns how many bytes of it are the step's own, or one of the words above. */
  read(opening: Opening, bytes: Buffer): number;
  /** The client took too long. */
  timedOut?(address: AddressRuntime): void;
}

/** What is known of a connection that comes from another listener. */
export type KnownEnds = Pick<Opened, 'remote' | 'local' | 'proxyProtocol' | 'passedTls'>;

/** A connection of which something is read: its opening, or what serves it. */
export type Reading = SocketOwner & Expiring;

/** Whoever counts openings, and serves what they come to. */
export interface OpeningHost {
  readonly idle: IdleQueue;
  /** Every step is done. Returns what serves the connection from now on. */
  serveOpened(opening: Opening): Reading;
  /** The connection came to nothing. */
  openingFailed(opening: Opening): void;
}

/** A connection before its first request, until what its address asks for has come. nginx: ngx_http_wait_request_handler. */
export class Opening implements Opened, SocketOwner, Expiring, HeldConnection, Idle, LogSubject {
  readonly connectionId: number;
  readonly address: AddressRuntime;
  socket: Socket;
  /** Both ends; afterwards the client may have gone. */
  readonly remote: SocketAddress;
  readonly local: SocketAddress;
  proxyProtocol: ProxyProtocolHeader | undefined;
  readonly passedTls: TlsConnection | undefined;
  tls: HttpTlsAccepted | undefined = undefined;
  plainOnTls = false;
  /** HTTP/2's preface came, without TLS. */
  preface = false;
  /** A hello of which some has come, and the handshake that it has begun, which has the socket. */
  hello: HelloProgress | undefined = undefined;
  handshake: Handshaking | undefined = undefined;
  /** Goes on in what follows. */
  readonly deadline = new Deadline(this);
  idleBefore: Idle | null = null;
  idleAfter: Idle | null = null;
  heldAt = -1;
  readonly #host: OpeningHost;
  readonly #steps: readonly OpeningStep[];
  #at = -1;
  /** What came since the step began. */
  #held: GrowingBytes | null = null;
  #over = false;

  constructor(host: OpeningHost, steps: readonly OpeningStep[], socket: Socket, address: AddressRuntime, id: number, known?: KnownEnds) {
    this.#host = host;
    this.#steps = steps;
    this.socket = socket;
    this.address = address;
    this.connectionId = id;
    this.remote = known?.remote ?? socket.remote();
    this.local = known?.local ?? socket.local();
    this.proxyProtocol = known?.proxyProtocol;
    this.passedTls = known?.passedTls;
  }

  get over(): boolean {
    return this.#over;
  }

  get #step(): OpeningStep {
    return this.#steps[this.#at]!;
  }

  get #timeout(): number {
    return this.address.defaultServer.conf(headSlot).clientHeaderTimeout;
  }

  logContext(): LogContext {
    return { action: this.#step.action, client: this.remote.address ?? 'unix:', server: this.address.listener };
  }

  /** Begins with the first step. Returns what takes bytes that were read before. */
  start(): Reading {
    this.deadline.set(performance.now(), this.#timeout);
    const reading = this.next();
    if (!this.#over) {
      this.socket.start(this);
    }
    return reading;
  }

  /** Goes on with the step that follows, or has the connection served. Returns what takes the bytes that come then. */
  next(): Reading {
    const steps = this.#steps;
    this.busy();
    do {
      this.#at++;
    } while (this.#at < steps.length && !this.#step.applies(this.address));
    if (this.#at === steps.length) {
      return this.#serve();
    }
    this.#host.idle.add(this);
    if (this.#step.ofHttp1) {
      this.deadline.set(performance.now(), this.#timeout);
    }
    return this;
  }

  #serve(): Reading {
    this.#over = true;
    this.busy();
    return this.#host.serveOpened(this);
  }

  /** The client has begun something that is not to be broken off for a new one. */
  busy(): void {
    this.#host.idle.remove(this);
  }

  socketReceived(piece: Buffer, length: number, shared: boolean): void {
    if (this.#over) {
      return;
    }
    const came = piece.subarray(0, length);
    const lent = shared && this.#held === null;
    const bytes = this.#held === null ? came : this.#held.add(came);
    const size = this.#step.read(this, bytes);
    if (size === MORE) {
      this.#held ??= new GrowingBytes(lent ? Buffer.from(came) : came);
      return;
    }
    this.#held = null;
    if (size !== TAKEN) {
      const reading = this.next();
      if (size < bytes.length) {
        reading.socketReceived(bytes.subarray(size), bytes.length - size, lent);
      }
    }
  }

  /** Has HTTP/1 go on with what came, which is no whole preface. */
  #serveHttp1(): Reading {
    const held = this.#held?.all;
    this.#held = null;
    const reading = this.#serve();
    if (held !== undefined) {
      reading.socketReceived(held, held.length, false);
    }
    return reading;
  }

  socketEnded(stays: boolean): void {
    if (this.#over) {
      return;
    }
    if (this.#step.ofHttp1) {
      this.#serveHttp1().socketEnded(stays);
    } else {
      this.#clientLeft();
      this.kill();
    }
  }

  socketFailed(error: Error): void {
    if (!this.#over && this.#step.ofHttp1) {
      this.#serveHttp1().socketFailed?.(error);
    }
  }

  socketClosed(): void {
    if (this.#over) {
      return;
    }
    if (this.#step.ofHttp1) {
      this.#serveHttp1().socketClosed?.();
    } else {
      this.#clientLeft();
      this.#end();
    }
  }

  socketDrained(): void {}

  expired(): void {
    const step = this.#step;
    if (step.ofHttp1) {
      this.#serveHttp1().expired();
    } else {
      this.#log(INFO, 'client timed out');
      step.timedOut?.(this.address);
      this.kill();
    }
  }

  #clientLeft(): void {
    const begun = this.#held !== null || this.handshake !== undefined;
    this.#log(INFO, (begun ? this.#step.broken : undefined) ?? 'client closed connection');
  }

  // What is under way is finished: a request follows it.
  drain(): void {}

  closeIdle(): void {
    this.kill();
  }

  /** Ends the connection: it has not begun anything that could be waited for. */
  kill(): void {
    if (!this.#over) {
      this.#end();
      (this.handshake ?? this.socket).close();
    }
  }

  /** The step failed, and has its socket closed. */
  failed(level: Level, message: string): void {
    if (!this.#over) {
      this.#log(level, message);
      this.#end();
    }
  }

  #end(): void {
    this.#over = true;
    this.busy();
    this.deadline.close();
    this.#host.openingFailed(this);
  }

  #log(level: Level, message: string): void {
    const { log } = this.address.defaultServer.root;
    if (level <= log.level) {
      log.log(level, message, this);
    }
  }
}
