import { joined, joinedText } from '../../../shared/net/joined.js';
import type { Socket, SocketAddress, SocketOwner } from '../../../shared/net/socket.js';
import { totalLength } from '../../bytes/total-length.js';
import { plainLength } from '../plain-length.js';
import { CIPHER_LIMIT, CIPHER_OFFER } from '../write-limits.js';
import { RecordLayer } from './record-layer.js';

/** A TLS connection on any socket, with all that an owner may ask for. What is told to owners depends on the role in the handshake. */
export abstract class RecordSocket extends RecordLayer implements Socket, SocketOwner {
  protected abstract readonly below: Socket;
  protected owner: SocketOwner | undefined = undefined;
  /** What was written before records went past the cipher. */
  #queue: Buffer[] | null = null;
  /** The owner has waited to be told that all has left since before records went past the cipher. */
  protected waits = false;
  /** We send no more. */
  #shut = false;
  protected closing = false;
  /** The owner hears no more. */
  protected deserted = false;
  /** What came too late to be sent. */
  #late = 0;

  // ---------------------------------------------------------------- what the cipher and OpenSSL tell

  protected sendPiece(piece: Buffer): void {
    this.below.write(piece);
  }

  protected sendLent(bytes: Buffer, length: number): boolean {
    return this.below.writeLent('', bytes, 0, length, '');
  }

  /** Sends what has waited until records go past the cipher. Returns false if the connection is about to be closed. */
  protected sendQueue(): boolean {
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
    if (this.closing) {
      this.below.closeSoon();
      return false;
    }
    if (this.#shut) {
      this.below.end();
    }
    return true;
  }

  // ---------------------------------------------------------------- what the socket below tells

  abstract socketEnded(): void;
  abstract socketDrained(): void;

  socketReceived(bytes: Buffer, length: number): void {
    if (!this.closed && !this.closing && !this.ended) {
      this.came(bytes, length);
    }
  }

  // ---------------------------------------------------------------- what the owner asks for

  abstract start(owner: SocketOwner): void;

  get descriptor(): number {
    return this.below.descriptor;
  }

  remote(): SocketAddress {
    return this.below.remote();
  }

  local(): SocketAddress {
    return this.below.local();
  }

  get pending(): boolean {
    return this.#queue !== null || this.below.pending;
  }

  /** What waits until records go past the cipher is as good as sent. */
  get unsent(): number {
    return this.#late + plainLength(this.below.unsent);
  }

  get blocked(): boolean {
    return this.below.blocked;
  }

  get flushed(): boolean {
    return this.#queue === null && this.released && this.below.flushed;
  }

  pause(): void {
    this.reading = false;
    this.below.pause();
  }

  resume(): void {
    if (this.reading || this.closed || this.closing) {
      return;
    }
    this.reading = true;
    this.below.resume();
    this.drainSoon();
  }

  expectMuch(much: boolean): void {
    this.below.expectMuch(much);
  }

  /** What is written is encrypted before the call returns. */
  get #encrypts(): boolean {
    return this.direct && !this.corked;
  }

  write(data: string | Buffer): boolean {
    if (this.closed || this.#shut) {
      return this.#dropped(data.length);
    }
    if (typeof data !== 'string') {
      return this.#write(data);
    }
    const short = data.length <= CIPHER_LIMIT && this.#encrypts;
    return this.#write(short ? joinedText(data) : Buffer.from(data, 'latin1'));
  }

  /** `bytes` came too late to be sent. */
  #dropped(bytes: number): true {
    this.#late += bytes;
    return true;
  }

  writeJoined(before: string, bytes: Buffer, after: string): boolean {
    if (this.closed || this.#shut) {
      return this.#dropped(before.length + bytes.length + after.length);
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
    const piece = this.#encrypts ? bytes.subarray(start, end) : Buffer.from(bytes.subarray(start, end));
    return before === '' && after === '' ? this.write(piece) : this.writeJoined(before, piece, after);
  }

  #writeJoined(before: string, bytes: Buffer, after: string): boolean {
    const whole = joined(before, bytes, 0, bytes.length, after);
    return this.#write(this.#encrypts ? whole : Buffer.from(whole));
  }

  /** Encrypts and sends; the bytes are not needed any more then, unless the cipher is still at work or they are to leave with others. */
  #write(bytes: Buffer): boolean {
    if (this.corked) {
      return this.keep(bytes);
    }
    if (this.direct) {
      return this.encrypt(bytes);
    }
    if (this.#queue === null) {
      this.#queue = [bytes];
    } else {
      this.#queue.push(bytes);
    }
    this.waits = true;
    return false;
  }

  get offerLimit(): number {
    return CIPHER_OFFER;
  }

  offer(bytes: Buffer): number {
    if (this.closed || this.#shut || !this.#encrypts || this.pending) {
      return 0;
    }
    this.encrypt(bytes);
    return bytes.length;
  }

  awaitFlush(): void {
    this.waits = true;
    this.below.awaitFlush();
  }

  // ---------------------------------------------------------------- the end

  end(): void {
    if (this.closed || this.#shut) {
      return;
    }
    this.release();
    this.#shut = true;
    if (this.direct) {
      this.sayEnd();
      this.below.end();
    }
  }

  closeSoon(): void {
    if (this.closed || this.closing) {
      return;
    }
    const ended = this.#shut;
    this.closing = true;
    this.#shut = true;
    this.reading = false;
    if (!this.direct && !this.handshaking) {
      return;
    }
    if (!ended) {
      this.sayEnd();
    }
    this.below.closeSoon();
  }

  close(): void {
    if (!this.closed) {
      this.closed = true;
      this.below.close();
    }
  }

  leave(): void {
    if (this.deserted) {
      return;
    }
    this.deserted = true;
    if (!this.closed && !this.#shut) {
      this.sayEnd();
    }
    this.below.leave();
    this.free();
  }

  reset(): void {
    if (!this.closed) {
      this.closed = true;
      this.below.reset();
    }
  }

  /** Notes what was never sent, and frees OpenSSL's part: the socket below is closed. */
  protected gone(): void {
    this.#late += this.#queue === null ? 0 : totalLength(this.#queue);
    this.#queue = null;
    this.free();
  }
}
