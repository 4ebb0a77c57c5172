// Longer than most: both directions of one exchange, which only make sense together.

import { ERROR, INFO } from '../../../shared/log/level.js';
import { FAILED, type Result } from '../../task/codes.js';
import { Deadline, type Expiring } from '../../time/deadline.js';
import { makePacer } from '../body/rate.js';
import type { KnownClient } from '../connection/known-client.js';
import { ERROR_CODE } from '../http2-frames/protocol.js';
import type { Chunk } from '../request/body-stage.js';
import type { BodySink, ClientConnection, ClientExchange, ClientTunnel, TunnelOwner } from '../request/client-exchange.js';
import { clientLost } from '../request/client-gone.js';
import { CLIENT_CLOSED_REQUEST, CLOSE } from '../request/codes.js';
import type { Request } from '../request/request.js';
import { StreamTunnel, type TunnelStream } from './client-tunnel.js';
import { OVER } from './how-over.js';
import { PacedPieces, type PieceStream } from './paced-pieces.js';
import { DEFAULT_URGENCY, parsePriority } from './priority.js';
import { type InputStream, RequestInput } from './request-input.js';
import { StreamClient } from './stream-client.js';
import { SWITCHING, statusForWebSocket } from './websocket.js';

/**
 * One request and its response on a stream of a connection that has several: another one goes on when this one is broken off. HTTP/2 and
 * HTTP/3 say by the abstract methods how they put on the wire what is the same in both. Error codes are those of HTTP/2, which HTTP/3
 * translates (RFC 9114, A.4). nginx: ngx_http_v2_stream_t, and what ngx_http_v3_request.c has of a request.
 */
export abstract class RequestStream<C extends KnownClient>
  extends StreamClient<C>
  implements ClientExchange, InputStream, PieceStream, TunnelStream, Expiring
{
  readonly streamId: number;
  request!: Request;
  action: string | undefined = 'reading client request headers';

  // --- what came in
  inClosed = false;
  #input: RequestInput | null = null;
  upgradeKey = '';
  #tunnel: StreamTunnel | null = null;

  // --- what goes out
  /** What ends the response was made. */
  protected outClosed = false;
  protected chunk: Chunk | null = null;
  protected sent = 0;
  protected last = false;
  /** How many bytes of the body are still to come by what its head says; -1 where it does not say that. */
  #announced = -1;
  /** A piece waits to be sent. */
  protected sending = false;
  #pace: PacedPieces | null = null;

  urgency = DEFAULT_URGENCY;
  incremental = true;
  #deadline: Deadline | null = null;
  #timedOut = false;
  afterwards: number = ERROR_CODE.NO_ERROR;

  constructor(connection: C, streamId: number) {
    super(connection);
    this.streamId = streamId;
  }

  /** Writes a response head with a status; `fin`: nothing follows. Returns how many bytes that took. */
  protected abstract writeHead(r: Request, status: number, fin: boolean): number;
  /** Writes a head of which only a status and some fields are known. Returns how many bytes that took. */
  protected abstract writeBare(status: number, fields: readonly string[], fin: boolean): number;
  /** Ends a response whose data have left, with trailers if there are some. Returns how many bytes that took. */
  protected abstract writeEnd(trailers: readonly string[]): number;
  /** Sends what was written, at the end of the tick at the latest. */
  protected abstract sendSoon(): void;
  /** Has {@link chunk} sent when its turn comes. */
  protected abstract enqueue(): void;
  /** Leaves the connection; `code`: what to break the stream off with, or one of {@link OVER}. */
  protected abstract leave(code: number): void;
  abstract unsent(r: Request): number;
  abstract bodyWanted(room: number, announced: number, held: number): void;
  abstract bodyUsed(bytes: number, held: number): void;
  /** The protocol, for messages: `HTTP/2`. */
  protected abstract readonly version: string;
  /** `limit_rate` is looked at for a response that has no body, too. */
  protected abstract readonly pacesHeads: boolean;
  /** The open streams of the connection. */
  protected abstract siblings(): RequestStream<C>[];

  get connection(): ClientConnection {
    return this;
  }

  /** The client has all of the response, though work on the request goes on. */
  get answeredEarly(): boolean {
    return this.outClosed && !this.closed;
  }

  answered(wanted: (task: object) => boolean): object | undefined {
    return this.siblings().find((stream) => stream.answeredEarly && wanted(stream.request))?.request;
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
    this.#input ??= new RequestInput(this);
    return this.#input;
  }

  /** How much of the body is still to come; -1 where its length is not known. */
  get rest(): number {
    return this.input.rest;
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

  bodyAhead(): number {
    return 0;
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
    if (this.closed || this.outClosed) {
      return;
    }
    this.#countHead(r, this.writeBare(status, fields, false));
    this.sendSoon();
  }

  sendHead(r: Request): void {
    if (this.closed) {
      return;
    }
    let { status } = r.out;
    if (status === SWITCHING || this.upgradeKey !== '') {
      status = statusForWebSocket(r, this.upgradeKey);
      if (status !== r.out.status && status !== 200) {
        this.#refuse(r, status);
        return;
      }
    }
    if (status < 100) {
      // Of a copy in a cache, which a client of HTTP/1 had made, or of a module: there is no such status here.
      r.log(ERROR, `a response with status ${status} cannot be sent over ${this.version}`);
      this.#refuse(r, 502);
      return;
    }
    const fin = r.headerOnly || (r.out.contentLength === 0 && !r.expectTrailers);
    this.outClosed = fin;
    this.#countHead(r, this.writeHead(r, status, fin));
    const pacer = this.pacesHeads || !r.headerOnly ? makePacer(r) : null;
    if (!fin) {
      this.#announced = r.out.contentLength;
      this.#pace = pacer === null ? null : new PacedPieces(this, pacer);
    }
    this.sendSoon();
  }

  /** Answers with a status and nothing else, in place of what there would be. */
  #refuse(r: Request, status: number): void {
    r.out.status = status;
    r.headerOnly = true;
    this.#countHead(r, this.writeBare(status, NO_FIELDS, true));
    this.outClosed = true;
    this.sendSoon();
  }

  flush(_r: Request): void {
    if (!this.closed) {
      this.sendSoon();
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
    if (this.#announced >= 0 && !this.#fits(chunk === null ? 0 : chunk.length, last)) {
      return;
    }
    this.chunk = chunk;
    this.sent = 0;
    this.last = last;
    this.sending = true;
    this.enqueue();
  }

  /** Whether a piece is what the head has announced; the stream is broken off otherwise. */
  #fits(size: number, last: boolean): boolean {
    const r = this.request;
    this.#announced -= size;
    if (last ? this.#announced === 0 : this.#announced >= 0) {
      return true;
    }
    r.log(ERROR, `the response is ${this.#announced < 0 ? 'longer' : 'shorter'} than its "Content-Length"`);
    r.terminate(FAILED);
    return false;
  }

  /** Nothing of the body comes behind the piece at hand, though the request may go on: the client need not wait for that. */
  protected get ends(): boolean {
    return this.last || (this.#announced === 0 && this.request.rangeSent && !this.request.expectTrailers);
  }

  /** How many bytes wait to be sent. */
  protected get left(): number {
    return this.chunk === null ? 0 : this.chunk.length - this.sent;
  }

  /** The piece at hand was put on the wire. */
  protected pieceSent(): number {
    const r = this.request;
    this.sending = false;
    this.chunk = null;
    if (this.#tunnel !== null) {
      this.#tunnel.pieceSent();
    } else if (this.last) {
      if (!this.outClosed) {
        this.#endResponse(r);
      }
      r.finalize(0);
    } else if (this.#pace === null || !this.#pace.goOn(r)) {
      r.more();
    }
    return 0;
  }

  #endResponse(r: Request): void {
    this.outClosed = true;
    this.#countHead(r, this.writeEnd(r.out.trailers));
  }

  /** Counts bytes that are none of the body's. */
  #countHead(r: Request, size: number): void {
    r.bytesSent += size;
    r.headerSize += size;
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
    this.#tunnel = new StreamTunnel(this, owner);
    this.flush(r);
    this.input.readTunnel(this.#tunnel);
    return this.#tunnel;
  }

  // ---------------------------------------------------------------- the end

  finish(r: Request): void {
    let code: number = OVER.BOTH_ENDED;
    if (this.#tunnel !== null && !this.closed && this.afterwards === ERROR_CODE.NO_ERROR) {
      if (this.#tunnel.flushed) {
        this.#endResponse(r);
      } else {
        this.afterwards = ERROR_CODE.CONNECT_ERROR;
      }
    }
    if (this.afterwards !== ERROR_CODE.NO_ERROR) {
      code = this.afterwards;
    } else if (!this.outClosed) {
      code = brokenOffCode(r);
    } else if (!this.inClosed) {
      // To a browser, a WebSocket whose stream is broken off did not close well.
      code = this.#tunnel === null ? ERROR_CODE.NO_ERROR : OVER.CLIENT_GOES_ON;
    }
    this.#end(code);
  }

  terminate(r: Request, reset: boolean): void {
    if (this.#timedOut || reset || (r.out.status === CLOSE && !r.headerSent)) {
      this.#end(ERROR_CODE.PROTOCOL_ERROR);
    } else if (this.outClosed) {
      this.#end(ERROR_CODE.NO_ERROR);
    } else {
      this.#end(this.afterwards === ERROR_CODE.NO_ERROR ? brokenOffCode(r) : this.afterwards);
    }
  }

  #end(code: number): void {
    this.#deadline?.close();
    this.#input?.close();
    this.chunk = null;
    this.sending = false;
    this.leave(code);
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
    this.inClosed = this.outClosed = true;
    this.#deadline?.close();
    if (r.finished) {
      return;
    }
    if (this.#tunnel !== null) {
      this.#tunnel.gone();
    } else if (this.#input?.reading) {
      this.#bodyLost(r, this.#input);
    } else {
      clientLost(r, null, this.sending);
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

  /** The client has so many milliseconds for what is next. */
  time(ms: number): void {
    this.#deadline ??= new Deadline(this);
    this.#deadline.set(performance.now(), ms);
  }

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
