import { createHmac } from 'node:crypto';
import type { DatagramHandle } from '../../../shared/net/datagram-handle.js';
import type { HandleServer, ListenSocket } from '../../../shared/net/listen-socket.js';
import { Family } from '../../../shared/net/socket-addresses.js';
import type { Connections } from '../../connections/connections.js';
import { network } from '../../net/engine/network.js';
import { quicCalls } from '../../net/openssl/quic-library.js';
import type { QuicConnection, QuicConnectionHandler } from '../../net/quic/contract.js';
import { QuicEndpoint } from '../../net/quic/endpoint.js';
import { Forwarder, type ForwarderSockets } from '../../net/quic/forwarder.js';
import type { QuicClient, QuicKillable, QuicServer, QuicSettings } from '../../net/quic/host.js';
import { RoutedIds } from '../../net/quic/routed-ids.js';
import { routeById } from '../../net/quic/routing-program.js';
import { AddressTokens } from '../../net/quic/tokens.js';
import { setUdpOptions } from '../../net/udp-options.js';
import type { KnownOpening } from '../connection/known-client.js';
import { http3Slot } from '../http3/http3-settings.js';
import type { AddressRuntime, ListenerRuntime } from '../request/address-runtime.js';
import { clientSlot, headSlot } from '../request/client-settings.js';
import { QuicOpening, type QuicOpeningOwner } from './quic-opening.js';
import { quicSlot } from './quic-settings.js';
import { HttpTlsAddress } from './tls-address.js';

/** Streams in one direction that a client may open: those of HTTP/3, and one that nobody knows. nginx: NGX_HTTP_V3_MAX_UNI_STREAMS. */
const UNI = 3;
/** The connection's window is that many times a stream's. */
const WINDOWS = 16;
const STREAMS = 128;
const BUFFER = 64 * 1024;
/** Without `keepalive_timeout`, in milliseconds. */
const IDLE = 75_000;

/** Who serves the connections of a {@link QuicListener}. */
export interface QuicConnectionServer {
  serveQuic(connection: QuicConnection, address: AddressRuntime, id: number, known: KnownOpening): QuicConnectionHandler;
  beginOpening(opening: QuicOpening): void;
  openingDone(opening: QuicOpening): void;
  openingFailed(opening: QuicOpening): void;
}

/** What this process is among those of the server. */
export interface QuicPlace {
  /** Undefined for the only process that reads the socket. */
  readonly worker: number | undefined;
  readonly workers: number;
  /** What all processes of one master know. */
  readonly secret: Buffer;
  /** Hears where the process takes datagrams that came to others. */
  readonly onForwards: (port: number) => void;
}

/** Endpoints by their sockets: a process without a master keeps them over its configurations. */
const endpoints = new WeakMap<ListenSocket, QuicEndpoint>();

/** All endpoints of the process, for datagrams that other processes have read; and what leads to those. */
const served: QuicEndpoint[] = [];
let forwarder: Forwarder | undefined;

function openForwarder({ secret, onForwards }: QuicPlace): Forwarder | undefined {
  if (forwarder !== undefined) {
    return forwarder;
  }
  const sockets: ForwarderSockets = {
    serve: (handle) => network.serveDatagrams(handle),
    connect: (port) => network.connectDatagrams({ address: '127.0.0.1', port }, { keepAlive: false }),
  };
  const key = createHmac('sha256', secret).update('datagrams of other processes').digest();
  forwarder = Forwarder.open(key, sockets, (...datagram) => served.some((endpoint) => endpoint.delivered(...datagram)));
  if (forwarder !== undefined) {
    onForwards(forwarder.port);
  }
  return forwarder;
}

/** All processes take datagrams of others at these ports. */
export function knowOthers(ports: readonly number[]): void {
  forwarder?.know(ports);
}

/** Takes the connections of QUIC that come to a listener. */
export class QuicListener implements HandleServer, QuicServer, QuicOpeningOwner {
  readonly settings: QuicSettings;
  readonly #connections: Connections;
  readonly #address: AddressRuntime;
  readonly #tls: HttpTlsAddress;
  readonly #server: QuicConnectionServer;
  readonly #socket: ListenSocket;
  readonly #place: QuicPlace;

  constructor(connections: Connections, listener: ListenerRuntime, socket: ListenSocket, server: QuicConnectionServer, place: QuicPlace) {
    this.#connections = connections;
    this.#address = listener.addresses.at(-1)!;
    this.#tls = new HttpTlsAddress(this.#address);
    this.#socket = socket;
    this.#server = server;
    this.#place = place;
    const { defaultServer } = this.#address;
    const http3 = defaultServer.conf(http3Slot);
    const quic = defaultServer.conf(quicSlot);
    const window = http3.http3StreamBufferSize || BUFFER;
    this.settings = {
      streams: { bidi: http3.http3MaxConcurrentStreams || STREAMS, uni: UNI, window, connectionWindow: WINDOWS * window },
      idleTimeout: defaultServer.root.conf(clientSlot).keepaliveTimeout || IDLE,
      handshakeTimeout: defaultServer.conf(headSlot).clientHeaderTimeout,
      idLimit: quic.quicIdLimit,
      retry: quic.quicRetry,
      segments: quic.quicGso !== false,
    };
  }

  opened(handle: DatagramHandle): void {
    const known = endpoints.get(this.#socket);
    if (known !== undefined) {
      known.server = this;
      return;
    }
    const { spec } = this.#socket;
    const { worker, workers, secret } = this.#place;
    const { native } = quicCalls();
    const family = spec.family === 'ipv6' ? Family.INET6 : Family.INET;
    const any = this.#address.address === undefined;
    const buffers = spec.extras?.rcvbuf === undefined && spec.extras?.sndbuf === undefined;
    setUdpOptions(native, handle.fd, family, { local: any, joined: network.name === 'uring' }, buffers);
    if (worker !== undefined) {
      routeById(native, handle.fd, workers);
    }
    const { quicHostKey: hostKey } = this.#address.defaultServer.conf(quicSlot);
    const tokens = new AddressTokens(hostKey === undefined ? secret : Buffer.from(hostKey, 'latin1'));
    const others = worker === undefined ? undefined : openForwarder(this.#place);
    const ids = new RoutedIds(secret, worker ?? 0, worker === undefined ? 1 : workers, others?.port ?? 0);
    const endpoint: QuicEndpoint = new QuicEndpoint(
      network.serveQuic(handle, () => endpoint),
      this,
      tokens,
      ids,
      others,
    );
    served.push(endpoint);
    endpoints.set(this.#socket, endpoint);
  }

  released(last: boolean): void {
    endpoints.get(this.#socket)?.drain(last || this.#place.worker === undefined);
  }

  /** Tells all clients that it is over. */
  terminate(): void {
    const endpoint = endpoints.get(this.#socket);
    if (endpoint?.server === this) {
      endpoint.terminate();
      endpoints.delete(this.#socket);
      served.splice(served.indexOf(endpoint), 1);
    }
  }

  admit(connection: QuicKillable): QuicClient | undefined {
    if (!this.#connections.admitSession()) {
      return undefined;
    }
    const opening = new QuicOpening(this.#address, this.#tls, this.#connections.nextId(), this, connection);
    this.#server.beginOpening(opening);
    return opening;
  }

  serve(connection: QuicConnection, opening: QuicOpening, known: KnownOpening): QuicConnectionHandler {
    this.#server.openingDone(opening);
    return this.#server.serveQuic(connection, this.#address, opening.connectionId, known);
  }

  failed(opening: QuicOpening): void {
    this.#server.openingFailed(opening);
  }
}
