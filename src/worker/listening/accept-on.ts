import { createServer } from 'node:net';
import { type ListenSocket, takeConnections } from '../../shared/net/listen-socket.js';
import type { AcceptedSocket, Socket } from '../../shared/net/socket.js';
import type { Connections } from '../connections/connections.js';
import type { PassListener } from '../connections/passing.js';
import { network } from '../net/engine/network.js';
import { HandleSocket } from '../net/handle-socket.js';

/** An address among those that a listening socket stands for. */
interface Address {
  /** Local address as text, or undefined for "any". */
  readonly address: string | undefined;
  readonly tls: unknown;
}

/** One listening socket of `http` or `stream`. */
interface Listener<A extends Address> {
  readonly soKeepalive: boolean | undefined;
  readonly addresses: readonly A[];
}

/**
 * Has a listener's connections accepted once its socket is opened, each of which is counted and goes to `begin`; `take` gets those that
 * other listeners pass on. `libuv`: they are to be on libuv's handles, though there may be a ring.
 */
export function acceptOn<A extends Address>(
  connections: Connections,
  listener: Listener<A>,
  socket: ListenSocket,
  libuv: boolean,
  begin: (socket: Socket, address: A) => void,
  take: PassListener['take'],
): void {
  const { spec } = socket;
  const { addresses, soKeepalive } = listener;
  connections.addListener({
    wildcard: addresses.some(({ address }) => address === undefined),
    family: spec.family,
    address: spec.address,
    port: spec.port,
    take,
  });
  const accept = (accepted: AcceptedSocket): void => {
    if (!connections.admit(accepted.descriptor)) {
      accepted.close();
      return;
    }
    if (soKeepalive) {
      accepted.keepAlive();
    }
    begin(accepted, addressOf(addresses, accepted));
  };
  const secures = addresses.some(({ tls }) => tls !== undefined);
  if (secures) {
    network.prepareTls();
  }
  const server = createServer();
  takeConnections(server, (handle) => accept(new HandleSocket(handle)));
  socket.attach(server, libuv || (secures && !network.secures) ? undefined : connections.taker(socket, accept));
}

/** The address among those of a socket that a connection came to. */
function addressOf<A extends Address>(addresses: readonly A[], socket: Socket): A {
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
