import { setTimer } from '../../../shared/time/timer.js';
import { EMPTY } from '../../bytes/empty.js';
import type { SessionProxy } from './session-proxy.js';

/** One side of a session: the client's socket, or the connection to the backend. */
export interface FlowSide {
  /**
   * Gives the kernel as many of the bytes as it has room for, and returns how many. Their memory is the caller's again. Few bytes may be
   * taken before the kernel is asked, and be {@link pending} later.
   */
  offer(bytes: Buffer): number;
  /** Sends bytes, which must not change until all is sent. Returns false when that takes time. */
  write(bytes: Buffer): boolean;
  /** Something that was written waits for the kernel. */
  readonly pending: boolean;
}

/**
 * What goes from one side of a session to the other. Nothing is kept of it while the other side takes it at once; otherwise the side that
 * it comes from is not read on until it is gone. nginx: one direction of ngx_stream_proxy_process.
 */
export class Flow {
  readonly #proxy: SessionProxy;
  /** Bytes that came, and those that the other side's kernel has. */
  received = 0;
  sent = 0;
  /** Bytes in a second; 0 for no limit. */
  rate = 0;
  /** The side it comes from sends no more. */
  #over = false;
  /** What the rate keeps back. */
  #kept: Buffer | null = null;
  /** Bytes that the other side's socket still has to send. */
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined = undefined;
  /** Takes what comes, and has what becomes of it {@link emit}ted; null: it goes on as it is. */
  filter: ((bytes: Buffer, last: boolean) => void) | null = null;

  constructor(proxy: SessionProxy) {
    this.#proxy = proxy;
  }

  /** No more comes, and the other side's socket took all that came. */
  get done(): boolean {
    return this.#over && this.#kept === null && this.#waiting === 0;
  }

  /** The rate does not let it be read now. */
  get delayed(): boolean {
    return this.#timer !== undefined;
  }

  /** Takes bytes, whose memory is used again after the call. Returns false when no more can be taken until the proxy reads on. */
  take(bytes: Buffer, to: FlowSide): boolean {
    if (this.rate > 0) {
      this.#kept = this.#kept === null ? Buffer.from(bytes) : Buffer.concat([this.#kept, bytes]);
      return this.#goOnSlowly(to);
    }
    this.received += bytes.length;
    return this.#forward(bytes, to);
  }

  #forward(bytes: Buffer, to: FlowSide): boolean {
    if (this.filter === null) {
      return this.#send(bytes, to);
    }
    this.filter(bytes, false);
    return this.#waiting === 0 && !to.pending;
  }

  /** Sends what a filter has made. */
  emit(bytes: Buffer, to: FlowSide): void {
    this.#send(bytes, to);
  }

  #send(bytes: Buffer, to: FlowSide): boolean {
    if (this.#waiting > 0) {
      to.write(Buffer.from(bytes));
      this.#waiting += bytes.length;
      return false;
    }
    const taken = to.offer(bytes);
    this.sent += taken;
    if (taken === bytes.length) {
      return !to.pending;
    }
    const rest = bytes.length - taken;
    if (to.write(Buffer.from(bytes.subarray(taken)))) {
      this.sent += rest;
      return true;
    }
    this.#waiting = rest;
    return false;
  }

  /** Sends as much of what is kept as the rate lets through. */
  #goOnSlowly(to: FlowSide): boolean {
    const { rate } = this;
    while (this.#kept !== null && this.#timer === undefined && this.#waiting === 0) {
      const limit = rate * (this.#proxy.seconds() + 1) - this.received;
      if (limit <= 0) {
        this.#delay(Math.floor((-limit * 1000) / rate) + 1);
        break;
      }
      const kept = this.#kept;
      const size = Math.min(kept.length, limit, this.#proxy.bufferSize);
      this.#kept = size === kept.length ? null : kept.subarray(size);
      this.received += size;
      const delay = Math.floor((size * 1000) / rate);
      if (delay > 0) {
        this.#delay(delay);
      }
      this.#forward(kept.subarray(0, size), to);
      this.#tellEnd();
    }
    return this.#kept === null && this.#timer === undefined && this.#waiting === 0;
  }

  #delay(ms: number): void {
    this.#timer = setTimer(readOn, ms, this);
  }

  /** The pause is over. */
  timePassed(): void {
    this.#timer = undefined;
    this.#proxy.flowGoesOn(this);
  }

  /** Goes on after a pause or once the other side has room. Returns true when more can be taken. */
  goOn(to: FlowSide): boolean {
    return this.#goOnSlowly(to);
  }

  /** How much of what was given to the other side's socket has not been told to have left. */
  get waiting(): number {
    return this.#waiting;
  }

  /** The other side's socket has sent everything. */
  flushed(): void {
    this.sent += this.#waiting;
    this.#waiting = 0;
  }

  /** The side it comes from sends no more. */
  end(): void {
    if (!this.#over) {
      this.#over = true;
      this.#tellEnd();
    }
  }

  #tellEnd(): void {
    if (this.#over && this.#kept === null) {
      this.filter?.(EMPTY, true);
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#kept = null;
  }
}

function readOn(flow: Flow): void {
  flow.timePassed();
}
