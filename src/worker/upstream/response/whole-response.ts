import { type Level, WARN } from '../../../shared/log/level.js';
import { Gathered } from '../../bytes/gathered.js';
import { HEAD_AGAIN, HEAD_INTERIM, HEAD_NONE, HEAD_OK } from './head-codes.js';
import { HeaderKinds } from './header-kinds.js';
import { type HeldHead, holdHead } from './held-head.js';
import type { Reporter } from './http1-head.js';
import { Http1Reader, type PieceSink } from './http1-reader.js';
import { UpstreamHead } from './upstream-head.js';

/** How much of a response is taken. */
export interface ResponseLimits {
  /** Bytes that its head may have, with the heads of interim responses before it. */
  readonly head: number;
  /** Bytes that its body may have. */
  readonly body: number;
  /** Bytes that a body in chunks may have. */
  readonly chunked: number;
  /** The response has no body, whatever its head says: the request was a HEAD. */
  readonly headOnly: boolean;
}

/** What is wrong with a response. */
export type ResponseFault =
  /** What came is no head. */
  | 'no head'
  /** The head breaks the rules; {@link WholeResponse.why} says how. */
  | 'bad head'
  | 'long head'
  /** The head announces too long a body. */
  | 'long body announced'
  | 'long body'
  | 'long chunked body'
  | 'bad chunks'
  /** The connection has ended before the response has. */
  | 'short';

const KINDS = new HeaderKinds([], [], []);

/** Framing that a chunked body may have for each byte, and beside that: chunks of one byte have five. */
const FRAMING_PER_BYTE = 16;
const FRAMING_FREE = 64 * 1024;

/**
 * Reads one HTTP/1 response that is kept whole, from however its bytes are cut: for whoever asks a server in the middle of something else.
 * Interim responses are passed over. Its memory is bounded by the limits, and its time by what comes.
 */
export class WholeResponse implements Reporter, PieceSink {
  readonly head = new UpstreamHead();
  /** All of the response came. */
  complete = false;
  /** The connection may serve another request. */
  keepalive = false;
  /** The log's words for a bad head. */
  why = '';
  readonly #limits: ResponseLimits;
  readonly #reader = new Http1Reader();
  readonly #body = new Gathered();
  /** The beginning of the head; null while all of it is in the bytes given. */
  #held: HeldHead | null = null;
  /** Bytes of interim heads. */
  #interim = 0;
  #inBody = false;
  /** Bytes that came of a chunked body, with its framing. */
  #raw = 0;

  constructor(limits: ResponseLimits) {
    this.#limits = limits;
  }

  /** The body, which may be asked for once. */
  body(): Buffer {
    const body = this.#body.joined();
    this.#body.clear();
    return body;
  }

  /** Takes bytes, which are written over. Returns what is wrong with the response. */
  take(bytes: Buffer): ResponseFault | undefined {
    if (this.complete) {
      this.keepalive = false;
      return undefined;
    }
    if (this.#inBody) {
      return this.#takeBody(bytes, 0, bytes.length);
    }
    const held = this.#held;
    if (held === null) {
      return this.#takeHead(bytes, 0, bytes.length);
    }
    const limit = this.#limits.head - this.#interim;
    const size = Math.min(bytes.length, limit - held.length);
    if (!held.goesOn(bytes, 0, size, this.#reader.quiet) && held.length < limit) {
      return undefined;
    }
    const fault = this.#takeHead(held.all, held.read, held.length);
    return fault !== undefined || size === bytes.length ? fault : this.take(bytes.subarray(size));
  }

  /** The server sends no more. */
  end(): ResponseFault | undefined {
    this.keepalive = false;
    if (this.complete) {
      return undefined;
    }
    if (this.#inBody && this.#reader.endsWithConnection) {
      this.complete = true;
      return undefined;
    }
    return this.#inBody && this.head.chunked ? 'bad chunks' : 'short';
  }

  log(level: Level, message: string): void {
    if (level < WARN) {
      this.why = message;
    }
  }

  add(bytes: Buffer, start: number, end: number): void {
    if (end > start) {
      this.#body.add(bytes, start, end);
    }
  }

  /** Reads the head in `from..end`, of which what is before `start` was read. */
  #takeHead(bytes: Buffer, start: number, end: number): ResponseFault | undefined {
    const reader = this.#reader;
    const { head } = this;
    let at = start;
    let base = 0;
    for (;;) {
      const limit = Math.min(end, base + this.#limits.head - this.#interim);
      const code = reader.parseHead(head, KINDS, this, bytes, at, limit);
      at = reader.next;
      if (code === HEAD_AGAIN) {
        return this.#keepHead(bytes, base, limit, end);
      }
      if (code === HEAD_NONE) {
        return 'no head';
      }
      if ((code !== HEAD_OK && code !== HEAD_INTERIM) || head.status === 101) {
        return 'bad head';
      }
      if (code === HEAD_OK) {
        break;
      }
      this.#interim += at - base;
      base = at;
      head.clear();
      reader.restart();
    }
    this.#held = null;
    return this.#beginBody(bytes, at, end);
  }

  /** The head goes on. */
  #keepHead(bytes: Buffer, base: number, limit: number, end: number): ResponseFault | undefined {
    if (limit - base >= this.#limits.head - this.#interim) {
      return 'long head';
    }
    this.#held = holdHead(this.#held, bytes, base, end, this.#reader.next);
    return undefined;
  }

  #beginBody(bytes: Buffer, start: number, end: number): ResponseFault | undefined {
    const { headOnly, body } = this.#limits;
    const { head } = this;
    this.#inBody = true;
    this.#reader.expectBody(head, headOnly, false, 0);
    if (this.#reader.complete) {
      this.complete = true;
      this.keepalive = this.#reader.keepalive && start === end;
      return undefined;
    }
    if (head.contentLength > body) {
      return 'long body announced';
    }
    return start === end ? undefined : this.#takeBody(bytes, start, end);
  }

  #takeBody(bytes: Buffer, start: number, end: number): ResponseFault | undefined {
    const reader = this.#reader;
    if (!reader.body(this.head, this, this, bytes, start, end)) {
      return 'bad chunks';
    }
    const size = this.#body.length;
    if (this.head.chunked) {
      this.#raw += end - start;
      if (size > this.#limits.chunked || this.#raw - size > size * FRAMING_PER_BYTE + FRAMING_FREE) {
        return 'long chunked body';
      }
    } else if (size > this.#limits.body) {
      return 'long body';
    }
    if (reader.complete) {
      this.complete = true;
      this.keepalive = reader.keepalive;
    }
    return undefined;
  }
}
