import type { Socket, SocketOwner } from '../../../shared/net/socket.js';
import type { HeldConnection } from '../../connections/held-list.js';
import type { Idle, IdleQueue } from '../../connections/idle-queue.js';
import { Deadline, type Expiring } from '../../time/deadline.js';
import { PREFACE } from '../http2-frames/protocol.js';

/** What a connection that spoke came to: `http2`, or what it sent so far is that much of the preface, and other bytes behind it. */
export type PrefaceDone = (http2: boolean, preface: Buffer) => Connection;

/** What goes on. */
type Connection = SocketOwner & Expiring;

/** Tells HTTP/2 from HTTP/1 by a connection's first bytes. nginx: the part of ngx_http_wait_request_handler. */
export class PrefaceReader implements SocketOwner, Expiring, HeldConnection, Idle {
  idleBefore: Idle | null = null;
  idleAfter: Idle | null = null;
  heldAt = -1;
  readonly #socket: Socket;
  readonly #timeout: number;
  readonly #idle: IdleQueue;
  readonly #done: PrefaceDone;
  readonly #killed: () => void;
  /** Goes on in what follows. */
  readonly deadline = new Deadline(this);
  /** How much of the preface came. */
  #matched = 0;
  #over = false;

  /** `timeout`: milliseconds for the first bytes. `done` makes what goes on; `killed` is called instead when it was ended from here. */
  constructor(socket: Socket, timeout: number, idle: IdleQueue, done: PrefaceDone, killed: () => void) {
    this.#socket = socket;
    this.#timeout = timeout;
    this.#idle = idle;
    this.#done = done;
    this.#killed = killed;
  }

  start(): void {
    this.deadline.set(performance.now(), this.#timeout);
    this.#idle.add(this);
    this.#socket.start(this);
  }

  socketReceived(bytes: Buffer, length: number, shared: boolean): void {
    const size = Math.min(length, PREFACE.length - this.#matched);
    const matches = PREFACE.compare(bytes, 0, size, this.#matched, this.#matched + size) === 0;
    if (matches && this.#matched + size < PREFACE.length) {
      this.#matched += size;
      return;
    }
    const next = this.#goOn(matches);
    if (!matches) {
      next.socketReceived(bytes, length, shared);
    } else if (size < length) {
      next.socketReceived(bytes.subarray(size, length), length - size, shared);
    }
  }

  #goOn(http2: boolean): Connection {
    this.#over = true;
    this.#idle.remove(this);
    return this.#done(http2, PREFACE.subarray(0, this.#matched));
  }

  // What ends it before is a matter of HTTP/1.
  socketEnded(stays: boolean): void {
    if (!this.#over) {
      this.#goOn(false).socketEnded(stays);
    }
  }

  socketFailed(error: Error): void {
    if (!this.#over) {
      this.#goOn(false).socketFailed?.(error);
    }
  }

  socketClosed(): void {
    if (!this.#over) {
      this.#goOn(false).socketClosed?.();
    }
  }

  expired(): void {
    this.#goOn(false).expired();
  }

  socketDrained(): void {}

  /** The connection's first request may be on its way. */
  drain(): void {}

  closeIdle(): void {
    this.kill();
  }

  kill(): void {
    if (this.#over) {
      return;
    }
    this.#over = true;
    this.#idle.remove(this);
    this.deadline.close();
    this.#socket.close();
    this.#killed();
  }
}
