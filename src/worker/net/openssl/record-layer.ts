// The part of a TLS connection that clients and backends have in common: Node's cipher shakes hands, and afterwards OpenSSL is asked
// directly, so that a request pays neither for Node's stream around the cipher nor for libuv's below it.
import type { SecureContext } from 'node:tls';
import { type HandleBinding, handleBinding, type WriteRequest } from '../../../shared/net/handle-binding.js';
import { spoil } from '../../../shared/system/spoil.js';
import { CorkedWriter } from '../corked-writer.js';
import { checkLeftErrors } from '../left-errors.js';
import type { Agreed, CipherHandle } from '../tls-binding.js';
import { CIPHER_OFFER } from '../write-limits.js';
import { type HandshakeHandle, handshakeHandle } from './handshake-handle.js';
import { BROKEN, NOTHING_YET, Records, THE_END, UnknownPlace } from './records.js';

/** As much as a record holds. */
const RECORD = 16 * 1024;
/** As much as is encrypted before it is given to the socket below. */
const ENCRYPTED = 64 * 1024;

// What all connections decrypt into and encrypt into: it is used up before that happens again.
let plain: Buffer | undefined;
let encrypted: Buffer | undefined;

/** What finds out that a connection is broken. */
export type OpenSslCall = 'SSL_read' | 'SSL_write';

interface OwnedStream extends HandshakeHandle {
  records: RecordLayer;
}

interface OwnedCipher extends CipherHandle {
  records: RecordLayer;
}

function onWrite(this: HandshakeHandle, request: WriteRequest, pieces: readonly Buffer[]): number {
  return (this as OwnedStream).records.cipherWrites(request, pieces);
}

const isClosing = (): boolean => false;

// An exception would be lost on its way through Node's own code.
function onRead(this: CipherHandle): void {
  const { records } = this as OwnedCipher;
  try {
    records.cipherReads();
  } catch (error) {
    records.cipherThrew(error);
  }
}

function onError(this: CipherHandle, error: Error): void {
  (this as OwnedCipher).records.cipherFailed(error);
}

function onHandshakeDone(this: CipherHandle): void {
  (this as OwnedCipher).records.cipherReady();
}

/** A connection whose handshake runs, and then what it brings and takes. */
export abstract class RecordLayer extends CorkedWriter {
  readonly #node: HandleBinding;
  readonly #stream: HandshakeHandle;
  protected readonly records: Records;
  #cipher: CipherHandle | null;
  /** Writes of the cipher that it does not know to be over. */
  #writes: WriteRequest[] = [];
  /** The cipher is on the stack. */
  #inside = false;
  /** What somebody threw while it was. */
  #thrown: { readonly error: unknown } | undefined = undefined;
  #draining = false;
  /** A handshake with early data is under way of which the owner knows nothing yet. */
  #startsEarly = false;
  protected handshaking = true;
  /** The handshake is over, and OpenSSL has not told where the connection is. */
  #unknown = false;
  /** Records go past the cipher. */
  protected direct = false;
  protected reading = true;
  /** Nothing follows what came. */
  protected over = false;
  /** The owner, or whoever will be it, is to know that, or knows. */
  protected ended = false;
  protected closed = false;

  constructor(context: SecureContext, server: boolean, early = false) {
    super();
    plain ??= Buffer.allocUnsafeSlow(RECORD);
    encrypted ??= Buffer.allocUnsafeSlow(ENCRYPTED);
    this.#node = handleBinding();
    const stream = new (handshakeHandle()!)() as OwnedStream;
    stream.records = this;
    stream.isClosing = isClosing;
    stream.onwrite = onWrite;
    this.#stream = stream;
    this.records = new Records(stream, context, server, early);
    const cipher = this.records.cipher as OwnedCipher;
    cipher.records = this;
    cipher.useUserBuffer(plain);
    cipher.onread = onRead;
    cipher.onerror = onError;
    cipher.onhandshakedone = onHandshakeDone;
    this.#cipher = cipher;
  }

  /** Sends what the cipher made, which is the socket's from now on. */
  protected abstract sendPiece(piece: Buffer): void;
  /** Sends so many bytes of memory that is used again after the call. Returns false when that takes time. */
  protected abstract sendLent(bytes: Buffer, length: number): boolean;
  /** The first `length` of these bytes were decrypted; the memory is used again after the call. */
  protected abstract decrypted(bytes: Buffer, length: number): void;
  /** The other side sends no more. */
  protected abstract endCame(): void;
  /** The handshake is over. Called on OpenSSL's stack. */
  protected abstract handshakeOver(): void;
  /** The handshake failed: with OpenSSL's error, or because the other side has gone. */
  protected abstract handshakeFailed(error: Error | undefined): void;
  /** The connection broke after its handshake, in this function of OpenSSL's. What OpenSSL has to say of that has been sent. */
  protected abstract broke(call: OpenSslCall): void;
  /** Records go past the cipher from now on. */
  protected abstract tookOver(): void;

  /** What runs the handshake and then knows what was agreed; null once the connection is closed. */
  get cipher(): CipherHandle | null {
    return this.#cipher;
  }

  /** What else was agreed; undefined once the connection is closed. */
  get agreed(): Agreed | undefined {
    return this.records.agreed;
  }

  // ---------------------------------------------------------------- the handshake

  /** Does something that has the cipher at work, and tells it afterwards that its writes are over. */
  protected atWork(work: (records: Records) => void): void {
    if (this.closed) {
      return;
    }
    const before = this.#inside;
    this.#inside = true;
    try {
      work(this.records);
    } finally {
      this.#inside = before;
    }
    this.settle();
    const thrown = this.#thrown;
    if (thrown !== undefined && !before) {
      this.#thrown = undefined;
      throw thrown.error;
    }
  }

  /** Takes bytes that are the handshake's, or are behind it. */
  receive(bytes: Buffer): void {
    this.atWork((records) => records.handshake(bytes));
  }

  /** Begins a handshake with early data in what came. */
  beginEarly(bytes: Buffer): void {
    let known = false;
    this.atWork((records) => {
      known = records.beginEarly(bytes);
    });
    if (!this.closed && !known) {
      this.#failed(new UnknownPlace());
    } else if (!this.closed) {
      this.#startsEarly = true;
      this.#cameEarly(bytes, bytes.length);
    }
  }

  /** As much of the handshake as what came makes possible: it is over for the owner once the first early data is there. */
  #cameEarly(bytes: Buffer, length: number): void {
    const { records } = this;
    const read = records.put(bytes, length) ? records.read(plain!) : BROKEN;
    // The owner may read other connections before it looks at this.
    const first = read > 0 ? Buffer.from(plain!.subarray(0, read)) : undefined;
    if (read === BROKEN || read === THE_END) {
      this.#send();
      this.#failed(read === BROKEN ? handshakeError(records.failure) : undefined);
      return;
    }
    if (first === undefined && records.early) {
      this.#send();
      return;
    }
    this.#startsEarly = false;
    this.handshaking = false;
    this.direct = true;
    this.#send();
    this.handshakeOver();
    if (first !== undefined && !this.closed) {
      this.decrypted(first, first.length);
    }
    this.drain();
  }

  /** The pieces are the caller's no more. */
  cipherWrites(request: WriteRequest, pieces: readonly Buffer[]): number {
    for (const piece of pieces) {
      if (!this.closed) {
        this.sendPiece(piece);
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
    if (this.#unknown && this.handshaking && !this.closed) {
      this.#failed(new UnknownPlace());
      return;
    }
    if (!this.direct && !this.handshaking && !this.closed && this.records.takeOver()) {
      this.direct = true;
      this.tookOver();
    }
  }

  /** Whoever was told of what the cipher has read threw something, which is for whoever has the cipher at work. */
  cipherThrew(error: unknown): void {
    if (!this.#inside) {
      throw error;
    }
    this.#thrown ??= { error };
  }

  /** The cipher has decrypted something, which is in the common memory. */
  cipherReads(): void {
    const length = this.#node.streamBaseState[this.#node.kReadBytesOrError]!;
    if (this.closed || length === 0) {
      return;
    }
    if (length > 0) {
      this.#lend(length);
    } else if (this.handshaking) {
      this.#failed(undefined);
    } else {
      this.#end();
    }
  }

  /** OpenSSL makes nothing of what came. It has sent its alert. */
  cipherFailed(error: Error): void {
    if (this.closed) {
      return;
    }
    if (this.handshaking) {
      this.#failed(error);
    } else {
      this.#break('SSL_read');
    }
  }

  #failed(error: Error | undefined): void {
    this.handshaking = false;
    this.closed = true;
    this.handshakeFailed(error);
  }

  cipherReady(): void {
    if (this.closed || !this.handshaking) {
      return;
    }
    if (!this.records.known) {
      // Nothing could be sent or read. It ends once OpenSSL is not on the stack any more.
      this.#unknown = true;
    } else {
      this.handshaking = false;
      checkLeftErrors();
      this.handshakeOver();
    }
  }

  // ---------------------------------------------------------------- reading

  /** `length` bytes came from the socket below. */
  protected came(bytes: Buffer, length: number): void {
    if (this.#startsEarly) {
      this.#cameEarly(bytes, length);
    } else if (!this.direct) {
      this.receive(bytes.subarray(0, length));
    } else if (this.records.put(bytes, length)) {
      this.drain();
    } else {
      this.#break('SSL_read');
    }
  }

  /** Nothing more comes from the socket below. */
  protected cameToEnd(): void {
    this.over = true;
    if (this.closed || this.ended) {
      return;
    }
    if (this.handshaking) {
      this.#failed(undefined);
    } else if (this.direct) {
      this.drain();
    } else {
      this.#end();
    }
  }

  /** Has what waits read in the next iteration of the event loop. */
  protected drainSoon(): void {
    if (this.direct && (this.over || this.records.left)) {
      setImmediate(drain, this);
    }
  }

  /** Reads what waits, as far as the owner lets it. */
  drain(): void {
    if (this.#draining || !this.direct) {
      return;
    }
    this.#draining = true;
    try {
      this.#readAll();
    } finally {
      this.#draining = false;
    }
  }

  #lend(length: number): void {
    this.decrypted(plain!, length);
    spoil(plain!, 0, length);
  }

  #readAll(): void {
    const { records } = this;
    while (this.reading && !this.closed && !this.ended) {
      const length = records.read(plain!);
      if (length > 0) {
        this.#lend(length);
        if (records.left) {
          continue;
        }
      } else if (length === THE_END) {
        this.#end();
      } else if (length === BROKEN) {
        this.#break('SSL_read');
      }
      if (length === NOTHING_YET || length > 0) {
        // What is left is a part of a record.
        if (this.over && this.reading) {
          this.#end();
        }
        break;
      }
    }
    // Answers of OpenSSL's own.
    if (!this.closed) {
      this.#send();
    }
  }

  #end(): void {
    if (!this.ended && !this.closed) {
      this.ended = true;
      this.endCame();
    }
  }

  /** The connection is of no use any more. OpenSSL has an alert that says so, or has sent it. */
  #break(call: OpenSslCall): void {
    if (this.closed) {
      return;
    }
    if (this.direct) {
      this.#send();
    }
    this.closed = true;
    this.broke(call);
  }

  // ---------------------------------------------------------------- writing

  /** Encrypts and sends; the memory is not needed any more then. Returns false when that takes time. */
  protected encrypt(bytes: Buffer): boolean {
    let flowing = true;
    for (let at = 0; at < bytes.length && !this.closed; at += CIPHER_OFFER) {
      const piece = bytes.length <= CIPHER_OFFER ? bytes : bytes.subarray(at, at + CIPHER_OFFER);
      if (this.records.write(piece)) {
        flowing = this.#send();
      } else {
        this.#break('SSL_write');
      }
    }
    return this.closed || flowing;
  }

  /** Gives the socket below all that OpenSSL has for it. Returns false when that takes time. */
  #send(): boolean {
    const bytes = encrypted as Buffer;
    let flowing = true;
    let length: number;
    do {
      length = this.records.take(bytes);
      if (length > 0) {
        flowing = this.sendLent(bytes, length);
        spoil(bytes, 0, length);
      }
    } while (length === bytes.length);
    return flowing;
  }

  /** Says that we send no more. */
  protected sayEnd(): void {
    if (this.direct) {
      this.records.end();
      this.#send();
    }
  }

  // ---------------------------------------------------------------- the end

  /** Frees OpenSSL's part. Nothing of this connection may be on the stack of OpenSSL. */
  protected free(): void {
    this.closed = true;
    this.records.forget();
    const cipher = this.#cipher;
    this.#cipher = null;
    cipher?.destroySSL();
  }
}

/** An error in the form that Node gives those of handshakes. */
function handshakeError(failure: string): Error {
  const reason = failure.slice(failure.indexOf('::') + 2);
  return Object.assign(new Error(failure), { code: `ERR_SSL_${reason.toUpperCase().replaceAll(' ', '_')}` });
}

function settle(stream: RecordLayer): void {
  stream.settle();
}

function drain(stream: RecordLayer): void {
  stream.drain();
}
