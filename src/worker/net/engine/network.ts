import type { SecureContext } from 'node:tls';
import { DatagramHandle, type DatagramPlace } from '../../../shared/net/datagram-handle.js';
import type { DatagramSocket } from '../../../shared/net/datagram-socket.js';
import type { ConnectionTaker } from '../../../shared/net/listen-socket.js';
import type { AcceptedSocket, BackendTarget, Socket, SocketDemands, SocketOwner } from '../../../shared/net/socket.js';
import { ipAddress, kernelAddress } from '../../../shared/net/socket-addresses.js';
import type { UringEngine } from '../../../shared/net/uring/engine.js';
import { CipherBackendSocket } from '../cipher-backend-socket.js';
import { CipherServerSocket } from '../cipher-server-socket.js';
import type { FileReads } from '../file-reads.js';
import { HandleSocket } from '../handle-socket.js';
import { HandleUdpSocket } from '../handle-udp-socket.js';
import { RecordBackendSocket } from '../openssl/record-backend-socket.js';
import { RecordServerSocket } from '../openssl/record-server-socket.js';
import { whyNoRecords } from '../openssl/records.js';
import type { BackendTls, SecureBackendSocket } from '../secure-backend-socket.js';
import type { HandshakeOwner, SecureSocket } from '../secure-socket.js';
import { ThreadFileReads } from '../thread-file-reads.js';
import { cipherMaker } from '../tls-binding.js';
import type { UdpSocket, UdpTaker } from '../udp-socket.js';
import { UringDatagramSocket } from '../uring/uring-datagram-socket.js';
import { UringFileReads } from '../uring/uring-file-reads.js';
import { UringListener } from '../uring/uring-listener.js';
import { UringSocket } from '../uring/uring-socket.js';
import { UringUdpSocket } from '../uring/uring-udp-socket.js';

/** Takes connections to backends in place of the network. */
export interface NetworkStandIn {
  /** As {@link Network.connect}. TLS is left out: what is written is what the backend would read. */
  connect(target: BackendTarget, owner: SocketOwner): Socket;
  /** As the Fetch standard's `fetch`, for what scripts of the configuration ask. */
  fetch(url: string, init: RequestInit): Promise<Response>;
}

/** How this process's plain connections are served: by libuv, or by an io_uring of its own. */
export class Network {
  #ring: UringEngine | undefined = undefined;
  #files: FileReads = new ThreadFileReads();
  /** Set while requests are rehearsed: no connection leaves this process then. */
  standIn: NetworkStandIn | undefined = undefined;

  #noTls: ((why: string) => void) | undefined = undefined;

  /** Serves connections on a ring from now on. `noTls` is told once why TLS cannot go through it, if TLS is used. */
  use(ring: UringEngine, noTls?: (why: string) => void): void {
    this.#ring = ring;
    this.#noTls = noTls;
    this.#files = new UringFileReads(ring);
  }

  /** Reads files for this process's connections. */
  get files(): FileReads {
    return this.#files;
  }

  get name(): 'uring' | 'libuv' {
    return this.#ring === undefined ? 'libuv' : 'uring';
  }

  /** TLS goes through the ring. The first call tries that. */
  get secures(): boolean {
    if (this.#ring === undefined) {
      return false;
    }
    const why = whyNoRecords();
    if (why !== '') {
      this.#noTls?.(why);
      this.#noTls = undefined;
    }
    return why === '';
  }

  /** Finds out what TLS goes through, so that no connection waits for that. Throws an Error where it can go through nothing. */
  prepareTls(): void {
    if (!this.secures) {
      cipherMaker();
    }
  }

  /** Whether what is sent before a handshake is over can be read on this connection. */
  readsEarly(socket: Socket): boolean {
    return !(socket instanceof HandleSocket) && this.secures;
  }

  /** Begins a handshake on a client's connection, one of {@link readsEarly}. `beginEarly` follows. */
  secureEarly(socket: Socket, context: SecureContext, handshake: HandshakeOwner): RecordServerSocket {
    return new RecordServerSocket(socket, context, handshake, true);
  }

  /** Begins a handshake on a client's connection. */
  secure(socket: Socket, context: SecureContext, handshake: HandshakeOwner): SecureSocket {
    return socket instanceof HandleSocket
      ? new CipherServerSocket(socket, context, handshake)
      : new RecordServerSocket(socket, context, handshake);
  }

  /**
   * What accepts connections; undefined where a server of Node's is to. `workers`: how many processes accept on the same socket.
   * `failed` gets the negated error number of an attempt that is made again later.
   */
  taker(workers: number, take: (socket: AcceptedSocket) => void, failed: (errno: number) => void): ConnectionTaker | undefined {
    return this.#ring === undefined ? undefined : new UringListener(this.#ring, workers, take, failed);
  }

  /** Begins a plain connection to a backend. What comes of it is told to the owner, never before this returns. */
  connect(target: BackendTarget, owner: SocketOwner): Socket {
    const address = this.#ring === undefined ? undefined : kernelAddress(target.address, target.port);
    if (address !== undefined) {
      return UringSocket.connect(this.#ring!, address, target, owner);
    }
    return HandleSocket.connect(target, owner);
  }

  /** Begins a connection with TLS. */
  connectSecure(target: BackendTarget, tls: BackendTls, owner: SocketOwner): SecureBackendSocket {
    const ring = this.#ring;
    const address = ring !== undefined && this.secures ? kernelAddress(target.address, target.port) : undefined;
    return address === undefined
      ? new CipherBackendSocket(target, tls, owner)
      : new RecordBackendSocket((below) => UringSocket.connect(ring!, address, target, below), tls, owner);
  }

  /** What serves a bound socket of UDP. */
  serveDatagrams(handle: DatagramHandle): DatagramSocket {
    return this.#ring === undefined ? handle : UringDatagramSocket.bound(this.#ring, handle);
  }

  /** What serves a bound socket of UDP for QUIC. `taker`: who gets what comes, asked for with each. */
  serveQuic(handle: DatagramHandle, taker: () => UdpTaker): UdpSocket {
    return this.#ring === undefined ? new HandleUdpSocket(handle, taker) : new UringUdpSocket(this.#ring, handle, taker);
  }

  /** A socket of UDP that only talks to one peer. */
  connectDatagrams(peer: DatagramPlace, demands: SocketDemands): DatagramSocket | Error {
    const address = this.#ring === undefined ? undefined : ipAddress(peer.address, peer.port);
    return address === undefined
      ? DatagramHandle.connect(peer, peer.address.includes(':'), demands)
      : UringDatagramSocket.connect(this.#ring!, address, demands);
  }

  /** Gives the kernel what waits, as the process may end. */
  flush(): void {
    this.#ring?.flush();
  }

  /** Calls back once everything of closed connections has left, which may be at once. */
  whenSent(done: () => void): void {
    if (this.#ring === undefined) {
      done();
    } else {
      this.#ring.whenSent(done);
    }
  }
}

/** A process has one event loop, hence one of these. */
export const network = new Network();
