import { ERROR } from '../../../shared/log/level.js';
import type { ListenSocket } from '../../../shared/net/listen-socket.js';
import type { Socket, SocketOwner } from '../../../shared/net/socket.js';
import type { Connections } from '../../connections/connections.js';
import type { ConnectionCounters } from '../../connections/counters.js';
import type { HeldConnection } from '../../connections/held-list.js';
import type { IdleQueue } from '../../connections/idle-queue.js';
import type { PassedClient, PassTarget } from '../../connections/passing.js';
import type { WorkerEnv } from '../../env.js';
import { acceptOn } from '../../listening/accept-on.js';
import type { ProxyProtocolHeader } from '../../net/proxy-protocol.js';
import type { QuicConnection, QuicConnectionHandler } from '../../net/quic/contract.js';
import type { KnownOpening } from '../connection/known-client.js';
import type { Opened } from '../connection/opened.js';
import { Http1Connection } from '../http1/http1-connection.js';
import { type Http1Host, RequestIos } from '../http1/request-io.js';
import { Http2Connection } from '../http2/connection.js';
import { http2Slot } from '../http2/http2-settings.js';
import { Http3Connection } from '../http3/connection.js';
import type { AddressRuntime, ListenerRuntime } from '../request/address-runtime.js';
import { headSlot } from '../request/client-settings.js';
import type { Request } from '../request/request.js';
import { type HeadLimits, type HeadOwner, HeadParser } from '../syntax/head-parser.js';
import { type PrefaceDone, PrefaceReader } from './preface-reader.js';
import { type ProxyDone, ProxyOpening } from './proxy-opening.js';
import { type QuicConnectionServer, QuicListener, type QuicPlace } from './quic-listener.js';
import { type Begun, TlsOpening, type TlsOpeningDone } from './tls-opening.js';

type OpeningStep = ProxyOpening | TlsOpening | PrefaceReader;

const SPARE_PARSERS = 64;

/** Accepts the connections of `http` listeners, and chooses the protocol of each. */
export class Acceptor implements Http1Host, QuicConnectionServer {
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
    if (address.proxyProtocol) {
      this.#openProxy(socket, address, id);
    } else if (address.tls === undefined) {
      this.#serve(socket, address, id, undefined);
    } else {
      this.#openTls(socket, address, id, undefined, undefined);
    }
  }

  /** Reads the header of the PROXY protocol, and then runs the handshake, if there is one, or serves the connection. */
  #openProxy(socket: Socket, address: AddressRuntime, id: number): void {
    const done: ProxyDone = (proxyProtocol) => {
      this.openingDone(opening);
      if (address.tls !== undefined) {
        return this.#openTls(socket, address, id, proxyProtocol, opening);
      }
      const { deadline, remote, local } = opening;
      return this.#serve(socket, address, id, { tls: undefined, proxyProtocol, plainOnTls: false, deadline, remote, local });
    };
    const opening = new ProxyOpening(socket, address, id, this.idle, done, () => this.openingFailed(opening));
    this.#beginStep(opening);
  }

  /** Runs the handshake of a connection, which may have begun with a header of the PROXY protocol, and then serves it. */
  #openTls(
    socket: Socket,
    address: AddressRuntime,
    id: number,
    proxyProtocol: ProxyProtocolHeader | undefined,
    begun: Begun | undefined,
  ): TlsOpening {
    const done: TlsOpeningDone = (opened) => {
      if (opened === undefined) {
        this.openingFailed(opening);
        return;
      }
      this.openingDone(opening);
      const { tls } = opened;
      const { deadline, remote, local } = opening;
      const connection = this.#serve(tls?.socket ?? socket, address, id, {
        tls,
        proxyProtocol,
        plainOnTls: tls === undefined,
        deadline,
        remote,
        local,
      });
      if (tls === undefined) {
        connection.socketReceived(opened.bytes, opened.length, true);
      }
    };
    const opening = new TlsOpening(socket, address, id, this.idle, done, begun);
    this.#beginStep(opening);
    return opening;
  }

  /** Serves a connection that came to a listener of `stream`. */
  #take({ addresses }: ListenerRuntime, client: PassedClient, target: PassTarget): void {
    const { socket, id, held, proxyProtocol, endings } = client;
    // Requests end before their connection does, so that nothing here could wait for it.
    for (let i = endings.length - 1; i >= 0; i--) {
      endings[i]!();
    }
    const address = addresses.find((each) => each.address === target.address) ?? addresses.at(-1)!;
    const remote = { address: client.remoteAddress, port: client.remotePort };
    const local = { address: target.unix ? undefined : target.address, port: target.port };
    if (address.tls === undefined && !address.proxyProtocol) {
      const connection = this.#serve(socket, address, id, { tls: undefined, proxyProtocol, plainOnTls: false, remote, local });
      socket.resume();
      if (held !== null) {
        connection.socketReceived(held, held.length, false);
      }
      return;
    }
    if ('cipher' in socket || address.proxyProtocol) {
      address.defaultServer.root.log.log(ERROR, `*${id} cannot pass such a connection to a listener with ssl or proxy_protocol`);
      socket.close();
      return;
    }
    const opening = this.#openTls(socket, address, id, undefined, undefined);
    socket.resume();
    if (held !== null) {
      opening.socketReceived(held, held.length);
    }
  }

  #serve(socket: Socket, address: AddressRuntime, id: number, opened: Opened | undefined): SocketOwner {
    if (address.tls === undefined && (address.http2 || address.defaultServer.conf(http2Slot).http2)) {
      return this.#askProtocol(socket, address, id, opened);
    }
    return this.#begin(
      opened?.tls?.http2
        ? new Http2Connection(this, socket, address, id, this.#connections.debugClients, opened, false)
        : new Http1Connection(this, socket, address, id, this.#connections.debugClients, opened),
    );
  }

  /** Plain text may be HTTP/1 or HTTP/2. */
  #askProtocol(socket: Socket, address: AddressRuntime, id: number, opened: Opened | undefined): PrefaceReader {
    const done: PrefaceDone = (http2, preface) => {
      this.openingDone(reader);
      const known: Opened = { tls: undefined, proxyProtocol: undefined, plainOnTls: false, ...opened, deadline: reader.deadline };
      if (http2) {
        return this.#begin(new Http2Connection(this, socket, address, id, this.#connections.debugClients, known, true));
      }
      const connection = this.#begin(new Http1Connection(this, socket, address, id, this.#connections.debugClients, known));
      if (preface.length > 0) {
        connection.socketReceived(preface, preface.length, false);
      }
      return connection;
    };
    const reader = new PrefaceReader(socket, address.defaultServer.conf(headSlot).clientHeaderTimeout, this.idle, done, () =>
      this.openingFailed(reader),
    );
    opened?.deadline?.close();
    this.#beginStep(reader);
    return reader;
  }

  #beginStep(step: OpeningStep): void {
    this.beginOpening(step);
    step.start();
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
