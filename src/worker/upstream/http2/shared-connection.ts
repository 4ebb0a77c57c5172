// Longer than most: what each kind of frame does to a connection and its streams.

import { IdTable } from '../../../shared/collection/id-table.js';
import { AtTickEnd, endOfTick, type TickTask } from '../../../shared/time/end-of-tick.js';
import { ReceiveWindow, SendWindow } from '../../http/http2-frames/flow-window.js';
import {
  FrameReader,
  READ_AGAIN,
  READ_BAD_PADDING,
  READ_DATA,
  READ_DATA_HEAD,
  READ_FRAME,
  READ_HEADERS_HEAD,
  READ_TOO_LONG,
} from '../../http/http2-frames/frame-reader.js';
import { HeaderBlock } from '../../http/http2-frames/header-block.js';
import { BLOCK_TOO_LARGE, DECODED, HpackDecoder } from '../../http/http2-frames/hpack/decoder.js';
import { ENOUGH, Output, type OutputTarget } from '../../http/http2-frames/output.js';
import {
  DEFAULT_FRAME,
  DEFAULT_WINDOW,
  ERROR_CODE,
  FLAG,
  FRAME,
  MAX_FRAME,
  MAX_WINDOW,
  PREFACE,
  SETTING,
} from '../../http/http2-frames/protocol.js';
import { SectionWriter } from '../../http/http2-frames/section-writer.js';
import { readSettings, sendSettings } from '../../http/http2-frames/settings.js';
import { endFailedWork, enter, leave } from '../../task/at-work.js';
import type { ChannelOwner } from '../connection/channel.js';
import type { UpstreamConnection } from '../connection/connection.js';
import { Http2BackendStream } from './backend-stream.js';
import { ControlGuard } from './control-guard.js';
import type { Http2Pool } from './http2-pool.js';
import { Http2Refused, type Http2User } from './http2-user.js';
import { FIRST_WINDOW } from './window-growth.js';

/** Bytes that may wait for a backend that does not read; then nothing more is read from it. */
const HIGH = 256 * 1024;
/** Streams that are opened before the backend has said how many it takes. */
const BEFORE_SETTINGS = 100;
/** Bytes of one header section that are gathered, whatever a location allows. */
const LONGEST_SECTION = 1024 * 1024;
/** CONTINUATION frames of one header section. */
const CONTINUATIONS = 128;
/** The last stream of a connection. */
const LAST_ID = 2 ** 31 - 1;

/** What a connection begins with: no table of fields, no pushes, the windows. */
const BEGINNING = [
  [SETTING.HEADER_TABLE_SIZE, 0],
  [SETTING.ENABLE_PUSH, 0],
  [SETTING.INITIAL_WINDOW_SIZE, FIRST_WINDOW],
] as const;

/**
 * An HTTP/2 connection to a backend, which requests share: each has a stream. nginx has one for each request; its frames are those of
 * ngx_http_grpc_module.c.
 */
export class SharedConnection implements ChannelOwner, OutputTarget, TickTask {
  readonly r = null;
  carrier!: UpstreamConnection;
  readonly output: Output = new Output(this);
  readonly section: SectionWriter = new SectionWriter(this.output, DEFAULT_FRAME);
  readonly sendWindow: SendWindow = new SendWindow(DEFAULT_WINDOW);
  /** Connected, and whoever waited for that is content with it. */
  usable = false;
  /** It is fit for no further streams. */
  retired = false;
  /** Streams that there ever were. */
  requests = 0;
  readonly #pool: Http2Pool | undefined;
  readonly #frames = new FrameReader(DEFAULT_FRAME);
  readonly #decoder = new HpackDecoder('upstream', 0);
  readonly #block = new HeaderBlock();
  readonly #guard = new ControlGuard();
  readonly #receive = new ReceiveWindow(MAX_WINDOW);
  /** Those whose heads were sent, by their identifiers. */
  readonly #streams = new IdTable<Http2BackendStream>();
  /** Streams whose heads were not sent, and may not be before the connection is ready. */
  #waiting: Http2BackendStream[] = [];
  /** Those that have something to send, in the order of their turns. */
  #due: Http2BackendStream[] = [];
  /** Those that wait for room in the connection's window. */
  #starved: Http2BackendStream[] = [];
  #lastId = -1;
  /** What the backend lets each stream send at first. */
  #initialWindow = DEFAULT_WINDOW;
  /** The backend has said what it takes. */
  settled = false;
  /** It takes requests that open tunnels (RFC 8441, 3). */
  takesTunnels = false;
  /** How many streams the backend takes. */
  #most = BEFORE_SETTINGS;
  #continuations = 0;
  /** The stream of the DATA frame at hand. */
  #dataStream: Http2BackendStream | null = null;
  #asked = false;
  #flushing = false;
  #readAt = 0;
  /** How often something was read. */
  reads = 0;
  /** Those that hold small pieces of this read. */
  #gathering: Http2BackendStream[] = [];
  closed = false;

  /** Undefined `pool`: it is for one request. */
  constructor(pool: Http2Pool | undefined) {
    this.#pool = pool;
  }

  // ---------------------------------------------------------------- streams

  /** Streams that are open or about to be. */
  get size(): number {
    return this.#streams.size + this.#waiting.length;
  }

  /** Whether it takes another stream beside those that it has, at most `most`. */
  hasRoom(most: number): boolean {
    return !this.retired && this.size < Math.min(most, this.#most);
  }

  /** Opens a stream. If the connection is not {@link usable}, its owner hears when it is. */
  open(owner: ChannelOwner, user: Http2User, now: number): Http2BackendStream {
    const stream = new Http2BackendStream(this, owner, user, now);
    this.requests++;
    this.#waiting.push(stream);
    return stream;
  }

  /** The head of a stream is about to be sent. */
  opened(stream: Http2BackendStream): void {
    const at = this.#waiting.indexOf(stream);
    this.#waiting.splice(at, 1);
    this.#lastId += 2;
    if (this.#lastId >= LAST_ID - 2) {
      this.retired = true;
    }
    stream.id = this.#lastId;
    stream.sendWindow.left = this.#initialWindow;
    this.#streams.set(stream.id, stream);
  }

  /** A stream's owner has given it up, or has got all of it. */
  streamClosed(stream: Http2BackendStream): void {
    if (stream.id === 0) {
      const at = this.#waiting.indexOf(stream);
      if (at !== -1) {
        this.#waiting.splice(at, 1);
      }
    } else if (this.#streams.delete(stream.id) && !(stream.outClosed && stream.inClosed) && !this.closed) {
      this.output.numbers(FRAME.RST_STREAM, stream.id, stream.inClosed ? ERROR_CODE.NO_ERROR : ERROR_CODE.CANCEL);
      this.#askTurn();
    }
    if (this.size > 0 || this.closed) {
      return;
    }
    if (this.#pool === undefined || this.retired || !this.usable) {
      // The backend still hears that the stream was given up.
      this.output.send();
      this.close();
    } else {
      this.#pool.idle(this);
    }
  }

  /** A stream has waited in vain since then: if nothing at all came, the connection may be dead. */
  silentSince(time: number): void {
    if (this.#readAt <= time) {
      this.retired = true;
    }
  }

  /** How much a stream may send that is not open yet. */
  get firstRoom(): number {
    return Math.min(this.#initialWindow, this.sendWindow.left);
  }

  // ---------------------------------------------------------------- sending

  get flushed(): boolean {
    return this.carrier.flushed;
  }

  write(bytes: Buffer): boolean {
    return this.carrier.write(bytes);
  }

  /** The kernel has not taken all of what was sent. */
  get blocked(): boolean {
    return this.output.blocked;
  }

  /** A stream has something to send: it leaves at the end of the tick, with that of others. */
  sendSoon(stream: Http2BackendStream): void {
    if (stream.queued) {
      return;
    }
    stream.queued = true;
    this.#due.push(stream);
    this.#askTurn();
  }

  #askTurn(): void {
    if (this.#asked || this.#flushing || !this.usable) {
      return;
    }
    this.#asked = true;
    endOfTick.ask(AtTickEnd.SENDS, this);
  }

  tickEnded(): void {
    this.#asked = false;
    this.#flush();
  }

  #flush(): void {
    if (!this.usable || this.closed || this.#flushing) {
      return;
    }
    this.#flushing = true;
    const { output } = this;
    do {
      while (this.#due.length > 0 && output.length < ENOUGH && !output.blocked) {
        const stream = this.#due.shift()!;
        if (stream.takeTurn()) {
          stream.left();
        } else {
          this.#starved.push(stream);
        }
      }
      output.send();
    } while (this.#due.length > 0 && !output.blocked && !this.closed);
    this.#flushing = false;
    if (!output.blocked) {
      this.#guard.sent();
    }
    if (output.length >= HIGH) {
      this.carrier.pause();
    }
  }

  /** Gives the backend room again; `id`: a stream, or 0 for the connection. */
  giveRoom(id: number, room: number): void {
    this.output.numbers(FRAME.WINDOW_UPDATE, id, room);
    this.#askTurn();
  }

  // ---------------------------------------------------------------- the connection

  connected(): void {
    this.#tellWaiting((stream) => stream.owner.connected(stream));
  }

  // Each of those that waited looks at the backend's certificate. If none accepts it, they leave, and the connection closes.
  ready(): void {
    const { output } = this;
    // nginx: ngx_http_grpc_connection_start.
    PREFACE.copy(output.room(PREFACE.length), output.length);
    output.length += PREFACE.length;
    sendSettings(output, BEGINNING);
    output.numbers(FRAME.WINDOW_UPDATE, 0, MAX_WINDOW - DEFAULT_WINDOW);
    this.#tellWaiting((stream) => stream.owner.ready(stream));
    this.usable = true;
    this.#flush();
  }

  #tellWaiting(tell: (stream: Http2BackendStream) => void): void {
    for (const stream of [...this.#waiting]) {
      if (stream.closed) {
        continue;
      }
      const before = enter(stream.owner.r);
      tell(stream);
      leave(before);
    }
  }

  received(_c: unknown, bytes: Buffer, end: number): void {
    this.#readAt = performance.now();
    this.reads++;
    let at = 0;
    while (at < end && !this.closed) {
      try {
        at = this.#read(bytes, at, end);
      } catch (error) {
        at = this.#frames.next;
        if (!endFailedWork(error)) {
          throw error;
        }
      }
    }
    if (this.#gathering.length > 0) {
      this.#deliverGathered();
    }
    this.#flush();
  }

  /** Has what a stream holds given to its owner once all of this read is looked at. */
  deliverAfterRead(stream: Http2BackendStream): void {
    this.#gathering.push(stream);
  }

  #deliverGathered(): void {
    const streams = this.#gathering;
    this.#gathering = [];
    for (const stream of streams) {
      const before = enter(stream.owner.r);
      try {
        stream.deliver();
      } catch (error) {
        if (!endFailedWork(error)) {
          throw error;
        }
      }
      leave(before);
    }
  }

  ended(): void {
    this.#over((stream) => stream.connectionEnded());
  }

  failed(_c: unknown, error: Error): void {
    this.#over((stream) => stream.failed(error));
  }

  drained(): void {
    if (!this.carrier.flushed) {
      return;
    }
    this.output.blocked = false;
    this.carrier.resume();
    this.#flush();
  }

  /** It was idle for long enough. */
  timedOut(): void {
    this.close();
  }

  /** The backend broke a rule of the connection. */
  #fail(code: number, problem: string): number {
    this.output.numbers(FRAME.GOAWAY, 0, 0, code);
    this.output.send();
    this.#over((stream) => stream.connectionBroken(problem));
    return this.#frames.next;
  }

  /** Nothing more comes, nothing more can be sent: all streams hear of it. */
  #over(tell: (stream: Http2BackendStream) => void): void {
    const streams = [...this.#streams.all(), ...this.#waiting];
    this.close();
    for (const stream of streams) {
      if (stream.closed) {
        continue;
      }
      const before = enter(stream.owner.r);
      tell(stream);
      leave(before);
    }
  }

  close(): void {
    if (this.closed) {
      return;
    }
    this.closed = this.retired = true;
    this.#pool?.forget(this);
    this.output.drop();
    this.carrier.close();
  }

  // ---------------------------------------------------------------- reading

  /** Reads one frame, or a piece of one. Returns the first byte not used. */
  #read(bytes: Buffer, at: number, end: number): number {
    const frames = this.#frames;
    const code = frames.read(bytes, at, end);
    if (code === READ_AGAIN || code === READ_HEADERS_HEAD) {
      return frames.next;
    }
    if (this.#block.open && frames.type !== FRAME.CONTINUATION) {
      return this.#fail(ERROR_CODE.PROTOCOL_ERROR, `upstream sent unexpected http2 frame: ${frames.type}`);
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
      case READ_TOO_LONG:
        this.#tooLarge();
        break;
      case READ_BAD_PADDING:
        this.#fail(
          frames.length === 0 ? ERROR_CODE.FRAME_SIZE_ERROR : ERROR_CODE.PROTOCOL_ERROR,
          frames.length === 0 ? 'upstream sent too short http2 frame' : 'upstream sent http2 frame with too long padding',
        );
        break;
      default:
        this.#unknown();
        break;
    }
    return frames.next;
  }

  #tooLarge(): void {
    this.#fail(ERROR_CODE.FRAME_SIZE_ERROR, `upstream sent too large http2 frame: ${this.#frames.length}`);
  }

  #unknown(): void {
    if (this.#frames.length > DEFAULT_FRAME) {
      this.#tooLarge();
    } else {
      this.#control('unknown');
    }
  }

  #frame(): void {
    switch (this.#frames.type) {
      case FRAME.HEADERS:
        this.#headers();
        break;
      case FRAME.CONTINUATION:
        this.#continuation();
        break;
      case FRAME.RST_STREAM:
        this.#rstStream();
        break;
      case FRAME.SETTINGS:
        this.#settings();
        break;
      case FRAME.PUSH_PROMISE:
        this.#fail(ERROR_CODE.PROTOCOL_ERROR, 'upstream sent unexpected push promise frame');
        break;
      case FRAME.PING:
        this.#ping();
        break;
      case FRAME.GOAWAY:
        this.#goaway();
        break;
      case FRAME.WINDOW_UPDATE:
        this.#windowUpdate();
        break;
      default:
        this.#control('priority');
        break;
    }
  }

  /** Counts a frame that brings nothing by itself. Returns false if there were too many. */
  #control(name: string): boolean {
    if (this.#guard.control()) {
      return true;
    }
    this.#fail(ERROR_CODE.ENHANCE_YOUR_CALM, `upstream sent too many ${name} frames`);
    return false;
  }

  /** Whether the frame is one of the whole connection. */
  #ofConnection(name: string): boolean {
    const { streamId } = this.#frames;
    if (streamId === 0) {
      return true;
    }
    this.#fail(ERROR_CODE.PROTOCOL_ERROR, `upstream sent ${name} frame with non-zero stream id: ${streamId}`);
    return false;
  }

  #sized(name: string, length: number): boolean {
    if (this.#frames.length === length) {
      return true;
    }
    this.#fail(ERROR_CODE.FRAME_SIZE_ERROR, `upstream sent ${name} frame with invalid length: ${this.#frames.length}`);
    return false;
  }

  /** The stream of the frame; undefined if it is over, or was never there, which ends the connection. */
  #stream(what: string): Http2BackendStream | undefined {
    const { streamId } = this.#frames;
    const stream = this.#streams.get(streamId);
    if (stream === undefined && (streamId > this.#lastId || streamId % 2 === 0)) {
      this.#fail(ERROR_CODE.PROTOCOL_ERROR, `upstream sent ${what} for unknown stream ${streamId}`);
    }
    return stream;
  }

  // ---------------------------------------------------------------- DATA

  #dataHead(): void {
    const { length, left } = this.#frames;
    this.#dataStream = null;
    if (length > DEFAULT_FRAME) {
      this.#tooLarge();
      return;
    }
    if (!this.#receive.take(length)) {
      this.#fail(
        ERROR_CODE.FLOW_CONTROL_ERROR,
        `upstream violated connection flow control, received ${length} data frame with window ${this.#receive.left}`,
      );
      return;
    }
    const room = this.#receive.refill(0, 0.25);
    if (room > 0) {
      this.giveRoom(0, room);
    }
    const stream = this.#stream('data frame');
    if (stream === undefined) {
      return;
    }
    if (!stream.user.answered) {
      this.#break(stream, `upstream sent unexpected http2 frame: ${FRAME.DATA}`);
    } else if (stream.inClosed) {
      this.#break(stream, `upstream sent frame for closed stream ${stream.id}`);
    } else if (!stream.takeWindow(length)) {
      this.#break(stream, `upstream violated stream flow control, received ${length} data frame`);
    } else {
      this.#dataStream = stream;
      if (left === 0) {
        this.#dataEnd(stream, length);
      }
    }
  }

  #data(): void {
    const { bytes, start, end, left, length } = this.#frames;
    const stream = this.#dataStream;
    if (stream === null || stream.closed) {
      return;
    }
    this.#guard.useful();
    const before = enter(stream.owner.r);
    stream.data(bytes, start, end);
    leave(before);
    if (left === 0 && !stream.closed) {
      this.#dataEnd(stream, length);
    }
  }

  #dataEnd(stream: Http2BackendStream, length: number): void {
    this.#dataStream = null;
    if ((this.#frames.flags & FLAG.END_STREAM) !== 0) {
      const before = enter(stream.owner.r);
      stream.inputEnded();
      leave(before);
    } else if (length === 0) {
      this.#control('empty data');
    }
  }

  /** A stream comes to its end for what the backend did. */
  #break(stream: Http2BackendStream, problem: string): void {
    const before = enter(stream.owner.r);
    stream.inputBroken(problem);
    leave(before);
  }

  // ---------------------------------------------------------------- HEADERS, CONTINUATION

  #headers(): void {
    const { bytes, flags, length } = this.#frames;
    let { start, end } = this.#frames;
    const padded = (flags & FLAG.PADDED) !== 0;
    const extra = (padded ? 1 : 0) + ((flags & FLAG.PRIORITY) !== 0 ? 5 : 0);
    if (length < extra) {
      this.#fail(ERROR_CODE.FRAME_SIZE_ERROR, `upstream sent headers frame with invalid length: ${length}`);
      return;
    }
    if (padded) {
      const padding = bytes[start]!;
      if (padding > length - extra) {
        this.#fail(ERROR_CODE.PROTOCOL_ERROR, `upstream sent http2 frame with too long padding: ${padding} in frame ${length - extra}`);
        return;
      }
      end -= padding;
    }
    start += extra;
    const { streamId } = this.#frames;
    const stream = this.#stream('frame');
    if (stream === undefined && this.closed) {
      return;
    }
    this.#block.begin(streamId, (flags & FLAG.END_STREAM) !== 0, false);
    this.#continuations = 0;
    if ((flags & FLAG.END_HEADERS) !== 0) {
      this.#wholeSection(bytes, start, end);
    } else {
      this.#addToBlock(bytes, start, end);
    }
  }

  #continuation(): void {
    const { bytes, start, end, flags, streamId } = this.#frames;
    if (!this.#block.open || this.#block.streamId !== streamId) {
      this.#fail(ERROR_CODE.PROTOCOL_ERROR, `upstream sent unexpected http2 frame: ${FRAME.CONTINUATION}`);
    } else if (++this.#continuations > CONTINUATIONS) {
      this.#fail(ERROR_CODE.ENHANCE_YOUR_CALM, 'upstream sent too many continuation frames');
    } else if (this.#addToBlock(bytes, start, end) && (flags & FLAG.END_HEADERS) !== 0) {
      const whole = this.#block.take();
      this.#wholeSection(whole, 0, whole.length);
    }
  }

  #addToBlock(bytes: Buffer, start: number, end: number): boolean {
    if (this.#block.add(bytes, start, end, LONGEST_SECTION)) {
      return true;
    }
    this.#fail(ERROR_CODE.ENHANCE_YOUR_CALM, 'upstream sent too large http2 header');
    return false;
  }

  /** A header section is here. That of a stream which is over need not be read: no section depends on another one. */
  #wholeSection(bytes: Buffer, start: number, end: number): void {
    const { streamId, ended } = this.#block;
    this.#block.end();
    const stream = this.#streams.get(streamId);
    if (stream === undefined) {
      this.#control('headers');
      return;
    }
    const before = enter(stream.owner.r);
    this.#readSection(stream, ended, bytes, start, end);
    leave(before);
    // Early hints bring nothing that a backend could not repeat forever.
    if (stream.user.answered) {
      this.#guard.useful();
    } else {
      this.#control('headers');
    }
  }

  #readSection(stream: Http2BackendStream, ended: boolean, bytes: Buffer, start: number, end: number): void {
    const { user } = stream;
    if (stream.inClosed) {
      stream.inputBroken(`upstream sent frame for closed stream ${stream.id}`);
      return;
    }
    const trailers = user.answered;
    user.beginSection();
    const limit = user.headLimit;
    const code = this.#decoder.decode(bytes, start, end, { field: limit, total: limit }, user);
    if (code === BLOCK_TOO_LARGE) {
      stream.inputBroken('upstream sent too large http2 header');
    } else if (code !== DECODED) {
      this.#fail(ERROR_CODE.COMPRESSION_ERROR, this.#decoder.problem);
    } else if (!trailers) {
      user.endSection(ended);
      stream.headRead(bytes.subarray(start, end), ended);
    } else if (ended) {
      user.endSection(true);
      stream.inputEnded();
    } else {
      stream.inputBroken('upstream sent trailer without end stream flag');
    }
  }

  // ---------------------------------------------------------------- other frames

  #rstStream(): void {
    const { bytes, start } = this.#frames;
    if (!this.#sized('rst stream', 4)) {
      return;
    }
    const stream = this.#stream('frame');
    if (stream === undefined) {
      return;
    }
    const code = bytes.readUInt32BE(start);
    const problem = `upstream rejected request with error ${code}`;
    const complete = stream.inClosed;
    if (stream.wasReset) {
      this.#break(stream, `upstream sent frame for closed stream ${stream.id}`);
      return;
    }
    const before = enter(stream.owner.r);
    stream.resetByPeer();
    if (code === ERROR_CODE.REFUSED_STREAM && !stream.user.answered) {
      stream.failed(new Http2Refused(problem));
    } else if (code !== ERROR_CODE.NO_ERROR || !complete) {
      stream.inputBroken(problem, code);
    }
    leave(before);
  }

  #settings(): void {
    const { flags, length } = this.#frames;
    if (!this.#ofConnection('settings')) {
      return;
    }
    if ((flags & FLAG.ACK) !== 0) {
      if (length !== 0) {
        this.#fail(ERROR_CODE.FRAME_SIZE_ERROR, `upstream sent settings frame with ack flag and non-zero length: ${length}`);
      }
      return;
    }
    if (length % 6 !== 0) {
      this.#sized('settings', -1);
      return;
    }
    if (!this.#control('settings') || !this.#acknowledge('settings')) {
      return;
    }
    const first = !this.settled;
    if (first) {
      this.settled = true;
      this.#most = Number.POSITIVE_INFINITY;
    }
    const window = readSettings(this.#frames, this.#initialWindow, this, (c, id, value) => c.#setting(id, value));
    if (window < 0 || (window !== this.#initialWindow && !this.#changeWindows(window))) {
      return;
    }
    this.output.frame(FRAME.SETTINGS, FLAG.ACK, 0, 0);
    if (first) {
      for (const stream of this.#waiting) {
        this.sendSoon(stream);
      }
    }
  }

  /** Answers that nobody has read yet are as many as a backend may have us keep. Returns false if there are more. */
  #acknowledge(name: string): boolean {
    if (this.#guard.acknowledge()) {
      return true;
    }
    this.#fail(ERROR_CODE.ENHANCE_YOUR_CALM, `upstream sent too many ${name} frames`);
    return false;
  }

  #setting(id: number, value: number): boolean {
    switch (id) {
      case SETTING.INITIAL_WINDOW_SIZE:
        return value <= MAX_WINDOW || this.#tooLargeWindow(value);
      case SETTING.MAX_CONCURRENT_STREAMS:
        this.#most = value;
        return true;
      case SETTING.MAX_FRAME_SIZE:
        if (value > MAX_FRAME || value < DEFAULT_FRAME) {
          this.#fail(ERROR_CODE.PROTOCOL_ERROR, `upstream sent settings frame with invalid frame size: ${value}`);
          return false;
        }
        return true;
      case SETTING.HEADER_TABLE_SIZE:
        this.section.encoder.resize(value);
        return true;
      case SETTING.ENABLE_CONNECT_PROTOCOL:
        // What was said once holds (RFC 8441, 3).
        if (value > 1 || (value === 0 && this.takesTunnels)) {
          this.#fail(ERROR_CODE.PROTOCOL_ERROR, `upstream sent settings frame with invalid extended connect value: ${value}`);
          return false;
        }
        this.takesTunnels = value === 1;
        return true;
      default:
        return true;
    }
  }

  #tooLargeWindow(value: number): false {
    this.#fail(ERROR_CODE.FLOW_CONTROL_ERROR, `upstream sent settings frame with too large initial window size: ${value}`);
    return false;
  }

  #changeWindows(value: number): boolean {
    const delta = value - this.#initialWindow;
    this.#initialWindow = value;
    for (const stream of this.#streams.all()) {
      if (!stream.sendWindow.grow(delta)) {
        return this.#tooLargeWindow(value);
      }
      if (stream.mayUseRoom) {
        this.sendSoon(stream);
      }
    }
    return true;
  }

  #ping(): void {
    const { bytes, start, end, flags } = this.#frames;
    if (!this.#ofConnection('ping') || !this.#sized('ping', 8)) {
      return;
    }
    if ((flags & FLAG.ACK) !== 0) {
      this.#fail(ERROR_CODE.PROTOCOL_ERROR, 'upstream sent ping frame with ack flag');
      return;
    }
    if (this.#control('ping') && this.#acknowledge('ping')) {
      this.output.copy(FRAME.PING, FLAG.ACK, 0, bytes, start, end);
    }
  }

  /** The backend takes no further streams: those above the last that it names go elsewhere, the others finish. */
  #goaway(): void {
    const { bytes, start, length } = this.#frames;
    if (!this.#ofConnection('goaway')) {
      return;
    }
    if (length < 8) {
      this.#sized('goaway', 8);
      return;
    }
    const last = bytes.readUInt32BE(start) & MAX_WINDOW;
    const code = bytes.readUInt32BE(start + 4);
    this.retired = true;
    const refused = this.#streams.all().filter((stream) => stream.id > last);
    refused.push(...this.#waiting);
    for (const stream of refused) {
      const before = enter(stream.owner.r);
      const problem = `upstream sent goaway with error ${code}`;
      stream.resetByPeer();
      if (stream.user.answered) {
        stream.inputBroken(problem);
      } else {
        stream.failed(new Http2Refused(problem));
      }
      leave(before);
    }
    if (this.size === 0) {
      this.close();
    }
  }

  #windowUpdate(): void {
    const { bytes, start, streamId } = this.#frames;
    if (!this.#sized('window update', 4) || !this.#control('window update')) {
      return;
    }
    const room = bytes.readUInt32BE(start) & MAX_WINDOW;
    if (room === 0) {
      this.#fail(ERROR_CODE.PROTOCOL_ERROR, 'upstream sent zero window update');
      return;
    }
    if (streamId === 0) {
      if (!this.sendWindow.grow(room)) {
        this.#fail(ERROR_CODE.FLOW_CONTROL_ERROR, 'upstream sent too large window update');
        return;
      }
      for (const stream of this.#starved.splice(0)) {
        this.sendSoon(stream);
      }
      return;
    }
    const stream = this.#stream('frame');
    if (stream === undefined) {
      return;
    }
    if (!stream.sendWindow.grow(room)) {
      this.#break(stream, 'upstream sent too large window update');
    } else if (stream.mayUseRoom) {
      this.sendSoon(stream);
    }
  }
}
