import type { SecureContext } from 'node:tls';
import type { SocketOwner } from '../../shared/net/socket.js';
import { CipherSocket } from './cipher-socket.js';
import { keptEarly, tellEarly } from './early-bytes.js';
import { awaitClient, clientStays, type EndedSocket } from './end-of-tls.js';
import type { HandleSocket } from './handle-socket.js';
import type { HandshakeOwner, SecureSocket } from './secure-socket.js';

/** A client's TLS connection on libuv's handle. */
export class CipherServerSocket extends CipherSocket implements SecureSocket, EndedSocket {
  #handshake: HandshakeOwner | null;
  /** What came before there was an owner. */
  #early: Buffer[] | null = null;
  stays = false;

  /** Takes over a socket that is being read. The handshake begins with what {@link receive} is given. */
  constructor(below: HandleSocket, context: SecureContext, handshake: HandshakeOwner) {
    super();
    this.below = below;
    this.#handshake = handshake;
    this.secure(context, true);
  }

  receive(bytes: Buffer): void {
    this.cipher?.receive(bytes);
  }

  limitRecords(bytes: number): void {
    this.cipher?.setMaxSendFragment(bytes);
  }

  sessionStored(): void {
    this.cipher?.newSessionDone();
  }

  start(owner: SocketOwner): void {
    this.owner = owner;
    const early = this.#early;
    this.#early = null;
    tellEarly(owner, early, this.ended, this.stays);
  }

  /** Whoever runs the handshake, whom this keeps no longer. */
  #takeHandshake(): HandshakeOwner {
    const handshake = this.#handshake!;
    this.#handshake = null;
    return handshake;
  }

  protected handshakeOver(): void {
    this.#takeHandshake().handshakeDone();
  }

  protected handshakeFailed(error: Error | undefined, broken: boolean): void {
    this.#takeHandshake().handshakeFailed(broken ? undefined : error);
  }

  protected broke(): void {
    this.close();
  }

  protected decrypted(bytes: Buffer, length: number): void {
    if (this.owner === undefined) {
      this.#early = keptEarly(this.#early, bytes, length);
    } else {
      this.owner.socketReceived(bytes, length, true);
    }
  }

  protected endCame(): void {
    this.stays = clientStays(this.descriptor);
    this.owner?.socketEnded(this.stays);
    if (!this.closing) {
      awaitClient(this);
    }
  }

  clientWent(): void {
    this.stays = false;
    this.owner?.socketEnded(false);
  }

  clientBroke(): void {
    this.close();
  }

  protected gone(): void {
    this.owner?.socketClosed?.();
  }
}
