import { ReceiveWindow, SendWindow } from '../http2-frames/flow-window.js';
import { FLAG, FRAME, FRAME_HEAD, MAX_WINDOW } from '../http2-frames/protocol.js';
import { OVER } from '../multiplexed/how-over.js';
import { RequestStream } from '../multiplexed/request-stream.js';
import { clientSlot } from '../request/client-settings.js';
import type { Request } from '../request/request.js';
import type { Http2Connection } from './connection.js';
import type { Dependency } from './dependency-tree.js';
import { chunkSizeSlot, http2Slot } from './http2-settings.js';
import type { WaitingStream } from './scheduler.js';

/** A request and its response on an HTTP/2 connection. nginx: ngx_http_v2_stream_t. */
export class Http2Stream extends RequestStream<Http2Connection> implements WaitingStream {
  protected readonly version = 'HTTP/2';
  protected readonly pacesHeads = false;
  readonly sendWindow: SendWindow;
  /** How much of the body the client may send; null before something comes. */
  #receiveWindow: ReceiveWindow | null = null;
  /** The stream's turn comes when the client makes room. */
  #blocked = false;
  #queued = false;
  /** The stream's turn came, but the client had no room on the connection. */
  #starved = false;
  /** We told the client that it is over. */
  #reset = false;

  constructor(connection: Http2Connection, streamId: number) {
    super(connection, streamId);
    this.sendWindow = new SendWindow(connection.initialWindow);
  }

  get place(): Dependency {
    return this.c.streams.placeOf(this.streamId);
  }

  override prioritize(text: string): void {
    this.c.sending.scheduler.ordered = true;
    super.prioritize(text);
  }

  protected override siblings(): Http2Stream[] {
    return this.c.streams.all();
  }

  // ---------------------------------------------------------------- what comes in

  get #window(): ReceiveWindow {
    this.#receiveWindow ??= new ReceiveWindow(this.c.server.conf(http2Slot).http2BodyPrereadSize);
    return this.#receiveWindow;
  }

  /** A frame of `length` bytes begins; false if the client had no room for it. */
  takeWindow(length: number): boolean {
    return this.#window.take(length);
  }

  override bodyWanted(room: number, announced: number, held: number): void {
    const window = this.#window;
    const wanted = Math.min(MAX_WINDOW, announced >= 0 && room !== MAX_WINDOW ? Math.min(room, announced + 1) : room);
    if (wanted > window.size) {
      window.size = wanted;
    }
    this.#refill(window, held, 1);
  }

  override bodyUsed(_bytes: number, held: number): void {
    const window = this.#window;
    this.#refill(window, held, window.size === MAX_WINDOW ? 0.25 : 0.5);
  }

  /** Gives the client room again for what was used. */
  #refill(window: ReceiveWindow, held: number, share: number): void {
    if (this.inClosed) {
      return;
    }
    const room = window.refill(held, share);
    if (room > 0) {
      this.c.sending.giveRoom(this.streamId, room);
    }
  }

  // ---------------------------------------------------------------- the response that goes out

  protected override writeHead(r: Request, status: number, fin: boolean): number {
    return this.c.sending.writeHead(r, status, fin ? FLAG.END_STREAM : 0, this.streamId);
  }

  protected override writeBare(status: number, fields: readonly string[], fin: boolean): number {
    return this.c.sending.head.bare(status, fields, fin ? FLAG.END_STREAM : 0, this.streamId);
  }

  protected override writeEnd(trailers: readonly string[]): number {
    const { head, output } = this.c.sending;
    if (trailers.length > 0) {
      return head.trailers(trailers, FLAG.END_STREAM, this.streamId);
    }
    output.frame(FRAME.DATA, FLAG.END_STREAM, this.streamId, 0);
    return FRAME_HEAD;
  }

  protected override sendSoon(): void {
    this.c.sending.soon();
  }

  protected override enqueue(): void {
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
    this.stopTime();
    this.enqueue();
  }

  /**
   * Takes the stream's turn: makes a frame of at most `most` bytes of data. Returns how many it made, or -1 if it has some and may
   * make none.
   */
  takeTurn(most: number): number {
    this.#queued = false;
    if (!this.sending || this.closed) {
      return 0;
    }
    const { left } = this;
    if (left === 0) {
      return this.pieceSent();
    }
    const window = this.sendWindow.left;
    if (window <= 0) {
      this.#blocked = true;
      this.time(this.request.location.conf(clientSlot).sendTimeout);
      return 0;
    }
    const size = Math.min(left, window, most, this.request.location.conf(chunkSizeSlot).http2ChunkSize);
    if (size <= 0) {
      this.#queued = true;
      if (!this.#starved) {
        this.#starved = true;
        this.time(this.request.location.conf(clientSlot).sendTimeout);
      }
      return -1;
    }
    if (this.#starved) {
      this.#starved = false;
      this.stopTime();
    }
    const r = this.request;
    const end = this.ends && size === left && r.out.trailers.length === 0;
    const { output } = this.c.sending;
    const bytes = output.frame(FRAME.DATA, end ? FLAG.END_STREAM : 0, this.streamId, size);
    (this.chunk as Buffer).copy(bytes, output.length, this.sent, this.sent + size);
    output.length += size;
    this.sent += size;
    this.sendWindow.left -= size;
    r.bytesSent += size + FRAME_HEAD;
    r.headerSize += FRAME_HEAD;
    if (end) {
      this.outClosed = true;
    }
    if (size < left) {
      this.enqueue();
    } else {
      this.pieceSent();
    }
    return size;
  }

  // ---------------------------------------------------------------- the end

  protected override leave(code: number): void {
    const told = this.closed;
    this.closed = true;
    this.c.streams.ended(this, told ? (this.#reset ? OVER.DONE : OVER.BOTH_ENDED) : code, !told && this.outClosed, this.#queued);
  }

  override unsent(r: Request): number {
    return this.c.sending.claimLost(r.bytesSent);
  }

  /** Ends the request for what the client did to the stream. */
  fail(code: number): void {
    this.c.streams.reset(this, code);
    this.#reset = true;
    this.gone();
  }
}
