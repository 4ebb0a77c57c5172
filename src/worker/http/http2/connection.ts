// Longer than most: what each kind of frame does to a connection and its streams.
import { AtTickEnd, endOfTick, type TickTask } from '../../../shared/lib/end-of-tick.js';
import { INFO } from '../../../shared/log/level.js';
import type { LogContext, LogSubject } from '../../../shared/log/log-line.js';
import type { ClientSocket, SocketOwner } from '../../../shared/net/client-socket.js';
import type { ProxyProtocolHeader } from '../../../shared/net/proxy-protocol.js';
import { Deadline, type Expiring } from '../../io/deadline.js';
import { checkClientCertificate } from '../../tls/request-check.js';
import type { ConnectionHost, HeldConnection } from '../connection/connection-host.js';
import type { DebugClients } from '../connection/debug-clients.js';
import type { Idle } from '../connection/idle-queue.js';
import type { Opened } from '../connection/opened.js';
import type { AddressRuntime } from '../request/address-runtime.js';
import { endFailedRequest } from '../request/at-work.js';
import type { TlsConnection } from '../request/client-stream.js';
import type { ServerRuntime } from '../request/http-runtime.js';
import { Request } from '../request/request.js';
import { startPhases } from '../request/run-phases.js';
import { takeHead } from '../serving/take-head.js';
import { RequestHead } from '../syntax/request-head.js';
import { ClosedStreams } from './closed-streams.js';
import { DEFAULT_DEPENDENCY, type Dependency, DependencyTree } from './dependency-tree.js';
import { FloodGuard } from './flood.js';
import { ReceiveWindow, SendWindow } from './flow-window.js';
import {
  FrameReader,
  READ_AGAIN,
  READ_BAD_PADDING,
  READ_DATA,
  READ_DATA_HEAD,
  READ_FRAME,
  READ_HEADERS_HEAD,
  READ_TOO_LONG,
} from './frame-reader.js';
import { HeaderBlock } from './header-block.js';
import {
  BLOCK_CUT_OFF,
  BLOCK_INVALID,
  BLOCK_NAMELESS,
  BLOCK_TOO_LARGE,
  DECODED,
  type FieldLimits,
  type FieldSink,
  HpackDecoder,
} from './hpack/decoder.js';
import { HOPELESS, lookAhead } from './hpack/look-ahead.js';
import { ENOUGH, Output } from './output.js';
import { DEFAULT_FRAME, DEFAULT_WINDOW, ERROR_CODE, FLAG, FRAME, MAX_FRAME, MAX_WINDOW, PREFACE, SETTING } from './protocol.js';
import { RequestReader } from './request-reader.js';
import { HeadWriter } from './response-head.js';
import { Scheduler } from './scheduler.js';
import { Http2Stream } from './stream.js';
import { TrailerCheck } from './trailer-check.js';

const State = { OPEN: 0, LINGERING: 1, CLOSED: 2 } as const;

/** Bytes that are sent before other connections have their turn. */
const MUCH = 512 * 1024;
/** Bytes that may wait for a client that does not read; then nothing more is read from it. */
const HIGH = 256 * 1024;

// One for all connections: a section is read without a pause.
const reader = new RequestReader();
/** What ends a connection whose header block cannot be decoded; the codes are nginx's. */
const decodingErrors: { readonly [code: number]: number } = {
  [BLOCK_INVALID]: ERROR_CODE.COMPRESSION_ERROR,
  [BLOCK_TOO_LARGE]: ERROR_CODE.ENHANCE_YOUR_CALM,
  [BLOCK_NAMELESS]: ERROR_CODE.PROTOCOL_ERROR,
  [BLOCK_CUT_OFF]: ERROR_CODE.FRAME_SIZE_ERROR,
};
const ignored: FieldSink = { field() {} };
const trailerCheck = new TrailerCheck();

/** One HTTP/2 client connection: reads frames, runs the requests of its streams, and sends their frames together. nginx: ngx_http_v2.c. */
export class Http2Connection implements SocketOwner, LogSubject, Expiring, TickTask, HeldConnection, Idle {
  idleBefore: Idle | null = null;
  idleAfter: Idle | null = null;
  readonly id: number;
  readonly address: AddressRuntime;
  readonly acceptedAt: number;
  readonly tls: TlsConnection | undefined;
  readonly sni: string | undefined;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
  readonly proxyProtocol: ProxyProtocolHeader | undefined;
  readonly debugging: boolean;
  readonly output: Output;
  readonly head: HeadWriter;

  readonly #host: ConnectionHost;
  readonly #socket: ClientSocket;
  /** The server of the TLS handshake, or the address's default: its settings are the connection's. */
  readonly #server: ServerRuntime;
  readonly #serverName: string | undefined;
  readonly #deadline: Deadline;
  readonly #flood: FloodGuard;
  readonly #frames: FrameReader;
  readonly #limits: FieldLimits;
  readonly #decoder = new HpackDecoder();
  readonly #block = new HeaderBlock();
  readonly #streams = new Map<number, Http2Stream>();
  readonly #scheduler = new Scheduler<Http2Stream>();
  /** Streams that wait for room in the connection's window. */
  #starved: Http2Stream[] = [];
  #tree: DependencyTree | null = null;
  readonly #closed = new ClosedStreams();

  #state: number = State.OPEN;
  #prefaceRead: number;
  #requests = 0;
  #lastId = 0;
  #newStreams = 0;
  readonly #sendWindow = new SendWindow(DEFAULT_WINDOW);
  readonly #receive = new ReceiveWindow(MAX_WINDOW);
  /** What the client lets each stream send at first. */
  #initialWindow = DEFAULT_WINDOW;
  #longest = DEFAULT_FRAME;
  #settingsAcknowledged = false;
  /** Streams opened after the last one that was named to the client are not served. */
  #goaway = false;
  /** The stream of the DATA frame at hand. */
  #dataStream: Http2Stream | null = null;
  #dataLength = 0;
  #inLoop = false;
  #asked = false;
  #paused = false;
  #lingerUntil = 0;
  #idleSince: number;
  #ended = false;

  /** `preface`: it came and was right. */
  constructor(
    host: ConnectionHost,
    socket: ClientSocket,
    address: AddressRuntime,
    id: number,
    debugClients: DebugClients | undefined,
    opened: Opened | undefined,
    preface: boolean,
  ) {
    this.#host = host;
    this.#socket = socket;
    this.address = address;
    this.id = id;
    this.acceptedAt = performance.now();
    this.#idleSince = this.acceptedAt;
    const remote = opened?.remote ?? socket.remote();
    this.remoteAddress = remote.address ?? 'unix:';
    this.remotePort = remote.port ?? 0;
    const local = opened?.local ?? socket.local();
    this.localAddress = local.address ?? (address.address === undefined ? '' : `unix:${address.address}`);
    this.localPort = local.port ?? 0;
    this.tls = opened?.tls?.peer;
    this.sni = this.tls?.sni;
    this.#server = opened?.tls?.server ?? address.defaultServer;
    this.#serverName = opened?.tls?.serverName;
    this.proxyProtocol = opened?.proxyProtocol;
    this.debugging = debugClients?.match(this.remoteAddress) ?? false;
    this.#deadline = opened?.deadline ?? new Deadline(this);
    this.#deadline.passTo(this);
    this.output = new Output(socket);
    this.head = new HeadWriter(this.output, DEFAULT_FRAME);
    const { settings } = this.#server;
    const { largeBufferSize, largeBufferCount } = settings.headLimits;
    this.#limits = { field: largeBufferSize, total: largeBufferSize * largeBufferCount };
    this.#flood = new FloodGuard(settings.http2MaxConcurrentStreams);
    this.#frames = new FrameReader(this.#limits.total + 512);
    this.#prefaceRead = preface ? PREFACE.length : 0;
    host.counters.waiting++;
    host.counters.changed();
    host.idle.add(this);
    socket.expectMuch(true);
  }

  /** Begins to read, after it has said what it takes. */
  start(): void {
    const { settings } = this.#server;
    this.#deadline.set(this.acceptedAt, settings.clientHeaderTimeout);
    const bytes = this.output.frame(FRAME.SETTINGS, 0, 0, 18);
    let at = this.output.length;
    at = bytes.writeUInt16BE(SETTING.MAX_CONCURRENT_STREAMS, at);
    at = bytes.writeUInt32BE(settings.http2MaxConcurrentStreams, at);
    at = bytes.writeUInt16BE(SETTING.INITIAL_WINDOW_SIZE, at);
    at = bytes.writeUInt32BE(settings.http2BodyPrereadSize, at);
    at = bytes.writeUInt16BE(SETTING.MAX_FRAME_SIZE, at);
    at = bytes.writeUInt32BE(MAX_FRAME, at);
    this.output.length = at;
    this.output.numbers(FRAME.WINDOW_UPDATE, 0, MAX_WINDOW - DEFAULT_WINDOW);
    this.#socket.start(this);
    if (this.#host.draining) {
      this.#endIdle(ERROR_CODE.NO_ERROR);
    } else {
      this.#sendSoon();
    }
  }

  get connectionId(): number {
    return this.id;
  }

  logContext(): LogContext {
    return { action: 'processing HTTP/2 connection', client: this.remoteAddress, server: `${this.localAddress}:${this.localPort}` };
  }

  #log(message: string): void {
    const { log } = this.#server.root;
    if (INFO <= log.level) {
      log.log(INFO, message, this);
    }
  }

  // ---------------------------------------------------------------- reading

  received(bytes: Buffer, length: number): boolean {
    if (this.#state === State.LINGERING) {
      this.#lingerOn();
      return true;
    }
    if (this.#state === State.CLOSED) {
      return false;
    }
    const idle = this.#streams.size === 0;
    if (idle && this.#requests > 0 && !this.#flood.idleRead(this.#server.root.settings.keepaliveRequests)) {
      this.#floodDetected();
      return true;
    }
    this.#inLoop = true;
    this.#newStreams = 0;
    let at = this.#prefaceRead < PREFACE.length ? this.#readPreface(bytes, length) : 0;
    while (at < length && this.#state === State.OPEN) {
      try {
        at = this.#read(bytes, at, length);
      } catch (error) {
        at = this.#frames.next;
        if (!endFailedRequest(error)) {
          throw error;
        }
      }
    }
    this.#inLoop = false;
    if (this.#state !== State.OPEN) {
      return !this.#paused;
    }
    this.#flood.moved(length);
    if (this.#flood.wasteful) {
      this.#floodDetected();
      return true;
    }
    this.#flush();
    this.#settle();
    return !this.#paused;
  }

  #readPreface(bytes: Buffer, length: number): number {
    const size = Math.min(length, PREFACE.length - this.#prefaceRead);
    if (PREFACE.compare(bytes, 0, size, this.#prefaceRead, this.#prefaceRead + size) !== 0) {
      this.#fail(ERROR_CODE.PROTOCOL_ERROR, 'invalid connection preface');
      return length;
    }
    this.#prefaceRead += size;
    return size;
  }

  /** Reads one frame, or a piece of one. Returns the first byte not used. */
  #read(bytes: Buffer, at: number, end: number): number {
    const frames = this.#frames;
    const code = frames.read(bytes, at, end);
    if (code === READ_AGAIN) {
      if (this.#block.streamId !== 0 && !this.#block.open) {
        this.#lookAhead();
      }
      return frames.next;
    }
    if (this.#block.open && frames.type !== FRAME.CONTINUATION) {
      return this.#fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent inappropriate frame while CONTINUATION was expected');
    }
    switch (code) {
      case READ_FRAME:
        this.#frame();
        break;
      case READ_DATA_HEAD:
        this.#dataHead();
        break;
      case READ_DATA:
        this.#data();
        break;
      case READ_HEADERS_HEAD:
        this.#block.streamId = frames.streamId;
        break;
      case READ_BAD_PADDING:
        this.#fail(
          frames.length === 0 ? ERROR_CODE.FRAME_SIZE_ERROR : ERROR_CODE.PROTOCOL_ERROR,
          `client sent padded DATA frame with incorrect length: ${frames.length}`,
        );
        break;
      case READ_TOO_LONG:
        this.#tooLong();
        break;
      default:
        this.#log(`client sent frame with unknown type ${frames.type}`);
        this.#idleFrame();
        break;
    }
    return frames.next;
  }

  /** A HEADERS frame is not whole: what is wrong with its beginning ends the connection now. */
  #lookAhead(): void {
    const { held, flags } = this.#frames;
    const block = this.#block;
    if (block.seen === 0) {
      block.seen = ((flags & FLAG.PADDED) !== 0 ? 1 : 0) + ((flags & FLAG.PRIORITY) !== 0 ? 5 : 0);
    }
    if (held === null || held.length <= block.seen) {
      return;
    }
    const seen = lookAhead(held, block.seen, held.length);
    if (seen === HOPELESS) {
      this.#fail(ERROR_CODE.COMPRESSION_ERROR, 'client sent header block with too long number');
    } else {
      block.seen = seen;
    }
  }

  #tooLong(): void {
    const { type, length } = this.#frames;
    if (type === FRAME.HEADERS || type === FRAME.CONTINUATION) {
      this.#fail(ERROR_CODE.ENHANCE_YOUR_CALM, 'client sent too large header');
    } else {
      this.#fail(ERROR_CODE.FRAME_SIZE_ERROR, `client sent frame of type ${type} with incorrect length ${length}`);
    }
  }

  /** A whole frame that is no DATA. */
  #frame(): void {
    const { type } = this.#frames;
    switch (type) {
      case FRAME.HEADERS:
        this.#headers();
        break;
      case FRAME.CONTINUATION:
        this.#continuation();
        break;
      case FRAME.PRIORITY:
        this.#priority();
        break;
      case FRAME.RST_STREAM:
        this.#rstStream();
        break;
      case FRAME.SETTINGS:
        this.#settings();
        break;
      case FRAME.PUSH_PROMISE:
        this.#fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent PUSH_PROMISE frame');
        break;
      case FRAME.PING:
        this.#ping();
        break;
      case FRAME.GOAWAY:
        this.#goawayFrame();
        break;
      case FRAME.WINDOW_UPDATE:
        this.#windowUpdate();
        break;
      default:
        this.#priorityUpdate();
        break;
    }
  }

  /** Whether the frame may have a stream, or may not. */
  #identified(name: string, onStream: boolean): boolean {
    if ((this.#frames.streamId !== 0) === onStream) {
      return true;
    }
    this.#fail(ERROR_CODE.PROTOCOL_ERROR, `client sent ${name} frame with incorrect identifier`);
    return false;
  }

  #sized(name: string, length: number): boolean {
    if (this.#frames.length === length) {
      return true;
    }
    this.#fail(ERROR_CODE.FRAME_SIZE_ERROR, `client sent ${name} frame with incorrect length ${this.#frames.length}`);
    return false;
  }

  #idleFrame(): boolean {
    if (this.#flood.idleFrame()) {
      return true;
    }
    this.#floodDetected();
    return false;
  }

  // ---------------------------------------------------------------- DATA

  #dataHead(): void {
    const { streamId, length } = this.#frames;
    this.#dataStream = null;
    this.#dataLength = length;
    if (!this.#identified('DATA', true)) {
      return;
    }
    if (!this.#receive.take(length)) {
      this.#fail(ERROR_CODE.FLOW_CONTROL_ERROR, `client violated connection flow control: received DATA frame length ${length}`);
      return;
    }
    const room = this.#receive.refill(0, 0.25);
    if (room > 0) {
      this.giveRoom(0, room);
    }
    const stream = this.#streams.get(streamId);
    if (stream === undefined || stream.closed) {
      this.#strayData(streamId);
      return;
    }
    if (length > 0 && !stream.takeWindow(length)) {
      this.#log(`client violated flow control for stream ${streamId}: received DATA frame length ${length}`);
      this.#breakStream(stream, ERROR_CODE.FLOW_CONTROL_ERROR);
      return;
    }
    if (stream.inClosed) {
      this.#log(`client sent DATA frame for half-closed stream ${streamId}`);
      this.#breakStream(stream, ERROR_CODE.STREAM_CLOSED);
      return;
    }
    this.#dataStream = stream;
    if (this.#frames.left === 0) {
      this.#dataEnd(stream);
    }
  }

  #data(): void {
    const { bytes, start, end, left } = this.#frames;
    const stream = this.#dataStream;
    if (stream === null || stream.closed) {
      return;
    }
    if (!stream.ignoring) {
      this.#flood.useful(end - start);
    }
    stream.data(bytes, start, end, left);
    if (left === 0 && !stream.closed) {
      this.#dataEnd(stream);
    }
  }

  #dataEnd(stream: Http2Stream): void {
    this.#dataStream = null;
    if ((this.#frames.flags & FLAG.END_STREAM) !== 0) {
      stream.inputEnded();
    } else if (this.#dataLength === 0) {
      this.#idleFrame();
    }
  }

  /** A stream that nobody has opened. */
  #isIdle(streamId: number): boolean {
    return streamId > this.#lastId || streamId % 2 === 0;
  }

  /** Data came for a stream that is not open. */
  #strayData(streamId: number): void {
    const { left, flags } = this.#frames;
    if (this.#isIdle(streamId)) {
      this.#fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent DATA frame for idle stream');
      return;
    }
    const ended = this.#closed.ended(streamId);
    if (!ended && this.#closed.took(streamId, left, (flags & FLAG.END_STREAM) !== 0)) {
      this.#idleFrame();
      return;
    }
    this.#resetAgain(streamId, ended ? ERROR_CODE.STREAM_CLOSED : ERROR_CODE.PROTOCOL_ERROR);
  }

  /** Tells the client that it breaks the rules on a stream that is closed. */
  #resetAgain(streamId: number, code: number): void {
    this.#closed.addEnded(streamId);
    this.output.numbers(FRAME.RST_STREAM, streamId, code);
    if (!this.#flood.broken()) {
      this.#tooManyBroken();
    }
  }

  // ---------------------------------------------------------------- HEADERS, CONTINUATION

  #headers(): void {
    const { bytes, flags, streamId, length } = this.#frames;
    let { start, end } = this.#frames;
    const prioritized = (flags & FLAG.PRIORITY) !== 0;
    const extra = ((flags & FLAG.PADDED) !== 0 ? 1 : 0) + (prioritized ? 5 : 0);
    if (length < extra) {
      this.#fail(ERROR_CODE.FRAME_SIZE_ERROR, `client sent HEADERS frame with incorrect length ${length}`);
      return;
    }
    if (length === extra) {
      this.#fail(ERROR_CODE.FRAME_SIZE_ERROR, 'client sent HEADERS frame with empty header block');
      return;
    }
    if ((flags & FLAG.PADDED) !== 0) {
      const padding = bytes[start++]!;
      end -= padding;
      if (end < start + extra - 1) {
        this.#fail(
          ERROR_CODE.PROTOCOL_ERROR,
          `client sent padded HEADERS frame with incorrect length: ${length - extra}, padding: ${padding}`,
        );
        return;
      }
    }
    if (prioritized) {
      start += 5;
    }
    const trailers = streamId <= this.#lastId && this.#mayHaveTrailers(streamId);
    if (streamId % 2 === 0 || (streamId <= this.#lastId && !trailers)) {
      const ended = this.#streams.has(streamId) || this.#closed.ended(streamId);
      this.#fail(
        ended ? ERROR_CODE.STREAM_CLOSED : ERROR_CODE.PROTOCOL_ERROR,
        `client sent HEADERS frame with incorrect identifier ${streamId}, the last was ${this.#lastId}`,
      );
      return;
    }
    if (prioritized && !this.#depends('HEADERS', bytes, start - 5)) {
      return;
    }
    this.#block.begin(streamId, (flags & FLAG.END_STREAM) !== 0, trailers);
    this.#flood.beginSection();
    if ((flags & FLAG.END_HEADERS) !== 0) {
      this.#section(bytes, start, end);
    } else {
      this.#addToBlock(bytes, start, end);
    }
  }

  #mayHaveTrailers(streamId: number): boolean {
    const stream = this.#streams.get(streamId);
    return stream === undefined ? this.#closed.wasReset(streamId) : !stream.inClosed;
  }

  #continuation(): void {
    const { bytes, start, end, flags, streamId } = this.#frames;
    if (!this.#block.open) {
      this.#fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent unexpected CONTINUATION frame');
    } else if (this.#block.streamId !== streamId) {
      this.#fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent CONTINUATION frame with incorrect identifier');
    } else if (!this.#flood.continued()) {
      this.#fail(ERROR_CODE.ENHANCE_YOUR_CALM, 'client sent too many CONTINUATION frames');
    } else if (this.#addToBlock(bytes, start, end) && (flags & FLAG.END_HEADERS) !== 0) {
      const whole = this.#block.take();
      this.#section(whole, 0, whole.length);
    }
  }

  #addToBlock(bytes: Buffer, start: number, end: number): boolean {
    if (this.#block.add(bytes, start, end, this.#limits.total)) {
      return true;
    }
    this.#fail(ERROR_CODE.ENHANCE_YOUR_CALM, 'client sent too large header');
    return false;
  }

  /** A header section is whole. */
  #section(bytes: Buffer, start: number, end: number): void {
    const block = this.#block;
    const { streamId, ended, trailers, refused } = block;
    block.end();
    if (trailers) {
      this.#trailers(streamId, ended, bytes, start, end);
      return;
    }
    this.#lastId = streamId;
    const refusal = refused ? -1 : this.#mayOpen(ended);
    if (refusal !== 0 || this.#goaway) {
      if (!this.#decode(bytes, start, end, ignored) || refusal === -1 || this.#goaway) {
        return;
      }
      if (this.#flood.refuse()) {
        this.output.numbers(FRAME.RST_STREAM, streamId, refusal);
      } else {
        this.#fail(ERROR_CODE.NO_ERROR, 'client sent too many refused streams');
      }
      return;
    }
    this.#open(streamId, ended, bytes, start, end);
  }

  /** Whether another stream may be opened: 0, or the code to refuse it with. */
  #mayOpen(ended: boolean): number {
    const { http2MaxConcurrentStreams: most, http2BodyPrereadSize } = this.#server.settings;
    if (this.#streams.size >= most) {
      this.#log(`concurrent streams exceeded ${this.#streams.size}`);
      return ERROR_CODE.REFUSED_STREAM;
    }
    if (this.#newStreams++ >= 2 * most) {
      this.#log('client sent too many streams at once');
      return ERROR_CODE.REFUSED_STREAM;
    }
    if (!this.#settingsAcknowledged && !ended && http2BodyPrereadSize < DEFAULT_WINDOW) {
      this.#log('client sent stream with data before settings were acknowledged');
      return ERROR_CODE.REFUSED_STREAM;
    }
    return 0;
  }

  /** Decodes a block; false if the connection was given up for it. */
  #decode(bytes: Buffer, start: number, end: number, sink: FieldSink): boolean {
    const code = this.#decoder.decode(bytes, start, end, this.#limits, sink);
    if (code === DECODED) {
      return true;
    }
    const error = decodingErrors[code]!;
    this.#fail(error, this.#decoder.problem);
    return false;
  }

  #trailers(streamId: number, ended: boolean, bytes: Buffer, start: number, end: number): void {
    const stream = this.#streams.get(streamId);
    trailerCheck.malformed = false;
    if (!this.#decode(bytes, start, end, trailerCheck)) {
      return;
    }
    if (ended && !trailerCheck.malformed) {
      if (stream === undefined) {
        this.#closed.addEnded(streamId);
      } else {
        stream.inputEnded();
      }
      return;
    }
    this.#log('client sent invalid trailers');
    if (stream === undefined) {
      this.#resetAgain(streamId, ERROR_CODE.PROTOCOL_ERROR);
    } else {
      this.#breakStream(stream, ERROR_CODE.PROTOCOL_ERROR);
    }
  }

  #open(streamId: number, ended: boolean, bytes: Buffer, start: number, end: number): void {
    const { settings } = this.#server;
    const { counters } = this.#host;
    const now = performance.now();
    this.#requests++;
    const stream = new Http2Stream(this, streamId, this.#requests, this.#initialWindow, settings.http2BodyPrereadSize);
    const r = new Request(stream, this.#server, new RequestHead(), null, now);
    stream.request = r;
    stream.inClosed = ended;
    if (this.#streams.size === 0) {
      counters.waiting--;
      this.#host.idle.remove(this);
      this.#deadline.clear();
    }
    this.#streams.set(streamId, stream);
    counters.writing++;
    counters.requests++;
    counters.changed();
    this.#flood.opened(settings.http2MaxConcurrentStreams);
    this.#flood.useful(end - start);
    this.#tree?.opened(streamId);
    const { keepaliveTimeout, keepaliveRequests, keepaliveTime } = this.#server.root.settings;
    if (keepaliveTimeout === 0 || this.#requests >= keepaliveRequests || now - this.acceptedAt > keepaliveTime) {
      this.#sendGoaway(0);
    }

    reader.begin(r, this.#serverName);
    if (!this.#decode(bytes, start, end, reader)) {
      return;
    }
    let status = this.#disabled(r) ? 421 : reader.finish(ended);
    r.head.length = end - start;
    takeHead(r, r.head);
    if (status !== 0) {
      if (reader.malformed) {
        stream.afterwards = ERROR_CODE.PROTOCOL_ERROR;
      }
      r.finalize(status);
      return;
    }
    stream.action = undefined;
    const priority = r.head.header('priority');
    if (priority !== undefined) {
      this.#prioritize(stream, priority);
    }
    status = this.tls === undefined ? 0 : checkClientCertificate(r);
    if (status === 0) {
      startPhases(r);
    } else {
      r.finalize(status);
    }
  }

  #disabled(r: Request): boolean {
    if (r.server.settings.http2 || this.address.http2) {
      return false;
    }
    r.log(INFO, 'client attempted to request the server name for which the negotiated protocol is disabled');
    return true;
  }

  // ---------------------------------------------------------------- PRIORITY, PRIORITY_UPDATE

  #priority(): void {
    const { bytes, start } = this.#frames;
    if (!this.#sized('PRIORITY', 5) || !this.#identified('PRIORITY', true)) {
      return;
    }
    if (!this.#flood.prioritized()) {
      this.#fail(ERROR_CODE.ENHANCE_YOUR_CALM, 'client sent too many PRIORITY frames');
      return;
    }
    this.#depends('PRIORITY', bytes, start);
  }

  /** Takes what a frame says of its stream's dependency; false if that ended the connection. */
  #depends(name: string, bytes: Buffer, at: number): boolean {
    const { streamId } = this.#frames;
    const said = bytes.readUInt32BE(at);
    const on = said & 0x7fffffff;
    if (on === streamId) {
      this.#fail(ERROR_CODE.PROTOCOL_ERROR, `client sent ${name} frame for stream ${streamId} with incorrect dependency`);
      return false;
    }
    if (this.#tree === null) {
      this.#tree = new DependencyTree();
      this.#scheduler.ordered = true;
    }
    this.#tree.depend(streamId, on, said >>> 31 === 1, bytes[at + 4]! + 1);
    if (this.#streams.has(streamId)) {
      this.#tree.opened(streamId);
    }
    return true;
  }

  #priorityUpdate(): void {
    const { bytes, start, end } = this.#frames;
    if (!this.#identified('PRIORITY_UPDATE', false)) {
      return;
    }
    if (end - start < 4) {
      this.#fail(ERROR_CODE.FRAME_SIZE_ERROR, `client sent PRIORITY_UPDATE frame with incorrect length ${end - start}`);
      return;
    }
    const id = bytes.readUInt32BE(start) & 0x7fffffff;
    if (id === 0) {
      this.#fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent PRIORITY_UPDATE frame with incorrect identifier');
      return;
    }
    if (!this.#flood.prioritized()) {
      this.#fail(ERROR_CODE.ENHANCE_YOUR_CALM, 'client sent too many PRIORITY frames');
      return;
    }
    const stream = this.#streams.get(id);
    if (stream !== undefined) {
      this.#prioritize(stream, bytes.toString('latin1', start + 4, Math.min(end, start + 260)));
    }
  }

  #prioritize(stream: Http2Stream, text: string): void {
    this.#scheduler.ordered = true;
    stream.prioritize(text);
  }

  /** Where a stream stands among those that depend on each other. */
  placeOf(streamId: number): Dependency {
    return this.#tree === null ? DEFAULT_DEPENDENCY : this.#tree.place(streamId);
  }

  // ---------------------------------------------------------------- other frames

  #rstStream(): void {
    const { bytes, start, streamId } = this.#frames;
    if (!this.#sized('RST_STREAM', 4) || !this.#identified('RST_STREAM', true)) {
      return;
    }
    const stream = this.#streams.get(streamId);
    if (stream === undefined) {
      if (this.#isIdle(streamId)) {
        this.#fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent RST_STREAM frame for idle stream');
      } else if (this.#idleFrame()) {
        this.#closed.addEnded(streamId);
      }
      return;
    }
    const code = bytes.readUInt32BE(start);
    const r = stream.request;
    if (code === ERROR_CODE.CANCEL) {
      r.log(INFO, `client canceled stream ${streamId}`);
    } else if (code === ERROR_CODE.INTERNAL_ERROR) {
      r.log(INFO, `client terminated stream ${streamId} due to internal error`);
    } else {
      r.log(INFO, `client terminated stream ${streamId} with status ${code}`);
    }
    const enough = !this.#flood.broken();
    stream.gone();
    if (enough) {
      this.#tooManyBroken();
    }
  }

  #tooManyBroken(): void {
    this.#fail(ERROR_CODE.ENHANCE_YOUR_CALM, 'client broke off too many streams');
  }

  #settings(): void {
    const { bytes, start, end, flags, length } = this.#frames;
    if (!this.#identified('SETTINGS', false)) {
      return;
    }
    if ((flags & FLAG.ACK) !== 0) {
      if (length === 0) {
        this.#settingsAcknowledged = true;
      } else {
        this.#fail(ERROR_CODE.FRAME_SIZE_ERROR, 'client sent SETTINGS frame with the ACK flag and nonzero length');
      }
      return;
    }
    if (length % 6 !== 0) {
      this.#fail(ERROR_CODE.FRAME_SIZE_ERROR, `client sent SETTINGS frame with incorrect length ${length}`);
      return;
    }
    if (!this.#idleFrame()) {
      return;
    }
    for (let at = start; at < end; at += 6) {
      if (!this.#setting(bytes.readUInt16BE(at), bytes.readUInt32BE(at + 2))) {
        return;
      }
    }
    this.output.frame(FRAME.SETTINGS, FLAG.ACK, 0, 0);
  }

  #setting(id: number, value: number): boolean {
    const wrong = (code: number, name: string): boolean => {
      this.#fail(code, `client sent SETTINGS frame with incorrect ${name} value ${value}`);
      return false;
    };
    switch (id) {
      case SETTING.INITIAL_WINDOW_SIZE:
        if (value > MAX_WINDOW) {
          return wrong(ERROR_CODE.FLOW_CONTROL_ERROR, 'INITIAL_WINDOW_SIZE');
        }
        return this.#changeWindows(value);
      case SETTING.MAX_FRAME_SIZE:
        if (value > MAX_FRAME || value < DEFAULT_FRAME) {
          return wrong(ERROR_CODE.PROTOCOL_ERROR, 'MAX_FRAME_SIZE');
        }
        this.#longest = this.head.longest = value;
        return true;
      case SETTING.ENABLE_PUSH:
        return value <= 1 || wrong(ERROR_CODE.PROTOCOL_ERROR, 'ENABLE_PUSH');
      case SETTING.HEADER_TABLE_SIZE:
        this.head.encoder.resize(value);
        return true;
      default:
        return true;
    }
  }

  #changeWindows(value: number): boolean {
    const delta = value - this.#initialWindow;
    this.#initialWindow = value;
    for (const stream of [...this.#streams.values()]) {
      if (stream.closed) {
        continue;
      }
      if (stream.sendWindow.grow(delta)) {
        stream.windowOpened();
      } else {
        this.#breakStream(stream, ERROR_CODE.FLOW_CONTROL_ERROR);
      }
    }
    return this.#state === State.OPEN;
  }

  #ping(): void {
    const { bytes, start, end, flags } = this.#frames;
    if (!this.#sized('PING', 8) || !this.#identified('PING', false) || !this.#idleFrame()) {
      return;
    }
    if ((flags & FLAG.ACK) === 0) {
      this.output.copy(FRAME.PING, FLAG.ACK, 0, bytes, start, end);
    }
  }

  #goawayFrame(): void {
    const { length } = this.#frames;
    if (length < 8) {
      this.#fail(ERROR_CODE.FRAME_SIZE_ERROR, `client sent GOAWAY frame with incorrect length ${length}`);
    } else if (this.#identified('GOAWAY', false)) {
      this.#idleFrame();
    }
  }

  #windowUpdate(): void {
    const { bytes, start, streamId } = this.#frames;
    if (!this.#sized('WINDOW_UPDATE', 4)) {
      return;
    }
    const room = bytes.readUInt32BE(start) & 0x7fffffff;
    const stream = streamId === 0 ? undefined : this.#streams.get(streamId);
    if (room === 0) {
      const message = 'client sent WINDOW_UPDATE frame with incorrect window increment 0';
      this.#fail(ERROR_CODE.PROTOCOL_ERROR, message);
      return;
    }
    if (!this.#idleFrame()) {
      return;
    }
    if (streamId === 0) {
      if (!this.#sendWindow.grow(room)) {
        this.#fail(
          ERROR_CODE.FLOW_CONTROL_ERROR,
          `client violated connection flow control: received WINDOW_UPDATE frame with window increment ${room} not allowed for window ${this.#sendWindow.left}`,
        );
        return;
      }
      for (const starved of this.#starved) {
        this.#scheduler.add(starved);
      }
      this.#starved.length = 0;
      return;
    }
    if (stream === undefined || stream.closed) {
      if (this.#isIdle(streamId)) {
        this.#fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent WINDOW_UPDATE frame for idle stream');
      }
      return;
    }
    if (stream.sendWindow.grow(room)) {
      stream.windowOpened();
    } else {
      this.#log(
        `client violated flow control for stream ${streamId}: received WINDOW_UPDATE frame with window increment ${room} not allowed for window ${stream.sendWindow.left}`,
      );
      this.#breakStream(stream, ERROR_CODE.FLOW_CONTROL_ERROR);
    }
  }

  // ---------------------------------------------------------------- sending

  /** A stream has something to send. */
  ready(stream: Http2Stream): void {
    this.#scheduler.add(stream);
    this.sendSoon();
  }

  /** Sends at the end of the tick what came together in it. */
  sendSoon(): void {
    if (!this.#inLoop) {
      this.#sendSoon();
    }
  }

  #sendSoon(): void {
    if (this.#asked || this.#state !== State.OPEN) {
      return;
    }
    this.#asked = true;
    endOfTick.ask(AtTickEnd.SENDS, this);
  }

  tickEnded(): void {
    this.#asked = false;
    if (this.#state !== State.OPEN) {
      return;
    }
    this.#flush();
    this.#settle();
  }

  /** Writes the head of a response; returns how many bytes that took. */
  writeHead(r: Request, flags: number, streamId: number): number {
    this.#host.env.logFiles.flushErrors();
    return this.head.response(r, flags, streamId);
  }

  /** Lets the client send more, on a stream or, with 0, on all together. */
  giveRoom(streamId: number, bytes: number): void {
    this.output.numbers(FRAME.WINDOW_UPDATE, streamId, bytes);
    this.sendSoon();
  }

  /** Makes frames of what streams have, by turns, and sends them together. */
  #flush(): void {
    if (this.#inLoop) {
      return;
    }
    const { output } = this;
    let much = MUCH;
    this.#inLoop = true;
    const blocked = output.blocked;
    while (!output.blocked && this.#state === State.OPEN) {
      this.#fill();
      if (output.length === 0) {
        break;
      }
      this.#flood.moved(output.length);
      much -= output.length;
      output.send();
      if (much <= 0 && !this.#scheduler.empty) {
        break;
      }
    }
    this.#inLoop = false;
    if (this.#state !== State.OPEN) {
      return;
    }
    if (output.blocked) {
      if (!blocked) {
        this.#deadline.set(performance.now(), this.#server.root.settings.sendTimeout);
      }
      if (output.length > HIGH) {
        this.#pause();
      }
    } else if (!this.#scheduler.empty) {
      this.#sendSoon();
    }
  }

  /** Makes frames until there are enough to send. */
  #fill(): void {
    const { output } = this;
    while (output.length < ENOUGH) {
      const stream = this.#scheduler.next();
      if (stream === undefined) {
        return;
      }
      try {
        const size = stream.takeTurn(Math.min(this.#sendWindow.left, this.#longest));
        if (size < 0) {
          this.#starved.push(stream);
        } else if (size > 0) {
          this.#sendWindow.left -= size;
          this.#flood.useful(size);
        }
      } catch (error) {
        if (!endFailedRequest(error)) {
          throw error;
        }
      }
    }
  }

  flushed(): void {
    this.output.blocked = false;
    if (this.#state === State.LINGERING || this.#state === State.CLOSED) {
      return;
    }
    this.#deadline.clear();
    this.#unpause();
    this.#flush();
    this.#settle();
  }

  #pause(): void {
    if (this.#paused) {
      return;
    }
    this.#paused = true;
    this.#socket.pause();
  }

  #unpause(): void {
    if (!this.#paused || this.#state === State.CLOSED) {
      return;
    }
    this.#paused = false;
    this.#socket.resume();
  }

  // ---------------------------------------------------------------- the end of streams

  #breakStream(stream: Http2Stream, code: number): void {
    const enough = !this.#flood.broken();
    stream.fail(code);
    if (enough) {
      this.#tooManyBroken();
    }
  }

  /** Tells the client that a stream is over before its end. */
  reset(stream: Http2Stream, code: number): void {
    this.output.numbers(FRAME.RST_STREAM, stream.streamId, code);
    if (stream.inClosed) {
      this.#closed.addEnded(stream.streamId);
    } else {
      this.#closed.addReset(stream.streamId, stream.rest);
    }
  }

  /** A stream's request is over; `code`: what to reset it with, -1 for nothing, -2 if that was done; `well`: nobody broke it off. */
  streamEnded(stream: Http2Stream, code: number, well: boolean, queued: boolean): void {
    if (!this.#streams.delete(stream.streamId)) {
      return;
    }
    const { counters } = this.#host;
    if (queued) {
      this.#scheduler.remove(stream);
      const i = this.#starved.indexOf(stream);
      if (i !== -1) {
        this.#starved.splice(i, 1);
      }
    }
    if (this.#dataStream === stream) {
      this.#dataStream = null;
    }
    this.#tree?.closed(stream.streamId);
    if (code >= 0) {
      this.reset(stream, code);
    } else if (code === -1) {
      this.#closed.addEnded(stream.streamId);
    }
    if (well) {
      this.#flood.finished();
    }
    counters.writing--;
    this.#host.countStatus(stream.request);
    if (this.#streams.size > 0 || this.#state === State.CLOSED) {
      return;
    }
    counters.waiting++;
    counters.changed();
    this.#host.idle.add(this);
    this.#idleSince = performance.now();
    this.sendSoon();
  }

  /** What is to be done now that everything that could be was. nginx: ngx_http_v2_handle_connection. */
  #settle(): void {
    if (this.#state !== State.OPEN || this.output.blocked) {
      return;
    }
    if (this.#block.streamId !== 0 && !this.#block.refused) {
      // However slowly its bytes come.
      if (!this.#block.timed) {
        this.#deadline.set(performance.now(), this.#server.settings.clientHeaderTimeout);
      }
      this.#block.timed = true;
      return;
    }
    if (this.#streams.size > 0 || this.output.length > 0 || !this.#scheduler.empty) {
      this.#deadline.clear();
      return;
    }
    if (this.#ended) {
      this.#close();
    } else if (this.#goaway) {
      this.#linger();
    } else if (this.#requests > 0) {
      this.#deadline.set(this.#idleSince, this.#server.root.settings.keepaliveTimeout);
    }
  }

  // ---------------------------------------------------------------- the end of the connection

  #sendGoaway(code: number): void {
    if (this.#goaway) {
      return;
    }
    this.#goaway = true;
    this.output.numbers(FRAME.GOAWAY, 0, this.#lastId, code);
  }

  #floodDetected(): void {
    this.#fail(ERROR_CODE.NO_ERROR, 'http2 flood detected');
  }

  /** Gives the connection up, with all of its streams. Returns where reading stops. nginx: ngx_http_v2_connection_error. */
  #fail(code: number, message: string): number {
    if (this.#state === State.OPEN) {
      this.#log(message);
      this.#endAll(code);
    }
    return Number.MAX_SAFE_INTEGER;
  }

  #endAll(code: number): void {
    this.#sendGoaway(code);
    for (const stream of [...this.#streams.values()]) {
      this.#abandon(stream);
    }
    this.output.send();
    this.#linger();
  }

  #abandon(stream: Http2Stream): void {
    const r = stream.request;
    stream.gone();
    if (!r.finished) {
      r.terminate(r.headerSent ? -1 : 499);
    }
  }

  #endIdle(code: number): void {
    this.#sendGoaway(code);
    this.output.send();
    this.#linger();
  }

  /** Half-closes and reads on for a while, so that the client can read what was sent. nginx: ngx_http_v2_lingering_close. */
  #linger(): void {
    if (this.#state !== State.OPEN) {
      return;
    }
    const settings = this.#server.root.settings;
    this.#host.env.logFiles.flushTick();
    if (settings.lingeringClose === 'off' || this.#ended) {
      this.#close();
      return;
    }
    this.#state = State.LINGERING;
    this.#lingerUntil = performance.now() + settings.lingeringTime;
    this.#socket.end();
    this.#lingerOn();
    this.#unpause();
  }

  #lingerOn(): void {
    const now = performance.now();
    const left = Math.min(this.#lingerUntil - now, this.#server.root.settings.lingeringTimeout);
    if (left <= 0) {
      this.#close();
    } else {
      this.#deadline.set(now, left);
    }
  }

  clientEnded(): void {
    this.#ended = true;
    if (this.#state === State.LINGERING) {
      this.#close();
      return;
    }
    if (this.#state !== State.OPEN) {
      return;
    }
    if (this.#streams.size > 0 || this.#frames.within || this.#block.open) {
      this.#log('client prematurely closed connection');
    }
    for (const stream of [...this.#streams.values()]) {
      this.#abandon(stream);
    }
    this.#close();
  }

  socketClosed(): void {
    if (this.#state === State.CLOSED) {
      return;
    }
    for (const stream of [...this.#streams.values()]) {
      this.#abandon(stream);
    }
    this.#close();
  }

  expired(): void {
    if (this.#state !== State.OPEN) {
      this.#close();
      return;
    }
    if (this.output.blocked) {
      this.#log('client timed out (110: Connection timed out)');
      for (const stream of [...this.#streams.values()]) {
        this.#abandon(stream);
      }
      this.#socket.close();
      this.#close();
    } else if (this.#block.streamId !== 0 && !this.#block.refused) {
      this.#refuseBlock();
    } else if (this.#prefaceRead < PREFACE.length || this.#frames.within || this.#block.refused) {
      this.#log('client timed out (110: Connection timed out)');
      this.#endAll(ERROR_CODE.PROTOCOL_ERROR);
    } else if (this.#streams.size === 0) {
      this.#endIdle(ERROR_CODE.NO_ERROR);
    }
  }

  /** A header section does not come to its end: its stream is over, and what still comes of it is for the tables only. */
  #refuseBlock(): void {
    this.#log('client timed out (110: Connection timed out)');
    this.#block.refused = true;
    this.output.numbers(FRAME.RST_STREAM, this.#block.streamId, ERROR_CODE.PROTOCOL_ERROR);
    this.#flush();
    this.#settle();
  }

  /** The worker is about to leave: no further requests are taken. */
  drain(_now: number): void {
    if (this.#state !== State.OPEN) {
      return;
    }
    if (this.#streams.size === 0) {
      this.#endIdle(ERROR_CODE.NO_ERROR);
    } else {
      this.#sendGoaway(ERROR_CODE.NO_ERROR);
      this.#sendSoon();
    }
  }

  /** Closes a connection without streams, or one that waits for its client to leave, for a new one. */
  closeIdle(): void {
    if (this.#state === State.OPEN) {
      this.#sendGoaway(ERROR_CODE.NO_ERROR);
    }
    this.output.send();
    this.#close();
  }

  /** Ends the connection whatever it is doing: the worker must go. */
  kill(): void {
    for (const stream of [...this.#streams.values()]) {
      this.#abandon(stream);
    }
    this.#close();
  }

  #close(): void {
    if (this.#state === State.CLOSED) {
      return;
    }
    this.#state = State.CLOSED;
    if (this.#streams.size === 0) {
      this.#host.counters.waiting--;
    }
    this.#host.idle.remove(this);
    this.#deadline.close();
    this.output.drop();
    this.#host.env.logFiles.flushTick();
    this.#host.uncount(this);
    this.#socket.closeSoon();
    this.#host.connectionClosed(this);
  }
}
