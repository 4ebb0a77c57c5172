import type { ConnectionTaker } from '../../../shared/net/listen-socket.js';
import { Kind, type RingEndpoint, type UringEngine } from '../../../shared/net/uring/engine.js';
import type { Yielding } from '../../../shared/net/uring/long-work.js';
import { MORE } from '../../../shared/net/uring/ring.js';
import { setTimer } from '../../../shared/time/timer.js';
import { UringSocket } from './uring-socket.js';

const [EAGAIN, ECONNABORTED, ECANCELED] = [-11, -103, -125];
const [IPPROTO_TCP, TCP_NODELAY] = [6, 1];
const ON = new Int32Array([1]);
/** Milliseconds until it is tried again when the system has no descriptors. nginx: accept_mutex_delay. */
const RETRY = 500;
/** For how many connections the kernel may have woken this process when it stops accepting: far more than come in that instant. */
const WOKEN = 64;

/** A listener that an arrival has woken leaves further ones to the turns of the processes: so many milliseconds for each of these. */
const LEFT_ALONE = 10;
/** How many connections a listener takes at once that no process came to take in its turn. */
const LEFT_OVER = 16;

/**
 * Accepts on a listening socket.
 *
 * The kernel wakes one process for a connection: the one whose entry has waited longest, be it busy, stopped or about to end. So that no
 * client waits for that one, each listener also watches the socket in a way that wakes all of them. A process that is idle takes its
 * connection inside the kernel, before another one has come to look; what is still there then is taken by whoever looks first. All
 * workers together look a hundred times a second at most, so that many connections do not wake many idle workers each.
 *
 * A process whose work takes long takes no turns: it looks whenever it has time, as libuv does, and no connection waits for it.
 */
export class UringListener implements ConnectionTaker, RingEndpoint, Yielding {
  readonly #engine: UringEngine;
  readonly #take: (socket: UringSocket) => void;
  readonly #failed: ((errno: number) => void) | undefined;
  readonly #workers: number;
  #alone: boolean;
  #index = 0;
  #fd = -1;
  /** An entry that accepts is in the ring. */
  #accepting = false;
  /** An entry that waits for any arrival is in the ring. */
  #watching = false;
  /** The listener takes no turns, since its process is busy. */
  #yields = false;
  /** When an arrival has woken the listener last, in milliseconds of the monotonic clock. */
  #woken = 0;
  /** Ends the time in which arrivals are left alone. */
  #leaving: NodeJS.Timeout | undefined;
  #wanted = false;
  #closed = false;

  /**
   * `workers`: how many processes accept on the socket. Each of several takes its turn: the kernel asks who has waited longest. `failed`
   * is told the negated error number when it is tried again after a while.
   */
  constructor(engine: UringEngine, workers: number, take: (socket: UringSocket) => void, failed?: (errno: number) => void) {
    this.#engine = engine;
    this.#workers = workers;
    this.#alone = workers === 1;
    this.#take = take;
    this.#failed = failed;
  }

  share(on: boolean): void {
    const alone = this.#workers === 1 && !on;
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
    this.#engine.longWork.tell(this);
    this.resume();
    return 0;
  }

  pause(): void {
    this.#wanted = false;
    if (this.#accepting) {
      this.#cancel(Kind.ACCEPT);
    }
    if (this.#watching) {
      this.#cancel(Kind.ARRIVAL);
    }
  }

  #cancel(kind: number): void {
    this.#engine.ring.cancel(this.#engine.tag(kind, this.#index), this.#engine.generation(this.#index));
    this.#engine.wake();
  }

  resume(): void {
    if (this.#closed || this.#wanted) {
      return;
    }
    this.#wanted = true;
    this.#accept();
    this.#watch();
  }

  /** Tries again. */
  retry(): void {
    if (this.#wanted) {
      this.#accept();
    }
  }

  yieldTurn(): void {
    if (this.#alone || this.#yields) {
      return;
    }
    this.#yields = true;
    if (this.#accepting) {
      this.#cancel(Kind.ACCEPT);
    }
    this.#watch();
  }

  #accept(): void {
    if (this.#accepting || this.#yields) {
      return;
    }
    this.#accepting = true;
    const { ring } = this.#engine;
    ring.accept(this.#fd, this.#alone, this.#engine.tag(Kind.ACCEPT, this.#index), this.#engine.generation(this.#index));
    this.#engine.wake();
  }

  /** Has arrivals tell of themselves, whosever turn it is. */
  readonly #watch = (): void => {
    if (!this.#wanted || this.#watching) {
      return;
    }
    this.#watching = true;
    this.#engine.ring.awaitReadable(this.#fd, this.#engine.tag(Kind.ARRIVAL, this.#index), this.#engine.generation(this.#index));
    this.#engine.wake();
  };

  close(): void {
    if (this.#closed) {
      return;
    }
    this.#closed = true;
    this.pause();
    // Whoever was accepted already is served.
    this.#engine.flush();
    this.#takeWaiting(WOKEN);
    clearTimeout(this.#leaving);
    this.#engine.longWork.forget(this);
    this.#removeIfIdle();
  }

  /**
   * Takes the connections that wait. For each the kernel has woken one process alone, and does not wake another one when that gives up
   * accepting: they would wait until the next client comes.
   */
  #takeWaiting(most: number): void {
    let taken = 0;
    while (taken < most && this.#takeOne() >= 0) {
      taken++;
    }
  }

  /** Takes a connection that waits. Returns a negated error number when there is none. */
  #takeOne(): number {
    const fd = this.#engine.native.accept(this.#fd);
    if (fd >= 0) {
      this.#take(new UringSocket(this.#engine, fd));
    }
    return fd;
  }

  /** Gives its number back once nothing of it is under way. */
  #removeIfIdle(): void {
    if (this.#index !== 0 && !this.#accepting && !this.#watching) {
      this.#engine.remove(this.#index);
      this.#index = 0;
    }
  }

  submit(): boolean {
    return false;
  }

  completed(kind: number, result: number, flags: number): void {
    if (kind === Kind.ARRIVAL) {
      this.#arrived();
      return;
    }
    if ((flags & MORE) === 0) {
      this.#accepting = false;
    }
    if (!this.#accepting) {
      this.#goOn(result);
    }
    if (result >= 0) {
      this.#take(new UringSocket(this.#engine, result));
    }
  }

  #arrived(): void {
    this.#watching = false;
    if (this.#closed) {
      this.#removeIfIdle();
      return;
    }
    let result = 0;
    const most = this.#yields ? 1 : LEFT_OVER;
    // Whoever takes a connection may pause the listener, as it has no room for more.
    for (let taken = 0; taken < most && this.#wanted && result >= 0; taken++) {
      result = this.#takeOne();
    }
    if (!this.#wanted) {
      return;
    }
    if (this.#yields && !this.#engine.longWork.isExpected) {
      this.#yields = false;
      this.#accept();
    }
    const now = performance.now();
    const next = this.#leftAloneFor(result, now);
    this.#woken = now;
    clearTimeout(this.#leaving);
    if (next > 0) {
      this.#leaving = setTimer(this.#watch, Math.ceil(next)).unref();
    } else {
      this.#watch();
    }
  }

  /** For how many milliseconds arrivals are left alone after one has woken the listener, which got this result. */
  #leftAloneFor(result: number, now: number): number {
    if (result < 0 && result !== EAGAIN) {
      return RETRY;
    }
    return this.#yields ? 0 : this.#woken + LEFT_ALONE * this.#workers - now;
  }

  #goOn(result: number): void {
    if (this.#closed) {
      this.#removeIfIdle();
    } else if (this.#wanted) {
      // Other workers were faster each time that the kernel looked: after so many looks it gives up.
      if (result >= 0 || result === ECONNABORTED || result === ECANCELED || result === EAGAIN) {
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
