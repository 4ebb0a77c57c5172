import { createServer, type Server, type Socket } from 'node:net';
import type { ListenSpec } from '../../../shared/config/configuration.js';
import type { AcceptedSocket, ClientSocket } from '../../../shared/net/client-socket.js';
import { network } from '../../../shared/net/engine/network.js';
import { type ListenSocket, takeConnections } from '../../../shared/net/listen-socket.js';
import { NodeSocket } from '../../../shared/net/node-socket.js';
import { PlainSocket } from '../../../shared/net/plain-socket.js';
import { canBePlain } from '../../../shared/net/plain-stream.js';
import type { Connections } from '../../client/connections.js';
import type { PassedClient, PassTarget } from '../../client/passing.js';
import type { StreamAddress, StreamListener, StreamRuntime } from '../session/runtime.js';
import { Session } from '../session/session.js';

/** Accepts the connections of `stream` listeners, and begins a session on each. nginx: ngx_stream_init_connection. */
export class StreamAcceptor {
  readonly #connections: Connections;
  readonly #stream: StreamRuntime;

  constructor(connections: Connections, stream: StreamRuntime) {
    this.#connections = connections;
    this.#stream = stream;
  }

  /** Takes a listener's connections, which come to this socket once it is opened. */
  listen(listener: StreamListener, socket: ListenSocket): void {
    // What is passed on may have to be decrypted there, which is done on libuv's sockets.
    const own = !this.#stream.passes && listener.addresses.every(({ tls }) => tls === undefined || network.secures);
    socket.attach(
      this.#server(listener, socket.spec),
      own ? this.#connections.taker(socket, (accepted) => this.#acceptPlain(listener, accepted)) : undefined,
    );
  }

  #server(listener: StreamListener, spec: ListenSpec): Server {
    this.#connections.addListener({
      wildcard: listener.addresses.some(({ address }) => address === undefined),
      family: spec.family,
      address: spec.address,
      port: spec.port,
      take: (client, target) => this.#take(listener, client, target),
    });
    const options = { allowHalfOpen: true, noDelay: true, keepAlive: listener.soKeepalive ?? false };
    const server = createServer(options, (socket) => this.#accept(listener, socket));
    if (canBePlain() && listener.addresses.every(({ tls }) => tls?.direct !== false)) {
      takeConnections(server, (handle) => this.#acceptPlain(listener, new PlainSocket(handle)));
    }
    return server;
  }

  #acceptPlain(listener: StreamListener, socket: AcceptedSocket): void {
    if (!this.#connections.admit(socket.descriptor)) {
      socket.close();
      return;
    }
    if (listener.soKeepalive) {
      socket.keepAlive();
    }
    this.#begin(listener, socket);
  }

  #accept(listener: StreamListener, socket: Socket): void {
    const client = new NodeSocket(socket, false);
    if (!this.#connections.admit(client.descriptor)) {
      socket.destroy();
      return;
    }
    this.#begin(listener, client, socket);
  }

  /** Begins a session on a connection that came to another listener. */
  #take(listener: StreamListener, client: PassedClient, target: PassTarget): void {
    const address = listener.addresses.find((each) => each.address === target.address) ?? listener.addresses.at(-1)!;
    const s = new Session(this.#connections, this.#stream, listener, address, client.socket, client.id);
    s.remoteAddress = client.remoteAddress;
    s.remotePort = client.remotePort;
    s.proxyProtocol = client.proxyProtocol;
    s.lasting = [...client.lasting];
    for (const ending of client.endings) {
      s.onFinish(ending);
    }
    if (client.held !== null) {
      s.hold(client.held, client.held.length);
    }
    s.begin();
  }

  #begin(listener: StreamListener, socket: ClientSocket, raw?: Socket): void {
    const address = addressOf(listener, socket);
    const s = new Session(this.#connections, this.#stream, listener, address, socket, this.#connections.nextId());
    s.raw = address.tls === undefined ? undefined : raw;
    s.begin();
  }
}

/** The address among those of a socket that a connection came to. */
function addressOf({ addresses }: StreamListener, socket: ClientSocket): StreamAddress {
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
