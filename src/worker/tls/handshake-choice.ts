import type { SecureContext } from 'node:tls';
import { ERROR, INFO, type Level } from '../../shared/log/level.js';
import type { ClientSocket } from '../../shared/net/client-socket.js';
import type { AddressRuntime, TlsFailure } from '../http/request/address-runtime.js';
import type { ClientConnection, ClientStream } from '../http/request/client-stream.js';
import type { ServerRuntime } from '../http/request/http-runtime.js';
import { Request } from '../http/request/request.js';
import { type HostParts, validateHost } from '../http/syntax/host.js';
import { RequestHead } from '../http/syntax/request-head.js';
import type { ClientHello } from './client-hello.js';
import { TlsFileError } from './pem.js';
import type { ServerTls } from './server-tls.js';

/** The names of ALPN, and the same with that of HTTP/2. nginx: ngx_http_ssl_alpn_select. */
export const PROTOCOLS = ['http/1.1', 'http/1.0', 'http/0.9'];
export const PROTOCOLS_WITH_HTTP2: string[] = ['h2', ...PROTOCOLS];

/** A fatal alert of TLS with this description. */
const alert = (description: number): Buffer => Buffer.from([21, 3, 3, 0, 2, 2, description]);
const INTERNAL_ERROR = 80;
const UNRECOGNIZED_NAME = 112;
const REJECTED = 'SSL_do_handshake() failed (SSL: error:0A0000EA:SSL routines::callback failed)';
const MAX_FRAGMENT = 16384;

/** What a handshake runs with. */
export interface Choice {
  /** The server that the client named in its hello, or the address's default server. */
  readonly server: ServerRuntime;
  /** The name in the hello, in lower case and without a trailing dot, when a server answers to it. */
  readonly serverName: string | undefined;
  /** Whose context this is. */
  readonly tls: ServerTls;
  readonly context: SecureContext;
  /** The client is asked for a certificate. */
  readonly verify: boolean;
  /** HTTP/2 is offered. */
  readonly http2: boolean;
  /** The longest record that is sent, in bytes; 0 where that is as long as can be. */
  readonly maxFragment: number;
}

/** Why no handshake is begun, and what the client is told. */
export interface Refusal {
  readonly alert: Buffer;
  readonly failure: TlsFailure;
}

const refusal = (description: number, level: Level, message: string): Refusal => ({
  alert: alert(description),
  failure: { level, message },
});

/** Chooses server and context for a hello. nginx: ngx_http_ssl_servername, ngx_http_ssl_certificate. */
export function choose(
  address: AddressRuntime,
  ends: Pick<ClientSocket, 'remote' | 'local'>,
  hello: ClientHello | undefined,
): Choice | Refusal {
  let provisional: Request | undefined;
  const requestFor = (server: ServerRuntime): Request => {
    provisional ??= provisionalRequest(address, ends, hello);
    provisional.server = server;
    provisional.location = server.root;
    return provisional;
  };
  const fallback = address.defaultServer;
  const name = hello?.serverName;
  const host = name === undefined || address.single ? undefined : hostOf(name);
  const asked = host === undefined ? undefined : address.find(host, address.patterns ? requestFor(fallback) : null);
  const server = asked ?? fallback;
  const own = server.tls as ServerTls;
  const tls = own.ready ? own : (fallback.tls as ServerTls);
  if (tls.settings.rejectHandshake || !tls.ready) {
    return refusal(UNRECOGNIZED_NAME, INFO, REJECTED);
  }
  try {
    return {
      server,
      serverName: asked === undefined ? undefined : host,
      tls,
      context: tls.contextFor(() => requestFor(server)),
      http2: server.settings.http2 || address.http2,
      verify: (own.ready ? own : tls).settings.verify !== 'off',
      maxFragment: own.settings.bufferSize < MAX_FRAGMENT ? Math.max(512, own.settings.bufferSize) : 0,
    };
  } catch (error) {
    const message = error instanceof TlsFileError ? error.message : `SSL_CTX_new() failed (SSL: ${(error as Error).message})`;
    return refusal(INTERNAL_ERROR, ERROR, message);
  }
}

function hostOf(name: string): string | undefined {
  const parts: HostParts = { host: '', port: 0 };
  return validateHost(name, parts) ? parts.host : undefined;
}

/** A request before there is one, for variables in the names of certificates; it keeps the groups of a server name's regular expression. */
function provisionalRequest(
  address: AddressRuntime,
  ends: Pick<ClientSocket, 'remote' | 'local'>,
  hello: ClientHello | undefined,
): Request {
  const remote = ends.remote();
  const local = ends.local();
  const connection = {
    id: 0,
    remoteAddress: remote.address ?? 'unix:',
    remotePort: remote.port ?? 0,
    localAddress: local.address ?? '',
    localPort: local.port ?? 0,
    address,
    requests: 0,
    acceptedAt: performance.now(),
    debugging: false,
    tls: undefined,
    proxyProtocol: undefined,
    closed: false,
    sni: hello?.serverName,
  } satisfies ClientConnection;
  const stream = { connection, action: 'SSL handshaking' } as unknown as ClientStream;
  return new Request(stream, address.defaultServer, new RequestHead(), null, performance.now());
}
