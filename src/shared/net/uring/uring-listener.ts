import { setTimer } from '../../lib/timer.js';
import type { ConnectionTaker } from '../listen-socket.js';
import { type Endpoint, Kind, type UringEngine } from './engine.js';
import { MORE } from './ring.js';
import { UringClientSocket } from './uring-client-socket.js';

const [ECONNABORTED, ECANCELED] = [-103, -125];
const [IPPROTO_TCP, TCP_NODELAY] = [6, 1];
const ON = new Int32Array([1]);
/** Milliseconds until it is tried again when the system has no descriptors. nginx: accept_mutex_delay. */
const RETRY = 500;
/** For how many connections the kernel may have woken this process when it stops accepting: far more than come in that instant. */
const WOKEN = 64;

/** Accepts on a listening socket. */
export class UringListener implements ConnectionTaker, Endpoint {
  readonly #engine: UringEngine;
  readonly #take: (socket: UringClientSocket) => void;
  readonly #failed: ((errno: number) => void) | undefined;
  readonly #usuallyAlone: boolean;
  #alone: boolean;
  #index = 0;
  #fd = -1;
  /** An entry is in the ring. */
  #accepting = false;
  #wanted = false;
  #closed = false;

  /**
   * `alone`: no other process accepts on the socket. With others, each takes its turn: the kernel asks who has waited longest. `failed` is
   * told the negated error number when it is tried again after a while.
   */
  constructor(engine: UringEngine, alone: boolean, take: (socket: UringClientSocket) => void, failed?: (errno: number) => void) {
    this.#engine = engine;
    this.#usuallyAlone = alone;
    this.#alone = alone;
    this.#take = take;
    this.#failed = failed;
  }

  share(on: boolean): void {
    const alone = this.#usuallyAlone && !on;
    if (alone === this.#alone) {
      return;
    }
    this.#alone = alone;
    if (this.#wanted) {
      this.pause();
      this.resume();
    }
  }

  open(fd: number, backlog: number): number {
    const { native } = this.#engine;
    // What is accepted has the options of the listening socket.
    native.setOption(fd, IPPROTO_TCP, TCP_NODELAY, ON);
    const code = native.listen(fd, backlog);
    if (code < 0) {
      return code;
    }
    this.#fd = fd;
    this.#index = this.#engine.add(this);
    this.resume();
    return 0;
  }

  pause(): void {
    this.#wanted = false;
    if (this.#accepting) {
      this.#engine.ring.cancel(this.#engine.tag(Kind.ACCEPT, this.#index), this.#engine.generation(this.#index));
      this.#engine.wake();
    }
  }

  resume(): void {
    if (this.#closed || this.#wanted) {
      return;
    }
    this.#wanted = true;
    this.#accept();
  }

  /** Tries again. */
  retry(): void {
    if (this.#wanted) {
      this.#accept();
    }
  }

  #accept(): void {
    if (this.#accepting) {
      return;
    }
    this.#accepting = true;
    const { ring } = this.#engine;
    ring.accept(this.#fd, this.#alone, this.#engine.tag(Kind.ACCEPT, this.#index), this.#engine.generation(this.#index));
    this.#engine.wake();
  }

  close(): void {
    if (this.#closed) {
      return;
    }
    this.#closed = true;
    this.pause();
    // Whoever was accepted already is served.
    this.#engine.flush();
    this.#takeWaiting(WOKEN);
    if (!this.#accepting) {
      this.#remove();
    }
  }

  /**
   * Takes the connections that wait. For each the kernel has woken one process alone, and does not wake another one when that gives up
   * accepting: they would wait until the next client comes.
   */
  #takeWaiting(most: number): void {
    for (let taken = 0; taken < most; taken++) {
      const fd = this.#engine.native.accept(this.#fd);
      if (fd < 0) {
        return;
      }
      this.#take(new UringClientSocket(this.#engine, fd));
    }
  }

  #remove(): void {
    if (this.#index !== 0) {
      this.#engine.remove(this.#index);
      this.#index = 0;
    }
  }

  submit(): boolean {
    return false;
  }

  completed(_kind: number, result: number, flags: number): void {
    if ((flags & MORE) === 0) {
      this.#accepting = false;
    }
    if (!this.#accepting) {
      this.#goOn(result);
    }
    if (result >= 0) {
      this.#take(new UringClientSocket(this.#engine, result));
    }
  }

  #goOn(result: number): void {
    if (this.#closed) {
      this.#remove();
    } else if (this.#wanted) {
      if (result >= 0 || result === ECONNABORTED || result === ECANCELED) {
        this.#accept();
      } else {
        setTimer(retry, RETRY, this).unref();
        this.#failed?.(result);
      }
    } else if (result === ECANCELED) {
      // It may be woken for one when it is paused.
      this.#takeWaiting(1);
    }
  }
}

function retry(listener: UringListener): void {
  listener.retry();
}
