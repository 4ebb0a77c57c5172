import { INFO, type Level } from '../../../shared/log/level.js';
import type { LogContext, LogSubject } from '../../../shared/log/log-line.js';
import type { Socket, SocketAddress, SocketOwner } from '../../../shared/net/socket.js';
import type { Idle, IdleQueue } from '../../connections/idle-queue.js';
import type { Handshaking } from '../../task/tls-terminator.js';
import { Deadline, type Expiring } from '../../time/deadline.js';
import { CLOSED_BY_PEER } from '../../tls/handshake-failure.js';
import type { AddressRuntime, HttpTlsAccepted } from '../request/address-runtime.js';
import { headSlot } from '../request/client-settings.js';

/** The first byte of a TLS record that holds a hello; SSLv2's has its high bit set. */
const HANDSHAKE = 0x16;

/** Tells TLS from plain HTTP by the first byte. */
const isTls = (first: number): boolean => first === HANDSHAKE || (first & 0x80) !== 0;

/** What a connection to a port for TLS came to. */
export type TlsOpened =
  | { readonly tls: HttpTlsAccepted }
  /** Plain HTTP, which begins with these bytes; they are good for the call. */
  | { readonly tls: undefined; readonly bytes: Buffer; readonly length: number };

/** Called once: with what the connection came to, or with nothing if it was closed. */
export type TlsOpeningDone = (opened: TlsOpened | undefined) => void;

/** What is known of a connection that has begun with something else, which was read. */
export interface Begun {
  readonly remote: SocketAddress;
  readonly local: SocketAddress;
  /** Runs, and goes on. */
  readonly deadline: Deadline;
}

/** A connection to a port for TLS before its first request: its handshake. nginx: ngx_http_ssl_handshake. */
export class TlsOpening implements Expiring, Idle, LogSubject, SocketOwner {
  readonly connectionId: number;
  readonly remote: SocketAddress;
  readonly local: SocketAddress;
  idleBefore: Idle | null = null;
  idleAfter: Idle | null = null;
  heldAt = -1;
  readonly #idle: IdleQueue;
  readonly #socket: Socket;
  readonly #address: AddressRuntime;
  readonly #done: TlsOpeningDone;
  /** Goes on in what follows. */
  readonly deadline: Deadline;
  /** What came of a hello. */
  #held: Buffer | null = null;
  #handshake: Handshaking | undefined = undefined;
  #finished = false;

  /** The opening is in the `idle` queue until a handshake begins. */
  constructor(socket: Socket, address: AddressRuntime, id: number, idle: IdleQueue, done: TlsOpeningDone, begun: Begun | undefined) {
    this.#socket = socket;
    this.remote = begun?.remote ?? socket.remote();
    this.local = begun?.local ?? socket.local();
    this.#address = address;
    this.#idle = idle;
    this.connectionId = id;
    this.#done = done;
    if (begun === undefined) {
      this.deadline = new Deadline(this);
      this.deadline.set(performance.now(), address.defaultServer.conf(headSlot).clientHeaderTimeout);
    } else {
      this.deadline = begun.deadline;
      this.deadline.passTo(this);
    }
  }

  logContext(): LogContext {
    return { action: 'SSL handshaking', client: this.remote.address ?? 'unix:', server: this.#address.listener };
  }

  start(): void {
    this.#idle.add(this);
    this.#socket.start(this);
  }

  socketReceived(bytes: Buffer, length: number): void {
    if (this.#held === null && !isTls(bytes[0]!)) {
      this.#finish({ tls: undefined, bytes, length });
      return;
    }
    this.#idle.remove(this);
    const piece = bytes.subarray(0, length);
    const whole = this.#held === null ? piece : Buffer.concat([this.#held, piece]);
    this.#handshake = this.#address.tls!.accept(this.#socket, whole, (result) => {
      if (this.#finished) {
        return;
      }
      if (!('message' in result)) {
        this.#finish({ tls: result });
      } else {
        this.#log(result.level, result.message);
        this.#finish(undefined);
      }
    });
    this.#held = this.#handshake === undefined && !this.#finished ? Buffer.from(whole) : null;
  }

  #finish(opened: TlsOpened | undefined): void {
    if (this.#finished) {
      return;
    }
    this.#finished = true;
    this.#idle.remove(this);
    if (opened === undefined) {
      this.deadline.close();
    }
    this.#done(opened);
  }

  socketEnded(): void {
    this.#clientLeft();
    this.kill();
  }

  socketClosed(): void {
    if (this.#finished) {
      return;
    }
    this.#clientLeft();
    this.#finish(undefined);
  }

  #clientLeft(): void {
    const begun = this.#held !== null || this.#handshake !== undefined;
    this.#log(INFO, begun ? CLOSED_BY_PEER : 'client closed connection');
  }

  socketDrained(): void {}

  expired(): void {
    this.#log(INFO, 'client timed out');
    this.#address.tls?.timedOut();
    this.kill();
  }

  /** Ends the connection: it has not begun anything that could be waited for. */
  kill(): void {
    if (this.#finished) {
      return;
    }
    (this.#handshake ?? this.#socket).close();
    this.#finish(undefined);
  }

  /** A handshake under way is finished: a request follows it. */
  drain(): void {}

  closeIdle(): void {
    this.kill();
  }

  #log(level: Level, message: string): void {
    const { log } = this.#address.defaultServer.root;
    if (level <= log.level) {
      log.log(level, message, this);
    }
  }
}
