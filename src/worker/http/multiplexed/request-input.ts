import { INFO } from '../../../shared/log/level.js';
import { Gathered } from '../../bytes/gathered.js';
import { enter, leave } from '../../task/at-work.js';
import { ERROR_CODE } from '../http2-frames/protocol.js';
import type { BodySink } from '../request/client-exchange.js';
import { clientSlot } from '../request/client-settings.js';
import type { Request } from '../request/request.js';

/** A stream, as far as what comes on it needs it. */
export interface InputStream {
  readonly request: Request;
  /** The request is over, or its client has gone. */
  readonly closed: boolean;
  /** The client sends no more on it. */
  readonly inClosed: boolean;
  /** The key of the WebSocket that the client asked for; empty for any other request. */
  readonly upgradeKey: string;
  action: string | undefined;
  /** The error code that ends the stream once the answer has gone out. */
  afterwards: number;
  /** The client has so many milliseconds for what is next. */
  time(ms: number): void;
  /** The body was in time. */
  stopTime(): void;
  /**
   * Somebody takes the body, and the client may send `room` bytes ahead; `held` wait, of `announced` in all or of an unknown number (-1).
   */
  bodyWanted(room: number, announced: number, held: number): void;
  /** Somebody took so many bytes, and `held` wait. */
  bodyUsed(bytes: number, held: number): void;
}

/**
 * What a client sends on a stream behind the head: kept, within what the stream lets it send, until somebody takes it. nginx:
 * ngx_http_v2_process_request_body, ngx_http_v3_request_body_filter.
 */
export class RequestInput {
  readonly #stream: InputStream;
  /** What nobody has taken yet. */
  #held: Gathered | null = null;
  #received = 0;
  #sink: BodySink | null = null;
  #sinkPaused = false;
  /** Whatever comes is dropped. */
  #dropping = false;
  /** The body is not what the head said of it: the status to answer with. */
  #broken = 0;
  /** The input is a tunnel's, which may be silent for as long as the tunnel's own timeouts allow. */
  #tunnel = false;

  constructor(stream: InputStream) {
    this.#stream = stream;
  }

  /** Nobody looks at what comes: its bytes count for nothing. */
  get ignoring(): boolean {
    const stream = this.#stream;
    return this.#dropping || (this.#announced < 0 && !stream.request.head.chunked && stream.upgradeKey === '');
  }

  /** Somebody takes it. */
  get reading(): boolean {
    return this.#sink !== null;
  }

  /** How many bytes wait for somebody to take them. */
  get #heldSize(): number {
    return this.#held === null ? 0 : this.#held.length;
  }

  /** How much of the body is still to come; -1 where its length is not known. */
  get rest(): number {
    const announced = this.#announced;
    return announced < 0 ? -1 : Math.max(0, announced - this.#received);
  }

  /** The length that the head announced, whatever became of the body since; -1 for none. */
  get #announced(): number {
    const { head } = this.#stream.request;
    return head.chunked ? -1 : head.contentLength;
  }

  /** Data came, in memory that is used again after the call. */
  data(bytes: Buffer, start: number, end: number, announced: number): void {
    const size = end - start;
    const r = this.#stream.request;
    this.#received += size;
    if (this.ignoring || this.#broken !== 0) {
      return;
    }
    if (this.#announced >= 0 && this.#received > this.#announced) {
      r.log(INFO, 'client intended to send body data larger than declared');
      this.#break(400);
      return;
    }
    if (this.#stream.upgradeKey === '') {
      r.requestLength += size;
    }
    if (this.#sink === null || this.#sinkPaused || this.#held !== null) {
      (this.#held ??= new Gathered()).add(bytes, start, end);
    } else {
      this.#give(bytes, start, end, announced);
    }
  }

  #give(bytes: Buffer, start: number, end: number, announced: number): void {
    const sink = this.#sink as BodySink;
    const before = enter(this.#stream.request);
    if (!sink.data(bytes, start, end, announced)) {
      this.#sinkPaused = true;
    }
    leave(before);
    if (this.#sink !== sink || this.#stream.closed) {
      return;
    }
    this.#stream.bodyUsed(end - start, this.#heldSize);
    if (!this.#sinkPaused && !this.#stream.inClosed) {
      this.#watch();
    }
  }

  #watch(): void {
    if (!this.#tunnel) {
      this.#stream.time(this.#stream.request.location.conf(clientSlot).clientBodyTimeout);
    }
  }

  /** The client sends no more. */
  ended(): void {
    const r = this.#stream.request;
    const announced = this.#announced;
    if (this.#broken === 0 && announced >= 0 && this.#received !== announced) {
      r.log(INFO, `client prematurely closed stream: only ${this.#received} out of ${announced} bytes of request body received`);
      this.#break(400);
    } else if (this.#sink !== null && !this.#sinkPaused && this.#held === null) {
      this.#endBody();
    }
    // Otherwise the end follows what is held, which may be about to be taken up.
  }

  #break(status: number): void {
    this.#broken = status;
    this.#stream.afterwards = ERROR_CODE.PROTOCOL_ERROR;
    this.#held = null;
    this.fail(status);
  }

  /** The body breaks off: whoever takes it is told the status. Returns false if nobody does. */
  fail(status: number): boolean {
    const sink = this.#sink;
    if (sink === null) {
      return false;
    }
    this.#sink = null;
    this.#stream.stopTime();
    sink.fail(status);
    return true;
  }

  #endBody(): void {
    const sink = this.#sink;
    this.#sink = null;
    if (!this.#tunnel) {
      this.#stream.stopTime();
      this.#stream.action = undefined;
    }
    const before = enter(this.#stream.request);
    sink?.end();
    leave(before);
  }

  /** Gives what came and what comes to a sink. */
  read(sink: BodySink): void {
    const stream = this.#stream;
    if (this.#broken !== 0) {
      process.nextTick(failBody, sink, this.#broken);
      return;
    }
    this.#begin(sink);
    if (!stream.inClosed) {
      stream.bodyWanted(sink.room, this.#announced, this.#heldSize);
    }
    // Whoever asked is still at work.
    if (this.#heldSize > 0 || stream.inClosed) {
      process.nextTick(takeUp, this);
    } else {
      this.#watch();
    }
  }

  /** Gives what came and what comes to a tunnel. */
  readTunnel(sink: BodySink): void {
    this.#tunnel = true;
    this.#begin(sink);
    process.nextTick(takeUp, this);
  }

  #begin(sink: BodySink): void {
    this.#sink = sink;
    this.#sinkPaused = false;
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
    if (this.#stream.inClosed) {
      this.#endBody();
    } else {
      this.#watch();
    }
  }

  /** The sink, which had asked for a pause, takes more. */
  resume(): void {
    if (!this.#sinkPaused) {
      return;
    }
    this.#sinkPaused = false;
    process.nextTick(takeUp, this);
  }

  /** Drops what came and what comes. */
  drop(): void {
    this.#dropping = true;
    this.#held = null;
  }

  /** Leaves a body that somebody takes, who is not called again. */
  leave(): void {
    if (this.#sink !== null && !this.#sinkPaused && !this.#stream.request.headerSent) {
      this.#stream.stopTime();
    }
    this.#sink = null;
    this.drop();
  }

  /** The request is over. */
  close(): void {
    this.#sink = null;
    this.#held = null;
  }
}

function takeUp(input: RequestInput): void {
  input.takeUp();
}

function failBody(sink: BodySink, status: number): void {
  sink.fail(status);
}
