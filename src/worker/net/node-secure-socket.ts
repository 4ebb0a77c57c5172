import type { Socket } from 'node:net';
import { type SecureContext, TLSSocket } from 'node:tls';
import { awaitClient, clientStays, type EndedSocket } from './end-of-tls.js';
import { NodeSocket } from './node-socket.js';
import type { HandshakeOwner, SecureSocket } from './secure-socket.js';
import { type CipherHandle, cipherOf } from './tls-binding.js';

/** Lets errors after the handshake reach the socket's listeners; node:tls calls it for servers of its own. */
interface ServerSocket {
  _releaseControl(): boolean;
}

/** A TLS client's connection on one of Node's sockets. See {@link NodeSocket}. */
export class NodeSecureSocket extends NodeSocket implements SecureSocket, EndedSocket {
  readonly #below: Socket;
  readonly #tls: TLSSocket;
  #handshake: HandshakeOwner | null;
  stays = false;

  /** Takes over a socket. The handshake begins with what {@link receive} is given. */
  constructor(plain: NodeSocket, context: SecureContext, handshake: HandshakeOwner) {
    const below = plain.release();
    const tls = new TLSSocket(below, { isServer: true, secureContext: context, rejectUnauthorized: false });
    super();
    this.takeAccepted(tls);
    this.#below = below;
    this.#tls = tls;
    this.#handshake = handshake;
    // The socket is half open after that, and node:tls waits on.
    tls.once('end', () => this.#failed(undefined));
    tls.once('error', (error) => this.#failed(error));
    tls.once('close', () => this.#failed(undefined));
    tls.once('secure', () => {
      (tls as unknown as ServerSocket)._releaseControl();
      this.#handshake = null;
      handshake.handshakeDone();
    });
    // node:tls leaves a connection open after a broken record.
    tls.on('error', () => tls.destroy());
  }

  #failed(error: Error | undefined): void {
    const handshake = this.#handshake;
    this.#handshake = null;
    handshake?.handshakeFailed(error);
  }

  get cipher(): CipherHandle | null {
    return cipherOf(this.#tls) as CipherHandle | null;
  }

  receive(bytes: Buffer): void {
    this.#below.unshift(Buffer.from(bytes));
  }

  limitRecords(bytes: number): void {
    this.#tls.setMaxSendFragment(bytes);
  }

  sessionStored(): void {
    this.cipher?.newSessionDone();
  }

  protected override ended(): void {
    this.stays = clientStays(this.descriptor);
    this.owner!.socketEnded(this.stays);
    if (!this.#tls.destroyed) {
      awaitClient(this);
    }
  }

  clientWent(): void {
    this.stays = false;
    this.owner!.socketEnded(false);
  }

  clientBroke(): void {
    this.#tls.destroy();
  }

  /** Node resets plain sockets only. */
  override reset(): void {
    this.#below.resetAndDestroy();
  }
}
