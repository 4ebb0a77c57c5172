import type { Peer } from '../balancing/peer.js';
import type { ChannelOwner } from '../connection/channel.js';
import type { UpstreamConnection } from '../connection/connection.js';
import { connectPeer } from '../connection/connector.js';
import type { IdlePool } from '../connection/idle-pool.js';
import { boundTo, localAddress } from '../connection/local-address.js';
import type { TlsPurpose } from '../connection/tls-purpose.js';
import type { Http2BackendStream } from '../http2/backend-stream.js';
import type { Http2Pool } from '../http2/http2-pool.js';
import type { Http2User } from '../http2/http2-user.js';
import { SharedConnection } from '../http2/shared-connection.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Takes a waiting connection of HTTP/1 that was opened alike, or begins one. Returns null, with the reason logged, to end with 500. */
export function openHttp1(
  u: UpstreamRequest,
  peer: Peer,
  pool: IdlePool | null | undefined,
  owner: ChannelOwner,
): UpstreamConnection | null {
  const purpose = purposeOf(u);
  if (purpose === undefined) {
    return null;
  }
  const from = boundTo(u, u.conf.settings);
  return pool?.take(peer.name, purpose, from, u.conf) ?? openConnection(u, peer, owner, purpose, from);
}

/** What the connection is for; null without TLS, undefined if that cannot be told. */
const purposeOf = (u: UpstreamRequest): TlsPurpose | null | undefined => (u.tls ? (u.conf.tls!.purpose(u) ?? undefined) : null);

/** Begins a connection to a peer, as the location says. Returns null, with the reason logged, to end with 500. */
function openConnection(
  u: UpstreamRequest,
  peer: Peer,
  owner: ChannelOwner,
  purpose: TlsPurpose | null,
  from: string,
): UpstreamConnection | null {
  const local = localAddress(u, u.conf.settings, from);
  const tls = purpose === null ? undefined : u.conf.tls!.options(u, peer, purpose);
  if (tls === null) {
    return null;
  }
  const connection = connectPeer(peer, owner, local, tls);
  if (tls !== undefined) {
    u.conf.tls!.opened(u, connection, peer, tls);
  }
  connection.purpose = purpose;
  connection.boundTo = from;
  connection.requests = 1;
  return connection;
}

/**
 * Opens a stream on a connection that leads to the peer and has room for it, or else on a new one. Returns null, with the reason logged, to
 * end with 500.
 */
export function openHttp2(
  u: UpstreamRequest,
  peer: Peer,
  pool: Http2Pool | undefined,
  owner: ChannelOwner,
  user: Http2User,
  now: number,
): Http2BackendStream | null {
  const purpose = purposeOf(u);
  if (purpose === undefined) {
    return null;
  }
  const from = boundTo(u, u.conf.settings);
  let shared = pool?.find(peer.name, purpose, from, u.conf, user.maxStreams, now);
  if (shared === undefined) {
    shared = new SharedConnection(pool);
    const carrier = openConnection(u, peer, shared, purpose, from);
    if (carrier === null) {
      return null;
    }
    shared.carrier = carrier;
    pool?.add(shared, peer.name, purpose, from, u.conf);
  }
  return shared.open(owner, user, now);
}
