import type { Socket } from '../../shared/net/socket.js';
import type { ProxyProtocolHeader } from '../net/proxy-protocol.js';
import type { TlsConnection } from '../task/client.js';

/** An address of this server that a connection is to go to. */
export interface PassTarget {
  /** Numeric, or a path. */
  readonly address: string;
  readonly port: number;
  readonly unix: boolean;
}

/** A connection on its way from one listener to another. It is counted, and nobody owns it. */
export interface PassedClient {
  readonly id: number;
  /** What is read is decrypted already, if it ever was encrypted. */
  readonly socket: Socket;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly proxyProtocol: ProxyProtocolHeader | undefined;
  /** Who was at the other end of the TLS that was taken off. */
  readonly tls: TlsConnection | undefined;
  /** What it sent so far. */
  readonly held: Buffer | null;
  /** The state of modules that goes along with the connection, how often it was passed on among it; see `lastingSlot`. */
  readonly lasting: readonly unknown[];
  /** What is to be done once it is over, the latest last. */
  readonly endings: readonly (() => void)[];
}

/** A listener of `http` or `stream` that takes connections from others. */
export interface PassListener {
  /** For any address, of this family. */
  readonly wildcard: boolean;
  readonly family: 'ipv4' | 'ipv6' | 'unix';
  readonly address: string;
  readonly port: number;
  take(client: PassedClient, target: PassTarget): void;
}

/** nginx: ngx_stream_pass_match. */
export function passMatches({ wildcard, family, address, port }: PassListener, target: PassTarget): boolean {
  const own = target.unix ? 'unix' : target.address.includes(':') ? 'ipv6' : 'ipv4';
  if (own !== family) {
    return false;
  }
  return wildcard ? port === target.port : address === target.address && port === target.port;
}
