// Node runs the handshake and owns the connection's OpenSSL object; its records go through OpenSSL without Node's streams. That object has
// one address, which OpenSSL tells with the client's hello: when a server reads it, and when a client says it. Here alone are addresses
// kept, each only as long as the object is there.
import { createSecureContext, type SecureContext } from 'node:tls';
import type { WriteRequest } from '../../../shared/net/handle-binding.js';
import { type Agreed, type CipherHandle, cipherMaker } from '../tls-binding.js';
import { contextAddress } from './context-address.js';
import { type HandshakeHandle, handshakeHandle } from './handshake-handle.js';
import { EARLY_OVER, EARLY_READ, loadOpenSsl, type OpenSsl, WANT_READ, ZERO_RETURN } from './library.js';

/** What {@link Records.read} says instead of a length. */
export const NOTHING_YET = 0;
export const THE_END = -1;
export const BROKEN = -2;

/** A handshake is over, and OpenSSL has not told where the connection is: nothing could be sent or read. */
export class UnknownPlace extends Error {
  constructor() {
    super('OpenSSL has not told where the connection is');
  }
}

/** Contexts whose connections are told of, by their addresses. */
const addresses = new WeakMap<object, number>();
let ssl: OpenSsl;
/** Why OpenSSL cannot be asked, empty when it can; undefined until that was tried. */
let problem: string | undefined;
/** Whose hello is being read, or said. */
let current: Records | undefined;
/** How many bytes were read early, or written. */
const count = new BigUint64Array(1);
/** The length of the head of a record, with which OpenSSL has begun and has done nothing. */
const RECORD_HEAD = 5;

/** Why OpenSSL cannot be asked directly, in words that follow "because"; empty when it can. The first call tries it. */
export function whyNoRecords(): string {
  problem ??= load() || tried();
  return problem;
}

function load(): string {
  const found = loadOpenSsl((connection) => current?.found(connection));
  if (typeof found === 'string') {
    return found;
  }
  if (handshakeHandle() === null) {
    return 'the ciphers of this Node have another form';
  }
  ssl = found;
  return '';
}

/** A hello of TLS 1.2 that asks for nothing: who reads it finds out where a connection is. */
function hello(): Buffer {
  const version = [3, 3];
  const body = [...version, ...new Array(32).fill(0), 0, 0, 2, 0xc0, 0x2f, 1, 0];
  const message = [1, 0, 0, body.length, ...body];
  return Buffer.from([22, ...version, 0, message.length, ...message]);
}

function tried(): string {
  try {
    const stream = new (handshakeHandle()!)();
    const writes: WriteRequest[] = [];
    stream.isClosing = () => false;
    stream.onwrite = (request) => {
      writes.push(request);
      return 0;
    };
    for (const server of [true, false]) {
      const context = createSecureContext({ ca: [] });
      const records = new Records(stream, context, server);
      records.cipher.onerror = () => {};
      if (server) {
        records.handshake(hello());
      } else {
        records.begin();
      }
      const { known } = records;
      for (const request of writes.splice(0)) {
        stream.finishWrite(request, 0);
      }
      records.forget();
      records.cipher.destroySSL();
      if (!known) {
        return 'OpenSSL does not tell where a connection is';
      }
    }
    return '';
  } catch (error) {
    return `OpenSSL cannot be asked: ${(error as Error).message}`;
  }
}

/** Where OpenSSL has a context, which is a server's or a client's for good. */
function watched({ context }: SecureContext, server: boolean): number {
  const known = addresses.get(context as object);
  if (known !== undefined) {
    return known;
  }
  const address = contextAddress(context);
  if (server) {
    ssl.watchHellos(address);
  } else {
    ssl.watchMessages(address);
  }
  addresses.set(context as object, address);
  return address;
}

/** The records of one connection. What is asked after {@link forget} is answered as for a broken one. */
export class Records {
  /** Node's own, which runs the handshake. */
  readonly cipher: CipherHandle;
  readonly #context: number;
  #ssl = 0;
  #input = 0;
  #output = 0;
  /** Early data is still read. */
  #early = false;
  /** The handshake was begun with early data, and it is not known to be over. */
  #unfinished = false;
  /** Why the connection broke, in OpenSSL's words. */
  failure = '';

  /** Puts a cipher on a stream. `early`: the context is for {@link beginEarly}, and for nothing else. */
  constructor(stream: HandshakeHandle, context: SecureContext, server: boolean, early = false) {
    // Before that: OpenSSL gives a connection what its context has by then.
    this.#context = watched(context, server && !early);
    this.cipher = cipherMaker()(stream, context, server);
  }

  /** Has a client's cipher say its hello. */
  begin(): void {
    const before = current;
    current = this;
    try {
      this.cipher.start();
    } finally {
      current = before;
    }
    if (this.#ssl !== 0) {
      ssl.stopWatching(this.#ssl);
    }
  }

  /** Gives the cipher what came for its handshake. */
  handshake(bytes: Buffer): void {
    const before = current;
    current = this;
    try {
      this.cipher.receive(bytes);
    } finally {
      current = before;
    }
  }

  /**
   * Begins the handshake of a client that sends early data; what it sent is to be {@link put}. Node's cipher runs no part of it: what
   * Node calls JavaScript for cannot happen on the stack that these calls have. Returns false when OpenSSL does not tell where the
   * connection is.
   */
  beginEarly(bytes: Buffer): boolean {
    this.handshake(bytes.subarray(0, RECORD_HEAD));
    if (this.#ssl === 0) {
      return false;
    }
    ssl.startAnew(this.#ssl);
    ssl.leaveNode(this.#ssl, this.#input, this.#output);
    this.#early = true;
    this.#unfinished = true;
    return true;
  }

  /** The client may be somebody who sends again what another one has sent: its handshake is not over. nginx: ngx_ssl_get_early_data. */
  get early(): boolean {
    return this.#unfinished && this.#ssl !== 0;
  }

  /** This connection's hello has come, or leaves. */
  found(connection: number): void {
    if (this.#ssl === 0 && ssl.contextOf(connection) === this.#context) {
      this.#ssl = connection;
      this.#input = ssl.input(connection);
      this.#output = ssl.output(connection);
    }
  }

  /** OpenSSL has told the address. */
  get known(): boolean {
    return this.#ssl !== 0;
  }

  /** The cipher has nothing under way: records may go past it from now on, and no handshake may follow. Returns false otherwise. */
  takeOver(): boolean {
    if (this.#ssl === 0 || ssl.waiting(this.#output) > 0) {
      return false;
    }
    ssl.leaveNode(this.#ssl, this.#input, this.#output);
    return true;
  }

  /** Keeps what came, which {@link read} decrypts. Returns false when there is no memory for it. */
  put(bytes: Buffer, length: number): boolean {
    return this.#ssl !== 0 && length <= bytes.length && ssl.put(this.#input, bytes, length) === length;
  }

  /** Something came that was not decrypted. */
  get left(): boolean {
    return this.#ssl !== 0 && ssl.waiting(this.#input) > 0;
  }

  /** What the handshake has agreed on, as far as Node does not tell it; undefined when the connection is gone. */
  get agreed(): Agreed | undefined {
    const place = this.#ssl;
    return place === 0 ? undefined : { group: ssl.group(place), signature: ssl.signature(place), peerSignature: ssl.peerSignature(place) };
  }

  /** A later connection can go on with the session of this one. */
  get resumable(): boolean {
    return this.#ssl !== 0 && ssl.resumable(this.#ssl);
  }

  /**
   * Decrypts one record at most, of 16 KB at most, into so much memory. Returns its length, or a word for why there is none; what
   * {@link failure} says then is OpenSSL's reason.
   */
  read(into: Buffer): number {
    if (this.#ssl === 0) {
      return BROKEN;
    }
    // What somebody else left there would be taken for this connection's.
    ssl.clearErrors();
    const length = this.#early ? this.#readEarly(into) : ssl.read(this.#ssl, into, into.length);
    const error = length > 0 ? 0 : ssl.error(this.#ssl, length);
    if (this.#unfinished && !this.#early && ssl.finished(this.#ssl)) {
      this.#unfinished = false;
      // OpenSSL gives a client whose ticket it has opened by itself no other one.
      ssl.renewTicket(this.#ssl);
    }
    if (length > 0) {
      return length;
    }
    if (error === WANT_READ) {
      return NOTHING_YET;
    }
    return error === ZERO_RETURN ? THE_END : this.#broken();
  }

  /** As SSL_read, of what came before the handshake is over. nginx: ngx_ssl_recv_early. */
  #readEarly(into: Buffer): number {
    count[0] = 0n;
    const result = ssl.readEarly(this.#ssl, into, into.length, count);
    if (result === EARLY_READ) {
      return Number(count[0]);
    }
    if (result !== EARLY_OVER) {
      return result;
    }
    this.#early = false;
    return ssl.read(this.#ssl, into, into.length);
  }

  #broken(): typeof BROKEN {
    this.failure = ssl.errors();
    ssl.clearErrors();
    return BROKEN;
  }

  /** Encrypts; what comes of it is to be taken. Returns false when the connection is broken. */
  write(bytes: Buffer): boolean {
    if (this.#ssl === 0) {
      return false;
    }
    if (bytes.length === 0) {
      return true;
    }
    if (this.early) {
      ssl.clearErrors();
      if (ssl.writeEarly(this.#ssl, bytes, bytes.length, count) === 1 && count[0] === BigInt(bytes.length)) {
        return true;
      }
    } else if (ssl.write(this.#ssl, bytes, bytes.length) === bytes.length) {
      return true;
    }
    this.#broken();
    return false;
  }

  /** Says that this is the end. */
  end(): void {
    if (this.#ssl !== 0 && ssl.shutdown(this.#ssl) < 0) {
      ssl.clearErrors();
    }
  }

  /** Takes records that are to be sent; returns how many bytes, fewer than there is room for when these were all. */
  take(into: Buffer): number {
    return this.#ssl === 0 ? 0 : Math.max(0, ssl.take(this.#output, into, into.length));
  }

  /** The cipher is about to free what is at the addresses. */
  forget(): void {
    this.#ssl = 0;
    this.#input = 0;
    this.#output = 0;
  }
}
