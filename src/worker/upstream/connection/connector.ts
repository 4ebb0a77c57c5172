import { connect as connectTcp, type Socket, type TcpSocketConnectOpts } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import type { BackendTarget, SocketDemands } from '../../../shared/net/backend-socket.js';
import { network, nodeTarget } from '../../../shared/net/engine/network.js';
import { NodeBackendSocket } from '../../../shared/net/node-backend-socket.js';
import { preparedSocket } from '../../../shared/net/prepared-socket.js';
import type { Peer } from '../balancing/peer.js';
import type { ChannelOwner } from './channel.js';
import { UpstreamConnection } from './connection.js';

/** How connections from a location are made. */
export type ConnectOptions = SocketDemands;

/**
 * Begins a connection to a peer. What comes of it is told to the owner, never before this returns. With TLS, `preface` goes before the
 * handshake. nginx: ngx_event_connect_peer.
 */
export function connectPeer(
  peer: Peer,
  owner: ChannelOwner,
  from: ConnectOptions,
  tls: ConnectionOptions | undefined,
  preface?: Buffer,
): UpstreamConnection {
  const target: BackendTarget = { ...from, address: peer.address, port: peer.port };
  const { standIn } = network;
  if (standIn !== undefined) {
    const rehearsed = new UpstreamConnection(owner, false);
    rehearsed.attach(standIn.connect(target, rehearsed));
    return rehearsed;
  }
  const connection = new UpstreamConnection(owner, tls !== undefined);
  if (tls === undefined) {
    connection.attach(network.connect(target, connection));
    return connection;
  }
  const socket = new NodeBackendSocket(connection);
  const options = nodeTarget(target, socket.onread);
  const prepared = preparedSocket(target);
  if (preface === undefined && prepared === undefined) {
    const secured = connectTls({ ...options, ...tls } as ConnectionOptions);
    connection.tlsSocket = secured;
    socket.attach(secured, true);
  } else {
    const secured = connectBehind(preface, prepared ?? plainSocket(options), tls);
    connection.tlsSocket = secured;
    socket.attachBehind(secured);
  }
  connection.attach(socket);
  return connection;
}

function plainSocket(target: TcpSocketConnectOpts): Socket {
  const { onread: _, ...plain } = target;
  return connectTcp(plain as TcpSocketConnectOpts);
}

/** Makes a TLS connection on another one, which may begin with plain bytes. */
function connectBehind(preface: Buffer | undefined, below: Socket, tls: ConnectionOptions): TLSSocket {
  if (preface !== undefined) {
    below.once('connect', () => below.write(preface));
  }
  const secured = connectTls({ ...tls, socket: below, allowHalfOpen: true } as ConnectionOptions);
  below.on('error', (error) => secured.destroy(error));
  return secured;
}
