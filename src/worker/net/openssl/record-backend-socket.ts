import type { X509Certificate } from 'node:crypto';
import type { BackendSocket, BackendSocketOwner } from '../../../shared/net/backend-socket.js';
import type { SocketAddress } from '../../../shared/net/client-socket.js';
import { joinedText } from '../../../shared/net/joined.js';
import type { BackendTls, SecureBackendSocket } from '../secure-backend-socket.js';
import { certificateOf } from '../tls-binding.js';
import { CIPHER_LIMIT } from '../write-limits.js';
import { type OpenSslCall, RecordLayer } from './record-layer.js';

/** Begins a plain connection, which tells this owner what happens on it. */
export type BeginConnection = (owner: BackendSocketOwner) => BackendSocket;

/** A TLS connection to a backend on any socket. */
export class RecordBackendSocket extends RecordLayer implements SecureBackendSocket, BackendSocketOwner {
  readonly #below: BackendSocket;
  readonly #owner: BackendSocketOwner;
  readonly #preface: Buffer | undefined;
  /** What was decrypted before the owner knew that the connection is ready, and that it has not been given since. */
  #early: Buffer[] = [];
  /** Gets the session, once. */
  #keep: ((session: Buffer) => void) | null = null;
  /** What was written while it is to leave together. */
  #corked: Buffer[] = [];
  #corks = 0;
  /** We send no more. */
  #shut = false;
  /** The owner has closed it. */
  #left = false;

  /** Begins a connection with `connect`. What comes of it is told to the owner after this has returned. */
  constructor(connect: BeginConnection, tls: BackendTls, owner: BackendSocketOwner) {
    super(tls.context, false);
    this.#owner = owner;
    this.#preface = tls.preface;
    const cipher = this.cipher!;
    // OpenSSL is to look at the certificate, and to go on whatever it thinks of it.
    cipher.setVerifyMode(true, false);
    if (tls.protocols.length > 0) {
      cipher.setALPNProtocols(Buffer.from(tls.protocols.map((name) => String.fromCharCode(name.length) + name).join(''), 'latin1'));
    }
    if (tls.session !== undefined) {
      cipher.setSession(tls.session);
    }
    if (tls.serverName !== undefined) {
      cipher.setServername(tls.serverName);
    }
    this.#below = connect(this);
  }

  get certificate(): X509Certificate | undefined {
    return certificateOf(this.cipher);
  }

  keepSession(keep: (session: Buffer) => void): void {
    this.#keep = keep;
  }

  // ---------------------------------------------------------------- what the cipher and OpenSSL tell

  protected sendPiece(piece: Buffer): void {
    this.#below.write(piece);
  }

  protected sendLent(bytes: Buffer, length: number): boolean {
    return this.#below.writeLent(bytes, 0, length);
  }

  /** {@link tookOver} follows. The owner may close the connection when it is told, which OpenSSL's stack would not survive. */
  protected handshakeOver(): void {}

  protected handshakeFailed(error: Error | undefined): void {
    this.#fail(error ?? new Error('the backend closed the connection before the TLS handshake was over'));
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
    if (!this.#left) {
      this.#owner.socketFailed(error);
    }
  }

  protected tookOver(): void {
    this.#owner.socketReady();
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
    this.#owner.socketReceived(bytes, length);
  }

  #giveSession(keep: (session: Buffer) => void): void {
    this.#keep = null;
    const session = this.records.resumable ? this.cipher?.getSession() : undefined;
    if (session !== undefined) {
      keep(session);
    }
  }

  protected endCame(): void {
    if (this.direct) {
      this.#owner.socketEnded();
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
      this.#owner.socketEnded();
    } else {
      this.drain();
    }
  }

  // ---------------------------------------------------------------- what the socket below tells

  socketConnected(): void {
    this.#owner.socketConnected();
    if (this.closed) {
      return;
    }
    if (this.#preface !== undefined) {
      this.#below.write(this.#preface);
    }
    this.atWork((records) => records.begin());
  }

  /** Plain connections have no handshake. */
  socketReady(): void {}

  socketReceived(bytes: Buffer, length: number): void {
    if (!this.closed && !this.ended) {
      this.came(bytes, length);
    }
  }

  socketEnded(): void {
    this.cameToEnd();
  }

  socketFailed(error: Error): void {
    if (!this.closed) {
      this.closed = true;
      this.#owner.socketFailed(error);
    }
  }

  socketDrained(): void {
    if (this.direct && !this.closed) {
      this.#owner.socketDrained();
    }
  }

  // ---------------------------------------------------------------- what the owner asks for

  write(data: string | Buffer): boolean {
    if (this.closed || this.#shut) {
      return true;
    }
    if (typeof data !== 'string') {
      return this.#write(data);
    }
    return this.#write(data.length <= CIPHER_LIMIT && this.#corks === 0 ? joinedText(data) : Buffer.from(data, 'latin1'));
  }

  writeLent(bytes: Buffer, start: number, end: number): boolean {
    if (this.closed || this.#shut) {
      return true;
    }
    const piece = bytes.subarray(start, end);
    return this.#write(this.#corks === 0 ? piece : Buffer.from(piece));
  }

  #write(bytes: Buffer): boolean {
    if (this.#corks === 0) {
      return this.encrypt(bytes);
    }
    this.#corked.push(bytes);
    return true;
  }

  offer(bytes: Buffer): number {
    if (this.closed || this.#shut || this.#corks > 0 || this.pending) {
      return 0;
    }
    this.encrypt(bytes);
    return bytes.length;
  }

  get pending(): boolean {
    return this.#below.pending;
  }

  local(): SocketAddress {
    return this.#below.local();
  }

  // A record for all of it rather than one for each piece.
  cork(): void {
    this.#corks++;
  }

  uncork(): void {
    if (this.#corks > 0 && --this.#corks === 0) {
      this.#sendCorked();
    }
  }

  #sendCorked(): void {
    const pieces = this.#corked;
    if (pieces.length > 0) {
      this.#corked = [];
      this.encrypt(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces));
    }
  }

  get flushed(): boolean {
    return this.#corked.length === 0 && this.#below.flushed;
  }

  awaitFlush(): void {
    this.#below.awaitFlush();
  }

  pause(): void {
    this.reading = false;
    this.#below.pause();
  }

  resume(): void {
    if (this.reading || this.closed) {
      return;
    }
    this.reading = true;
    this.#below.resume();
    if (this.#early.length > 0) {
      setImmediate(goOn, this);
    } else {
      this.drainSoon();
    }
  }

  end(): void {
    if (this.closed || this.#shut) {
      return;
    }
    this.#corks = 0;
    this.#sendCorked();
    this.#shut = true;
    this.sayEnd();
    this.#below.end();
  }

  close(): void {
    if (this.#left) {
      return;
    }
    this.#left = true;
    if (!this.closed && !this.#shut) {
      this.sayEnd();
    }
    this.#below.close();
    this.free();
  }
}

function tellFailure(socket: RecordBackendSocket, error: Error): void {
  socket.tellFailure(error);
}

function goOn(socket: RecordBackendSocket): void {
  socket.goOn();
}
