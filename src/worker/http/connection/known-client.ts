import { debugOf, type Logger } from '../../../shared/log/error-log.js';
import { DEBUG, INFO, type Level } from '../../../shared/log/level.js';
import type { LogContext, LogSubject } from '../../../shared/log/log-line.js';
import type { Socket, SocketAddress } from '../../../shared/net/socket.js';
import type { DebugClients } from '../../connections/debug-clients.js';
import type { ProxyProtocolHeader } from '../../net/proxy-protocol.js';
import type { TlsConnection } from '../../task/client.js';
import type { AddressRuntime } from '../request/address-runtime.js';
import type { ClientConnection } from '../request/client-exchange.js';
import type { ServerRuntime } from '../request/http-runtime.js';

/** What is known of a connection before its first request, whichever transport it has. */
export interface KnownOpening {
  readonly tls: { readonly peer: TlsConnection; readonly server: ServerRuntime; readonly serverName: string | undefined } | undefined;
  readonly passedTls?: TlsConnection | undefined;
  readonly proxyProtocol: ProxyProtocolHeader | undefined;
  /** Both ends, where they were asked for before. */
  readonly remote?: SocketAddress;
  readonly local?: SocketAddress;
}

/** What is known of a client's connection, whichever protocol runs on it, and the log lines about it that belong to no request. */
export abstract class KnownClient implements ClientConnection, LogSubject {
  readonly id: number;
  readonly address: AddressRuntime;
  readonly acceptedAt: number;
  readonly tls: TlsConnection | undefined;
  /** The listener took the TLS off, so that a server may want a certificate. nginx: `ssl` of ngx_http_connection_t. */
  readonly ownTls: boolean;
  readonly sni: string | undefined;
  remoteAddress: string;
  remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
  readonly proxyProtocol: ProxyProtocolHeader | undefined;
  readonly debugging: boolean;
  requests = 0;
  closed = false;
  /** Serves requests until they name another: that of the TLS handshake, or the address's default. */
  readonly server: ServerRuntime;
  /** Takes lines between requests: that of the latest one's location. */
  protected log: Logger;

  constructor(
    socket: Pick<Socket, 'remote' | 'local'>,
    address: AddressRuntime,
    id: number,
    debugClients: DebugClients | undefined,
    opened: KnownOpening | undefined,
  ) {
    this.address = address;
    this.id = id;
    this.acceptedAt = performance.now();
    const remote = opened?.remote ?? socket.remote();
    this.remoteAddress = remote.address ?? 'unix:';
    this.remotePort = remote.port ?? 0;
    const local = opened?.local ?? socket.local();
    this.localAddress = local.address ?? (address.address === undefined ? '' : `unix:${address.address}`);
    this.localPort = local.port ?? 0;
    this.tls = opened?.tls?.peer ?? opened?.passedTls;
    this.ownTls = opened?.tls !== undefined;
    this.sni = this.tls?.sni;
    this.server = opened?.tls?.server ?? address.defaultServer;
    this.log = this.server.root.log;
    this.proxyProtocol = opened?.proxyProtocol;
    this.debugging = debugClients?.match(this.remoteAddress) ?? false;
  }

  abstract get descriptor(): number;

  /** What is being done, for log lines. */
  abstract get action(): string | undefined;

  get connectionId(): number {
    return this.id;
  }

  logContext(): LogContext {
    return { action: this.action, client: this.remoteAddress, server: this.address.listener };
  }

  /** Writes a line that belongs to no request. */
  note(level: Level, message: string, subject: LogSubject = this): void {
    const log = this.debugging ? debugOf(this.log) : this.log;
    if (level <= log.level) {
      log.log(level, message, subject);
    }
  }

  protected noteAccept(): void {
    if (this.debugging || this.log.level >= DEBUG) {
      this.note(DEBUG, `accept: ${this.remoteAddress}:${this.remotePort}`);
    }
  }

  /** Tells that the client went before it sent a request. nginx: ngx_http_wait_request_handler and ngx_http_keepalive_handler. */
  protected noteLeft(why: string): void {
    if (this.requests === 0) {
      this.note(INFO, why === '' ? 'client closed connection' : `recv() failed (${why})`);
    } else {
      const line = `client ${this.remoteAddress} closed keepalive connection${why === '' ? '' : ` (${why})`}`;
      this.note(INFO, line, { connectionId: this.id, logContext: noContext });
    }
  }
}

function noContext(): LogContext {
  return {};
}
