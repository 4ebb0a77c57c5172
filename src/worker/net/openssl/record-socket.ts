import type { SecureContext } from 'node:tls';
import type { ClientSocket, SocketAddress, SocketOwner } from '../../../shared/net/client-socket.js';
import { joined, joinedText } from '../../../shared/net/joined.js';
import { keptEarly, tellEarly } from '../early-bytes.js';
import { plainLength } from '../plain-length.js';
import type { HandshakeOwner, SecureSocket } from '../secure-socket.js';
import { CIPHER_LIMIT, CIPHER_OFFER } from '../write-limits.js';
import { RecordLayer } from './record-layer.js';

/** A client's TLS connection on any socket. */
export class RecordSocket extends RecordLayer implements SecureSocket, SocketOwner {
  readonly #below: ClientSocket;
  #handshake: HandshakeOwner | null;
  #owner: SocketOwner | undefined = undefined;
  /** What was written before records went past the cipher. */
  #queue: Buffer[] | null = null;
  /** What came before there was an owner. */
  #early: Buffer[] | null = null;
  /** The owner has waited for `flushed` since before records went past the cipher. */
  #waits = false;
  /** We send no more. */
  #shut = false;
  #closing = false;
  /** What came too late to be sent. */
  #late = 0;

  /** Takes over a socket that is being read. The handshake begins with what {@link receive} is given. */
  constructor(below: ClientSocket, context: SecureContext, handshake: HandshakeOwner, early = false) {
    super(context, true, early);
    this.#below = below;
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

  // ---------------------------------------------------------------- what the cipher and OpenSSL tell

  protected sendPiece(piece: Buffer): void {
    this.#below.write(piece);
  }

  protected sendLent(bytes: Buffer, length: number): boolean {
    return this.#below.writeLent('', bytes, 0, length, '');
  }

  protected handshakeOver(): void {
    const handshake = this.#handshake;
    this.#handshake = null;
    handshake?.handshakeDone();
  }

  protected handshakeFailed(error: Error | undefined): void {
    const handshake = this.#handshake;
    this.#handshake = null;
    this.#below.closeSoon();
    handshake?.handshakeFailed(error);
  }

  protected broke(): void {
    this.#below.closeSoon();
  }

  /** Sends what has waited for that, and reads what is left. */
  protected tookOver(): void {
    const queue = this.#queue;
    this.#queue = null;
    if (queue !== null) {
      for (const bytes of queue) {
        this.encrypt(bytes);
      }
    }
    if (this.#shut) {
      this.sayEnd();
    }
    if (this.#closing) {
      this.#below.closeSoon();
      return;
    }
    if (this.#shut) {
      this.#below.end();
    }
    if (this.#waits && !this.pending) {
      this.#flushed();
    }
    this.drain();
  }

  protected decrypted(bytes: Buffer, length: number): void {
    const owner = this.#owner;
    if (owner !== undefined) {
      owner.received(bytes, length, true);
      return;
    }
    this.#early = keptEarly(this.#early, bytes, length);
  }

  protected endCame(): void {
    this.#owner?.clientEnded(!this.over);
  }

  // ---------------------------------------------------------------- what the socket below tells

  received(bytes: Buffer, length: number): boolean {
    if (!this.closed && !this.#closing && !this.ended) {
      this.came(bytes, length);
    }
    return true;
  }

  clientEnded(): void {
    const told = this.ended;
    this.cameToEnd();
    if (told && !this.closed) {
      this.#owner?.clientEnded(false);
    }
  }

  /** Whether a write returned false or the owner saw {@link pending}: either way it waits for this. */
  flushed(): void {
    if (this.direct && !this.pending) {
      this.#flushed();
    }
  }

  #flushed(): void {
    this.#waits = false;
    if (!this.closed && !this.#closing) {
      this.#owner?.flushed();
    }
  }

  socketClosed(): void {
    this.closed = true;
    const handshake = this.#handshake;
    this.#handshake = null;
    handshake?.handshakeFailed(undefined);
    this.#owner?.socketClosed();
    this.#late = this.unsent - plainLength(this.#below.unsent);
    this.#queue = null;
    this.#early = null;
    this.free();
  }

  // ---------------------------------------------------------------- what the owner asks for

  get descriptor(): number {
    return this.#below.descriptor;
  }

  remote(): SocketAddress {
    return this.#below.remote();
  }

  local(): SocketAddress {
    return this.#below.local();
  }

  get pending(): boolean {
    return this.#queue !== null || this.#below.pending;
  }

  get unsent(): number {
    const waits = this.#queue?.reduce((sum, { length }) => sum + length, 0) ?? 0;
    return this.#late + waits + plainLength(this.#below.unsent);
  }

  get empty(): boolean {
    return this.#queue === null && this.#below.empty;
  }

  start(owner: SocketOwner): void {
    this.#owner = owner;
    const early = this.#early;
    this.#early = null;
    tellEarly(owner, early, this.ended, !this.over);
  }

  pause(): void {
    this.reading = false;
    this.#below.pause();
  }

  resume(): void {
    if (this.reading || this.closed || this.#closing) {
      return;
    }
    this.reading = true;
    this.#below.resume();
    this.drainSoon();
  }

  expectMuch(much: boolean): void {
    this.#below.expectMuch(much);
  }

  write(data: string | Buffer): boolean {
    if (this.closed || this.#shut) {
      this.#late += data.length;
      return true;
    }
    if (typeof data !== 'string') {
      return this.#write(data);
    }
    const short = this.direct && data.length <= CIPHER_LIMIT;
    return this.#write(short ? joinedText(data) : Buffer.from(data, 'latin1'));
  }

  writeJoined(before: string, bytes: Buffer, after: string): boolean {
    if (this.closed || this.#shut) {
      this.#late += before.length + bytes.length + after.length;
      return true;
    }
    if (before.length + bytes.length + after.length <= CIPHER_LIMIT) {
      return this.#writeJoined(before, bytes, after);
    }
    // Whole records as far as the text goes into them.
    const room = Math.min(bytes.length, Math.max(0, CIPHER_LIMIT - before.length));
    if (room > 0) {
      this.#writeJoined(before, bytes.subarray(0, room), '');
    } else {
      this.#write(Buffer.from(before, 'latin1'));
    }
    const flowing = this.#write(bytes.subarray(room));
    return after === '' ? flowing : this.#write(Buffer.from(after, 'latin1'));
  }

  writeLent(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    const piece = bytes.subarray(start, end);
    return this.writeJoined(before, this.direct ? piece : Buffer.from(piece), after);
  }

  #writeJoined(before: string, bytes: Buffer, after: string): boolean {
    const whole = joined(before, bytes, 0, bytes.length, after);
    return this.#write(this.direct ? whole : Buffer.from(whole));
  }

  /** Encrypts and sends; the bytes are not needed any more then, unless the cipher is still at work. */
  #write(bytes: Buffer): boolean {
    if (this.direct) {
      return this.encrypt(bytes);
    }
    if (this.#queue === null) {
      this.#queue = [bytes];
    } else {
      this.#queue.push(bytes);
    }
    this.#waits = true;
    return false;
  }

  get offerLimit(): number {
    return CIPHER_OFFER;
  }

  offer(bytes: Buffer): number {
    if (this.closed || this.#shut || !this.direct || this.pending) {
      return 0;
    }
    this.encrypt(bytes);
    return bytes.length;
  }

  awaitFlush(): void {
    this.#waits = true;
    this.#below.awaitFlush();
  }

  end(): void {
    if (this.closed || this.#shut) {
      return;
    }
    this.#shut = true;
    if (this.direct) {
      this.sayEnd();
      this.#below.end();
    }
  }

  closeSoon(): void {
    if (this.closed || this.#closing) {
      return;
    }
    const ended = this.#shut;
    this.#closing = true;
    this.#shut = true;
    this.reading = false;
    if (!this.direct && !this.handshaking) {
      return;
    }
    if (!ended) {
      this.sayEnd();
    }
    this.#below.closeSoon();
  }

  close(): void {
    if (!this.closed) {
      this.closed = true;
      this.#below.close();
    }
  }

  reset(): void {
    if (!this.closed) {
      this.closed = true;
      this.#below.reset();
    }
  }
}
