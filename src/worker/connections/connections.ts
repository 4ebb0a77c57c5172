import { ALERT, CRIT, WARN } from '../../shared/log/level.js';
import type { ConnectionTaker, ListenSocket } from '../../shared/net/listen-socket.js';
import type { AcceptedSocket } from '../../shared/net/socket.js';
import { errnoText } from '../../shared/system/errno.js';
import type { WorkerEnv } from '../env.js';
import { network } from '../net/engine/network.js';
import type { ConnectionCounters } from './counters.js';
import type { DebugClients } from './debug-clients.js';
import type { DescriptorGate } from './descriptor-gate.js';
import { type HeldConnection, HeldList } from './held-list.js';
import { IdleQueue } from './idle-queue.js';
import { type PassListener, type PassTarget, passMatches } from './passing.js';

const [ENFILE, EMFILE] = [-23, -24];
/** The share of all connections that clients of datagrams may take where others come too. Anyone can invent thousands of the former. */
const SESSIONS_SHARE = 3 / 4;

/** All client connections of a worker, those of `http` and of `stream`: counts and bounds them, drains and closes them. */
export class Connections {
  readonly counters: ConnectionCounters;
  readonly env: WorkerEnv;
  /** Undefined when no client is to be debugged. */
  readonly debugClients: DebugClients | undefined;
  /** The connections on which nothing is under way. */
  readonly idle = new IdleQueue();
  /** The worker is leaving. */
  draining = false;
  readonly #held = new HeldList();
  readonly #most: number;
  readonly #mostSessions: number;
  /** Clients of datagrams that are held. */
  #sessions = 0;
  readonly #gate: DescriptorGate;
  readonly #listeners: PassListener[] = [];
  #serial = 0;
  /** The second in which it was last said that connections are closed for new ones. */
  #reuseTold = -1;
  /** The second in which it was last said that there is no room. */
  #fullTold = -1;
  #onDrained: (() => void) | undefined = undefined;

  /** `mixed`: the worker takes connections and datagrams. */
  constructor(
    env: WorkerEnv,
    counters: ConnectionCounters,
    workerConnections: number,
    debugClients: DebugClients | undefined,
    gate: DescriptorGate,
    mixed: boolean,
  ) {
    this.env = env;
    this.counters = counters;
    this.#most = workerConnections;
    this.#mostSessions = mixed ? Math.floor(workerConnections * SESSIONS_SHARE) : workerConnections;
    this.debugClients = debugClients;
    this.#gate = gate;
  }

  /** Counts a new connection. Returns false when there is no room for it. */
  admit(fd: number): boolean {
    this.#gate.accepted(fd, this.counters.accepted - this.counters.sessions + 1);
    if (this.#count()) {
      return true;
    }
    this.#tellFull();
    return false;
  }

  /**
   * Admits a client that sends datagrams. Anyone can invent thousands of those, so that there is no room for them is told once a
   * second, and they leave some for connections.
   */
  admitSession(): boolean {
    this.counters.sessions++;
    if (this.#sessions >= this.#mostSessions) {
      this.counters.accepted++;
      this.counters.changed();
    } else if (this.#count()) {
      return true;
    }
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#fullTold) {
      this.#fullTold = second;
      this.#tellFull();
    }
    return false;
  }

  /** What accepts connections on a socket; undefined where a server of Node's is to. */
  taker({ spec }: ListenSocket, take: (socket: AcceptedSocket) => void): ConnectionTaker | undefined {
    return network.taker(spec.worker === undefined ? this.env.workers : 1, take, (errno) => this.#acceptFailed(errno));
  }

  /** A connection could not be accepted; it waits until that is tried again. nginx: ngx_event_accept. */
  #acceptFailed(errno: number): void {
    const scarce = errno === EMFILE || errno === ENFILE;
    this.env.log.log(scarce ? CRIT : ALERT, `accept4() failed (${errnoText(errno)})`);
  }

  #tellFull(): void {
    this.env.log.log(ALERT, `${this.#most} worker_connections are not enough`);
  }

  #count(): boolean {
    this.counters.accepted++;
    this.counters.changed();
    if (this.#held.size >= this.#most && !this.#makeRoom()) {
      return false;
    }
    this.counters.handled++;
    this.counters.active++;
    return true;
  }

  /** Names a listener to which others may pass connections. */
  addListener(listener: PassListener): void {
    this.#listeners.push(listener);
  }

  /** The listener for an address of this server. */
  listenerOf(target: PassTarget): PassListener | undefined {
    return this.#listeners.find((listener) => passMatches(listener, target));
  }

  /** Numbers that no other worker gives out. */
  nextId(): number {
    return ++this.#serial * this.env.workers + this.env.slot - this.env.workers + 1;
  }

  hold(connection: HeldConnection): void {
    this.#held.add(connection);
    if (connection.udp) {
      this.#sessions++;
    }
  }

  /** Another one stands for the same client from now on. */
  drop(connection: HeldConnection): void {
    this.#release(connection);
  }

  /** Returns false for one that is not held. */
  #release(connection: HeldConnection): boolean {
    const held = this.#held.delete(connection);
    if (held && connection.udp) {
      this.#sessions--;
    }
    return held;
  }

  /** Closes an idle connection for a new one. */
  #makeRoom(): boolean {
    if (!this.idle.closeOldest()) {
      return false;
    }
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#reuseTold) {
      this.#reuseTold = second;
      this.env.log.log(WARN, `${this.#most} worker_connections are not enough, reusing connections`);
    }
    return true;
  }

  /** A connection is about to be closed: nobody who sees its end may find it counted still. */
  uncount(connection: HeldConnection): void {
    if (!this.#release(connection)) {
      return;
    }
    this.counters.active--;
    this.counters.changed();
  }

  /** Called by each connection as it ends. */
  closed(connection: HeldConnection): void {
    this.uncount(connection);
    this.#ended();
  }

  /** A connection ends that was dropped, and for which nobody else stands. */
  dropped(): void {
    this.counters.active--;
    this.counters.changed();
    this.#ended();
  }

  #ended(): void {
    this.#gate.released();
    if (this.draining && this.#held.size === 0) {
      this.#onDrained?.();
    }
  }

  /** Lets the connections end: idle ones after their `keepalive_min_timeout`, others once they are done. Calls back when none is left. */
  drain(done: () => void): void {
    this.draining = true;
    this.#onDrained = done;
    const now = performance.now();
    for (const connection of this.#held.all()) {
      connection.drain(now);
    }
    if (this.#held.size === 0) {
      done();
    }
  }

  /** Closes every connection at once. */
  terminate(): void {
    for (const connection of this.#held.all()) {
      connection.kill();
    }
  }
}
