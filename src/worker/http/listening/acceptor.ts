import { createServer, type Server, type Socket } from 'node:net';
import { ALERT, WARN } from '../../../shared/log/level.js';
import type { ClientSocket, SocketOwner } from '../../../shared/net/client-socket.js';
import { takeConnections } from '../../../shared/net/listen-socket.js';
import { NodeSocket } from '../../../shared/net/node-socket.js';
import { canBePlain, PlainSocket } from '../../../shared/net/plain-socket.js';
import type { WorkerEnv } from '../../env.js';
import type { ConnectionHost, HeldConnection } from '../connection/connection-host.js';
import type { ConnectionCounters } from '../connection/counters.js';
import type { DebugClients } from '../connection/debug-clients.js';
import { IdleQueue } from '../connection/idle-queue.js';
import type { Opened } from '../connection/opened.js';
import { Http1Connection } from '../http1/http1-connection.js';
import { Http2Connection } from '../http2/connection.js';
import type { AddressRuntime, ListenerRuntime } from '../request/address-runtime.js';
import type { Request } from '../request/request.js';
import { type HeadLimits, type HeadOwner, HeadParser } from '../syntax/head-parser.js';
import type { DescriptorGate } from './descriptor-gate.js';
import { Opening } from './opening.js';
import { type PrefaceDone, PrefaceReader } from './preface-reader.js';
import { TlsOpening } from './tls-opening.js';

const SPARE_PARSERS = 64;

/** Everything a worker does with its clients' connections as a whole: accept, count, drain, close. */
export class Acceptor implements ConnectionHost {
  readonly counters: ConnectionCounters;
  readonly env: WorkerEnv;
  /** The worker is leaving: responses say `Connection: close`. */
  draining = false;
  readonly idle = new IdleQueue();
  readonly #connections = new Set<HeldConnection>();
  readonly #maxConnections: number;
  readonly #debugClients: DebugClients | undefined;
  readonly #gate: DescriptorGate;
  /** Parsers that no connection needs now: most heads come whole, so that few are in use at any time. */
  readonly #parsers: HeadParser[] = [];
  #serial = 0;
  /** The second in which it was last said that connections are closed for new ones. */
  #reuseTold = -1;
  #onDrained: (() => void) | undefined = undefined;

  constructor(
    env: WorkerEnv,
    counters: ConnectionCounters,
    maxConnections: number,
    debugClients: DebugClients | undefined,
    gate: DescriptorGate,
  ) {
    this.env = env;
    this.counters = counters;
    this.#maxConnections = maxConnections;
    this.#debugClients = debugClients;
    this.#gate = gate;
  }

  /** Makes the server object that takes a listener's connections. */
  server(listener: ListenerRuntime): Server {
    const options = { allowHalfOpen: true, noDelay: true, keepAlive: listener.soKeepalive ?? false };
    const server = createServer(options, (socket) => this.#accept(listener, socket));
    if (canBePlain() && listener.addresses.every(({ tls, proxyProtocol }) => tls?.direct !== false && !proxyProtocol)) {
      takeConnections(server, (handle) => this.#acceptPlain(listener, new PlainSocket(handle)));
    }
    return server;
  }

  /** Counts a new connection. Returns false when there is no room for it. */
  #admit(fd: number): boolean {
    this.#gate.accepted(fd);
    this.counters.accepted++;
    this.counters.changed();
    if (this.#connections.size >= this.#maxConnections && !this.#makeRoom()) {
      this.env.log.log(ALERT, `${this.#maxConnections} worker_connections are not enough`);
      return false;
    }
    this.counters.handled++;
    this.counters.active++;
    return true;
  }

  #acceptPlain(listener: ListenerRuntime, socket: PlainSocket): void {
    if (!this.#admit(socket.fd)) {
      socket.close();
      return;
    }
    if (listener.soKeepalive) {
      socket.keepAlive();
    }
    const address = addressOf(listener, socket);
    const id = this.#nextId();
    if (address.tls === undefined) {
      this.#serve(socket, address, id, undefined);
      return;
    }
    this.counters.waiting++;
    this.counters.changed();
    const opening = new TlsOpening(socket, address, id, this.idle, (opened) => {
      this.counters.waiting--;
      if (opened === undefined) {
        this.connectionClosed(opening);
        return;
      }
      this.#connections.delete(opening);
      const { tls } = opened;
      const { deadline, remote, local } = opening;
      const connection = this.#serve(tls?.socket ?? socket, address, id, {
        tls,
        proxyProtocol: undefined,
        plainOnTls: tls === undefined,
        deadline,
        remote,
        local,
      });
      if (tls === undefined) {
        connection.received(opened.bytes, opened.length, true);
      }
    });
    this.#connections.add(opening);
    opening.start();
  }

  #accept(listener: ListenerRuntime, socket: Socket): void {
    const plain = new NodeSocket(socket, false);
    if (!this.#admit(plain.fd)) {
      socket.destroy();
      return;
    }
    const address = addressOf(listener, plain);
    const id = this.#nextId();
    if (address.tls === undefined && !address.proxyProtocol) {
      this.#serve(plain, address, id, undefined);
      return;
    }
    this.counters.waiting++;
    this.counters.changed();
    const opening = new Opening(socket, address, id, this.idle, (opened) => {
      this.counters.waiting--;
      if (opened === undefined) {
        this.connectionClosed(opening);
      } else {
        this.#connections.delete(opening);
        this.#serve(opened.tls?.socket ?? plain, address, id, opened);
      }
    });
    this.#connections.add(opening);
    opening.start();
  }

  #serve(socket: ClientSocket, address: AddressRuntime, id: number, opened: Opened | undefined): SocketOwner {
    if (address.tls === undefined && (address.http2 || address.defaultServer.settings.http2)) {
      return this.#askProtocol(socket, address, id, opened);
    }
    return this.#begin(
      opened?.tls?.http2
        ? new Http2Connection(this, socket, address, id, this.#debugClients, opened, false)
        : new Http1Connection(this, socket, address, id, this.#debugClients, opened),
    );
  }

  /** Plain text may be HTTP/1 or HTTP/2. */
  #askProtocol(socket: ClientSocket, address: AddressRuntime, id: number, opened: Opened | undefined): PrefaceReader {
    this.counters.waiting++;
    this.counters.changed();
    const done: PrefaceDone = (http2, preface) => {
      this.counters.waiting--;
      this.#connections.delete(reader);
      const known: Opened = { tls: undefined, proxyProtocol: undefined, plainOnTls: false, ...opened, deadline: reader.deadline };
      if (http2) {
        return this.#begin(new Http2Connection(this, socket, address, id, this.#debugClients, known, true));
      }
      const connection = this.#begin(new Http1Connection(this, socket, address, id, this.#debugClients, known));
      if (preface.length > 0) {
        connection.received(preface, preface.length, false);
      }
      return connection;
    };
    const reader = new PrefaceReader(socket, address.defaultServer.settings.clientHeaderTimeout, this.idle, done, () => {
      this.counters.waiting--;
      this.connectionClosed(reader);
    });
    this.#connections.add(reader);
    reader.start();
    return reader;
  }

  #begin<C extends Http1Connection | Http2Connection>(connection: C): C {
    this.#connections.add(connection);
    connection.start();
    return connection;
  }

  /** Numbers that no other worker gives out. */
  #nextId(): number {
    return ++this.#serial * this.env.workers + this.env.slot - this.env.workers + 1;
  }

  /** Closes an idle connection for a new one. */
  #makeRoom(): boolean {
    if (!this.idle.closeOldest()) {
      return false;
    }
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#reuseTold) {
      this.#reuseTold = second;
      this.env.log.log(WARN, `${this.#maxConnections} worker_connections are not enough, reusing connections`);
    }
    return true;
  }

  /** A parser for one head; it comes back by {@link giveParser}. */
  takeParser(limits: HeadLimits, owner: HeadOwner): HeadParser {
    const parser = this.#parsers.pop() ?? new HeadParser(limits, owner);
    parser.reset(limits, owner);
    return parser;
  }

  giveParser(parser: HeadParser): void {
    if (this.#parsers.length < SPARE_PARSERS) {
      this.#parsers.push(parser);
    }
  }

  /** A connection is about to be closed: nobody who sees its end may find it counted still. */
  uncount(connection: HeldConnection): void {
    if (!this.#connections.delete(connection)) {
      return;
    }
    this.counters.active--;
    this.counters.changed();
  }

  /** Called by each connection as it ends. */
  connectionClosed(connection: HeldConnection): void {
    this.uncount(connection);
    this.#gate.released();
    if (this.draining && this.#connections.size === 0) {
      this.#onDrained?.();
    }
  }

  /** Counts a finished request under its status. */
  countStatus(r: Request): void {
    const digit = Math.floor(r.out.status / 100);
    const classes = this.counters.statusClasses;
    classes[digit >= 1 && digit <= 5 ? digit : 0]!++;
    this.counters.changed();
  }

  /** Closes the connections: idle ones after their `keepalive_min_timeout`, others once they are answered. Calls back when none is left. */
  drain(done: () => void): void {
    this.draining = true;
    this.#onDrained = done;
    const now = performance.now();
    for (const connection of [...this.#connections]) {
      connection.drain(now);
    }
    if (this.#connections.size === 0) {
      done();
    }
  }

  /** Closes every connection at once. */
  terminate(): void {
    for (const connection of [...this.#connections]) {
      connection.kill();
    }
  }
}

/** The address among those of a socket that a connection came to. */
function addressOf(listener: ListenerRuntime, socket: ClientSocket): AddressRuntime {
  const addresses = listener.addresses;
  const last = addresses[addresses.length - 1]!;
  if (addresses.length === 1) {
    return last;
  }
  const local = socket.local().address;
  for (let i = 0; i < addresses.length - 1; i++) {
    if (addresses[i]!.address === local) {
      return addresses[i]!;
    }
  }
  return last;
}
