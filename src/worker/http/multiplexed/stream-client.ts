import type { ProxyProtocolHeader } from '../../net/proxy-protocol.js';
import type { TlsConnection } from '../../task/client.js';
import type { KnownClient } from '../connection/known-client.js';
import type { AddressRuntime } from '../request/address-runtime.js';
import type { ClientConnection } from '../request/client-exchange.js';

/**
 * What the layers above see as the client's connection: a stream with a client address of its own, which realip may change for this
 * request alone. nginx: the fake connection of ngx_http_v2_create_stream, the connection of a stream of QUIC.
 */
export abstract class StreamClient<C extends KnownClient> implements ClientConnection {
  readonly id: number;
  remoteAddress: string;
  remotePort: number;
  readonly requests: number;
  closed = false;
  protected readonly c: C;

  constructor(connection: C) {
    this.c = connection;
    this.id = connection.id;
    this.requests = connection.requests;
    this.remoteAddress = connection.remoteAddress;
    this.remotePort = connection.remotePort;
  }

  get descriptor(): number {
    return this.c.descriptor;
  }

  get localAddress(): string {
    return this.c.localAddress;
  }

  get localPort(): number {
    return this.c.localPort;
  }

  get address(): AddressRuntime {
    return this.c.address;
  }

  get acceptedAt(): number {
    return this.c.acceptedAt;
  }

  get debugging(): boolean {
    return this.c.debugging;
  }

  get tls(): TlsConnection | undefined {
    return this.c.tls;
  }

  get ownTls(): boolean {
    return this.c.ownTls;
  }

  get proxyProtocol(): ProxyProtocolHeader | undefined {
    return this.c.proxyProtocol;
  }

  get sni(): string | undefined {
    return this.c.sni;
  }
}
