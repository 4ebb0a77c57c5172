import { connect as connectTcp, type TcpSocketConnectOpts } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Peer } from '../balancing/peer.js';
import { type ConnectionOwner, sharedRead, UpstreamConnection } from './connection.js';

/** How connections from a location are made. */
export interface ConnectOptions {
  /** The local address to bind to; undefined for any. */
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  /** TCP keep-alive probes. */
  readonly keepAlive: boolean;
}

/** Begins a connection to a peer. What comes of it is told to the owner, never before this returns. nginx: ngx_event_connect_peer. */
export function connectPeer(
  peer: Peer,
  owner: ConnectionOwner,
  options: ConnectOptions,
  tls: ConnectionOptions | undefined,
): UpstreamConnection {
  const connection = new UpstreamConnection(owner, tls !== undefined);
  const target: TcpSocketConnectOpts = {
    host: peer.address,
    port: peer.port,
    onread: sharedRead(connection),
    noDelay: true,
    allowHalfOpen: true,
  } as TcpSocketConnectOpts;
  if (peer.port === 0) {
    const unix = { path: peer.address, onread: target.onread, allowHalfOpen: true };
    connection.attach(tls === undefined ? connectTcp(unix as never) : connectTls({ ...unix, ...tls } as ConnectionOptions));
    return connection;
  }
  if (options.localAddress !== undefined) {
    target.localAddress = options.localAddress;
  }
  if (options.localPort !== undefined) {
    target.localPort = options.localPort;
  }
  if (options.keepAlive) {
    target.keepAlive = true;
  }
  connection.attach(tls === undefined ? connectTcp(target) : connectTls({ ...target, ...tls } as ConnectionOptions));
  return connection;
}
