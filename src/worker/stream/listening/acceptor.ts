import type { ListenSocket } from '../../../shared/net/listen-socket.js';
import type { Connections } from '../../connections/connections.js';
import type { PassedClient, PassTarget } from '../../connections/passing.js';
import { acceptOn } from '../../listening/accept-on.js';
import type { StreamListener, StreamRuntime } from '../session/runtime.js';
import { StreamSession } from '../session/session.js';

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
    acceptOn(
      this.#connections,
      listener,
      socket,
      // What is passed on may have to be decrypted there, which is done on libuv's sockets.
      this.#stream.passes,
      (accepted, address) =>
        new StreamSession(this.#connections, this.#stream, listener, address, accepted, this.#connections.nextId()).begin(),
      (client, target) => this.#take(listener, client, target),
    );
  }

  /** Begins a session on a connection that came to another listener. */
  #take(listener: StreamListener, client: PassedClient, target: PassTarget): void {
    const address = listener.addresses.find((each) => each.address === target.address) ?? listener.addresses.at(-1)!;
    const s = new StreamSession(this.#connections, this.#stream, listener, address, client.socket, client.id);
    s.remoteAddress = client.remoteAddress;
    s.remotePort = client.remotePort;
    s.cameTo(target);
    if (address.tls === undefined) {
      s.tls = client.tls;
      s.sni = client.tls?.sni;
    }
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
}
