import type { X509Certificate } from 'node:crypto';
import type { BackendTarget, SocketOwner } from '../../shared/net/socket.js';
import { CipherSocket } from './cipher-socket.js';
import { HandleSocket } from './handle-socket.js';
import { type BackendTls, closedInHandshake, prepareHello, type SecureBackendSocket } from './secure-backend-socket.js';
import { certificateOf } from './tls-binding.js';

/** A TLS connection to a backend on libuv's handle. */
export class CipherBackendSocket extends CipherSocket implements SecureBackendSocket, SocketOwner {
  readonly #tls: BackendTls;
  /** Gets each session. */
  #keep: ((session: Buffer) => void) | null = null;
  /** A session that came before the handshake was over. */
  #session: Buffer | undefined = undefined;
  #failure: Error | undefined = undefined;

  /** Begins to connect. What comes of it is told to the owner after this has returned. */
  constructor(target: BackendTarget, tls: BackendTls, owner: SocketOwner) {
    super();
    this.#tls = tls;
    this.owner = owner;
    this.below = HandleSocket.connect(target, this);
  }

  get certificate(): X509Certificate | undefined {
    return certificateOf(this.cipher);
  }

  keepSession(keep: (session: Buffer) => void): void {
    this.#keep = keep;
  }

  start(owner: SocketOwner): void {
    this.owner = owner;
  }

  // ---------------------------------------------------------------- what the plain connection tells

  socketOpened(): void {
    this.owner?.socketOpened?.();
    const { preface } = this.#tls;
    if (!this.closed && (preface === undefined || this.below!.write(preface))) {
      this.#shakeHands();
    }
  }

  /** The rest of the plain bytes has left. */
  socketDrained(): void {
    this.#shakeHands();
  }

  #shakeHands(): void {
    const cipher = this.secure(this.#tls.context, false);
    prepareHello(cipher, this.#tls);
    if (this.#keep !== null) {
      cipher.onnewsession = (_id, session) => this.#giveSession(session);
      cipher.enableSessionCallbacks?.();
    }
    cipher.start();
  }

  // Before the hello a backend has nothing to say that would be TLS.
  socketReceived(): void {
    this.#fail(new Error('the backend sent something before the TLS handshake'));
  }

  socketEnded(): void {
    this.#fail(closedInHandshake());
  }

  socketFailed(error: Error): void {
    this.#fail(error);
  }

  // ---------------------------------------------------------------- what the cipher tells

  #giveSession(session: Buffer): void {
    if (this.handshaking) {
      this.#session = session;
    } else {
      this.#keep!(session);
    }
  }

  protected handshakeOver(): void {
    this.owner?.socketSecured?.();
    if (this.#session !== undefined) {
      this.#keep!(this.#session);
    }
  }

  protected handshakeFailed(error: Error | undefined): void {
    this.#fail(error ?? closedInHandshake());
  }

  protected broke(error: Error): void {
    this.#fail(error);
  }

  /** Tells the owner later: OpenSSL may be on the stack, or the owner itself. */
  #fail(error: Error): void {
    if (this.#failure === undefined) {
      this.#failure = error;
      this.close();
      setImmediate(tellFailure, this);
    }
  }

  tellFailure(): void {
    this.owner?.socketFailed?.(this.#failure!);
  }

  protected decrypted(bytes: Buffer, length: number): void {
    this.owner?.socketReceived(bytes, length, true);
  }

  protected endCame(): void {
    this.owner?.socketEnded(false);
  }

  protected gone(): void {}

  override leave(): void {
    this.owner = undefined;
    if (this.handshaking || this.pending) {
      this.close();
    } else {
      this.closeSoon();
    }
  }
}

const tellFailure = (socket: CipherBackendSocket): void => socket.tellFailure();
