// Longer than most: both directions of one exchange, which only make sense together.

import { ERROR, INFO } from '../../../shared/log/level.js';
import type { Result } from '../../task/codes.js';
import { Deadline, type Expiring } from '../../time/deadline.js';
import { makePacer } from '../body/rate.js';
import { SendWindow } from '../http2-frames/flow-window.js';
import { ERROR_CODE, FLAG, FRAME, FRAME_HEAD } from '../http2-frames/protocol.js';
import type { Chunk } from '../request/body-stage.js';
import type { BodySink, ClientConnection, ClientExchange, ClientTunnel, TunnelOwner } from '../request/client-exchange.js';
import { clientLost } from '../request/client-gone.js';
import { CLIENT_CLOSED_REQUEST, CLOSE } from '../request/codes.js';
import type { Request } from '../request/request.js';
import { chunkSizeSlot } from './chunk-size.js';
import { Http2Tunnel } from './client-tunnel.js';
import type { Http2Connection } from './connection.js';
import type { Dependency } from './dependency-tree.js';
import { NO_RESET } from './open-streams.js';
import { PacedPieces } from './paced-pieces.js';
import { DEFAULT_URGENCY, parsePriority } from './priority.js';
import { RequestInput } from './request-input.js';
import type { Waiting } from './scheduler.js';
import { Http2StreamClient } from './stream-client.js';
import { answerOf, SWITCHING } from './websocket.js';

/**
 * One request and its response on an HTTP/2 connection: another stream of it goes on when this one is reset. nginx: ngx_http_v2_stream_t.
 */
export class Http2Stream extends Http2StreamClient implements ClientExchange, Waiting, Expiring {
  readonly streamId: number;
  request!: Request;
  action: string | undefined = 'reading client request headers';

  // --- what came in
  /** The client sends no more on it. */
  inClosed = false;
  #input: RequestInput | null = null;
  /** The client asked for a WebSocket: the key that the backend was sent. Otherwise empty. */
  upgradeKey = '';
  #tunnel: Http2Tunnel | null = null;

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
  /** Its turn came, but the client had no room on the connection. */
  #starved = false;
  #pace: PacedPieces | null = null;
  #headSize = 0;

  urgency = DEFAULT_URGENCY;
  incremental = true;
  #deadline: Deadline | null = null;
  #timedOut = false;
  /** We told the client that it is over. */
  #reset = false;
  /** The error code that ends the stream once the answer has gone out. */
  afterwards: number = ERROR_CODE.NO_ERROR;

  constructor(connection: Http2Connection, streamId: number) {
    super(connection);
    this.streamId = streamId;
    this.sendWindow = new SendWindow(connection.sending.initialWindow);
  }

  get connection(): ClientConnection {
    return this;
  }

  /** The client has all of the response, though work on the request goes on. */
  get answeredEarly(): boolean {
    return this.#outClosed && !this.closed;
  }

  answered(wanted: (task: object) => boolean): object | undefined {
    return this.c.streams.all().find((stream) => stream.answeredEarly && wanted(stream.request))?.request;
  }

  get place(): Dependency {
    return this.c.streams.placeOf(this.streamId);
  }

  /** What the client says of the response's urgency. */
  prioritize(text: string): void {
    const { urgency, incremental } = parsePriority(text);
    this.urgency = urgency;
    this.incremental = incremental;
  }

  // ---------------------------------------------------------------- what comes in

  /** What the client sends behind the head. */
  get input(): RequestInput {
    this.#input ??= new RequestInput(this, this.c.server.settings.http2BodyPrereadSize);
    return this.#input;
  }

  /** How much of the body is still to come; -1 where its length is not known. */
  get rest(): number {
    return this.input.rest;
  }

  /** Lets the client send more. */
  giveRoom(bytes: number): void {
    this.c.sending.giveRoom(this.streamId, bytes);
  }

  /** The client sends no more. */
  inputEnded(): void {
    if (this.inClosed) {
      return;
    }
    this.inClosed = true;
    this.input.ended();
  }

  bodyDone({ head }: Request): boolean {
    return !head.chunked && (head.contentLength < 0 || (head.contentLength === 0 && this.inClosed));
  }

  readBody(_r: Request, sink: BodySink): void {
    this.input.read(sink);
  }

  resumeBody(_r: Request): void {
    this.#input?.resume();
  }

  leaveBody(_r: Request): void {
    if (!this.inClosed || this.#input !== null) {
      this.input.leave();
    }
  }

  discardBody(_r: Request): Result {
    if (!this.inClosed || this.#input !== null) {
      this.input.drop();
    }
    return 0;
  }

  // ---------------------------------------------------------------- the response that goes out

  sendContinue(r: Request): void {
    const expect = r.header('expect');
    if (expect !== undefined && expect.toLowerCase() === '100-continue') {
      this.sendInformational(r, 100, NO_FIELDS);
    }
  }

  sendInformational(r: Request, status: number, fields: readonly string[]): void {
    if (this.closed || this.#outClosed) {
      return;
    }
    r.bytesSent += this.c.sending.head.bare(status, fields, 0, this.streamId);
    this.c.sending.soon();
  }

  sendHead(r: Request): void {
    if (this.closed) {
      return;
    }
    this.action = 'sending response to client';
    let { status } = r.out;
    if (status === SWITCHING || this.upgradeKey !== '') {
      status = answerOf(r, this.upgradeKey);
      if (status !== r.out.status && status !== 200) {
        this.#refuse(r, status);
        return;
      }
    }
    if (status < 100) {
      // Of a copy in a cache, which a client of HTTP/1 had made, or of a module: there is no such status in HTTP/2.
      r.log(ERROR, `a response with status ${status} cannot be sent over HTTP/2`);
      this.#refuse(r, 502);
      return;
    }
    const fin = r.headerOnly || (r.out.contentLength === 0 && !r.expectTrailers);
    this.#outClosed = fin;
    this.#headSize = this.c.sending.writeHead(r, status, fin ? FLAG.END_STREAM : 0, this.streamId);
    r.headerSize = this.#headSize;
    r.bytesSent += this.#headSize;
    if (!fin) {
      const pacer = makePacer(r);
      this.#pace = pacer === null ? null : new PacedPieces(this, pacer);
    }
    this.c.sending.soon();
  }

  /** Answers with a status and nothing else, in place of what there would be. */
  #refuse(r: Request, status: number): void {
    r.out.status = status;
    r.headerOnly = true;
    r.headerSize = this.c.sending.head.bare(status, NO_FIELDS, FLAG.END_STREAM, this.streamId);
    r.bytesSent += r.headerSize;
    this.#outClosed = true;
    this.c.sending.soon();
  }

  flush(_r: Request): void {
    if (!this.closed) {
      this.c.sending.soon();
    }
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    if (this.closed) {
      r.terminate(-1);
      return;
    }
    if (this.#pace !== null && chunk !== null && chunk.length > 0) {
      this.#pace.send(r, chunk, last);
      return;
    }
    this.put(chunk, last);
  }

  /** Has a piece sent when its turn comes; nothing else may be under way. */
  put(chunk: Chunk | null, last: boolean): void {
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
    this.c.sending.ready(this);
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
      this.time(this.request.location.settings.sendTimeout);
      return 0;
    }
    const size = Math.min(left, window, most, this.request.location.conf(chunkSizeSlot).http2ChunkSize);
    if (size <= 0) {
      this.#queued = true;
      if (!this.#starved) {
        this.#starved = true;
        this.time(this.request.location.settings.sendTimeout);
      }
      return -1;
    }
    if (this.#starved) {
      this.#starved = false;
      this.stopTime();
    }
    const r = this.request;
    const end = this.#last && size === left && r.out.trailers.length === 0;
    const { output } = this.c.sending;
    const bytes = output.frame(FRAME.DATA, end ? FLAG.END_STREAM : 0, this.streamId, size);
    (this.#chunk as Buffer).copy(bytes, output.length, this.#sent, this.#sent + size);
    output.length += size;
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
    if (this.#tunnel !== null) {
      this.#tunnel.pieceSent();
    } else if (this.#last) {
      if (!this.#outClosed) {
        this.#endResponse(r);
      }
      r.finalize(0);
    } else if (this.#pace === null || !this.#pace.goOn(r)) {
      r.more();
    }
    return 0;
  }

  /** Ends a response whose last data have left, with its trailers if it has some. */
  #endResponse(r: Request): void {
    this.#outClosed = true;
    const { trailers } = r.out;
    if (trailers.length > 0) {
      const size = this.c.sending.head.trailers(trailers, FLAG.END_STREAM, this.streamId);
      r.bytesSent += size;
      r.headerSize += size;
      return;
    }
    this.c.sending.output.frame(FRAME.DATA, FLAG.END_STREAM, this.streamId, 0);
    r.bytesSent += FRAME_HEAD;
    r.headerSize += FRAME_HEAD;
  }

  sendLent(r: Request, bytes: Buffer, start: number, end: number, last: boolean): void {
    this.send(r, Buffer.from(bytes.subarray(start, end)), last);
  }

  // Pieces of it lie between those of other streams: nothing can leave past them.
  offerLimit(_r: Request): number {
    return 0;
  }

  offer(_r: Request, _bytes: Chunk): number {
    return 0;
  }

  offerFile(_r: Request, _fd: number, _at: number, _size: number): number {
    return -1;
  }

  upgrade(r: Request, owner: TunnelOwner): ClientTunnel {
    r.watcher = null;
    this.#tunnel = new Http2Tunnel(this, owner);
    this.flush(r);
    this.input.readTunnel(this.#tunnel);
    return this.#tunnel;
  }

  // ---------------------------------------------------------------- the end

  finish(r: Request): void {
    let code: number = NO_RESET.BOTH_ENDED;
    if (this.#tunnel !== null && !this.closed && this.afterwards === ERROR_CODE.NO_ERROR) {
      if (this.#tunnel.flushed) {
        this.#endResponse(r);
      } else {
        this.afterwards = ERROR_CODE.CONNECT_ERROR;
      }
    }
    if (this.afterwards !== ERROR_CODE.NO_ERROR) {
      code = this.afterwards;
    } else if (!this.#outClosed) {
      code = brokenOffCode(r);
    } else if (!this.inClosed) {
      // To a browser, a WebSocket whose stream is reset did not close well.
      code = this.#tunnel === null ? ERROR_CODE.NO_ERROR : NO_RESET.CLIENT_GOES_ON;
    }
    this.#end(code);
  }

  terminate(r: Request, reset: boolean): void {
    if (this.#timedOut || reset || (r.out.status === CLOSE && !r.headerSent)) {
      this.#end(ERROR_CODE.PROTOCOL_ERROR);
    } else if (this.#outClosed) {
      this.#end(ERROR_CODE.NO_ERROR);
    } else {
      this.#end(this.afterwards === ERROR_CODE.NO_ERROR ? brokenOffCode(r) : this.afterwards);
    }
  }

  /** Leaves the connection; `code`: what to reset the stream with, unless it is closed. */
  #end(code: number): void {
    const told = this.closed;
    this.closed = true;
    this.#deadline?.close();
    this.#input?.close();
    this.#chunk = null;
    this.#sending = false;
    this.c.streams.ended(this, told ? (this.#reset ? NO_RESET.DONE : NO_RESET.BOTH_ENDED) : code, !told && this.#outClosed, this.#queued);
  }

  unsent(r: Request): number {
    return this.c.sending.claimLost(r.bytesSent);
  }

  get clientGone(): boolean {
    return this.closed;
  }

  /** The client gave the stream up, or the whole connection. */
  gone(): void {
    const r = this.request;
    if (this.closed) {
      return;
    }
    this.closed = true;
    this.inClosed = this.#outClosed = true;
    this.#deadline?.close();
    if (r.finished) {
      return;
    }
    if (this.#tunnel !== null) {
      this.#tunnel.gone();
    } else if (this.#input?.reading) {
      this.#bodyLost(r, this.#input);
    } else {
      clientLost(r, null, this.#sending);
    }
  }

  #bodyLost(r: Request, input: RequestInput): void {
    if (r.requestBodyNoBuffering) {
      input.fail(400);
      return;
    }
    r.log(INFO, 'client prematurely closed stream');
    input.fail(CLIENT_CLOSED_REQUEST);
  }

  /** Ends the request for what the client did to the stream. */
  fail(code: number): void {
    this.c.streams.reset(this, code);
    this.#reset = true;
    this.gone();
  }

  /** The client has so many milliseconds for what is next. */
  time(ms: number): void {
    this.#deadline ??= new Deadline(this);
    this.#deadline.set(performance.now(), ms);
  }

  /** It was in time. */
  stopTime(): void {
    this.#deadline?.clear();
  }

  expired(): void {
    const r = this.request;
    this.#timedOut = true;
    r.log(INFO, 'client timed out (110: Connection timed out)');
    if (this.#tunnel === null && this.#input?.fail(408)) {
      return;
    }
    r.terminate(408);
  }
}

/** What a response without its end ends with. */
const brokenOffCode = (r: Request): number => (r.resetCode === 0 ? ERROR_CODE.INTERNAL_ERROR : r.resetCode);

const NO_FIELDS: readonly string[] = [];
