import { ERROR } from '../../../shared/log/level.js';
import type { ListenSocket } from '../../../shared/net/listen-socket.js';
import type { Socket } from '../../../shared/net/socket.js';
import type { Connections } from '../../connections/connections.js';
import type { ConnectionCounters } from '../../connections/counters.js';
import type { HeldConnection } from '../../connections/held-list.js';
import type { IdleQueue } from '../../connections/idle-queue.js';
import type { PassedClient, PassTarget } from '../../connections/passing.js';
import type { WorkerEnv } from '../../env.js';
import { acceptOn } from '../../listening/accept-on.js';
import type { QuicConnection, QuicConnectionHandler } from '../../net/quic/contract.js';
import type { KnownOpening } from '../connection/known-client.js';
import { Http1Connection } from '../http1/http1-connection.js';
import { type Http1Host, RequestIos } from '../http1/request-io.js';
import { Http2Connection } from '../http2/connection.js';
import { Http3Connection } from '../http3/connection.js';
import type { AddressRuntime, ListenerRuntime } from '../request/address-runtime.js';
import type { Request } from '../request/request.js';
import { type HeadLimits, type HeadOwner, HeadParser } from '../syntax/head-parser.js';
import { type KnownEnds, Opening, type OpeningHost, type Reading } from './opening.js';
import { STEPS } from './opening-steps.js';
import { type QuicConnectionServer, QuicListener, type QuicPlace } from './quic-listener.js';

const SPARE_PARSERS = 64;

/** Accepts the connections of `http` listeners, and chooses the protocol of each. */
export class Acceptor implements Http1Host, OpeningHost, QuicConnectionServer {
  readonly counters: ConnectionCounters;
  readonly env: WorkerEnv;
  readonly idle: IdleQueue;
  readonly requestIos = new RequestIos(this);
  readonly #connections: Connections;
  /** Parsers that no connection needs now: most heads come whole, so that few are in use at any time. */
  readonly #parsers: HeadParser[] = [];

  constructor(connections: Connections) {
    this.#connections = connections;
    this.counters = connections.counters;
    this.env = connections.env;
    this.idle = connections.idle;
  }

  /** The worker is leaving: responses say `Connection: close`. */
  get draining(): boolean {
    return this.#connections.draining;
  }

  /** Takes a listener's connections, which come to this socket once it is opened. */
  listen(listener: ListenerRuntime, socket: ListenSocket): void {
    acceptOn(
      this.#connections,
      listener,
      socket,
      false,
      (accepted, address) => this.#open(accepted, address, this.#connections.nextId()),
      (client, target) => this.#take(listener, client, target),
    );
  }

  /** Takes the connections of QUIC that come to a listener, once its socket is opened. */
  listenQuic(listener: ListenerRuntime, socket: ListenSocket, place: QuicPlace): void {
    const quic = new QuicListener(this.#connections, listener, socket, this, place);
    socket.attachHandle(quic);
    this.env.onClose(() => quic.terminate());
  }

  serveQuic(connection: QuicConnection, address: AddressRuntime, id: number, known: KnownOpening): QuicConnectionHandler {
    const http3 = new Http3Connection(this, connection, address, id, this.#connections.debugClients, known);
    this.#connections.hold(http3);
    http3.start();
    return http3;
  }

  /** Holds what comes before the first request: the PROXY header, the handshake, the choice of a protocol. Its client waits. */
  beginOpening(opening: HeldConnection): void {
    this.counters.waiting++;
    this.counters.changed();
    this.#connections.hold(opening);
  }

  openingDone(opening: HeldConnection): void {
    this.counters.waiting--;
    this.#connections.drop(opening);
  }

  openingFailed(opening: HeldConnection): void {
    this.counters.waiting--;
    this.connectionClosed(opening);
  }

  #open(socket: Socket, address: AddressRuntime, id: number): void {
    if (STEPS.some((step) => step.applies(address))) {
      this.#runSteps(socket, address, id);
    } else {
      this.#begin(new Http1Connection(this, socket, address, id, this.#connections.debugClients, undefined));
    }
  }

  #runSteps(socket: Socket, address: AddressRuntime, id: number, known?: KnownEnds): Reading {
    const opening = new Opening(this, STEPS, socket, address, id, known);
    this.beginOpening(opening);
    return opening.start();
  }

  serveOpened(opening: Opening): Reading {
    this.openingDone(opening);
    const { socket, address, connectionId: id, tls, preface } = opening;
    const { debugClients } = this.#connections;
    return preface || tls?.http2
      ? this.#begin(new Http2Connection(this, socket, address, id, debugClients, opening, preface))
      : this.#begin(new Http1Connection(this, socket, address, id, debugClients, opening));
  }

  /** Serves a connection that came to a listener of `stream`. */
  #take({ addresses }: ListenerRuntime, client: PassedClient, target: PassTarget): void {
    const { socket, id, held, proxyProtocol, tls: passedTls, endings } = client;
    // Requests end before their connection does, so that nothing here could wait for it.
    for (let i = endings.length - 1; i >= 0; i--) {
      endings[i]!();
    }
    const address = addresses.find((each) => each.address === target.address) ?? addresses.at(-1)!;
    if (address.proxyProtocol || (address.tls !== undefined && 'cipher' in socket)) {
      address.defaultServer.root.log.log(ERROR, `*${id} cannot pass such a connection to a listener with ssl or proxy_protocol`);
      socket.close();
      this.#connections.dropped();
      return;
    }
    const remote = { address: client.remoteAddress, port: client.remotePort };
    const local = { address: target.unix ? undefined : target.address, port: target.port };
    const reading = this.#runSteps(socket, address, id, { remote, local, proxyProtocol, passedTls });
    socket.resume();
    if (held !== null) {
      reading.socketReceived(held, held.length, false);
    }
  }

  #begin<C extends Http1Connection | Http2Connection>(connection: C): C {
    this.#connections.hold(connection);
    connection.start();
    return connection;
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
    this.#connections.uncount(connection);
  }

  /** Called by each connection as it ends. */
  connectionClosed(connection: HeldConnection): void {
    this.#connections.closed(connection);
  }

  /** Counts a finished request under its status. */
  countStatus(r: Request): void {
    const digit = Math.floor(r.out.status / 100);
    const classes = this.counters.statusClasses;
    classes[digit >= 1 && digit <= 5 ? digit : 0]!++;
    this.counters.changed();
  }
}
