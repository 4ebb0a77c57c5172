import type { X509Certificate } from 'node:crypto';
import type { Socket, SocketOwner } from '../../../shared/net/socket.js';
import { type BackendTls, closedInHandshake, prepareHello, type SecureBackendSocket } from '../secure-backend-socket.js';
import { certificateOf } from '../tls-binding.js';
import type { OpenSslCall } from './record-layer.js';
import { RecordSocket } from './record-socket.js';

/** Begins a plain connection, which tells this owner what happens on it. */
export type BeginConnection = (owner: SocketOwner) => Socket;

/** A TLS connection to a backend on any socket. */
export class RecordBackendSocket extends RecordSocket implements SecureBackendSocket {
  protected readonly below: Socket;
  protected override owner: SocketOwner;
  readonly #preface: Buffer | undefined;
  /** What was decrypted before the owner knew that the connection is ready, and that it has not been given since. */
  #early: Buffer[] = [];
  /** Gets the session, once. */
  #keep: ((session: Buffer) => void) | null = null;

  /** Begins a connection with `connect`. What comes of it is told to the owner after this has returned. */
  constructor(connect: BeginConnection, tls: BackendTls, owner: SocketOwner) {
    super(tls.context, false);
    this.owner = owner;
    this.#preface = tls.preface;
    prepareHello(this.cipher!, tls);
    this.below = connect(this);
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

  // ---------------------------------------------------------------- what the cipher and OpenSSL tell

  /** {@link tookOver} follows. The owner may close the connection when it is told, which OpenSSL's stack would not survive. */
  protected handshakeOver(): void {}

  protected handshakeFailed(error: Error | undefined): void {
    this.#fail(error ?? closedInHandshake());
  }

  protected broke(call: OpenSslCall): void {
    const { failure } = this.records;
    this.#fail(new Error(failure === '' ? `${call}() failed` : `${call}() failed (SSL: ${failure})`));
  }

  /** Tells the owner later: OpenSSL may be on the stack, or the owner itself. */
  #fail(error: Error): void {
    setImmediate(tellFailure, this, error);
  }

  /** Tells the owner, unless that has closed the connection. */
  tellFailure(error: Error): void {
    if (!this.deserted) {
      this.owner.socketFailed?.(error);
    }
  }

  protected tookOver(): void {
    this.sendQueue();
    this.owner.socketSecured?.();
    this.goOn();
  }

  protected decrypted(bytes: Buffer, length: number): void {
    if (this.direct) {
      this.#give(bytes, length);
    } else {
      this.#early.push(Buffer.from(bytes.subarray(0, length)));
    }
  }

  #give(bytes: Buffer, length: number): void {
    // With TLS 1.3 the session comes behind the handshake, but before a response.
    if (this.#keep !== null) {
      this.#giveSession(this.#keep);
    }
    this.owner.socketReceived(bytes, length, true);
  }

  #giveSession(keep: (session: Buffer) => void): void {
    this.#keep = null;
    const session = this.records.resumable ? this.cipher?.getSession?.() : undefined;
    if (session !== undefined) {
      keep(session);
    }
  }

  protected endCame(): void {
    if (this.direct) {
      this.owner.socketEnded(false);
    }
  }

  /** Gives the owner what has waited for it, and reads on. */
  goOn(): void {
    while (this.#early.length > 0) {
      if (!this.reading || this.closed) {
        return;
      }
      const bytes = this.#early.shift()!;
      this.#give(bytes, bytes.length);
    }
    if (this.closed) {
      return;
    }
    if (this.ended) {
      this.owner.socketEnded(false);
    } else {
      this.drain();
    }
  }

  protected override drainSoon(): void {
    if (this.#early.length > 0) {
      setImmediate(goOn, this);
    } else {
      super.drainSoon();
    }
  }

  // ---------------------------------------------------------------- what the socket below tells

  socketOpened(): void {
    this.owner.socketOpened?.();
    if (this.closed) {
      return;
    }
    if (this.#preface !== undefined) {
      this.below.write(this.#preface);
    }
    this.atWork((records) => records.begin());
  }

  socketEnded(): void {
    this.cameToEnd();
  }

  socketFailed(error: Error): void {
    if (!this.closed) {
      this.closed = true;
      this.owner.socketFailed?.(error);
    }
  }

  socketDrained(): void {
    if (this.direct && !this.closed) {
      this.owner.socketDrained();
    }
  }

  // ---------------------------------------------------------------- the end

  override close(): void {
    super.close();
    this.free();
  }

  override reset(): void {
    super.reset();
    this.free();
  }
}

function tellFailure(socket: RecordBackendSocket, error: Error): void {
  socket.tellFailure(error);
}

function goOn(socket: RecordBackendSocket): void {
  socket.goOn();
}
