import { INTERIM_HEADS } from './head-codes.js';
import { HeaderKind } from './header-kinds.js';

/** A header of a response head. */
export class ResponseHeader {
  /** As sent. */
  readonly name: string;
  /** In lower case. */
  readonly lower: string;
  readonly value: string;
  /** One of `K`, with `K.HIDDEN` where the location hides it. */
  readonly kind: number;

  constructor(name: string, lower: string, value: string, kind: number) {
    this.name = name;
    this.lower = lower;
    this.value = value;
    this.kind = kind;
  }
}

const NO_TRAILERS: readonly string[] = [];

/** The head of a backend's response, as it is read. nginx: ngx_http_upstream_headers_in_t. */
export class UpstreamHead {
  status = 0;
  /** What follows the status code; undefined when the protocol has no status line. */
  statusText: string | undefined = undefined;
  /** In the order of the lines. */
  headers: ResponseHeader[] = [];
  #trailers: string[] | null = null;
  /** -1 when none was announced. */
  contentLength = -1;
  chunked = false;
  connectionClose = false;
  /** A bit for each kind that is there and that the server acts on. */
  #kinds = 0;
  /** Interim heads of this attempt. */
  interims = 0;

  /** Empties the head for another attempt. nginx: ngx_http_upstream_reinit. */
  reset(): void {
    this.interims = 0;
    this.clear();
  }

  /** Counts the head as an interim one. Returns false if there were too many. */
  countInterim(): boolean {
    return ++this.interims <= INTERIM_HEADS;
  }

  /** Empties the head for the one that follows it. */
  clear(): void {
    this.status = 0;
    this.statusText = undefined;
    this.headers = [];
    this.#trailers = null;
    this.contentLength = -1;
    this.chunked = false;
    this.connectionClose = false;
    this.#kinds = 0;
  }

  /** Adds a header. Those of kinds in an interim head are passed on and mean nothing to the server itself. */
  add(name: string, lower: string, value: string, kind: number): void {
    this.headers.push(new ResponseHeader(name, lower, value, kind));
    if (kind > HeaderKind.OTHER) {
      this.#kinds |= 1 << (kind & ~HeaderKind.HIDDEN);
    }
  }

  /** Trailers: name as sent, name in lower case, and value by turns. */
  get trailers(): readonly string[] {
    return this.#trailers ?? NO_TRAILERS;
  }

  addTrailer(name: string, lower: string, value: string): void {
    this.#trailers ??= [];
    this.#trailers.push(name, lower, value);
  }

  /** Trailers are read anew. */
  forgetTrailers(): void {
    this.#trailers = null;
  }

  /** Whether there is a header of a kind. */
  has(kind: number): boolean {
    return (this.#kinds & (1 << kind)) !== 0;
  }

  /** The first header of a kind. */
  header(kind: number): ResponseHeader | undefined {
    if (!this.has(kind)) {
      return undefined;
    }
    const { headers } = this;
    for (let i = 0; i < headers.length; i++) {
      if ((headers[i]!.kind & ~HeaderKind.HIDDEN) === kind) {
        return headers[i];
      }
    }
    return undefined;
  }

  /** The value of the first header of a kind. */
  value(kind: number): string | undefined {
    return this.header(kind)?.value;
  }

  /** The values of a header by its lower-case name, joined as `$upstream_http_` shows them. */
  joined(lower: string): string | undefined {
    const { headers } = this;
    let value: string | undefined;
    for (let i = 0; i < headers.length; i++) {
      const header = headers[i]!;
      if (header.lower !== lower || header.kind === HeaderKind.DROPPED) {
        continue;
      }
      value = value === undefined ? header.value : `${value}, ${header.value}`;
    }
    return value;
  }
}
