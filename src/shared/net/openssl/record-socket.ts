// A TLS client's connection on any socket: Node's cipher shakes hands, and afterwards OpenSSL is asked directly, so that a request pays
// neither for Node's stream around the cipher nor for libuv's below it.
import type { SecureContext } from 'node:tls';
import type { ClientSocket, SocketAddress, SocketOwner } from '../client-socket.js';
import { CIPHER_LIMIT, CIPHER_OFFER } from '../direct-writer.js';
import { keptEarly, tellEarly } from '../early-bytes.js';
import { joined, joinedText } from '../joined.js';
import type { HandshakeOwner, SecureSocket } from '../secure-socket.js';
import { type StreamBinding, streamBinding, type WriteRequest } from '../stream-binding.js';
import { type CipherHandle, cipherMaker } from '../tls-binding.js';
import { type HandshakeStream, handshakeStream } from './handshake-stream.js';
import { BROKEN, NOTHING_YET, Records, THE_END } from './records.js';

/** As much as a record holds. */
const RECORD = 16 * 1024;
/** As much as is encrypted before it is given to the socket below. */
const ENCRYPTED = 64 * 1024;

// What all connections decrypt into and encrypt into: it is used up before that happens again.
let plain: Buffer | undefined;
let encrypted: Buffer | undefined;

interface OwnedStream extends HandshakeStream {
  client: RecordSocket;
}

interface OwnedCipher extends CipherHandle {
  client: RecordSocket;
}

function onWrite(this: HandshakeStream, request: WriteRequest, pieces: readonly Buffer[]): number {
  return (this as OwnedStream).client.cipherWrites(request, pieces);
}

const isClosing = (): boolean => false;

function onRead(this: CipherHandle): void {
  (this as OwnedCipher).client.cipherReads();
}

function onError(this: CipherHandle, error: Error): void {
  (this as OwnedCipher).client.handshakeBroken(error);
}

function onHandshakeDone(this: CipherHandle): void {
  (this as OwnedCipher).client.secured();
}

/** A connection whose handshake runs, and then what it brings and takes. */
export class RecordSocket implements SecureSocket, SocketOwner {
  readonly #node: StreamBinding;
  readonly #below: ClientSocket;
  readonly #stream: HandshakeStream;
  readonly #records: Records;
  #cipher: CipherHandle | null;
  #handshake: HandshakeOwner | null;
  #owner: SocketOwner | undefined = undefined;
  /** Writes of the cipher that it does not know to be over. */
  #writes: WriteRequest[] = [];
  /** The cipher is on the stack. */
  #inside = false;
  /** Records go past the cipher. */
  #direct = false;
  /** What was written before that. */
  #queue: Buffer[] | null = null;
  /** What came before there was an owner. */
  #early: Buffer[] | null = null;
  /** The owner waits for `flushed`. */
  #told = false;
  #reading = true;
  #draining = false;
  /** Nothing follows what came. */
  #over = false;
  /** The owner, or whoever will be it, is to know that, or knows. */
  #ended = false;
  /** We send no more. */
  #shut = false;
  #closing = false;
  #closed = false;

  /** Takes over a socket that is being read. The handshake begins with what {@link receive} is given. */
  constructor(below: ClientSocket, context: SecureContext, handshake: HandshakeOwner) {
    plain ??= Buffer.allocUnsafeSlow(RECORD);
    encrypted ??= Buffer.allocUnsafeSlow(ENCRYPTED);
    this.#node = streamBinding() as StreamBinding;
    this.#below = below;
    this.#handshake = handshake;
    const stream = new (handshakeStream()!)() as OwnedStream;
    stream.client = this;
    stream.isClosing = isClosing;
    stream.onwrite = onWrite;
    this.#stream = stream;
    const cipher = cipherMaker()!(stream, context) as OwnedCipher;
    cipher.client = this;
    cipher.useUserBuffer(plain);
    cipher.onread = onRead;
    cipher.onerror = onError;
    cipher.onhandshakedone = onHandshakeDone;
    this.#cipher = cipher;
    this.#records = new Records(cipher, context);
    below.start(this);
  }

  get cipher(): CipherHandle | null {
    return this.#cipher;
  }

  limitRecords(bytes: number): void {
    this.#cipher?.setMaxSendFragment(bytes);
  }

  sessionStored(): void {
    if (this.#closed || this.#cipher === null) {
      return;
    }
    const before = this.#inside;
    this.#inside = true;
    this.#cipher.newSessionDone();
    this.#inside = before;
    this.#settle();
  }

  // ---------------------------------------------------------------- the handshake

  receive(bytes: Buffer): void {
    if (this.#closed) {
      return;
    }
    this.#inside = true;
    try {
      this.#records.handshake(bytes);
    } finally {
      this.#inside = false;
    }
    this.#settle();
  }

  /** The pieces are the caller's no more. */
  cipherWrites(request: WriteRequest, pieces: readonly Buffer[]): number {
    for (const piece of pieces) {
      if (!this.#closed) {
        this.#below.write(piece);
      }
    }
    this.#writes.push(request);
    if (!this.#inside) {
      setImmediate(settle, this);
    }
    return 0;
  }

  /** Tells the cipher that it may go on, which it cannot be told on its own stack. */
  settle(): void {
    this.#settle();
  }

  #settle(): void {
    if (this.#inside) {
      return;
    }
    this.#inside = true;
    try {
      for (let request = this.#writes.shift(); request !== undefined; request = this.#writes.shift()) {
        this.#stream.finishWrite(request, 0);
      }
    } finally {
      this.#inside = false;
    }
    if (!this.#direct && this.#handshake === null && !this.#closed && this.#records.takeOver()) {
      this.#direct = true;
      this.#takeOver();
    }
  }

  /** Sends what has waited for that, and reads what is left. */
  #takeOver(): void {
    const queue = this.#queue;
    this.#queue = null;
    if (queue !== null) {
      for (const bytes of queue) {
        this.#write(bytes);
      }
    }
    if (this.#shut) {
      this.#sayEnd();
    }
    if (this.#closing) {
      this.#below.closeSoon();
      return;
    }
    if (this.#shut) {
      this.#below.end();
    }
    if (this.#told && !this.pending) {
      this.#flushed();
    }
    this.#drain();
  }

  /** The cipher has decrypted something, which is in the common memory. */
  cipherReads(): void {
    const length = this.#node.streamBaseState[this.#node.kReadBytesOrError]!;
    if (this.#closed || length === 0) {
      return;
    }
    if (length > 0) {
      this.#came(length);
    } else if (this.#handshake !== null) {
      this.#failed(undefined);
    } else {
      this.#end();
    }
  }

  /** OpenSSL makes nothing of what came. It has sent its alert. */
  handshakeBroken(error: Error): void {
    if (this.#closed) {
      return;
    }
    if (this.#handshake === null) {
      this.#break();
    } else {
      this.#failed(error);
    }
  }

  #failed(error: Error | undefined): void {
    const handshake = this.#handshake as HandshakeOwner;
    this.#handshake = null;
    this.#break();
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

  // ---------------------------------------------------------------- what the socket below tells

  received(bytes: Buffer, length: number): boolean {
    if (this.#closed || this.#closing || this.#ended) {
      return true;
    }
    if (!this.#direct) {
      this.receive(bytes.subarray(0, length));
    } else if (this.#records.put(bytes, length)) {
      this.#drain();
    } else {
      this.#break();
    }
    return true;
  }

  clientEnded(): void {
    this.#over = true;
    if (this.#closed || this.#ended) {
      return;
    }
    if (this.#handshake !== null) {
      this.#failed(undefined);
    } else if (this.#direct) {
      this.#drain();
    } else {
      this.#end();
    }
  }

  flushed(): void {
    if (this.#told && !this.pending) {
      this.#flushed();
    }
  }

  #flushed(): void {
    this.#told = false;
    if (!this.#closed && !this.#closing) {
      this.#owner?.flushed();
    }
  }

  socketClosed(): void {
    this.#closed = true;
    const handshake = this.#handshake;
    this.#handshake = null;
    handshake?.handshakeFailed(undefined);
    this.#owner?.socketClosed();
    this.#queue = null;
    this.#early = null;
    this.#records.forget();
    const cipher = this.#cipher;
    this.#cipher = null;
    cipher?.destroySSL();
  }

  // ---------------------------------------------------------------- reading

  #drain(): void {
    if (this.#draining || !this.#direct) {
      return;
    }
    this.#draining = true;
    try {
      this.#readAll();
    } finally {
      this.#draining = false;
    }
  }

  #readAll(): void {
    const records = this.#records;
    while (this.#reading && !this.#closed && !this.#closing && !this.#ended) {
      const length = records.read(plain!);
      if (length > 0) {
        this.#came(length);
        if (records.left) {
          continue;
        }
      } else if (length === THE_END) {
        this.#end();
      } else if (length === BROKEN) {
        this.#break();
      }
      if (length === NOTHING_YET || length > 0) {
        // What is left is a part of a record.
        if (this.#over && this.#reading) {
          this.#end();
        }
        break;
      }
    }
    // Answers of OpenSSL's own.
    if (!this.#closed) {
      this.#send();
    }
  }

  #came(length: number): void {
    const owner = this.#owner;
    if (owner !== undefined) {
      owner.received(plain!, length, true);
      return;
    }
    this.#early = keptEarly(this.#early, plain!, length);
  }

  #end(): void {
    if (!this.#ended && !this.#closed) {
      this.#ended = true;
      this.#owner?.clientEnded();
    }
  }

  /** The connection is of no use any more. OpenSSL has an alert that says so, or has sent it. */
  #break(): void {
    if (this.#closed) {
      return;
    }
    if (this.#direct) {
      this.#send();
    }
    this.#closed = true;
    this.#below.closeSoon();
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

  get empty(): boolean {
    return this.#queue === null && this.#below.empty;
  }

  start(owner: SocketOwner): void {
    this.#owner = owner;
    const early = this.#early;
    this.#early = null;
    tellEarly(owner, early, this.#ended);
  }

  pause(): void {
    this.#reading = false;
    this.#below.pause();
  }

  resume(): void {
    if (this.#reading || this.#closed) {
      return;
    }
    this.#reading = true;
    this.#below.resume();
    if (this.#direct && (this.#over || this.#records.left)) {
      setImmediate(drain, this);
    }
  }

  /** Goes on where reading was paused. */
  drain(): void {
    this.#drain();
  }

  expectMuch(much: boolean): void {
    this.#below.expectMuch(much);
  }

  write(data: string | Buffer): boolean {
    if (this.#closed || this.#shut) {
      return true;
    }
    if (typeof data !== 'string') {
      return this.#tell(this.#write(data));
    }
    const short = this.#direct && data.length <= CIPHER_LIMIT;
    return this.#tell(this.#write(short ? joinedText(data) : Buffer.from(data, 'latin1')));
  }

  writeJoined(before: string, bytes: Buffer, after: string): boolean {
    if (this.#closed || this.#shut) {
      return true;
    }
    if (before.length + bytes.length + after.length <= CIPHER_LIMIT) {
      return this.#tell(this.#writeJoined(before, bytes, after));
    }
    // Whole records as far as the text goes into them.
    const room = Math.min(bytes.length, Math.max(0, CIPHER_LIMIT - before.length));
    if (room > 0) {
      this.#writeJoined(before, bytes.subarray(0, room), '');
    } else {
      this.#write(Buffer.from(before, 'latin1'));
    }
    const flowing = this.#write(bytes.subarray(room));
    return this.#tell(after === '' ? flowing : this.#write(Buffer.from(after, 'latin1')));
  }

  writeLent(before: string, bytes: Buffer, start: number, end: number, after: string): boolean {
    const piece = bytes.subarray(start, end);
    return this.writeJoined(before, this.#direct ? piece : Buffer.from(piece), after);
  }

  #writeJoined(before: string, bytes: Buffer, after: string): boolean {
    const whole = joined(before, bytes, 0, bytes.length, after);
    return this.#write(this.#direct ? whole : Buffer.from(whole));
  }

  #tell(flowing: boolean): boolean {
    if (!flowing) {
      this.#told = true;
    }
    return flowing;
  }

  /** Encrypts and sends; the bytes are not needed any more then, unless the cipher is still at work. */
  #write(bytes: Buffer): boolean {
    if (!this.#direct) {
      if (this.#queue === null) {
        this.#queue = [bytes];
      } else {
        this.#queue.push(bytes);
      }
      return false;
    }
    let flowing = true;
    for (let at = 0; at < bytes.length && !this.#closed; at += CIPHER_OFFER) {
      const piece = bytes.length <= CIPHER_OFFER ? bytes : bytes.subarray(at, at + CIPHER_OFFER);
      if (this.#records.write(piece)) {
        flowing = this.#send();
      } else {
        this.#break();
      }
    }
    return this.#closed || flowing;
  }

  /** Gives the socket below all that OpenSSL has for it. Returns false when that takes time. */
  #send(): boolean {
    const bytes = encrypted as Buffer;
    let flowing = true;
    let length: number;
    do {
      length = this.#records.take(bytes);
      if (length > 0) {
        flowing = this.#below.writeLent('', bytes, 0, length, '');
      }
    } while (length === bytes.length);
    return flowing;
  }

  get offerLimit(): number {
    return CIPHER_OFFER;
  }

  offer(bytes: Buffer): number {
    if (this.#closed || this.#shut || !this.#direct || this.pending) {
      return 0;
    }
    this.#tell(this.#write(bytes));
    return bytes.length;
  }

  awaitFlush(): void {
    this.#told = true;
    this.#below.awaitFlush();
  }

  end(): void {
    if (this.#closed || this.#shut) {
      return;
    }
    this.#shut = true;
    if (this.#direct) {
      this.#sayEnd();
      this.#below.end();
    }
  }

  #sayEnd(): void {
    if (this.#direct) {
      this.#records.end();
      this.#send();
    }
  }

  closeSoon(): void {
    if (this.#closed || this.#closing) {
      return;
    }
    const ended = this.#shut;
    this.#closing = true;
    this.#shut = true;
    if (!this.#direct && this.#handshake === null) {
      return;
    }
    if (!ended) {
      this.#sayEnd();
    }
    this.#below.closeSoon();
  }

  close(): void {
    if (!this.#closed) {
      this.#closed = true;
      this.#below.close();
    }
  }

  reset(): void {
    if (!this.#closed) {
      this.#closed = true;
      this.#below.reset();
    }
  }
}

function settle(socket: RecordSocket): void {
  socket.settle();
}

function drain(socket: RecordSocket): void {
  socket.drain();
}
