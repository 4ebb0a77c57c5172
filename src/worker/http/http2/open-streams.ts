import { IdTable } from '../../../shared/collection/id-table.js';
import { FAILED } from '../../task/codes.js';
import { FRAME } from '../http2-frames/protocol.js';
import { OVER } from '../multiplexed/how-over.js';
import { beginStreams, countBegun, countOver, endStreams } from '../multiplexed/stream-counts.js';
import { CLIENT_CLOSED_REQUEST } from '../request/codes.js';
import { ClosedStreams } from './closed-streams.js';
import type { Http2Connection } from './connection.js';
import { DEFAULT_DEPENDENCY, type Dependency, DependencyTree } from './dependency-tree.js';
import { http2Slot } from './http2-settings.js';
import type { Http2Stream } from './stream.js';

/** The streams of one connection: those that are open, and what is known of the others. nginx: h2c->streams_index. */
export class Http2Streams {
  /** The last stream that a client opened. */
  lastId = 0;
  /** Streams that were closed lately. */
  readonly closed: ClosedStreams = new ClosedStreams();
  /** Monotonic milliseconds since when none is open. */
  idleSince: number;
  readonly #c: Http2Connection;
  readonly #open = new IdTable<Http2Stream>();
  /** The priorities that the client set by the rules of RFC 7540. */
  #tree: DependencyTree | null = null;

  constructor(connection: Http2Connection) {
    this.#c = connection;
    this.idleSince = connection.acceptedAt;
  }

  /** How many are open. */
  get size(): number {
    return this.#open.size;
  }

  get(streamId: number): Http2Stream | undefined {
    return this.#open.get(streamId);
  }

  has(streamId: number): boolean {
    return this.#open.has(streamId);
  }

  /** All that are open, for callers that may end some of them. */
  all(): Http2Stream[] {
    return this.#open.all();
  }

  /** A stream that nobody has opened. */
  isIdle(streamId: number): boolean {
    return streamId > this.lastId || streamId % 2 === 0;
  }

  /** Fields may follow the body that the client is sending, or was sending when we reset the stream. */
  mayHaveTrailers(streamId: number): boolean {
    const stream = this.#open.get(streamId);
    return stream === undefined ? this.closed.wasReset(streamId) : !stream.inClosed;
  }

  /** Where streams stand among each other, since the client says something of it. */
  dependencies(): DependencyTree {
    if (this.#tree === null) {
      this.#tree = new DependencyTree();
      this.#c.sending.scheduler.ordered = true;
    }
    return this.#tree;
  }

  /** Where a stream stands among others. */
  placeOf(streamId: number): Dependency {
    return this.#tree === null ? DEFAULT_DEPENDENCY : this.#tree.place(streamId);
  }

  /** A stream's request begins. */
  add(stream: Http2Stream): void {
    const { host, flood, deadline, server } = this.#c;
    if (this.#open.size === 0) {
      beginStreams(host, this.#c);
      deadline.clear();
    }
    this.#open.set(stream.streamId, stream);
    countBegun(host);
    flood.opened(server.conf(http2Slot).http2MaxConcurrentStreams);
    this.#tree?.opened(stream.streamId);
  }

  /** Tells the client that a stream is over before its end. */
  reset(stream: Http2Stream, code: number): void {
    this.#c.sending.output.numbers(FRAME.RST_STREAM, stream.streamId, code);
    if (stream.inClosed) {
      this.closed.addEnded(stream.streamId);
    } else {
      this.closed.addReset(stream.streamId, stream.rest);
    }
  }

  /**
   * A stream's request is over; `code`: what to reset it with, or one of {@link OVER}; `well`: nobody broke it off. nginx:
   * ngx_http_v2_close_stream.
   */
  ended(stream: Http2Stream, code: number, well: boolean, queued: boolean): void {
    const c = this.#c;
    if (!this.#open.delete(stream.streamId)) {
      return;
    }
    if (queued) {
      c.sending.forget(stream);
    }
    if (c.dataStream === stream) {
      c.dataStream = null;
    }
    this.#tree?.closed(stream.streamId);
    if (code >= 0) {
      this.reset(stream, code);
    } else if (code === OVER.BOTH_ENDED) {
      this.closed.addEnded(stream.streamId);
    } else if (code === OVER.CLIENT_GOES_ON) {
      this.closed.addReset(stream.streamId, -1);
    }
    if (well) {
      c.flood.finished();
    }
    countOver(c.host, stream.request);
    c.sending.soon();
    if (this.#open.size > 0) {
      return;
    }
    endStreams(c.host);
    this.idleSince = performance.now();
    if (c.lost) {
      c.close();
    } else {
      c.host.idle.add(c);
    }
  }

  /** The connection is no more: tells all requests under way that their client has gone. */
  abandonAll(): void {
    for (const stream of this.all()) {
      stream.gone();
    }
  }

  /** Ends all requests under way. */
  killAll(): void {
    for (const stream of this.all()) {
      const r = stream.request;
      stream.closed = true;
      r.kill(r.headerSent ? FAILED : CLIENT_CLOSED_REQUEST);
    }
  }
}
