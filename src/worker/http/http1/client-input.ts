import type { Socket } from '../../../shared/net/socket.js';
import { beginEvent, endEvent } from '../../task/at-work.js';

/** Bytes of a next request that are read ahead while one is being answered. */
const READ_AHEAD = 2 * 1024;
const EMPTY = Buffer.alloc(0);

/**
 * What a client has sent and nobody has used yet. While the connection goes through it, the bytes may be the socket's; what is kept
 * afterwards is memory of our own.
 */
export class ClientInput {
  /** The bytes at hand are `at..end` of these. */
  bytes: Buffer = EMPTY;
  at = 0;
  end = 0;
  /** The connection is going through the bytes at hand. */
  running = false;
  /** When it began to: what the clock says meanwhile, without asking it for each request. */
  now = 0;
  /** The client sends no more. */
  ended = false;
  #shared = false;
  #paused = false;

  /** There is something that nobody has used. */
  get unread(): boolean {
    return this.at < this.end;
  }

  /** The connection has something to do with it, or to remember. */
  get inUse(): boolean {
    return this.running || this.at < this.end || this.ended || this.#paused;
  }

  /** The first `length` of these bytes came, behind those that were kept; memory that is `shared` is used again later. */
  add(bytes: Buffer, length: number, shared: boolean): void {
    const kept = this.end - this.at;
    if (kept === 0) {
      this.bytes = bytes;
      this.end = length;
      this.#shared = shared;
    } else {
      const whole = Buffer.allocUnsafeSlow(kept + length);
      this.bytes.copy(whole, 0, this.at, this.end);
      bytes.copy(whole, kept, 0, length);
      this.bytes = whole;
      this.end = whole.length;
    }
    this.at = 0;
  }

  /** The connection goes through the bytes at hand from now on. */
  run(): void {
    this.running = true;
    this.now = beginEvent();
  }

  /** The bytes before `to` were used. */
  use(to: number): void {
    this.at = to;
    if (to === this.end && !this.running) {
      this.#clear();
    }
  }

  /** The connection has gone through the bytes; what it did not use stays if it is to be kept. */
  rest(keep: boolean): void {
    this.running = false;
    endEvent();
    if (this.at === this.end || !keep) {
      this.#clear();
    } else if (this.#shared) {
      this.bytes = Buffer.from(this.bytes.subarray(this.at, this.end));
      this.at = 0;
      this.end = this.bytes.length;
      this.#shared = false;
    }
  }

  /** Nobody will use what was kept; the bytes that are being gone through are left to {@link rest}. */
  drop(): void {
    if (!this.running) {
      this.#clear();
    }
  }

  /** Gives away all that is left, in memory of its own; null when nothing is. */
  takeRest(): Buffer | null {
    if (this.at === this.end) {
      return null;
    }
    const rest = Buffer.from(this.bytes.subarray(this.at, this.end));
    this.use(this.end);
    return rest;
  }

  /** More is kept than is read ahead. */
  get enough(): boolean {
    return this.end - this.at > READ_AHEAD;
  }

  pause(socket: Socket): void {
    if (this.#paused) {
      return;
    }
    this.#paused = true;
    socket.pause();
  }

  resume(socket: Socket): void {
    if (!this.#paused) {
      return;
    }
    this.#paused = false;
    socket.resume();
  }

  #clear(): void {
    this.bytes = EMPTY;
    this.at = 0;
    this.end = 0;
    this.#shared = false;
  }
}
