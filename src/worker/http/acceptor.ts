import { createServer, type Server, type Socket } from 'node:net';
import { ALERT, WARN } from '../../shared/log/level.js';
import { takeBytes } from '../../shared/net/listen-socket.js';
import type { WorkerEnv } from '../module.js';
import type { ConnectionCounters } from './counters.js';
import type { DebugClients } from './debug-clients.js';
import { Http1Connection } from './http1-connection.js';
import { type Opened, Opening } from './opening.js';
import type { Request } from './request.js';
import type { AddressRuntime, ListenerRuntime } from './runtime-types.js';
import { TurnEnd } from './turn-end.js';

/** A client connection in whatever state, as far as all of them together are concerned. */
interface Held {
  drain(now: number): void;
  closeIdle(): boolean;
  kill(): void;
}

/** Everything a worker does with its clients' connections as a whole: accept, count, drain, close. */
export class Acceptor {
  readonly counters: ConnectionCounters;
  readonly env: WorkerEnv;
  readonly turnEnd = new TurnEnd();
  /** The worker is leaving: responses say `Connection: close`. */
  draining = false;
  readonly #connections = new Set<Held>();
  readonly #maxConnections: number;
  readonly #debugClients: DebugClients | undefined;
  #serial = 0;
  #onDrained: (() => void) | undefined = undefined;

  constructor(env: WorkerEnv, counters: ConnectionCounters, maxConnections: number, debugClients: DebugClients | undefined) {
    this.env = env;
    this.counters = counters;
    this.#maxConnections = maxConnections;
    this.#debugClients = debugClients;
  }

  /** Makes the server object that takes a listener's connections. */
  server(listener: ListenerRuntime): Server {
    const options = { allowHalfOpen: true, noDelay: true, keepAlive: listener.soKeepalive ?? false };
    const server = createServer(options, (socket) => void this.#accept(listener, socket, false));
    if (listener.addresses.every(({ tls, proxyProtocol }) => tls === undefined && !proxyProtocol)) {
      takeBytes(server, (socket) => {
        const connection = this.#accept(listener, socket, true);
        if (listener.soKeepalive) socket.setKeepAlive(true);
        return connection === undefined
          ? refuse
          : (bytes, length) => connection.received(length === bytes.length ? bytes : bytes.subarray(0, length), true);
      });
    }
    return server;
  }

  #accept(listener: ListenerRuntime, socket: Socket, pushed: boolean): Http1Connection | undefined {
    this.counters.accepted++;
    this.counters.changed();
    if (this.#connections.size >= this.#maxConnections && !this.#makeRoom()) {
      this.env.log.log(ALERT, `${this.#maxConnections} worker_connections are not enough`);
      socket.destroy();
      return undefined;
    }
    this.counters.handled++;
    this.counters.active++;
    const address = addressOf(listener, socket);
    const id = this.#nextId();
    if (address.tls === undefined && !address.proxyProtocol) {
      return this.#serve(socket, address, id, undefined, pushed);
    }
    this.counters.waiting++;
    const opening = new Opening(socket, address, id, (opened) => {
      this.counters.waiting--;
      if (opened === undefined) this.connectionClosed(opening);
      else {
        this.#connections.delete(opening);
        this.#serve(opened.tls?.socket ?? socket, address, id, opened, false);
      }
    });
    this.#connections.add(opening);
    opening.start();
    return undefined;
  }

  #serve(socket: Socket, address: AddressRuntime, id: number, opened: Opened | undefined, pushed: boolean): Http1Connection {
    const connection = new Http1Connection(this, socket, address, id, this.#debugClients, opened);
    this.#connections.add(connection);
    connection.start(pushed);
    return connection;
  }

  /** Numbers that no other worker gives out. */
  #nextId(): number {
    return ++this.#serial * this.env.workers + this.env.slot - this.env.workers + 1;
  }

  /** Closes the connection that has been idle longest. nginx: ngx_drain_connections. */
  #makeRoom(): boolean {
    for (const connection of this.#connections) {
      if (connection.closeIdle()) {
        this.env.log.log(WARN, `${this.#maxConnections} worker_connections are not enough, reusing connections`);
        return true;
      }
    }
    return false;
  }

  /** Called by each connection as it ends. */
  connectionClosed(connection: Held): void {
    if (!this.#connections.delete(connection)) return;
    this.counters.active--;
    this.counters.changed();
    if (this.draining && this.#connections.size === 0) this.#onDrained?.();
  }

  /** Counts a finished request under its status. */
  countStatus(r: Request): void {
    const digit = Math.floor(r.out.status / 100);
    const classes = this.counters.statusClasses;
    classes[digit >= 1 && digit <= 5 ? digit : 0]!++;
    this.counters.changed();
  }

  /** Lets the clients go: idle ones after their `keepalive_min_timeout`, others when they are answered. Calls back when none is left. */
  drain(done: () => void): void {
    this.draining = true;
    this.#onDrained = done;
    const now = performance.now();
    for (const connection of [...this.#connections]) connection.drain(now);
    if (this.#connections.size === 0) done();
  }

  /** Closes every connection at once. */
  terminate(): void {
    for (const connection of [...this.#connections]) connection.kill();
  }
}

const refuse = (): boolean => false;

/** The address among those of a socket that a connection came to. */
function addressOf(listener: ListenerRuntime, socket: Socket): AddressRuntime {
  const addresses = listener.addresses;
  const last = addresses[addresses.length - 1]!;
  if (addresses.length === 1) return last;
  const local = socket.localAddress;
  for (let i = 0; i < addresses.length - 1; i++) if (addresses[i]!.address === local) return addresses[i]!;
  return last;
}
