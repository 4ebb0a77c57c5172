import type { SecureContext } from 'node:tls';
import type { Socket, SocketOwner } from '../../../shared/net/socket.js';
import { keptEarly, tellEarly } from '../early-bytes.js';
import type { HandshakeOwner, SecureSocket } from '../secure-socket.js';
import { RecordSocket } from './record-socket.js';

/** A client's TLS connection on any socket. */
export class RecordServerSocket extends RecordSocket implements SecureSocket {
  protected readonly below: Socket;
  #handshake: HandshakeOwner | null;
  /** What came before there was an owner. */
  #early: Buffer[] | null = null;

  /** Takes over a socket that is being read. The handshake begins with what {@link receive} is given. */
  constructor(below: Socket, context: SecureContext, handshake: HandshakeOwner, early = false) {
    super(context, true, early);
    this.below = below;
    this.#handshake = handshake;
    below.start(this);
  }

  get early(): boolean {
    return !this.closed && this.records.early;
  }

  limitRecords(bytes: number): void {
    this.cipher?.setMaxSendFragment(bytes);
  }

  sessionStored(): void {
    this.atWork(({ cipher }) => cipher.newSessionDone());
  }

  start(owner: SocketOwner): void {
    this.owner = owner;
    const early = this.#early;
    this.#early = null;
    tellEarly(owner, early, this.ended, !this.over);
  }

  // ---------------------------------------------------------------- what the cipher and OpenSSL tell

  protected handshakeOver(): void {
    const handshake = this.#handshake;
    this.#handshake = null;
    handshake?.handshakeDone();
  }

  protected handshakeFailed(error: Error | undefined): void {
    const handshake = this.#handshake;
    this.#handshake = null;
    this.below.closeSoon();
    handshake?.handshakeFailed(error);
  }

  protected broke(): void {
    this.below.closeSoon();
  }

  /** Sends what has waited for that, and reads what is left. */
  protected tookOver(): void {
    if (!this.sendQueue()) {
      return;
    }
    if (this.waits && !this.pending) {
      this.#drained();
    }
    this.drain();
  }

  protected decrypted(bytes: Buffer, length: number): void {
    const { owner } = this;
    if (owner !== undefined) {
      owner.socketReceived(bytes, length, true);
      return;
    }
    this.#early = keptEarly(this.#early, bytes, length);
  }

  protected endCame(): void {
    this.owner?.socketEnded(!this.over);
  }

  // ---------------------------------------------------------------- what the socket below tells

  socketEnded(): void {
    const told = this.ended;
    this.cameToEnd();
    if (told && !this.closed) {
      this.owner?.socketEnded(false);
    }
  }

  /** Whether a write returned false or the owner saw {@link pending}: either way it waits for this. */
  socketDrained(): void {
    if (this.direct && !this.pending) {
      this.#drained();
    }
  }

  #drained(): void {
    this.waits = false;
    if (!this.closed && !this.closing) {
      this.owner?.socketDrained();
    }
  }

  socketClosed(): void {
    this.closed = true;
    const handshake = this.#handshake;
    this.#handshake = null;
    handshake?.handshakeFailed(undefined);
    this.owner?.socketClosed?.();
    this.#early = null;
    this.gone();
  }
}
