import { ERROR, INFO, type Level } from '../../../shared/log/level.js';
import type { LogContext, LogSubject } from '../../../shared/log/log-line.js';
import type { Socket, SocketAddress, SocketOwner } from '../../../shared/net/socket.js';
import type { HeldConnection } from '../../connections/held-list.js';
import type { Idle, IdleQueue } from '../../connections/idle-queue.js';
import { type ProxyProtocolHeader, readProxyProtocol } from '../../net/proxy-protocol.js';
import { Deadline, type Expiring } from '../../time/deadline.js';
import type { AddressRuntime } from '../request/address-runtime.js';
import { headSlot } from '../request/client-settings.js';

/** Goes on after a header, which may name no addresses, and returns what takes the bytes behind it. */
export type ProxyDone = (header: ProxyProtocolHeader | undefined) => SocketOwner;

/**
 * A plain connection that begins with a header of the PROXY protocol, until that is there. nginx: a part of
 * ngx_http_wait_request_handler.
 */
export class ProxyOpening implements SocketOwner, Expiring, HeldConnection, Idle, LogSubject {
  readonly connectionId: number;
  /** Where the connection comes from: afterwards the client may have gone. */
  readonly remote: SocketAddress;
  readonly local: SocketAddress;
  idleBefore: Idle | null = null;
  idleAfter: Idle | null = null;
  heldAt = -1;
  /** Goes on in what follows. */
  readonly deadline = new Deadline(this);
  readonly #socket: Socket;
  readonly #address: AddressRuntime;
  readonly #idle: IdleQueue;
  readonly #done: ProxyDone;
  readonly #closed: () => void;
  /** What came of the header. */
  #held: Buffer | null = null;
  #over = false;

  /** `done` is called once, or else `closed` when the connection ended. */
  constructor(socket: Socket, address: AddressRuntime, id: number, idle: IdleQueue, done: ProxyDone, closed: () => void) {
    this.#socket = socket;
    this.remote = socket.remote();
    this.local = socket.local();
    this.#address = address;
    this.connectionId = id;
    this.#idle = idle;
    this.#done = done;
    this.#closed = closed;
  }

  logContext(): LogContext {
    return { action: 'reading PROXY protocol', client: this.remote.address ?? 'unix:', server: this.#address.listener };
  }

  start(): void {
    this.deadline.set(performance.now(), this.#address.defaultServer.conf(headSlot).clientHeaderTimeout);
    this.#idle.add(this);
    this.#socket.start(this);
  }

  socketReceived(piece: Buffer, length: number, shared: boolean): void {
    if (this.#over) {
      return;
    }
    const came = piece.subarray(0, length);
    const whole = this.#held === null;
    const bytes = this.#held === null ? came : Buffer.concat([this.#held, came]);
    const result = readProxyProtocol(bytes);
    if (result.kind === 'more') {
      this.#held = whole && shared ? Buffer.from(bytes) : bytes;
      return;
    }
    this.#held = null;
    if (result.kind === 'invalid') {
      this.#log(ERROR, result.message);
      this.kill();
      return;
    }
    this.#over = true;
    this.#idle.remove(this);
    const next = this.#done(result.header);
    const rest = bytes.subarray(result.size);
    if (rest.length > 0) {
      next.socketReceived(rest, rest.length, whole && shared);
    }
  }

  socketEnded(): void {
    if (!this.#over) {
      this.#log(INFO, 'client closed connection');
      this.kill();
    }
  }

  socketClosed(): void {
    if (!this.#over) {
      this.#log(INFO, 'client closed connection');
      this.#end();
    }
  }

  socketDrained(): void {}

  expired(): void {
    this.#log(INFO, 'client timed out');
    this.kill();
  }

  drain(): void {}

  closeIdle(): void {
    this.kill();
  }

  /** Ends the connection: it has not begun anything that could be waited for. */
  kill(): void {
    if (!this.#over) {
      this.#end();
      this.#socket.close();
    }
  }

  #end(): void {
    this.#over = true;
    this.#idle.remove(this);
    this.deadline.close();
    this.#closed();
  }

  #log(level: Level, message: string): void {
    const { log } = this.#address.defaultServer.root;
    if (level <= log.level) {
      log.log(level, message, this);
    }
  }
}
