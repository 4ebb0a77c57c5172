import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { INFO } from '../../shared/log/level.js';
import type { ClientSocket } from '../../shared/net/client-socket.js';
import { NodeSocket } from '../../shared/net/node-socket.js';
import { cipherMaker, cipherOf } from '../../shared/net/tls-binding.js';
import type { ClientTask } from '../client/client-task.js';
import type { Handshaking, TlsAccepted, TlsDone, TlsFailure, TlsTerminator } from '../client/tls-terminator.js';
import { type ClientHello, readClientHello } from './client-hello.js';
import { checkStatus } from './client-status.js';
import { counted, countTimeout } from './count-handshakes.js';
import { DirectHandshake } from './direct-handshake.js';
import { CHALLENGE_ANSWERED, choose } from './handshake-choice.js';
import { CLOSED_BY_PEER, handshakeFailure } from './handshake-failure.js';
import { HandshakeServer } from './handshake-server.js';
import { type CipherOwner, TlsPeer } from './peer.js';
import type { TlsAddress, TlsServer } from './tls-address.js';

/** Lets errors after the handshake reach the socket's listeners; node:tls calls it for servers of its own. */
interface ServerSocket {
  _releaseControl(): boolean;
}

/** Runs the handshakes of one address. nginx: ngx_http_ssl_handshake, ngx_http_ssl_servername. */
export class AddressTls<S extends TlsServer> implements TlsTerminator<S> {
  readonly #address: () => TlsAddress<S>;

  /** The address is asked for once connections come: it holds this object. */
  constructor(address: () => TlsAddress<S>) {
    this.#address = address;
  }

  get direct(): boolean {
    return cipherMaker() !== null;
  }

  accept(socket: Socket, done: TlsDone<S>, task?: ClientTask): void {
    const address = this.#address();
    new Handshake(address, socket, counted(address, done), task).read();
  }

  timedOut(): void {
    countTimeout(this.#address().defaultServer);
  }

  acceptPlain(socket: ClientSocket, bytes: Buffer, done: TlsDone<S>, task?: ClientTask): Handshaking | undefined {
    const hello = readClientHello(bytes);
    if (hello === 'more') {
      return undefined;
    }
    const address = this.#address();
    const handshake = new DirectHandshake(socket, counted(address, done));
    handshake.begin(address, hello === 'unknown' ? undefined : hello, bytes, task);
    return handshake;
  }
}

/** On one of Node's sockets. */
class Handshake<S extends TlsServer> {
  readonly #address: TlsAddress<S>;
  readonly #socket: Socket;
  readonly #done: TlsDone<S>;
  readonly #task: ClientTask | undefined;
  #held: Buffer | null = null;
  #ended = false;
  #cancel: (() => void) | undefined = undefined;

  constructor(address: TlsAddress<S>, socket: Socket, done: TlsDone<S>, task: ClientTask | undefined) {
    this.#address = address;
    this.#socket = socket;
    this.#done = done;
    this.#task = task;
  }

  /** Waits until the hello is complete. */
  read(): void {
    const socket = this.#socket;
    const bytes = socket.read() as Buffer | null;
    if (bytes !== null) {
      this.#held = this.#held === null ? bytes : Buffer.concat([this.#held, bytes]);
    }
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
    const choice = choose(this.#address, new NodeSocket(this.#socket, false), hello, this.#task);
    if ('alert' in choice) {
      this.#socket.on('error', () => {});
      this.#socket.end(choice.alert);
      this.#end(choice.failure);
      return;
    }
    const { tls, server, serverName } = choice;
    const events = new HandshakeServer(tls, hello);
    const secured = new TLSSocket(this.#socket, {
      isServer: true,
      server: events.asServer,
      secureContext: choice.context,
      requestCert: choice.verify,
      rejectUnauthorized: false,
      ...(choice.protocols === undefined ? {} : { ALPNProtocols: [...choice.protocols.names] }),
    });
    events.begin(secured);
    // The socket is half open after that, and node:tls waits on.
    const gone = (): void => {
      this.#end({ level: INFO, message: CLOSED_BY_PEER });
      secured.destroy();
    };
    secured.on('end', gone);
    secured.on('secure', () => {
      secured.removeListener('end', gone);
      (secured as unknown as ServerSocket)._releaseControl();
      if (choice.challenge) {
        this.#end(CHALLENGE_ANSWERED);
        secured.destroy();
        return;
      }
      if (choice.maxFragment > 0) {
        secured.setMaxSendFragment(choice.maxFragment);
      }
      const owner: CipherOwner = {
        get cipher() {
          return cipherOf(secured);
        },
      };
      const peer = new TlsPeer(owner, hello, tls);
      const http2 = choice.protocols?.http2 === true && secured.alpnProtocol === 'h2';
      const accepted: TlsAccepted<S> = { socket: new NodeSocket(secured, true), peer, server, serverName, http2 };
      const rules = tls.statusRules;
      if (rules === undefined || peer.failure !== null || peer.certificate === null) {
        this.#end(accepted);
        return;
      }
      this.#cancel = checkStatus(peer.certificate, rules, server.root, (verdict) => {
        peer.status = verdict;
        this.#end(accepted);
      });
    });
    secured.on('error', (error: NodeJS.ErrnoException) => {
      this.#end(handshakeFailure(error));
      // node:tls leaves a connection open after a broken record.
      secured.destroy();
    });
    secured.on('close', () => this.#end({ level: INFO, message: CLOSED_BY_PEER }));
  }

  #end(result: TlsAccepted<S> | TlsFailure): void {
    if (this.#ended) {
      return;
    }
    this.#ended = true;
    this.#cancel?.();
    this.#done(result);
  }
}
