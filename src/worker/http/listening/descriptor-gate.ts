import { readFileSync } from 'node:fs';
import { setTimer } from '../../../shared/lib/timer.js';
import type { Logger } from '../../../shared/log/error-log.js';
import { CRIT } from '../../../shared/log/level.js';
import type { ListenSocket } from '../../../shared/net/listen-socket.js';

/** Descriptors that are kept for backends, files and what Node needs itself: an eighth of them, and no more than these. */
const RESERVE = 16;
/** Milliseconds until it is tried again, whoever has the descriptors. nginx: accept_mutex_delay. */
const RETRY = 500;

/**
 * Stops accepting while no descriptors are left for more clients, so that they wait in the backlog. libuv would accept and close them.
 * nginx: ngx_disable_accept_events.
 */
export class DescriptorGate {
  readonly #sockets: readonly ListenSocket[];
  readonly #log: Logger;
  readonly #highest = highestForClients();
  #shut = false;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(sockets: readonly ListenSocket[], log: Logger) {
    this.#sockets = sockets;
    this.#log = log;
  }

  /** A connection was accepted; the system gives out the lowest number that is free. */
  accepted(fd: number): void {
    if (fd < this.#highest || this.#shut) return;
    for (const socket of this.#sockets) if (socket.pause()) this.#shut = true;
    if (!this.#shut) return;
    this.#log.log(CRIT, 'accept4() failed (24: Too many open files)');
    this.#timer = setTimer(() => this.released(), RETRY);
    this.#timer.unref();
  }

  /** A descriptor is free again. */
  released(): void {
    if (!this.#shut) return;
    this.#shut = false;
    clearTimeout(this.#timer);
    for (const socket of this.#sockets) socket.resume();
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
