import { Buffer } from 'node:buffer';
import type { Held } from '../../connections/held-list.js';
import type { QuicStream } from '../../net/quic/contract.js';
import { ERROR_CODE } from '../http2-frames/protocol.js';
import { FRAME } from '../http3-frames/protocol.js';
import { putVarint, varintLength } from '../http3-frames/varint.js';
import { OVER } from '../multiplexed/how-over.js';
import { RequestStream } from '../multiplexed/request-stream.js';
import { clientSlot } from '../request/client-settings.js';
import type { Request } from '../request/request.js';
import type { RequestStream as Channel } from './channel.js';
import type { Http3Connection } from './connection.js';
import { errorOf } from './error-code.js';
import { bareHead, responseHead, trailerSection } from './response-head.js';

const NOTHING = Buffer.alloc(0);

/** A request and its response on an HTTP/3 connection. nginx: ngx_http_v3_filter_module.c. */
export class Http3Stream extends RequestStream<Http3Connection> implements Held {
  heldAt = -1;
  /** The next of those whose turn is to come. */
  nextReady: Http3Stream | null = null;
  protected readonly version = 'HTTP/3';
  protected readonly pacesHeads = true;
  readonly #quic: QuicStream;
  /** What reads the stream. */
  readonly #channel: Channel;
  /** The bytes of the body that nobody has used yet. */
  #unused = 0;
  /** The response's head, until it leaves with the first piece of the body. */
  #head: Buffer | null = null;
  /** How many bytes of the piece at hand have no frame's head before them yet. */
  #unframed = 0;
  /** The stream's turn comes when the client makes room. */
  #blocked = false;
  #queued = false;
  /** Heads are sent, and bodies in frames: not so with HTTP/0.9. */
  readonly #framed: boolean;

  constructor(connection: Http3Connection, channel: Channel) {
    const { quic } = channel;
    super(connection, quic.id);
    this.#quic = quic;
    this.#channel = channel;
    this.#framed = !connection.hq;
  }

  get overQuic(): 'h3' | 'hq' {
    return this.#framed ? 'h3' : 'hq';
  }

  protected override siblings(): Http3Stream[] {
    return this.c.requestsOpen();
  }

  override prioritize(text: string): void {
    super.prioritize(text);
    this.#quic.prioritize(this.urgency, this.incremental);
  }

  // ---------------------------------------------------------------- what comes in

  // The transport's window is as large as http3_stream_buffer_size says, whoever takes the body.
  override bodyWanted(): void {}

  /** `bytes` of a body came, for which the client has no room again yet. */
  bodyCame(bytes: number): void {
    this.#unused += bytes;
  }

  override bodyUsed(bytes: number): void {
    this.#unused -= bytes;
    this.#quic.consumed(bytes);
  }

  // ---------------------------------------------------------------- the response that goes out

  protected override writeHead(r: Request, status: number, fin: boolean): number {
    this.c.host.env.logFiles.flushErrors();
    return this.#hold(this.#framed ? responseHead(r, status) : NOTHING, fin);
  }

  protected override writeBare(status: number, fields: readonly string[], fin: boolean): number {
    return this.#hold(this.#framed ? bareHead(status, fields) : NOTHING, fin);
  }

  /** Keeps a head for what follows it. */
  #hold(head: Buffer, fin: boolean): number {
    if (fin) {
      this.#write(head, true);
      return head.length;
    }
    this.#flushHead();
    this.#head = head;
    return head.length;
  }

  /** Writes a piece behind the head that waits. */
  #write(bytes: Buffer, end: boolean): void {
    this.#flushHead();
    this.#quic.write(bytes, end);
  }

  #flushHead(): void {
    const head = this.#head;
    this.#head = null;
    if (head !== null && head.length > 0) {
      this.#quic.write(head, false);
    }
  }

  protected override writeEnd(trailers: readonly string[]): number {
    const section = trailers.length === 0 || !this.#framed ? NOTHING : trailerSection(trailers);
    this.#write(section, true);
    return section.length;
  }

  protected override sendSoon(): void {
    this.enqueue();
  }

  protected override enqueue(): void {
    if (!this.#queued) {
      this.#queued = true;
      this.c.ready(this);
    }
  }

  override put(chunk: Buffer | null, last: boolean): void {
    this.#unframed = chunk === null || !this.#framed ? 0 : chunk.length;
    super.put(chunk, last);
  }

  /** The client made room. */
  windowOpened(): void {
    if (this.#blocked) {
      this.#blocked = false;
      this.stopTime();
      this.enqueue();
    }
  }

  /** Takes the stream's turn: sends as much as there is room for. Returns how many bytes of data that was. */
  takeTurn(): number {
    this.#queued = false;
    if (this.closed) {
      return 0;
    }
    if (!this.sending) {
      this.#flushHead();
      return 0;
    }
    const { left } = this;
    if (left === 0) {
      this.pieceSent();
      // A flush, or a piece that waits for its pace.
      if (!this.sending) {
        this.#flushHead();
      }
      return 0;
    }
    const { room } = this.#quic;
    if (room <= 0) {
      this.#flushHead();
      this.#blocked = true;
      this.time(this.request.location.conf(clientSlot).sendTimeout);
      return 0;
    }
    const size = Math.min(left, room);
    this.#send(size);
    if (size < left) {
      this.enqueue();
    } else {
      this.pieceSent();
    }
    return size;
  }

  /** Sends the next `size` bytes of the piece at hand, the first of them behind a frame's head for all of it. */
  #send(size: number): void {
    const r = this.request;
    const from = this.sent;
    const chunk = this.chunk as Buffer;
    const piece = size === chunk.length ? chunk : chunk.subarray(from, from + size);
    this.sent += size;
    const end = this.ends && this.sent === this.chunk!.length && r.out.trailers.length === 0;
    r.bytesSent += size;
    if (this.#unframed > 0) {
      const before = dataHead(this.#unframed);
      this.#unframed = 0;
      r.bytesSent += before.length;
      r.headerSize += before.length;
      this.#write(before, false);
    }
    this.#write(piece, end);
    if (end) {
      this.outClosed = true;
    }
  }

  // ---------------------------------------------------------------- the end

  protected override leave(code: number): void {
    const told = this.closed;
    this.closed = true;
    if (!told) {
      this.#tell(code);
    }
    // All streams share the room on the connection.
    this.#quic.consumed(this.#unused);
    this.#unused = 0;
    this.c.requestOver(this, !told && this.outClosed);
  }

  /** Tells the client how the stream is over. */
  #tell(code: number): void {
    const quic = this.#quic;
    if (code === OVER.BOTH_ENDED || code === OVER.CLIENT_GOES_ON) {
      return;
    }
    const error = errorOf(code, this.afterwards === code);
    if (!this.inClosed) {
      this.c.willNotRead(this.#channel);
      quic.stopReceiving(error);
    }
    if (!this.outClosed) {
      quic.reset(error);
    } else if (code !== ERROR_CODE.NO_ERROR) {
      // Once the answer has gone out.
      this.c.resetSoon(quic, error);
    }
  }

  // What the client has not acknowledged may have arrived.
  override unsent(_r: Request): number {
    return 0;
  }

  /** Ends the request for what the client did to the stream: with an error code of HTTP/3. */
  fail(code: number): void {
    this.abandon(code);
    this.gone();
  }

  /** Nothing is read or sent any more. */
  abandon(code: number): void {
    if (!this.closed) {
      this.#quic.stopReceiving(code);
      this.#quic.reset(code);
    }
  }
}

/** Lengths of bodies' pieces below this have a head that was made once. */
const KNOWN_HEADS = 4096;
const knownHeads: Buffer[] = [];

/** The head of a DATA frame, which nobody changes. */
function dataHead(length: number): Buffer {
  if (length >= KNOWN_HEADS) {
    return newDataHead(length);
  }
  while (knownHeads.length <= length) {
    knownHeads.push(NOTHING);
  }
  const known = knownHeads[length]!;
  if (known.length > 0) {
    return known;
  }
  const made = newDataHead(length);
  knownHeads[length] = made;
  return made;
}

function newDataHead(length: number): Buffer {
  const head = Buffer.alloc(1 + varintLength(length));
  head[0] = FRAME.DATA;
  putVarint(head, 1, length);
  return head;
}
