import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { ERROR, INFO, type Level } from '../../shared/log/level.js';
import type { ClientConnection, ClientStream } from '../http/client-stream.js';
import { type HostParts, validateHost } from '../http/host.js';
import { Request } from '../http/request.js';
import { RequestHead } from '../http/request-head.js';
import type { AddressRuntime, ServerRuntime, TlsAccepted, TlsFailure, TlsTerminator } from '../http/runtime-types.js';
import { type ClientHello, readClientHello } from './client-hello.js';
import { checkStatus } from './client-status.js';
import { CLOSED_BY_PEER, handshakeFailure } from './handshake-failure.js';
import { HandshakeServer } from './handshake-server.js';
import { rememberPeer, TlsPeer } from './peer.js';
import { TlsFileError } from './pem.js';
import type { ServerTls } from './server-tls.js';

const PROTOCOLS = ['http/1.1', 'http/1.0', 'http/0.9'];

/** A fatal alert of TLS with this description. */
const alert = (description: number): Buffer => Buffer.from([21, 3, 3, 0, 2, 2, description]);
const INTERNAL_ERROR = 80;
const UNRECOGNIZED_NAME = 112;
const MAX_FRAGMENT = 16384;

/** Lets errors after the handshake reach the socket's listeners; node:tls calls it for servers of its own. */
interface ServerSocket {
  _releaseControl(): boolean;
}

/** Runs the handshakes of one address. nginx: ngx_http_ssl_handshake, ngx_http_ssl_servername. */
export class AddressTls implements TlsTerminator {
  readonly #address: () => AddressRuntime;

  /** The address is asked for once connections come: it holds this object. */
  constructor(address: () => AddressRuntime) {
    this.#address = address;
  }

  accept(socket: Socket, done: (result: TlsAccepted | TlsFailure) => void): void {
    new Handshake(this.#address(), socket, done).read();
  }
}

class Handshake {
  readonly #address: AddressRuntime;
  readonly #socket: Socket;
  readonly #done: (result: TlsAccepted | TlsFailure) => void;
  #held: Buffer | null = null;
  #ended = false;
  #cancel: (() => void) | undefined = undefined;

  constructor(address: AddressRuntime, socket: Socket, done: (result: TlsAccepted | TlsFailure) => void) {
    this.#address = address;
    this.#socket = socket;
    this.#done = done;
  }

  /** Waits until the hello is complete. */
  read(): void {
    const socket = this.#socket;
    const bytes = socket.read() as Buffer | null;
    if (bytes !== null) this.#held = this.#held === null ? bytes : Buffer.concat([this.#held, bytes]);
    const hello = this.#held === null ? 'more' : readClientHello(this.#held);
    if (hello === 'more') {
      this.#wait();
      return;
    }
    socket.unshift(this.#held!);
    this.#start(hello === 'unknown' ? undefined : hello);
  }

  #wait(): void {
    const socket = this.#socket;
    const stop = (): void => {
      socket.removeListener('readable', more);
      socket.removeListener('end', gone);
      socket.removeListener('error', gone);
      socket.removeListener('close', gone);
    };
    const more = (): void => {
      stop();
      this.read();
    };
    const gone = (): void => {
      stop();
      this.#end({ level: INFO, message: CLOSED_BY_PEER });
    };
    socket.on('readable', more);
    socket.on('end', gone);
    socket.on('error', gone);
    socket.on('close', gone);
  }

  #start(hello: ClientHello | undefined): void {
    const asked = this.#serverFor(hello);
    const fallback = this.#address.defaultServer;
    const server = asked ?? fallback;
    const own = server.tls as ServerTls;
    const tls = own.ready ? own : (fallback.tls as ServerTls);
    if (tls.settings.rejectHandshake || !tls.ready) {
      this.#refuse(UNRECOGNIZED_NAME, INFO, 'SSL_do_handshake() failed (SSL: error:0A0000EA:SSL routines::callback failed)');
      return;
    }
    let context: ReturnType<ServerTls['contextFor']>;
    try {
      context = tls.contextFor(() => this.#requestFor(server, hello));
    } catch (error) {
      const message = error instanceof TlsFileError ? error.message : `SSL_CTX_new() failed (SSL: ${(error as Error).message})`;
      this.#refuse(INTERNAL_ERROR, ERROR, message);
      return;
    }
    const events = new HandshakeServer(tls, hello);
    const secured = new TLSSocket(this.#socket, {
      isServer: true,
      server: events.asServer,
      secureContext: context,
      requestCert: own.ready ? own.settings.verify !== 'off' : tls.settings.verify !== 'off',
      rejectUnauthorized: false,
      ALPNProtocols: PROTOCOLS,
    });
    events.begin(secured, hello === undefined ? [] : [...hello.identities, hello.sessionId]);
    secured.on('secure', () => {
      (secured as unknown as ServerSocket)._releaseControl();
      if (own.settings.bufferSize < MAX_FRAGMENT) secured.setMaxSendFragment(Math.max(512, own.settings.bufferSize));
      const peer = new TlsPeer(secured, hello, tls);
      rememberPeer(secured, peer);
      const serverName = asked === undefined ? undefined : hello?.serverName?.toLowerCase();
      const rules = tls.statusRules;
      if (rules === undefined || peer.failure !== null || peer.certificate === null) {
        this.#end({ socket: secured, server, serverName });
        return;
      }
      this.#cancel = checkStatus(peer.certificate, rules, server.root, (verdict) => {
        peer.status = verdict;
        this.#end({ socket: secured, server, serverName });
      });
    });
    secured.on('error', (error: NodeJS.ErrnoException) => {
      this.#end(handshakeFailure(error));
      // node:tls leaves a connection open after a broken record.
      secured.destroy();
    });
    secured.on('close', () => this.#end({ level: INFO, message: CLOSED_BY_PEER }));
  }

  /** The server for the name in the hello. nginx: ngx_http_ssl_servername. */
  #serverFor(hello: ClientHello | undefined): ServerRuntime | undefined {
    const name = hello?.serverName;
    const parts: HostParts = { host: '', port: 0 };
    if (name === undefined || !validateHost(name, parts)) return undefined;
    return this.#address.find(parts.host, this.#requestFor(this.#address.defaultServer, hello));
  }

  #provisional: Request | undefined = undefined;

  /** A request before there is one, for variables in the names of certificates; it keeps the groups of a server name's regular expression. */
  #requestFor(server: ServerRuntime, hello: ClientHello | undefined): Request {
    const known = this.#provisional;
    if (known !== undefined) {
      known.server = server;
      known.location = server.root;
      return known;
    }
    const socket = this.#socket;
    const connection = {
      id: 0,
      remoteAddress: socket.remoteAddress ?? 'unix:',
      remotePort: socket.remotePort ?? 0,
      localAddress: socket.localAddress ?? '',
      localPort: socket.localPort ?? 0,
      address: this.#address,
      requests: 0,
      acceptedAt: performance.now(),
      debugging: false,
      tls: undefined,
      proxyProtocol: undefined,
      closed: false,
      sni: hello?.serverName,
    } satisfies ClientConnection;
    const stream = { connection, action: 'SSL handshaking' } as unknown as ClientStream;
    this.#provisional = new Request(stream, server, new RequestHead(), null, performance.now());
    return this.#provisional;
  }

  #refuse(description: number, level: Level, message: string): void {
    this.#socket.on('error', () => {});
    this.#socket.end(alert(description));
    this.#end({ level, message });
  }

  #end(result: TlsAccepted | TlsFailure): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancel?.();
    this.#done(result);
  }
}
