import type { ClientHello } from '../../tls/client-hello.js';
import { type Ends, type OfferedProtocols, offeredProtocols, type ProvisionalTask, type TlsAddress } from '../../tls/tls-address.js';
import { http2Slot } from '../http2/http2-settings.js';
import type { AddressRuntime } from '../request/address-runtime.js';
import type { ClientConnection, ClientExchange } from '../request/client-exchange.js';
import type { ServerRuntime } from '../request/http-runtime.js';
import { Request } from '../request/request.js';
import { RequestHead } from '../syntax/request-head.js';

/** The names of ALPN, and the same with that of HTTP/2. nginx: ngx_http_ssl_alpn_select. */
const HTTP1 = ['http/1.1', 'http/1.0', 'http/0.9'];
const PROTOCOLS = offeredProtocols(HTTP1);
const PROTOCOLS_WITH_HTTP2 = offeredProtocols(['h2', ...HTTP1]);

/** A listening address of `http` for its handshakes. */
export class HttpTlsAddress implements TlsAddress<ServerRuntime> {
  readonly #address: AddressRuntime;
  readonly defaultServer: ServerRuntime;
  readonly single: boolean;
  readonly patterns: boolean;

  constructor(address: AddressRuntime) {
    this.#address = address;
    this.defaultServer = address.defaultServer;
    this.single = address.single;
    this.patterns = address.patterns;
  }

  find(host: string, task: Request | null): ServerRuntime | undefined {
    return this.#address.find(host, task);
  }

  protocols(server: ServerRuntime): OfferedProtocols {
    return server.conf(http2Slot).http2 || this.#address.http2 ? PROTOCOLS_WITH_HTTP2 : PROTOCOLS;
  }

  /** A request before there is one, for variables in the names of certificates. */
  provisional(ends: Ends, hello: ClientHello | undefined): ProvisionalTask<ServerRuntime> {
    const remote = ends.remote();
    const local = ends.local();
    const connection = {
      id: 0,
      descriptor: -1,
      remoteAddress: remote.address ?? 'unix:',
      remotePort: remote.port ?? 0,
      localAddress: local.address ?? '',
      localPort: local.port ?? 0,
      address: this.#address,
      requests: 0,
      acceptedAt: performance.now(),
      debugging: false,
      tls: undefined,
      proxyProtocol: undefined,
      closed: false,
      sni: hello?.serverName,
    } satisfies ClientConnection;
    const stream = { connection, action: 'SSL handshaking' } as unknown as ClientExchange;
    const task = new Request(stream, this.#address.defaultServer, new RequestHead(), null, performance.now());
    return {
      task,
      use(server) {
        task.server = server;
        task.location = server.root;
      },
    };
  }
}
