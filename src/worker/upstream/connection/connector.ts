import type { BackendTarget, SocketDemands } from '../../../shared/net/socket.js';
import { network } from '../../net/engine/network.js';
import type { BackendTls } from '../../net/secure-backend-socket.js';
import type { Peer } from '../balancing/peer.js';
import type { ChannelOwner } from './channel.js';
import { UpstreamConnection } from './connection.js';

/** How connections from a location are made. */
export type ConnectOptions = SocketDemands;

/**
 * Begins a connection to a peer. What comes of it is told to the owner, never before this returns. nginx: ngx_event_connect_peer.
 */
export function connectPeer(peer: Peer, owner: ChannelOwner, from: ConnectOptions, tls: BackendTls | undefined): UpstreamConnection {
  const target: BackendTarget = { ...from, address: peer.address, port: peer.port };
  const { standIn } = network;
  const connection = new UpstreamConnection(owner, tls !== undefined && standIn === undefined);
  if (standIn !== undefined) {
    connection.attach(standIn.connect(target, connection));
  } else if (tls === undefined) {
    connection.attach(network.connect(target, connection));
  } else {
    connection.attachSecure(network.connectSecure(target, tls, connection));
  }
  return connection;
}
