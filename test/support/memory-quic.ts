// The transport below HTTP/3, in memory: what a client's QUIC would do is done by calls.
import type {
  QuicConnection,
  QuicConnectionHandler,
  QuicEnd,
  QuicStream,
  QuicStreamHandler,
  QuicTls,
} from '../../src/worker/net/quic/contract.js';

/** Bytes that the transport keeps for a stream. */
export const ROOM = 65_536;

/** A stream, as both sides see it. */
export class MemoryStream implements QuicStream {
  readonly id: number;
  readonly unidirectional: boolean;
  handler!: QuicStreamHandler;
  /** What the server has written. */
  written: Buffer[] = [];
  /** The server has ended its side. */
  ended = false;
  /** Codes of the server's RESET_STREAM and STOP_SENDING. */
  resetCode: number | undefined = undefined;
  stopCode: number | undefined = undefined;
  /** The bytes that the server has used of what the client sent, and those that it was sent. */
  used = 0;
  sent = 0;
  urgency: number | undefined = undefined;
  incremental: boolean | undefined = undefined;
  /** The client acknowledges what it is sent at once. */
  reads = true;
  #unread = 0;
  #inEnded: boolean;
  /** The client opened it. */
  readonly #theirs: boolean;
  #over = false;
  readonly #connection: MemoryQuic;

  constructor(connection: MemoryQuic, id: number, unidirectional: boolean, own: boolean) {
    this.#connection = connection;
    this.id = id;
    this.unidirectional = unidirectional;
    this.#inEnded = own;
    this.#theirs = !own;
  }

  // ---------------------------------------------------------------- for the server

  get room(): number {
    return ROOM - this.#unread;
  }

  readonly pending = false;

  write(bytes: Uint8Array, end: boolean): void {
    if (this.resetCode !== undefined || this.#over) {
      return;
    }
    if (this.ended) {
      throw new Error('written behind the end');
    }
    this.written.push(Buffer.from(bytes));
    this.ended = end;
    if (!this.reads) {
      this.#unread += bytes.length;
    }
    this.#connection.later(() => this.#settle());
  }

  consumed(bytes: number): void {
    this.used += bytes;
    if (this.used > this.sent) {
      throw new Error('more was used than was sent');
    }
  }

  reset(code: number): void {
    if (this.resetCode === undefined && !this.#over) {
      this.resetCode = code;
      this.#connection.later(() => this.#settle());
    }
  }

  stopReceiving(code: number): void {
    if (this.stopCode === undefined && !this.#inEnded && !this.#over) {
      this.stopCode = code;
      this.#inEnded = true;
      this.#connection.later(() => this.#settle());
    }
  }

  prioritize(urgency: number, incremental: boolean): void {
    this.urgency = urgency;
    this.incremental = incremental;
  }

  // ---------------------------------------------------------------- for the client

  /** The client sends bytes, in pieces of some size. */
  send(bytes: Buffer, end = false, size = bytes.length): this {
    let at = 0;
    do {
      const piece = bytes.subarray(at, at + size);
      at += piece.length;
      if (this.#inEnded) {
        return this;
      }
      this.sent += piece.length;
      const last = end && at === bytes.length;
      this.#inEnded ||= last;
      this.handler.received(piece, 0, piece.length, last);
    } while (at < bytes.length);
    this.#connection.handler.flush();
    this.#connection.later(() => this.#settle());
    return this;
  }

  /** The client sends RESET_STREAM. */
  giveUp(code: number): void {
    this.#inEnded = true;
    this.handler.wasReset(code);
    this.#settle();
  }

  /** The client sends STOP_SENDING. */
  refuse(code: number): void {
    this.resetCode ??= code;
    this.handler.refused(code);
    this.#settle();
  }

  /** The client reads what waits for it. */
  read(): void {
    this.#unread = 0;
    this.handler.drained();
    this.#connection.handler.flush();
    // What had been written to its end before was not read then.
    this.#connection.later(() => this.#settle());
  }

  #settle(): void {
    const outOver = (this.unidirectional && this.#theirs) || this.resetCode !== undefined || (this.ended && this.#unread === 0);
    if (!this.#over && this.#inEnded && outOver) {
      this.close();
    }
  }

  close(): void {
    if (!this.#over) {
      this.#over = true;
      this.handler.closed();
    }
  }

  get over(): boolean {
    return this.#over;
  }

  /** All that the server has written. */
  get bytes(): Buffer {
    return Buffer.concat(this.written);
  }
}

/** A connection, as both sides see it. */
export class MemoryQuic implements QuicConnection {
  readonly protocol: string;
  readonly tls = { early: false } as QuicTls;
  remoteAddress = '127.0.0.1';
  remote = () => ({ address: this.remoteAddress, port: this.remotePort });
  remotePort = 40_000;
  readonly localAddress = '127.0.0.1';
  readonly localPort = 443;
  readonly bytesReceived = 0;
  readonly bytesSent = 0;
  readonly idleTimeout = 60_000;
  handler!: QuicConnectionHandler;
  /** Streams by their identifiers. */
  readonly streams = new Map<number, MemoryStream>();
  /** How the connection has ended. */
  end: QuicEnd | undefined = undefined;
  /** The server takes no more streams. */
  creditStopped = false;
  /** How many streams of its own the server may open. */
  #allowed = Number.POSITIVE_INFINITY;
  #own = 3;

  constructor(protocol = 'h3', allowed = Number.POSITIVE_INFINITY) {
    this.protocol = protocol;
    this.#allowed = allowed;
  }

  get now(): number {
    return performance.now();
  }

  // ---------------------------------------------------------------- for the server

  openUnidirectional(handler: QuicStreamHandler): QuicStream | undefined {
    if (this.#own >= this.#allowed * 4) {
      return undefined;
    }
    const stream = new MemoryStream(this, this.#own, true, true);
    stream.handler = handler;
    this.streams.set(this.#own, stream);
    this.#own += 4;
    return stream;
  }

  handlerOf(id: number): QuicStreamHandler | undefined {
    const stream = this.streams.get(id);
    return stream?.over ? undefined : stream?.handler;
  }

  handlers(): QuicStreamHandler[] {
    const open = [...this.streams.values()].filter(({ over }) => !over);
    return open.sort((a, b) => a.id - b.id).map(({ handler }) => handler);
  }

  close(code: number, reason: string): void {
    this.finish({ by: 'local', application: true, code, reason });
  }

  stopCredit(): void {
    this.creditStopped = true;
  }

  // ---------------------------------------------------------------- for the client

  /** The client lets the server open so many streams. */
  allow(streams: number): void {
    this.#allowed = streams;
    this.handler.streamsAllowed();
  }

  /** The client opens a stream. */
  open(id: number): MemoryStream {
    const stream = new MemoryStream(this, id, id % 4 === 2, false);
    this.streams.set(id, stream);
    stream.handler = this.handler.opened(stream);
    return stream;
  }

  /** The connection ends. */
  finish(end: QuicEnd): void {
    if (this.end !== undefined) {
      return;
    }
    this.end = end;
    for (const stream of this.streams.values()) {
      stream.close();
    }
    this.handler.ended(end);
  }

  /** What the transport does by itself comes once the protocol above has returned. */
  later(what: () => void): void {
    setImmediate(() => {
      if (this.end === undefined) {
        what();
      }
    });
  }
}
