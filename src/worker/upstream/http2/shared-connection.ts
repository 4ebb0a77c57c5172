import { IdTable } from '../../../shared/collection/id-table.js';
import { AtTickEnd, endOfTick, type TickTask } from '../../../shared/time/end-of-tick.js';
import type { Http2Endpoint } from '../../http/http2-frames/endpoint.js';
import { ReceiveWindow, SendWindow } from '../../http/http2-frames/flow-window.js';
import { Http2FrameReader } from '../../http/http2-frames/frame-reader.js';
import { HeaderBlock } from '../../http/http2-frames/header-block.js';
import { HpackDecoder } from '../../http/http2-frames/hpack/decoder.js';
import { ENOUGH, Output, type OutputTarget } from '../../http/http2-frames/output.js';
import { DEFAULT_FRAME, DEFAULT_WINDOW, ERROR_CODE, FRAME, MAX_WINDOW, PREFACE, SETTING } from '../../http/http2-frames/protocol.js';
import { readFrame } from '../../http/http2-frames/read-frame.js';
import { HpackSectionWriter } from '../../http/http2-frames/section-writer.js';
import { writeSettings } from '../../http/http2-frames/settings.js';
import { endFailedWork, enter, leave } from '../../task/at-work.js';
import type { ChannelOwner } from '../connection/channel.js';
import type { UpstreamConnection } from '../connection/connection.js';
import { Http2BackendStream } from './backend-stream.js';
import { backendBlockFaults } from './block-faults.js';
import { clientRole } from './client-role.js';
import { ControlGuard } from './control-guard.js';
import type { Http2Pool } from './http2-pool.js';
import type { Http2User } from './http2-user.js';
import { FIRST_WINDOW } from './window-growth.js';

/** Bytes that may wait for a backend that does not read; then nothing more is read from it. */
const HIGH = 256 * 1024;
/** Streams that are opened before the backend has said how many it takes. */
const BEFORE_SETTINGS = 100;
/** Bytes of one header section that are gathered, whatever a location allows. */
const LONGEST_SECTION: number = 1024 * 1024;
/** The last stream of a connection. */
const LAST_ID = 2 ** 31 - 1;

/** What a connection begins with: no table of fields, no pushes, the windows. */
const BEGINNING = [
  [SETTING.HEADER_TABLE_SIZE, 0],
  [SETTING.ENABLE_PUSH, 0],
  [SETTING.INITIAL_WINDOW_SIZE, FIRST_WINDOW],
] as const;

/**
 * An HTTP/2 connection to a backend, which requests share: each has a stream. What the backend's frames do to it stands in
 * {@link clientRole} and the files beside it. nginx has one for each request; its frames are those of ngx_http_grpc_module.c.
 */
export class SharedConnection implements ChannelOwner, OutputTarget, TickTask, Http2Endpoint {
  readonly r = null;
  carrier!: UpstreamConnection;
  readonly output: Output = new Output(this);
  readonly section: HpackSectionWriter = new HpackSectionWriter(this.output, DEFAULT_FRAME);
  readonly sendWindow: SendWindow = new SendWindow(DEFAULT_WINDOW);
  /** Connected, and whoever waited for that is content with it. */
  usable = false;
  /** The connection is fit for no further streams. */
  retired = false;
  closed = false;
  /** Streams that there ever were. */
  requests = 0;
  readonly #pool: Http2Pool | undefined;

  // --- streams
  /** Streams whose heads were sent, by their identifiers. */
  readonly streams: IdTable<Http2BackendStream> = new IdTable();
  /** Streams whose heads were not sent, and may not be before the connection is ready. */
  waiting: Http2BackendStream[] = [];
  /** Streams that wait for room in the connection's window. */
  starved: Http2BackendStream[] = [];
  /** Streams that have something to send, in the order of their turns. */
  #due: Http2BackendStream[] = [];
  /** Streams that hold small pieces of this read. */
  #gathering: Http2BackendStream[] = [];
  /** The identifier of the stream whose head was sent last. */
  lastId = -1;

  // --- what the backend said
  /** The backend has said what it takes. */
  settled = false;
  /** How much it takes of each stream at first. */
  initialWindow: number = DEFAULT_WINDOW;
  /** The backend takes requests that open tunnels (RFC 8441, 3). */
  takesTunnels = false;
  /** How many streams it takes. */
  mostStreams: number = BEFORE_SETTINGS;

  // --- what comes in
  readonly frames: Http2FrameReader = new Http2FrameReader(DEFAULT_FRAME);
  readonly decoder: HpackDecoder = new HpackDecoder(backendBlockFaults, 0);
  readonly block: HeaderBlock = new HeaderBlock();
  /** CONTINUATION frames of the header section at hand. */
  continuations = 0;
  readonly longestSection = LONGEST_SECTION;
  readonly guard: ControlGuard = new ControlGuard();
  /** How much the backend may send of all responses together. */
  readonly receiveWindow: ReceiveWindow = new ReceiveWindow(MAX_WINDOW);
  /** The stream of the DATA frame at hand. */
  dataStream: Http2BackendStream | null = null;
  /** How often something was read. */
  reads = 0;
  #readAt = 0;
  #asked = false;
  #flushing = false;

  /** Undefined `pool`: it is for one request. */
  constructor(pool: Http2Pool | undefined) {
    this.#pool = pool;
  }

  // ---------------------------------------------------------------- streams

  /** Streams that are open or about to be. */
  get size(): number {
    return this.streams.size + this.waiting.length;
  }

  /** Whether it takes another stream beside those that it has, at most `most`. */
  hasRoom(most: number): boolean {
    return !this.retired && this.size < Math.min(most, this.mostStreams);
  }

  /** Opens a stream. If the connection is not {@link usable}, its owner hears when it is. */
  open(owner: ChannelOwner, user: Http2User, now: number): Http2BackendStream {
    const stream = new Http2BackendStream(this, owner, user, now);
    this.requests++;
    this.waiting.push(stream);
    return stream;
  }

  /** The head of a stream is about to be sent. */
  opened(stream: Http2BackendStream): void {
    const at = this.waiting.indexOf(stream);
    this.waiting.splice(at, 1);
    this.lastId += 2;
    if (this.lastId >= LAST_ID - 2) {
      this.retired = true;
    }
    stream.id = this.lastId;
    stream.sendWindow.left = this.initialWindow;
    this.streams.set(stream.id, stream);
  }

  /** A stream's owner has given it up, or has got all of it. */
  streamClosed(stream: Http2BackendStream): void {
    if (stream.id === 0) {
      const at = this.waiting.indexOf(stream);
      if (at !== -1) {
        this.waiting.splice(at, 1);
      }
    } else if (this.streams.delete(stream.id) && !(stream.outClosed && stream.inClosed) && !this.closed) {
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
    return Math.min(this.initialWindow, this.sendWindow.left);
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
          this.starved.push(stream);
        }
      }
      output.send();
    } while (this.#due.length > 0 && !output.blocked && !this.closed);
    this.#flushing = false;
    if (!output.blocked) {
      this.guard.sent();
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
    writeSettings(output, BEGINNING);
    output.numbers(FRAME.WINDOW_UPDATE, 0, MAX_WINDOW - DEFAULT_WINDOW);
    this.#tellWaiting((stream) => stream.owner.ready(stream));
    this.usable = true;
    this.#flush();
  }

  #tellWaiting(tell: (stream: Http2BackendStream) => void): void {
    for (const stream of [...this.waiting]) {
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
        at = readFrame(clientRole, this, bytes, at, end);
      } catch (error) {
        at = this.frames.next;
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

  /** The connection was idle for long enough. */
  timedOut(): void {
    this.close();
  }

  /** The backend broke a rule of the connection. */
  fail(code: number, problem: string): void {
    const { type, streamId, length } = this.frames;
    if (code === ERROR_CODE.COMPRESSION_ERROR || (type === FRAME.HEADERS && !this.block.open && length <= DEFAULT_FRAME)) {
      this.streams.get(streamId)?.user.sectionMalformed();
    }
    this.output.numbers(FRAME.GOAWAY, 0, 0, code);
    this.output.send();
    this.#over((stream) => stream.connectionBroken(problem));
  }

  /** Nothing more comes, nothing more can be sent: all streams hear of it. */
  #over(tell: (stream: Http2BackendStream) => void): void {
    const streams = [...this.streams.all(), ...this.waiting];
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
}
