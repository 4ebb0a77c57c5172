/** Bytes that a connection may cost without bringing requests or bodies. nginx: the flood rule of ngx_http_v2_read_handler. */
const FREE_BYTES = 1024 * 1024;
const WASTE = 8;
/** Frames in a row that bring nothing. */
const IDLE_FRAMES = 10_000;
/** CONTINUATION frames of one header section. */
const CONTINUATIONS = 128;

/** Counts what a client makes us do, against what it gets done by it. */
export class FloodGuard {
  /** Streams at a time, at least 100: what nginx measures several floods by. */
  readonly #streams: number;
  #bytes = 0;
  #payload = 0;
  #idleFrames = 0;
  #refused = 0;
  #broken = 0;
  #finished = 0;
  #priorities: number;
  #continuations = 0;
  #idleReads = 0;

  constructor(concurrentStreams: number) {
    this.#streams = Math.max(concurrentStreams, 100);
    this.#priorities = this.#streams;
  }

  /** Bytes went one way or the other. */
  moved(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Bytes of a request or of a body. */
  useful(bytes: number): void {
    this.#payload += bytes;
    this.#idleFrames = 0;
  }

  /** The client spends more on frames than on requests. */
  get wasteful(): boolean {
    return this.#bytes / WASTE > this.#payload + FREE_BYTES;
  }

  /** A frame came that brings nothing by itself. Returns false when there were too many in a row. */
  idleFrame(): boolean {
    return ++this.#idleFrames <= IDLE_FRAMES;
  }

  /** Something came while no request is under way. nginx: h2c->idle. */
  idleRead(keepaliveRequests: number): boolean {
    return this.#idleReads++ <= 10 * keepaliveRequests;
  }

  /** A new stream, which `concurrentStreams` may have beside it, may be given other priorities as often. */
  opened(concurrentStreams: number): void {
    this.#priorities += concurrentStreams;
  }

  /** A stream was refused. Returns false when it is enough. */
  refuse(): boolean {
    return this.#refused++ <= this.#streams;
  }

  /** A stream came to its end. */
  finished(): void {
    this.#finished++;
  }

  /**
   * A stream was broken off: by the client, or by us for what the client did to it. Both cost us a request, and the client next to nothing
   * (CVE-2023-44487, CVE-2025-8671). Returns false when there are far more of them than of those that ended well.
   */
  broken(): boolean {
    return ++this.#broken - this.#finished <= this.#streams;
  }

  /** A frame came that changes priorities. Returns false when there are too many. */
  prioritized(): boolean {
    return --this.#priorities > 0;
  }

  /** A header section begins. */
  beginSection(): void {
    this.#continuations = 0;
  }

  /** A header section goes on in another frame. Returns false when there are too many. */
  continued(): boolean {
    return ++this.#continuations <= CONTINUATIONS;
  }
}
