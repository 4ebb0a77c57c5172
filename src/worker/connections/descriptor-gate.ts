import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Logger } from '../../shared/log/error-log.js';
import { CRIT } from '../../shared/log/level.js';
import type { ListenSocket } from '../../shared/net/listen-socket.js';
import { setTimer } from '../../shared/time/timer.js';

/** Descriptors that are kept for backends, files and what Node needs itself: an eighth of them, and no more than these. */
const RESERVE = 16;
/** Milliseconds until it is tried again, whoever has the descriptors. nginx: accept_mutex_delay. */
const RETRY = 500;

/**
 * Stops accepting while no descriptors are left for more clients, so that they wait in the backlog: libuv would accept and close them.
 * nginx: ngx_disable_accept_events. And while a worker has accepted its share of connections, so that others take them.
 */
export class DescriptorGate {
  readonly #sockets: readonly ListenSocket[];
  readonly #log: Logger;
  readonly #highest = highestForClients();
  #shut = false;
  /** How many connections the worker may have accepted since it began. */
  #ration = Number.POSITIVE_INFINITY;
  /** The worker has accepted its whole ration. */
  #sated = false;
  /** How many it has accepted. */
  #accepts = 0;
  /** Accepting was stopped, and few descriptors have become free since. */
  #scarce = false;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(sockets: readonly ListenSocket[], log: Logger) {
    this.#sockets = sockets;
    this.#log = log;
  }

  /**
   * A connection was accepted; the system gives out the lowest number that is free. Once there were none left for clients, it is asked
   * for the next number after each: else every client that leaves would let in one too many. `accepts`: how many there have been, this
   * one included.
   */
  accepted(fd: number, accepts: number): void {
    this.#accepts = accepts;
    if (accepts >= this.#ration && !this.#sated) {
      this.#sated = true;
      this.#pause();
    }
    if (this.#shut) {
      return;
    }
    if (fd < this.#highest) {
      if (!this.#scarce) {
        return;
      }
      const next = lowestFree();
      this.#scarce = next > this.#highest - RESERVE;
      if (next < this.#highest) {
        return;
      }
    }
    this.#scarce = true;
    if (!this.#pause()) {
      return;
    }
    this.#shut = true;
    this.#log.log(CRIT, 'accept4() failed (24: Too many open files)');
    this.#tryLater();
  }

  /** Lets the worker accept until it has accepted so many since it began; undefined for as many as come. */
  ration(accepts: number | undefined): void {
    this.#ration = accepts ?? Number.POSITIVE_INFINITY;
    const sated = this.#accepts >= this.#ration;
    if (sated === this.#sated) {
      return;
    }
    this.#sated = sated;
    if (sated) {
      this.#pause();
    } else if (!this.#shut) {
      this.#resume();
    }
  }

  /** False where no socket lets it. */
  #pause(): boolean {
    let paused = false;
    for (const socket of this.#sockets) {
      paused = socket.pause() || paused;
    }
    return paused;
  }

  #resume(): void {
    for (const socket of this.#sockets) {
      socket.resume();
    }
  }

  /** A connection has ended. Its descriptor is free once the tick is over. */
  released(): void {
    if (this.#shut) {
      setImmediate(reopen, this);
    }
  }

  /** Accepts again if a client would get a descriptor below the reserve. */
  reopen(): void {
    if (!this.#shut) {
      return;
    }
    if (lowestFree() >= this.#highest) {
      this.#tryLater();
      return;
    }
    this.#shut = false;
    clearTimeout(this.#timer);
    if (!this.#sated) {
      this.#resume();
    }
  }

  #tryLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimer(reopen, RETRY, this);
    this.#timer.unref();
  }
}

function reopen(gate: DescriptorGate): void {
  gate.reopen();
}

/** The descriptor that the system gives out next; infinite when there is none. */
function lowestFree(): number {
  try {
    const fd = openSync('/dev/null', 'r');
    closeSync(fd);
    return fd;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Where the system does not tell its limit, accepting is never stopped. */
function highestForClients(): number {
  try {
    const text = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    const limit = text === undefined ? Number.POSITIVE_INFINITY : Number(text);
    return limit - Math.min(RESERVE, limit / 8);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
