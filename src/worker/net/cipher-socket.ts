// Long, because one object is all of a TLS connection: libuv's handle, Node's cipher on it, and nothing else, so that a handshake does not
// pay for two sockets of node:net with their streams and listeners. Node has no public way to do that.

import type { SecureContext } from 'node:tls';
import { type ConnectionHandle, localOf, remoteOf } from '../../shared/net/connection-handle.js';
import { type HandleBinding, handleBinding, keepRequest, OVER, type WriteRequest, writeRequest } from '../../shared/net/handle-binding.js';
import { joined, joinedText } from '../../shared/net/joined.js';
import type { Socket, SocketAddress, SocketOwner } from '../../shared/net/socket.js';
import { systemError } from '../../shared/net/system-error.js';
import { spoil } from '../../shared/system/spoil.js';
import { setTimer } from '../../shared/time/timer.js';
import { totalLength } from '../bytes/total-length.js';
import { CorkedWriter } from './corked-writer.js';
import type { HandleSocket } from './handle-socket.js';
import { checkLeftErrors } from './left-errors.js';
import { plainLength } from './plain-length.js';
import { type CipherHandle, cipherMaker } from './tls-binding.js';
import { CIPHER_LIMIT, CIPHER_OFFER, LAST_BYTES } from './write-limits.js';

/** A record of TLS brings 16 KB at most. */
const READ_SIZE = 16 * 1024;
const EOF = -4095;

// What all connections read into; it is used up before the next one is read.
let buffer: Buffer | undefined;
let state: Int32Array | undefined;
let lengthAt = 0;

interface OwnedCipher extends CipherHandle {
  client: CipherSocket;
}

function onRead(this: CipherHandle): void {
  (this as OwnedCipher).client.read(state![lengthAt]!);
}

function onError(this: CipherHandle, error: Error): void {
  (this as OwnedCipher).client.cipherFailed(error);
}

function onHandshakeDone(this: CipherHandle): void {
  (this as OwnedCipher).client.cipherReady();
}

/** Node's cipher gives libuv ten buffers at most, each of a record's size. */
const AT_A_TIME = 10 * 16384;

/** A TLS connection on libuv's handle, by Node's cipher. What is told to owners depends on the role in the handshake. */
export abstract class CipherSocket extends CorkedWriter implements Socket {
  /** The connection, until there is a cipher on it. */
  protected below: HandleSocket | undefined = undefined;
  protected owner: SocketOwner | undefined = undefined;
  readonly #node: HandleBinding = handleBinding();
  /** Whose reading and writing is the cipher's, from its beginning on. */
  #handle: ConnectionHandle | undefined = undefined;
  #cipher: CipherHandle | null = null;
  protected handshaking = true;
  /** The write before, if nobody knows yet that it is over. */
  #last: WriteRequest | undefined = undefined;
  /** What came while a write was under way. */
  #queue: Buffer[] | null = null;
  #pending = false;
  /** The owner waits to be told that all has left, though nothing may be waiting. */
  #tells = false;
  #reading = true;
  /** The other side sends no more. */
  protected ended = false;
  /** We send no more. */
  #shut = false;
  /** What said so to the other side. */
  #ending: WriteRequest | undefined = undefined;
  protected closing = false;
  #closeTimer: NodeJS.Timeout | undefined = undefined;
  protected closed = false;
  /** What was never sent, once it is closed. */
  #left = 0;

  /** Puts a cipher on the connection, which is being read. See {@link cipherMaker}. */
  protected secure(context: SecureContext, server: boolean): CipherHandle {
    const handle = this.below!.release();
    const cipher = cipherMaker()(handle, context, server);
    if (buffer === undefined) {
      buffer = Buffer.allocUnsafeSlow(READ_SIZE);
      state = this.#node.streamBaseState;
      lengthAt = this.#node.kReadBytesOrError;
    }
    // The handle keeps what serves it alive, and its first owner no longer.
    handle.client = this;
    this.#handle = handle;
    this.below = undefined;
    this.#cipher = cipher;
    (cipher as OwnedCipher).client = this;
    cipher.useUserBuffer(buffer);
    cipher.onread = onRead;
    cipher.onerror = onError;
    cipher.onhandshakedone = onHandshakeDone;
    return cipher;
  }

  /** The first `length` of these bytes were decrypted; the memory is used again after the call. */
  protected abstract decrypted(bytes: Buffer, length: number): void;
  /** The other side sends no more. */
  protected abstract endCame(): void;
  /** The handshake is over. Called on OpenSSL's stack. */
  protected abstract handshakeOver(): void;
  /** The handshake failed: with OpenSSL's error, or because the other side has gone or the connection broke. */
  protected abstract handshakeFailed(error: Error | undefined, broken: boolean): void;
  /** The connection broke after its handshake. */
  protected abstract broke(error: Error): void;
  /** Nothing is done with the handle any more. */
  protected abstract gone(): void;

  get cipher(): CipherHandle | null {
    return this.#cipher;
  }

  get descriptor(): number {
    return this.closed ? -1 : (this.#handle?.fd ?? this.below?.descriptor ?? -1);
  }

  remote(): SocketAddress {
    return this.#handle === undefined ? this.below!.remote() : remoteOf(this.#handle);
  }

  local(): SocketAddress {
    return this.#handle === undefined ? this.below!.local() : localOf(this.#handle);
  }

  // A cipher tells of a write that the kernel took when the tick is over.
  get blocked(): boolean {
    return this.#handle !== undefined && this.#handle.writeQueueSize > 0;
  }

  get flushed(): boolean {
    return !this.#pending && this.released;
  }

  /** What waits for nothing but the end of the tick is as good as sent. */
  get unsent(): number {
    return this.closed ? this.#left : this.#untaken(this.blocked);
  }

  #untaken(withQueue: boolean): number {
    const below = plainLength(this.#handle?.writeQueueSize ?? 0);
    // What the cipher has and libuv has not, for it gives it so much at a time.
    const made = (this.#cipher as { readonly writeQueueSize?: number } | null)?.writeQueueSize ?? 0;
    const waits = withQueue && this.#queue !== null ? totalLength(this.#queue) : 0;
    return below + plainLength(Math.max(0, made - AT_A_TIME)) + waits;
  }

  /** `bytes` came too late to be sent. */
  #dropped(bytes: number): true {
    if (this.closed) {
      this.#left += bytes;
    }
    return true;
  }

  get pending(): boolean {
    return this.#pending;
  }

  abstract start(owner: SocketOwner): void;

  /** `length` bytes came into the common memory, or an error number. */
  read(length: number): void {
    if (this.closed || length === 0) {
      return;
    }
    if (length > 0) {
      checkLeftErrors();
      this.decrypted(buffer!, length);
      spoil(buffer!, 0, length);
    } else if (length !== EOF) {
      this.#broke(systemError(length, 'read'));
    } else if (this.handshaking) {
      this.#failed(undefined, false);
    } else {
      this.ended = true;
      this.endCame();
    }
  }

  /** OpenSSL makes nothing of what came. It has sent its alert. */
  cipherFailed(error: Error): void {
    if (this.closed) {
      return;
    }
    if (this.handshaking) {
      this.#failed(error, false);
    } else {
      this.broke(error);
    }
  }

  /** A call of the system failed. */
  #broke(error: Error): void {
    if (this.handshaking) {
      this.#failed(error, true);
    } else {
      this.broke(error);
    }
  }

  #failed(error: Error | undefined, broken: boolean): void {
    this.handshaking = false;
    this.handshakeFailed(error, broken);
  }

  cipherReady(): void {
    if (!this.handshaking || this.closed) {
      return;
    }
    this.handshaking = false;
    checkLeftErrors();
    if (!this.#reading) {
      this.#cipher!.readStop();
    }
    this.handshakeOver();
  }

  pause(): void {
    if (!this.#reading || this.closed) {
      return;
    }
    this.#reading = false;
    if (!this.handshaking) {
      this.#cipher!.readStop();
    }
  }

  resume(): void {
    if (this.#reading || this.closed) {
      return;
    }
    this.#reading = true;
    const error = this.handshaking ? 0 : this.#cipher!.readStart();
    if (error !== 0) {
      this.broke(systemError(error, 'read'));
    }
  }

  // A record is read as a whole.
  expectMuch(): void {}

  /** A write is under way. A cipher takes no other one until it is over, and Node ends the process if it gets one. */
  #busy(): boolean {
    if (this.#last === undefined) {
      return false;
    }
    if (this.#pending || this.#last.getAsyncId() !== OVER) {
      return true;
    }
    this.#last = undefined;
    return false;
  }

  write(data: string | Buffer): boolean {
    if (this.closed || this.#shut) {
      return this.#dropped(data.length);
    }
    if (this.corked || this.#busy()) {
      return this.#later(typeof data === 'string' ? Buffer.from(data, 'latin1') : data);
    }
    const cipher = this.#cipher as CipherHandle;
    const request = writeRequest(this.#node);
    if (typeof data !== 'string') {
      return this.#written(cipher.writeBuffer(request, data));
    }
    // Node copies a text twice for TLS.
    if (data.length <= CIPHER_LIMIT) {
      return this.#written(cipher.writeBuffer(request, joinedText(data)));
    }
    return this.#written(cipher.writeLatin1String(request, data));
  }

  writeJoined(before: string, bytes: Buffer, after: string): boolean {
    if (this.closed || this.#shut) {
      return this.#dropped(before.length + bytes.length + after.length);
    }
    if (before.length + bytes.length + after.length <= CIPHER_LIMIT) {
      const whole = joined(before, bytes, 0, bytes.length, after);
      if (this.corked || this.#busy()) {
        return this.#later(Buffer.from(whole));
      }
      return this.#written((this.#cipher as CipherHandle).writeBuffer(writeRequest(this.#node), whole));
    }
    if (this.corked || this.#busy()) {
      this.#later(Buffer.from(before, 'latin1'));
      if (after !== '') {
        this.#later(bytes);
      }
      return this.#later(after === '' ? bytes : Buffer.from(after, 'latin1'));
    }
    const pieces = [before, 'latin1', bytes, 'buffer', after, 'latin1'];
    return this.#written((this.#cipher as CipherHandle).writev(writeRequest(this.#node), pieces, false));
  }

  writeLent(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    const piece = bytes.subarray(start, end);
    // A cipher has taken everything when its call returns; so only what waits for it must be copied.
    const waits = this.corked || (before.length + piece.length + after.length > CIPHER_LIMIT && this.#busy());
    return this.writeJoined(before, waits ? Buffer.from(piece) : piece, after);
  }

  /** Keeps what is to leave with others, or has to wait for the write before. */
  #later(bytes: Buffer): boolean {
    if (this.corked) {
      return this.keep(bytes);
    }
    if (this.#queue === null) {
      this.#queue = [bytes];
    } else {
      this.#queue.push(bytes);
    }
    this.#awaitLast();
    this.#pending = true;
    return false;
  }

  #awaitLast(): void {
    (this.#last as WriteRequest).oncomplete = (status) => this.#done(status);
  }

  #written(error: number): boolean {
    if (error !== 0) {
      this.broke(systemError(error, 'write'));
      return true;
    }
    if (this.#node.streamBaseState[this.#node.kLastWriteWasAsync] === 0) {
      return true;
    }
    this.#last = keepRequest();
    // A cipher tells of every write later, those too that the kernel took; nobody has to hear of these.
    if (this.#handle!.writeQueueSize === 0) {
      return true;
    }
    this.#awaitLast();
    this.#pending = true;
    return false;
  }

  #done(status: number): void {
    const told = this.#pending;
    const queue = this.#queue;
    this.#last = undefined;
    this.#pending = false;
    this.#queue = null;
    if (this.closed) {
      return;
    }
    if (status < 0) {
      this.broke(systemError(status, 'write'));
      return;
    }
    if (queue !== null) {
      const all = queue.length === 1 ? (queue[0] as Buffer) : Buffer.concat(queue);
      if (!this.#written((this.#cipher as CipherHandle).writeBuffer(writeRequest(this.#node), all))) {
        return;
      }
    }
    if (this.#shut) {
      if (this.#last === undefined) {
        this.idle();
      } else {
        this.#awaitLast();
      }
    }
    if (told && !this.closing) {
      this.#tellDrained();
    }
  }

  #tellDrained(): void {
    this.#tells = false;
    this.owner?.socketDrained();
  }

  get offerLimit(): number {
    return CIPHER_OFFER;
  }

  offer(bytes: Buffer): number {
    if (this.closed || this.#shut || this.corked || this.#busy()) {
      return 0;
    }
    this.#written((this.#cipher as CipherHandle).writeBuffer(writeRequest(this.#node), bytes));
    return bytes.length;
  }

  awaitFlush(): void {
    this.#tells = true;
    if (!this.#pending) {
      setImmediate(tellFlushed, this);
    }
  }

  /** Tells the owner, unless it was told or something else was written. */
  tellFlushed(): void {
    if (this.#tells && !this.closed && !this.closing && !this.#pending) {
      this.#tellDrained();
    }
  }

  end(): void {
    if (this.closed || this.#shut) {
      return;
    }
    this.release();
    this.#shut = true;
    this.#whenIdle();
  }

  closeSoon(): void {
    if (this.closed || this.closing) {
      return;
    }
    this.closing = true;
    this.#shut = true;
    this.#closeTimer = setTimer(close, LAST_BYTES, this);
    this.#closeTimer.unref();
    this.#whenIdle();
  }

  // Node's cipher would send the alert that says that this is the end behind the end of the connection if a write were under way, be it one
  // of the handshake; those are over when the tick is.
  #whenIdle(): void {
    if (this.#busy()) {
      this.#awaitLast();
    } else {
      setImmediate(idle, this);
    }
  }

  /** Nothing is under way any more: ends or closes, if that is to be. */
  idle(): void {
    if (this.closed) {
      return;
    }
    if (this.#ending === undefined) {
      const request = new this.#node.ShutdownWrap();
      const error = (this.#cipher as CipherHandle).shutdown(request);
      if (error < 0) {
        this.broke(systemError(error, 'shutdown'));
        return;
      }
      this.#ending = request;
    }
    if (!this.closing) {
      return;
    }
    if (this.#handle!.writeQueueSize === 0) {
      this.close();
    } else {
      this.#ending.oncomplete = () => this.close();
    }
  }

  close(): void {
    if (this.closed) {
      return;
    }
    this.#left = this.#untaken(true);
    this.closed = true;
    clearTimeout(this.#closeTimer);
    if (this.#handle === undefined) {
      this.below!.close();
    } else {
      this.#handle.close(() => this.#gone());
    }
  }

  #gone(): void {
    const cipher = this.#cipher;
    this.gone();
    this.#cipher = null;
    cipher?.destroySSL();
  }

  leave(): void {
    this.closeSoon();
  }

  reset(): void {
    if (this.closed) {
      return;
    }
    const left = this.#untaken(true);
    // A connection that was ended already, or is none of TCP, cannot be reset.
    if (this.#handle?.reset === undefined || this.#handle.reset(() => this.#gone()) !== 0) {
      this.close();
    } else {
      this.#left = left;
      this.closed = true;
      clearTimeout(this.#closeTimer);
    }
  }
}

const idle = (socket: CipherSocket): void => socket.idle();
const close = (socket: CipherSocket): void => socket.close();
const tellFlushed = (socket: CipherSocket): void => socket.tellFlushed();
