import type { BackendTls } from '../../net/secure-backend-socket.js';
import type { Peer } from '../balancing/peer.js';
import type { BackendUser } from '../connection/backend-user.js';
import type { UpstreamConnection } from '../connection/connection.js';
import type { TlsPurpose } from '../connection/tls-purpose.js';

/** How a location makes TLS connections to its backends. */
export interface UpstreamTls {
  /** What a request or session needs a connection for; null, with the reason logged, to end it with 500. */
  purpose(u: BackendUser): TlsPurpose | null;
  /** Options for a connection to a peer; null, with the reason logged, to end the request or session with 500. */
  options(u: BackendUser, peer: Peer, purpose: TlsPurpose): BackendTls | null;
  /** A connection with these options has been begun for a request or session, or for none: then it is not counted. */
  opened(u: BackendUser | null, c: UpstreamConnection, peer: Peer, options: BackendTls): void;
  /** Looks at the backend's certificate after the handshake. Returns nginx's words for what is wrong with it. */
  check(u: BackendUser, c: UpstreamConnection): string | undefined;
}
