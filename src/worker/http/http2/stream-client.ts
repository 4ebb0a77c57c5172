import type { ProxyProtocolHeader } from '../../net/proxy-protocol.js';
import type { TlsConnection } from '../../task/client.js';
import type { AddressRuntime } from '../request/address-runtime.js';
import type { ClientConnection } from '../request/client-exchange.js';
import type { Http2Connection } from './connection.js';

/**
 * What the layers above see as the client's connection: a stream with a client address of its own, which realip may change for this
 * request alone. nginx: the fake connection of ngx_http_v2_create_stream.
 */
export abstract class Http2StreamClient implements ClientConnection {
  readonly id: number;
  remoteAddress: string;
  remotePort: number;
  readonly requests: number;
  closed = false;
  protected readonly c: Http2Connection;

  constructor(connection: Http2Connection) {
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

  get proxyProtocol(): ProxyProtocolHeader | undefined {
    return this.c.proxyProtocol;
  }

  get sni(): string | undefined {
    return this.c.sni;
  }
}
