// Longer than most: both directions of one exchange, which only make sense together.
import { setTimer } from '../../../shared/lib/timer.js';
import { INFO } from '../../../shared/log/level.js';
import type { ProxyProtocolHeader } from '../../../shared/net/proxy-protocol.js';
import { Deadline, type Expiring } from '../../io/deadline.js';
import { Gathered } from '../../io/gathered.js';
import { makePacer, type RatePacer } from '../body/rate.js';
import type { AddressRuntime } from '../request/address-runtime.js';
import type { Chunk } from '../request/body-stage.js';
import type { BodySink, ClientConnection, ClientStream, TlsConnection, Upgraded } from '../request/client-stream.js';
import { CLIENT_CLOSED_REQUEST } from '../request/codes.js';
import type { Request } from '../request/request.js';
import type { Http2Connection } from './connection.js';
import type { Dependency } from './dependency-tree.js';
import { ReceiveWindow, SendWindow } from './flow-window.js';
import { DEFAULT_URGENCY, parsePriority } from './priority.js';
import { ERROR_CODE, FLAG, FRAME, FRAME_HEAD, MAX_WINDOW } from './protocol.js';
import type { Waiting } from './scheduler.js';

/**
 * One request and its response on an HTTP/2 connection. What the layers above see as the client's connection is this, too: another stream
 * of the same connection goes on when this one is reset. nginx: ngx_http_v2_stream_t and its fake connection.
 */
export class Http2Stream implements ClientConnection, ClientStream, Waiting, Expiring {
  readonly id: number;
  readonly streamId: number;
  readonly #c: Http2Connection;
  request!: Request;
  remoteAddress: string;
  remotePort: number;
  readonly requests: number;
  closed = false;
  action: string | undefined = 'reading client request headers';

  // --- what came in
  /** The client sends no more on it. */
  inClosed = false;
  readonly #receive: ReceiveWindow;
  /** Body that nobody has taken yet. */
  #held: Gathered | null = null;
  #received = 0;
  #sink: BodySink | null = null;
  #sinkPaused = false;
  /** Whatever comes of the body is dropped. */
  #dropping = false;
  /** The body is not what the head said of it: the status to answer with. */
  #broken = 0;

  // --- what goes out
  /** The frame that ends the response was made. */
  #outClosed = false;
  readonly sendWindow: SendWindow;
  #chunk: Chunk | null = null;
  #sent = 0;
  #last = false;
  /** A piece waits to be sent. */
  #sending = false;
  /** Its turn comes when the client makes room. */
  #blocked = false;
  #queued = false;
  #pacer: RatePacer | null = null;
  #headSize = 0;

  urgency = DEFAULT_URGENCY;
  incremental = true;
  #deadline: Deadline | null = null;
  #timedOut = false;
  /** We told the client that it is over. */
  #reset = false;
  #watcher: (() => void) | null = null;
  /** The error code that ends the stream once the answer has gone out. */
  afterwards: number = ERROR_CODE.NO_ERROR;

  constructor(connection: Http2Connection, streamId: number, requests: number, room: number, receiveWindow: number) {
    this.#c = connection;
    this.id = connection.id;
    this.streamId = streamId;
    this.requests = requests;
    this.remoteAddress = connection.remoteAddress;
    this.remotePort = connection.remotePort;
    this.sendWindow = new SendWindow(room);
    this.#receive = new ReceiveWindow(receiveWindow);
  }

  get connection(): ClientConnection {
    return this;
  }

  get localAddress(): string {
    return this.#c.localAddress;
  }

  get localPort(): number {
    return this.#c.localPort;
  }

  get address(): AddressRuntime {
    return this.#c.address;
  }

  get acceptedAt(): number {
    return this.#c.acceptedAt;
  }

  get debugging(): boolean {
    return this.#c.debugging;
  }

  get tls(): TlsConnection | undefined {
    return this.#c.tls;
  }

  get proxyProtocol(): ProxyProtocolHeader | undefined {
    return this.#c.proxyProtocol;
  }

  get sni(): string | undefined {
    return this.#c.sni;
  }

  get place(): Dependency {
    return this.#c.placeOf(this.streamId);
  }

  /** What the client says of the response's urgency. */
  prioritize(text: string): void {
    const { urgency, incremental } = parsePriority(text);
    this.urgency = urgency;
    this.incremental = incremental;
  }

  // ---------------------------------------------------------------- the body that comes in

  /** A frame of `length` bytes begins; false if the client had no room for it. */
  takeWindow(length: number): boolean {
    return this.#receive.take(length);
  }

  /** Nobody looks at what comes: its bytes count for nothing. */
  get ignoring(): boolean {
    const r = this.request;
    return this.#dropping || (r.contentLength < 0 && !r.chunkedIn);
  }

  /** How many bytes wait for somebody to take them. */
  get #heldSize(): number {
    return this.#held === null ? 0 : this.#held.length;
  }

  /** How much of the body is still to come; -1 where its length is not known. */
  get rest(): number {
    const r = this.request;
    return r.chunkedIn || r.contentLength < 0 ? -1 : Math.max(0, r.contentLength - this.#received);
  }

  /** Data came, in memory that is used again after the call. */
  data(bytes: Buffer, start: number, end: number, announced: number): void {
    const size = end - start;
    const r = this.request;
    this.#received += size;
    if (this.ignoring || this.#broken !== 0) {
      return;
    }
    if (r.contentLength >= 0 && !r.chunkedIn && this.#received > r.contentLength) {
      r.log(INFO, 'client intended to send body data larger than declared');
      this.#break(400);
      return;
    }
    r.requestLength += size;
    if (this.#sink === null || this.#sinkPaused) {
      (this.#held ??= new Gathered()).add(bytes, start, end);
    } else {
      this.#give(bytes, start, end, announced);
    }
  }

  #give(bytes: Buffer, start: number, end: number, announced: number): void {
    const sink = this.#sink as BodySink;
    if (!sink.data(bytes, start, end, announced)) {
      this.#sinkPaused = true;
    }
    if (this.#sink !== sink || this.closed) {
      return;
    }
    this.#refill(this.#receive.size === MAX_WINDOW ? 0.25 : 0.5);
    if (!this.#sinkPaused && !this.inClosed) {
      this.#watchBody();
    }
  }

  #watchBody(): void {
    this.#time(this.request.location.settings.clientBodyTimeout);
  }

  /** Gives the client room again for what was used. */
  #refill(share: number): void {
    if (this.inClosed) {
      return;
    }
    const room = this.#receive.refill(this.#heldSize, share);
    if (room > 0) {
      this.#c.giveRoom(this.streamId, room);
    }
  }

  /** The client sends no more. */
  inputEnded(): void {
    if (this.inClosed) {
      return;
    }
    this.inClosed = true;
    const r = this.request;
    if (this.#broken === 0 && r.contentLength >= 0 && !r.chunkedIn && this.#received !== r.contentLength) {
      r.log(INFO, `client prematurely closed stream: only ${this.#received} out of ${r.contentLength} bytes of request body received`);
      this.#break(400);
    } else if (this.#sink !== null && !this.#sinkPaused) {
      this.#endBody();
    }
  }

  #break(status: number): void {
    this.#broken = status;
    this.afterwards = ERROR_CODE.PROTOCOL_ERROR;
    this.#held = null;
    const sink = this.#sink;
    if (sink === null) {
      return;
    }
    this.#sink = null;
    this.#deadline?.clear();
    sink.fail(status);
  }

  #endBody(): void {
    const sink = this.#sink;
    this.#sink = null;
    this.#deadline?.clear();
    this.action = undefined;
    sink?.end();
  }

  bodyDone(r: Request): boolean {
    return !r.chunkedIn && (r.contentLength < 0 || (r.contentLength === 0 && this.inClosed));
  }

  readBody(r: Request, sink: BodySink): void {
    if (this.#broken !== 0) {
      process.nextTick(failBody, sink, this.#broken);
      return;
    }
    this.#sink = sink;
    this.#sinkPaused = false;
    this.action = 'reading client request body';
    if (!this.inClosed) {
      const wanted = Math.min(
        MAX_WINDOW,
        r.contentLength >= 0 && !r.chunkedIn && sink.room !== MAX_WINDOW ? Math.min(sink.room, r.contentLength + 1) : sink.room,
      );
      if (wanted > this.#receive.size) {
        this.#receive.size = wanted;
      }
      this.#refill(1);
    }
    // Whoever asked is still at work.
    if (this.#heldSize > 0 || this.inClosed) {
      process.nextTick(takeUp, this);
    } else {
      this.#watchBody();
    }
  }

  /** Gives the sink what was held. */
  takeUp(): void {
    while (this.#sink !== null && !this.#sinkPaused && this.#held !== null) {
      const piece = this.#held.shift();
      if (this.#held.length === 0) {
        this.#held = null;
      }
      if (piece !== null) {
        this.#give(piece, 0, piece.length, this.#heldSize);
      }
    }
    if (this.#sink === null || this.#sinkPaused) {
      return;
    }
    if (this.inClosed) {
      this.#endBody();
    } else {
      this.#watchBody();
    }
  }

  resumeBody(_r: Request): void {
    if (!this.#sinkPaused) {
      return;
    }
    this.#sinkPaused = false;
    process.nextTick(takeUp, this);
  }

  discardBody(_r: Request): number {
    this.#dropping = true;
    this.#held = null;
    return 0;
  }

  // ---------------------------------------------------------------- the response that goes out

  sendContinue(r: Request): void {
    const expect = r.header('expect');
    if (expect !== undefined && expect.toLowerCase() === '100-continue') {
      this.sendInformational(r, 100, NO_FIELDS);
    }
  }

  sendInformational(_r: Request, status: number, fields: readonly string[]): void {
    if (this.closed || this.#outClosed) {
      return;
    }
    this.#c.head.informational(status, fields, this.streamId);
    this.#c.sendSoon();
  }

  sendHead(r: Request): void {
    if (this.closed) {
      return;
    }
    this.action = 'sending response to client';
    const fin = r.headerOnly || (r.out.contentLength === 0 && !r.expectTrailers);
    this.#outClosed = fin;
    this.#headSize = this.#c.writeHead(r, fin ? FLAG.END_STREAM : 0, this.streamId);
    r.headerSize = this.#headSize;
    r.bytesSent += this.#headSize;
    if (!fin) {
      this.#pacer = makePacer(r);
    }
    this.#c.sendSoon();
  }

  flush(_r: Request): void {
    if (!this.closed) {
      this.#c.sendSoon();
    }
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    if (this.closed) {
      r.terminate(-1);
      return;
    }
    const pacer = this.#pacer;
    if (pacer !== null && chunk !== null && chunk.length > 0) {
      const allowed = pacer.allowed(performance.now(), r.bytesSent - r.headerSize);
      if (allowed < chunk.length) {
        this.#sendLater(r, pacer, chunk, last, allowed);
        return;
      }
    }
    this.#put(chunk, last);
  }

  /** Sends what the rate allows and the rest after a pause. nginx: ngx_http_write_filter with limit_rate. */
  #sendLater(r: Request, pacer: RatePacer, chunk: Chunk, last: boolean, allowed: number): void {
    let rest = chunk;
    if (allowed > 0) {
      rest = chunk.subarray(allowed);
      this.#rest = rest;
      this.#restLast = last;
      this.#put(chunk.subarray(0, allowed), false);
      return;
    }
    setTimer(sendRest, pacer.delay(performance.now(), r.bytesSent - r.headerSize), this, r, rest, last);
  }

  /** What the rate does not let through yet, behind the piece that is being sent. */
  #rest: Chunk | null = null;
  #restLast = false;

  #put(chunk: Chunk | null, last: boolean): void {
    this.#chunk = chunk;
    this.#sent = 0;
    this.#last = last;
    this.#sending = true;
    this.#enqueue();
  }

  #enqueue(): void {
    if (this.#queued) {
      return;
    }
    this.#queued = true;
    this.#c.ready(this);
  }

  /** The client made room. */
  windowOpened(): void {
    if (!this.#blocked || this.sendWindow.left <= 0) {
      return;
    }
    this.#blocked = false;
    this.#deadline?.clear();
    this.#enqueue();
  }

  /** How many bytes wait to be sent. */
  get #left(): number {
    return this.#chunk === null ? 0 : this.#chunk.length - this.#sent;
  }

  /**
   * It is this stream's turn: makes a frame of at most `most` bytes of data. Returns how many it made, or -1 if it has some and may
   * make none.
   */
  takeTurn(most: number): number {
    this.#queued = false;
    if (!this.#sending || this.closed) {
      return 0;
    }
    const left = this.#left;
    if (left === 0) {
      return this.#pieceSent();
    }
    const window = this.sendWindow.left;
    if (window <= 0) {
      this.#blocked = true;
      this.#time(this.request.location.settings.sendTimeout);
      return 0;
    }
    const size = Math.min(left, window, most, this.request.location.settings.http2ChunkSize);
    if (size <= 0) {
      this.#queued = true;
      return -1;
    }
    const r = this.request;
    const end = this.#last && size === left && r.out.trailers.length === 0;
    const bytes = this.#c.output.frame(FRAME.DATA, end ? FLAG.END_STREAM : 0, this.streamId, size);
    (this.#chunk as Buffer).copy(bytes, this.#c.output.length, this.#sent, this.#sent + size);
    this.#c.output.length += size;
    this.#sent += size;
    this.sendWindow.left -= size;
    r.bytesSent += size + FRAME_HEAD;
    r.headerSize += FRAME_HEAD;
    if (end) {
      this.#outClosed = true;
    }
    if (size < left) {
      this.#enqueue();
    } else {
      this.#pieceSent();
    }
    return size;
  }

  /** The piece at hand is in frames. */
  #pieceSent(): number {
    const r = this.request;
    this.#sending = false;
    this.#chunk = null;
    if (this.#last) {
      if (!this.#outClosed) {
        this.#endResponse(r);
      }
      r.finalize(0);
    } else if (this.#rest !== null) {
      const rest = this.#rest;
      this.#rest = null;
      const pacer = this.#pacer as RatePacer;
      setTimer(sendRest, pacer.delay(performance.now(), r.bytesSent - r.headerSize), this, r, rest, this.#restLast);
    } else {
      r.more();
    }
    return 0;
  }

  /** Ends a response whose last data have left, with its trailers if it has some. */
  #endResponse(r: Request): void {
    this.#outClosed = true;
    const { trailers } = r.out;
    if (trailers.length > 0) {
      const size = this.#c.head.trailers(trailers, FLAG.END_STREAM, this.streamId);
      r.bytesSent += size;
      r.headerSize += size;
      return;
    }
    this.#c.output.frame(FRAME.DATA, FLAG.END_STREAM, this.streamId, 0);
    r.bytesSent += FRAME_HEAD;
    r.headerSize += FRAME_HEAD;
  }

  // Pieces of it lie between those of other streams: nothing can leave past them.
  offerLimit(_r: Request): number {
    return 0;
  }

  offer(_r: Request, _bytes: Chunk): number {
    return 0;
  }

  upgrade(_r: Request, _received: (bytes: Buffer) => void): Upgraded {
    throw new Error('no socket of its own');
  }

  // ---------------------------------------------------------------- the end

  finish(_r: Request): void {
    let code = -1;
    if (!this.#outClosed) {
      code = ERROR_CODE.INTERNAL_ERROR;
    } else if (this.afterwards !== ERROR_CODE.NO_ERROR) {
      code = this.afterwards;
    } else if (!this.inClosed) {
      code = ERROR_CODE.NO_ERROR;
    }
    this.#end(code);
  }

  terminate(_r: Request, reset: boolean): void {
    if (this.#timedOut || reset) {
      this.#end(ERROR_CODE.PROTOCOL_ERROR);
    } else {
      this.#end(this.#outClosed ? ERROR_CODE.NO_ERROR : ERROR_CODE.INTERNAL_ERROR);
    }
  }

  /** Leaves the connection; `code`: what to reset the stream with, unless it is closed, -1 for nothing. */
  #end(code: number): void {
    const told = this.closed;
    this.closed = true;
    this.#deadline?.close();
    this.#watcher = null;
    this.#sink = null;
    this.#held = null;
    this.#chunk = null;
    this.#rest = null;
    this.#sending = false;
    this.#c.streamEnded(this, told ? (this.#reset ? -2 : -1) : code, !told && this.#outClosed, this.#queued);
  }

  watchClient(_r: Request, callback: (() => void) | null): void {
    this.#watcher = callback;
  }

  /** The client gave the stream up, or the whole connection. */
  gone(): void {
    const r = this.request;
    this.closed = true;
    this.inClosed = this.#outClosed = true;
    this.#dropping = true;
    this.#deadline?.close();
    if (r.finished) {
      return;
    }
    const sink = this.#sink;
    const watcher = this.#watcher;
    if (sink !== null) {
      this.#sink = null;
      r.log(INFO, 'client prematurely closed stream');
      sink.fail(CLIENT_CLOSED_REQUEST);
    } else if (watcher !== null) {
      this.#watcher = null;
      watcher();
      if (this.#sending && !r.finished) {
        r.terminate(-1);
      }
    } else {
      r.terminate(r.headerSent ? -1 : CLIENT_CLOSED_REQUEST);
    }
  }

  /** Ends the request for what the client did to the stream. */
  fail(code: number): void {
    const r = this.request;
    this.#c.reset(this, code);
    this.#reset = true;
    this.gone();
    if (!r.finished) {
      r.terminate(r.headerSent ? -1 : CLIENT_CLOSED_REQUEST);
    }
  }

  #time(ms: number): void {
    this.#deadline ??= new Deadline(this);
    this.#deadline.set(performance.now(), ms);
  }

  expired(): void {
    const r = this.request;
    this.#timedOut = true;
    const sink = this.#sink;
    if (sink !== null) {
      this.#sink = null;
      sink.fail(408);
    } else {
      r.log(INFO, 'client timed out (110: Connection timed out)');
      r.terminate(408);
    }
  }
}

const NO_FIELDS: readonly string[] = [];

function takeUp(stream: Http2Stream): void {
  stream.takeUp();
}

function failBody(sink: BodySink, status: number): void {
  sink.fail(status);
}

function sendRest(stream: Http2Stream, r: Request, rest: Chunk, last: boolean): void {
  if (!r.finished) {
    stream.send(r, rest, last);
  }
}
