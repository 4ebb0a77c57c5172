import type { X509Certificate } from 'node:crypto';
import { connect as connectTcp, type Socket, type TcpNetConnectOpts } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import type { BackendTarget, SocketOwner } from '../../shared/net/socket.js';
import { NodeSocket, nodeTarget } from './node-socket.js';
import { preparedSocket } from './prepared-socket.js';
import { readInto } from './read-into.js';
import type { BackendTls, SecureBackendSocket } from './secure-backend-socket.js';
import { type CipherState, certificateOf, cipherOf } from './tls-binding.js';

/** A TLS connection to a backend on one of Node's sockets. */
export class NodeSecureBackendSocket extends NodeSocket implements SecureBackendSocket {
  #tls!: TLSSocket;

  /** Begins to connect. What comes of it is told to the owner, never before this returns. */
  static connectTls(target: BackendTarget, tls: BackendTls, owner: SocketOwner): NodeSecureBackendSocket {
    const socket = new NodeSecureBackendSocket();
    const to = nodeTarget(target, socket.onread);
    const prepared = preparedSocket(target);
    if (tls.preface === undefined && prepared === undefined) {
      socket.#take(connectTls({ ...to, ...nodeOptions(tls) } as ConnectionOptions), owner);
    } else {
      socket.#takeBehind(connectBehind(tls, prepared ?? plainSocket(to)), owner);
    }
    return socket;
  }

  #take(tls: TLSSocket, owner: SocketOwner): void {
    this.#tls = tls;
    this.takeOutward(tls, owner);
    tls.on('secureConnect', () => owner.socketSecured?.());
  }

  /** Takes a socket that was made on another one: such a socket does not read into memory that it is given when it is made. */
  #takeBehind(tls: TLSSocket, owner: SocketOwner): void {
    this.#take(tls, owner);
    if (!readInto(tls, (bytes, length) => this.came(bytes, length))) {
      tls.on('data', (bytes: Buffer) => void this.came(bytes, bytes.length));
    }
  }

  get cipher(): CipherState | null {
    return cipherOf(this.#tls);
  }

  get certificate(): X509Certificate | undefined {
    return certificateOf(this.cipher);
  }

  keepSession(keep: (session: Buffer) => void): void {
    this.#tls.on('session', keep);
  }
}

function nodeOptions({ context, serverName, protocols, session }: BackendTls): ConnectionOptions {
  const options: ConnectionOptions = { secureContext: context, rejectUnauthorized: false, checkServerIdentity: () => undefined };
  if (serverName !== undefined) {
    options.servername = serverName;
  }
  if (protocols.length > 0) {
    options.ALPNProtocols = [...protocols];
  }
  if (session !== undefined) {
    options.session = session;
  }
  return options;
}

function plainSocket(target: TcpNetConnectOpts): Socket {
  const { onread: _, ...plain } = target;
  return connectTcp(plain as TcpNetConnectOpts);
}

/** Makes a TLS connection on another one, which may begin with plain bytes. */
function connectBehind(tls: BackendTls, below: Socket): TLSSocket {
  const { preface } = tls;
  if (preface !== undefined) {
    below.once('connect', () => below.write(preface));
  }
  const secured = connectTls({ ...nodeOptions(tls), socket: below, allowHalfOpen: true } as ConnectionOptions);
  below.on('error', (error) => secured.destroy(error));
  return secured;
}
