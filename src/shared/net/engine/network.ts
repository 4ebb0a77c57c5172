import { connect, type TcpSocketConnectOpts } from 'node:net';
import type { BackendSocket, BackendSocketOwner, BackendTarget } from '../backend-socket.js';
import type { AcceptedSocket } from '../client-socket.js';
import type { ConnectionTaker } from '../listen-socket.js';
import { NodeBackendSocket } from '../node-backend-socket.js';
import { PlainBackendSocket } from '../plain-backend-socket.js';
import { canBePlain } from '../plain-stream.js';
import type { UringEngine } from '../uring/engine.js';
import { kernelAddress } from '../uring/socket-addresses.js';
import { UringBackendSocket } from '../uring/uring-backend-socket.js';
import { UringListener } from '../uring/uring-listener.js';

/** What one of Node's sockets to a backend is made with. */
export function nodeTarget(target: BackendTarget, onread: NodeBackendSocket['onread']): TcpSocketConnectOpts {
  const { address, port, localAddress, localPort, keepAlive } = target;
  if (port === 0) {
    return { path: address, onread, allowHalfOpen: true } as never;
  }
  const options: TcpSocketConnectOpts = { host: address, port, onread, noDelay: true, allowHalfOpen: true } as never;
  if (localAddress !== undefined) {
    options.localAddress = localAddress;
  }
  if (localPort !== undefined) {
    options.localPort = localPort;
  }
  if (keepAlive) {
    options.keepAlive = true;
  }
  return options;
}

/** Takes connections to backends in place of the network. */
export interface NetworkStandIn {
  /** As {@link Network.connect}. TLS is left out: what is written is what the backend would read. */
  connect(target: BackendTarget, owner: BackendSocketOwner): BackendSocket;
  /** As the Fetch standard's `fetch`, for what scripts of the configuration ask. */
  fetch(url: string, init: RequestInit): Promise<Response>;
}

/** How this process's plain connections are served: by libuv, or by an io_uring of its own. */
export class Network {
  #ring: UringEngine | undefined = undefined;
  /** Set while requests are rehearsed: no connection leaves this process then. */
  standIn: NetworkStandIn | undefined = undefined;

  /** Serves connections on a ring from now on. */
  use(ring: UringEngine): void {
    this.#ring = ring;
  }

  get name(): 'uring' | 'libuv' {
    return this.#ring === undefined ? 'libuv' : 'uring';
  }

  /** What accepts plain connections; undefined where a server of Node's is to. `alone`: no other process accepts on the same socket. */
  taker(alone: boolean, take: (socket: AcceptedSocket) => void): ConnectionTaker | undefined {
    return this.#ring === undefined ? undefined : new UringListener(this.#ring, alone, take);
  }

  /** Begins a plain connection to a backend. What comes of it is told to the owner, never before this returns. */
  connect(target: BackendTarget, owner: BackendSocketOwner): BackendSocket {
    const bound = target.localAddress !== undefined || target.localPort !== undefined;
    const address = this.#ring === undefined || bound ? undefined : kernelAddress(target.address, target.port);
    if (address !== undefined) {
      return UringBackendSocket.connect(this.#ring!, address, target.keepAlive, owner);
    }
    if (canBePlain()) {
      return PlainBackendSocket.connect(target, owner);
    }
    const socket = new NodeBackendSocket(owner);
    socket.attach(connect(nodeTarget(target, socket.onread)), false);
    return socket;
  }

  /** Gives the kernel what waits, as the process may end. */
  flush(): void {
    this.#ring?.flush();
  }

  /** Calls back once everything of closed connections has left, which may be at once. */
  whenSent(done: () => void): void {
    if (this.#ring === undefined) {
      done();
    } else {
      this.#ring.whenSent(done);
    }
  }
}

/** A process has one event loop, hence one of these. */
export const network = new Network();
