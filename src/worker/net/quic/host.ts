// What connections and endpoints know of each other and of who they are for.
import type { SocketAddress } from '../../../shared/net/socket.js';
import type { QuicHandshakeSettings } from '../openssl/quic-handshake.js';
import type { QuicConnection, QuicConnectionHandler } from './contract.js';
import type { StreamLimits } from './stream-table.js';

/** What the configuration says of an address's connections. Times are milliseconds. */
export interface QuicSettings {
  readonly streams: StreamLimits;
  readonly idleTimeout: number;
  readonly handshakeTimeout: number;
  /** How many connection IDs of a client are kept. */
  readonly idLimit: number;
  /** Clients show that they are at their address before anything else. */
  readonly retry: boolean;
  /** Several datagrams leave in one call as one piece, which the system or the network card cuts. */
  readonly segments: boolean;
}

/** What a handshake runs with, chosen by the client's hello. */
export interface QuicChoice {
  readonly settings: QuicHandshakeSettings;
  /** Makes the protocol above, when the first of its bytes may come. Undefined: the connection is not wanted. */
  accept(connection: QuicConnection): QuicConnectionHandler | undefined;
}

/** A handshake that is not begun: the alert of TLS that says why. */
export interface QuicRefusal {
  readonly alert: number;
}

/** Both ends of a connection. */
export interface QuicEnds {
  remote(): SocketAddress;
  local(): SocketAddress;
}

/** Who an endpoint is for. */
export interface QuicServer {
  readonly settings: QuicSettings;
  /** Takes a client that has sent its first packet; undefined where there is no room for it. */
  admit(connection: QuicKillable): QuicClient | undefined;
}

/** A connection whose handshake has not ended, for who has to end it. */
export interface QuicKillable {
  kill(): void;
}

/** A client that was admitted. */
export interface QuicClient {
  /** Chooses what the handshake runs with. `hello`: the message of TLS. */
  choose(hello: Buffer, ends: QuicEnds): QuicChoice | QuicRefusal;
  /** The handshake failed, for this reason; or the connection ended before it was over. */
  failed(reason: string, ends: QuicEnds): void;
  /** The connection has ended, whether its handshake did or not. */
  left(): void;
}
