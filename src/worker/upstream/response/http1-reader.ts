import { ERROR, WARN } from '../../../shared/log/level.js';
import { CHUNK_AGAIN, CHUNK_DONE, ChunkedBody } from '../../http/syntax/chunked-body.js';
import { NO_BYTES, type QuietBytes } from '../../http/syntax/quiet-bytes.js';
import type { HeaderKinds } from './header-kinds.js';
import { HeldHead } from './held-head.js';
import { type HeadProgress, type Reporter, readHttp1Head, readTrailers } from './http1-head.js';
import type { UpstreamHead } from './upstream-head.js';

/** Takes the pieces of a response's body. */
export interface PieceSink {
  /** Each chunk is wanted for itself. */
  readonly apart?: boolean;
  add(bytes: Buffer, start: number, end: number): void;
}

/** The response's length is not known; it ends with the connection. */
const UNTIL_CLOSE = -1;

/** Reads one HTTP/1 response: head, framing of the body, trailers. nginx: the input side of ngx_http_proxy_module. */
export class Http1Reader implements HeadProgress {
  inHeaders = false;
  next = 0;
  quiet: QuietBytes = NO_BYTES;
  complete = false;
  /** The connection may serve another request after this response. */
  keepalive = false;
  /** Bytes still to come, or UNTIL_CLOSE. */
  #left = 0;
  #chunked: ChunkedBody | null = null;
  /** What came of the trailers so far; null before the last chunk. */
  #trailers: HeldHead | null = null;
  #keepTrailers = false;
  #trailerLimit = 0;

  /** Forgets a response. */
  restart(): void {
    this.inHeaders = false;
    this.next = 0;
    this.complete = false;
    this.keepalive = false;
    this.#left = 0;
    this.#chunked = null;
    this.#trailers = null;
  }

  parseHead(head: UpstreamHead, kinds: HeaderKinds, reporter: Reporter, bytes: Buffer, start: number, end: number): number {
    return readHttp1Head(this, head, kinds, reporter, bytes, start, end);
  }

  /** Prepares for the body that the head announces. `bodiless`: the request was a HEAD. nginx: ngx_http_proxy_input_filter_init. */
  expectBody(head: UpstreamHead, bodiless: boolean, keepTrailers: boolean, trailerLimit: number): void {
    this.complete = false;
    if (bodiless || head.status === 204 || head.status === 304 || (!head.chunked && head.contentLength === 0)) {
      this.#left = 0;
      this.complete = true;
      this.keepalive = !head.connectionClose;
    } else if (head.chunked) {
      this.#chunked = new ChunkedBody(keepTrailers);
      this.#keepTrailers = keepTrailers;
      this.#trailerLimit = trailerLimit;
    } else {
      this.#left = head.contentLength;
    }
  }

  /** nginx: the end of ngx_http_proxy_chunked_filter. */
  get least(): number | undefined {
    return this.#chunked === null ? undefined : this.#trailers === null ? this.#chunked.least : 1;
  }

  /** The body ends with the connection. */
  get endsWithConnection(): boolean {
    return this.#chunked === null && this.#left === UNTIL_CLOSE;
  }

  /** Gives the body among the bytes to the sink. Returns false for a broken framing. */
  body(head: UpstreamHead, reporter: Reporter, sink: PieceSink, bytes: Buffer, start: number, end: number): boolean {
    if (this.#chunked !== null) {
      return this.#chunks(head, reporter, sink, bytes, start, end);
    }
    if (this.#left === UNTIL_CLOSE) {
      sink.add(bytes, start, end);
      return true;
    }
    const size = end - start;
    if (size > this.#left) {
      reporter.log(WARN, 'upstream sent more data than specified in "Content-Length" header');
      sink.add(bytes, start, start + this.#left);
      this.#left = 0;
      this.complete = true;
      this.keepalive = false;
      return true;
    }
    sink.add(bytes, start, end);
    this.#left -= size;
    if (this.#left === 0) {
      this.complete = true;
      this.keepalive = !head.connectionClose;
    }
    return true;
  }

  // nginx: ngx_http_proxy_chunked_filter.
  #chunks(head: UpstreamHead, reporter: Reporter, sink: PieceSink, bytes: Buffer, start: number, end: number): boolean {
    if (this.#trailers !== null) {
      return this.#readTrailers(head, reporter, bytes, start, end);
    }
    const chunked = this.#chunked!;
    let code: number;
    let at = start;
    do {
      const to = sink.apart === true ? Math.min(end, at + Math.max(chunked.left, 1)) : end;
      code = chunked.read(bytes, at, to);
      if (chunked.end > chunked.start) {
        sink.add(bytes, chunked.start, chunked.end);
      }
      at = to;
    } while (code === CHUNK_AGAIN && at < end);
    if (code === CHUNK_AGAIN) {
      return true;
    }
    if (code === CHUNK_DONE) {
      if (this.#keepTrailers) {
        return this.#readTrailers(head, reporter, bytes, chunked.next, end);
      }
      return this.#ended(head, reporter, chunked.next, end, 'final chunk');
    }
    reporter.log(ERROR, 'upstream sent invalid chunked response');
    return false;
  }

  #readTrailers(head: UpstreamHead, reporter: Reporter, bytes: Buffer, start: number, end: number): boolean {
    const before = this.#trailers;
    const limit = this.#trailerLimit;
    if (before !== null && !before.goesOn(bytes, start, end, this.quiet) && before.length < limit) {
      return true;
    }
    const held = before ?? new HeldHead(Buffer.from(bytes.subarray(start, end)));
    this.#trailers = held;
    const size = Math.min(held.length, limit);
    const behind = readTrailers(this, head, reporter, held.all, held.read, size);
    if (behind === -1) {
      return false;
    }
    if (behind === 0) {
      if (size === limit) {
        reporter.log(ERROR, 'upstream sent too big trailers');
        return false;
      }
      held.read = this.next;
      return true;
    }
    return this.#ended(head, reporter, end - held.length + behind, end, before === null ? 'final chunk' : 'trailers');
  }

  /** The response was read up to `next`. */
  #ended(head: UpstreamHead, reporter: Reporter, next: number, end: number, after: string): boolean {
    const extra = next < end;
    this.next = next;
    this.complete = true;
    this.keepalive = !head.connectionClose && !extra;
    if (extra) {
      reporter.log(WARN, `upstream sent data after ${after}`);
    }
    return true;
  }
}
