// A TLS client's connection without a `TLSSocket`: libuv's handle, Node's cipher on it, and nothing else, so that a handshake does not pay
// for two sockets of node:net with their streams and listeners. Node has no public way to do that.
import type { SecureContext } from 'node:tls';
import { type ConnectionHandle, localOf, remoteOf } from '../../shared/net/connection-handle.js';
import { type HandleBinding, handleBinding, keepRequest, OVER, type WriteRequest, writeRequest } from '../../shared/net/handle-binding.js';
import { joined, joinedText } from '../../shared/net/joined.js';
import type { SocketAddress, SocketOwner } from '../../shared/net/socket.js';
import { spoil } from '../../shared/system/spoil.js';
import { keptEarly, tellEarly } from './early-bytes.js';
import { awaitClient, clientStays, type EndedSocket } from './end-of-tls.js';
import type { HandleSocket } from './handle-socket.js';
import { plainLength } from './plain-length.js';
import type { HandshakeOwner, SecureSocket } from './secure-socket.js';
import { type CipherHandle, cipherMaker } from './tls-binding.js';
import { CIPHER_LIMIT, CIPHER_OFFER } from './write-limits.js';

/** A record of TLS brings 16 KB at most. */
const READ_SIZE = 16 * 1024;
const EOF = -4095;

// What all connections read into; it is used up before the next one is read.
let buffer: Buffer | undefined;
let state: Int32Array | undefined;
let lengthAt = 0;

interface OwnedCipher extends CipherHandle {
  client: TlsSocket;
}

function onRead(this: CipherHandle): void {
  (this as OwnedCipher).client.read(state![lengthAt]!);
}

function onError(this: CipherHandle, error: Error): void {
  (this as OwnedCipher).client.broken(error);
}

function onHandshakeDone(this: CipherHandle): void {
  (this as OwnedCipher).client.secured();
}

/** Node's cipher gives libuv ten buffers at most, each of a record's size. */
const AT_A_TIME = 10 * 16384;

/** A connection whose handshake runs, and then what it brings and takes. */
export class TlsSocket implements SecureSocket, EndedSocket {
  readonly #node: HandleBinding;
  readonly #handle: ConnectionHandle;
  #cipher: CipherHandle | null;
  #handshake: HandshakeOwner | null;
  #owner: SocketOwner | undefined = undefined;
  /** The write before, if nobody knows yet that it is over. */
  #last: WriteRequest | undefined = undefined;
  /** What came while a write was under way. */
  #queue: Buffer[] | null = null;
  #pending = false;
  /** What came before there was an owner. */
  #early: Buffer[] | null = null;
  #reading = true;
  /** The client sends no more. */
  #ended = false;
  stays = false;
  /** We send no more. */
  #shut = false;
  /** What said so to the client. */
  #ending: WriteRequest | undefined = undefined;
  #closing = false;
  #closed = false;
  /** What was never sent, once it is closed. */
  #left = 0;

  /** Takes over a socket that is being read. The handshake begins with what {@link receive} is given. See {@link cipherMaker}. */
  constructor(plain: HandleSocket, context: SecureContext, handshake: HandshakeOwner) {
    const handle = plain.release();
    const cipher = cipherMaker()!(handle, context, true);
    this.#node = handleBinding() as HandleBinding;
    if (buffer === undefined) {
      buffer = Buffer.allocUnsafeSlow(READ_SIZE);
      state = this.#node.streamBaseState;
      lengthAt = this.#node.kReadBytesOrError;
    }
    // The handle keeps what serves it alive, and its first owner no longer.
    handle.client = this;
    this.#handle = handle;
    this.#cipher = cipher;
    this.#handshake = handshake;
    (cipher as OwnedCipher).client = this;
    cipher.useUserBuffer(buffer);
    cipher.onread = onRead;
    cipher.onerror = onError;
    cipher.onhandshakedone = onHandshakeDone;
  }

  get cipher(): CipherHandle | null {
    return this.#cipher;
  }

  limitRecords(bytes: number): void {
    this.#cipher?.setMaxSendFragment(bytes);
  }

  sessionStored(): void {
    this.#cipher?.newSessionDone();
  }

  receive(bytes: Buffer): void {
    this.#cipher?.receive(bytes);
  }

  get descriptor(): number {
    return this.#closed ? -1 : (this.#handle.fd ?? -1);
  }

  remote(): SocketAddress {
    return remoteOf(this.#handle);
  }

  local(): SocketAddress {
    return localOf(this.#handle);
  }

  get flushed(): boolean {
    return !this.#pending;
  }

  get unsent(): number {
    if (this.#closed) {
      return this.#left;
    }
    const below = plainLength(this.#handle.writeQueueSize);
    // What the cipher has and libuv has not, for it gives it so much at a time.
    const made = (this.#cipher as { readonly writeQueueSize?: number } | null)?.writeQueueSize ?? 0;
    return below + plainLength(Math.max(0, made - AT_A_TIME)) + (this.#queue?.reduce((sum, { length }) => sum + length, 0) ?? 0);
  }

  /** `bytes` came too late to be sent. */
  #dropped(bytes: number): true {
    if (this.#closed) {
      this.#left += bytes;
    }
    return true;
  }

  get pending(): boolean {
    return this.#pending;
  }

  start(owner: SocketOwner): void {
    this.#owner = owner;
    const early = this.#early;
    this.#early = null;
    tellEarly(owner, early, this.#ended, this.stays);
  }

  /** `length` bytes came into the common memory, or an error number. */
  read(length: number): void {
    if (this.#closed || length === 0) {
      return;
    }
    const owner = this.#owner;
    if (length > 0) {
      if (owner !== undefined) {
        owner.socketReceived(buffer!, length, true);
      } else {
        this.#early = keptEarly(this.#early, buffer!, length);
      }
      spoil(buffer!, 0, length);
    } else if (this.#handshake !== null) {
      this.#failed(undefined);
    } else if (length !== EOF) {
      this.close();
    } else {
      this.#ended = true;
      this.stays = clientStays(this.descriptor);
      owner?.socketEnded(this.stays);
      if (!this.#closing) {
        awaitClient(this);
      }
    }
  }

  clientWent(): void {
    this.stays = false;
    this.#owner?.socketEnded(false);
  }

  clientBroke(): void {
    this.close();
  }

  /** OpenSSL makes nothing of what came. It has sent its alert. */
  broken(error: Error): void {
    if (this.#closed) {
      return;
    }
    if (this.#handshake === null) {
      this.close();
    } else {
      this.#failed(error);
    }
  }

  #failed(error: Error | undefined): void {
    const handshake = this.#handshake as HandshakeOwner;
    this.#handshake = null;
    handshake.handshakeFailed(error);
  }

  secured(): void {
    const handshake = this.#handshake;
    if (handshake === null || this.#closed) {
      return;
    }
    this.#handshake = null;
    handshake.handshakeDone();
  }

  pause(): void {
    if (!this.#reading || this.#closed) {
      return;
    }
    this.#reading = false;
    this.#cipher!.readStop();
  }

  resume(): void {
    if (this.#reading || this.#closed) {
      return;
    }
    this.#reading = true;
    if (this.#cipher!.readStart() !== 0) {
      this.close();
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
    if (this.#closed || this.#shut) {
      return this.#dropped(data.length);
    }
    if (this.#busy()) {
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
    if (this.#closed || this.#shut) {
      return this.#dropped(before.length + bytes.length + after.length);
    }
    if (before.length + bytes.length + after.length <= CIPHER_LIMIT) {
      const whole = joined(before, bytes, 0, bytes.length, after);
      if (this.#busy()) {
        return this.#later(Buffer.from(whole));
      }
      return this.#written((this.#cipher as CipherHandle).writeBuffer(writeRequest(this.#node), whole));
    }
    if (this.#busy()) {
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
    const waits = before.length + piece.length + after.length > CIPHER_LIMIT && this.#busy();
    return this.writeJoined(before, waits ? Buffer.from(piece) : piece, after);
  }

  #later(bytes: Buffer): boolean {
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
      this.close();
      return true;
    }
    if (this.#node.streamBaseState[this.#node.kLastWriteWasAsync] === 0) {
      return true;
    }
    this.#last = keepRequest();
    // A cipher tells of every write later, those too that the kernel took; nobody has to hear of these.
    if (this.#handle.writeQueueSize === 0) {
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
    if (this.#closed) {
      return;
    }
    if (status < 0) {
      this.close();
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
    if (told && !this.#closing) {
      this.#owner?.socketDrained();
    }
  }

  get offerLimit(): number {
    return CIPHER_OFFER;
  }

  offer(bytes: Buffer): number {
    if (this.#closed || this.#shut || this.#busy()) {
      return 0;
    }
    this.#written((this.#cipher as CipherHandle).writeBuffer(writeRequest(this.#node), bytes));
    return bytes.length;
  }

  // A record is made of each write.
  cork(): void {}

  uncork(): void {}

  // A write that returned true is in the kernel.
  awaitFlush(): void {}

  end(): void {
    if (this.#closed || this.#shut) {
      return;
    }
    this.#shut = true;
    this.#whenIdle();
  }

  closeSoon(): void {
    if (this.#closed || this.#closing) {
      return;
    }
    this.#closing = true;
    this.#shut = true;
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
    if (this.#closed) {
      return;
    }
    if (this.#ending === undefined) {
      const request = new this.#node.ShutdownWrap();
      if ((this.#cipher as CipherHandle).shutdown(request) < 0) {
        this.close();
        return;
      }
      this.#ending = request;
    }
    if (!this.#closing) {
      return;
    }
    if (this.#handle.writeQueueSize === 0) {
      this.close();
    } else {
      this.#ending.oncomplete = () => this.close();
    }
  }

  close(): void {
    if (this.#closed) {
      return;
    }
    this.#left = this.unsent;
    this.#closed = true;
    this.#handle.close(() => this.#gone());
  }

  #gone(): void {
    const cipher = this.#cipher;
    this.#owner?.socketClosed?.();
    this.#cipher = null;
    cipher?.destroySSL();
  }

  leave(): void {
    this.closeSoon();
  }

  reset(): void {
    if (this.#closed) {
      return;
    }
    const left = this.unsent;
    // A connection that was ended already, or is none of TCP, cannot be reset.
    if (this.#handle.reset === undefined || this.#handle.reset(() => this.#gone()) !== 0) {
      this.close();
    } else {
      this.#left = left;
      this.#closed = true;
    }
  }
}

function idle(socket: TlsSocket): void {
  socket.idle();
}
