import { CHUNK_DONE, CHUNK_INVALID, ChunkedBody } from '../http/syntax/chunked-body.js';
import { FetchHeaders } from './fetch-headers.js';
import { textOf } from './text.js';

/** What a response is not. */
export class FetchError extends Error {}

/** How much of a response is taken. */
export interface ResponseLimits {
  /** Bytes that its head may have. */
  readonly head: number;
  /** Bytes that its body may have. */
  readonly body: number;
  /** It has no body, whatever its head says. */
  readonly headOnly: boolean;
}

/** Chunked bodies may be as many times longer, as in njs. */
const CHUNKED_FACTOR = 10;

/** The beginning of a status line, however much of it came. */
const STATUS_START = /^(?:H|HT|HTT|HTTP|HTTP\/\d*|HTTP\/\d+\.\d*|HTTP\/\d+\.\d+ +(?:\d{0,3}|\d{3} .*))\r?$/;
const STATUS = /^HTTP\/(\d+)\.(\d+) +(\d{3})(?: (.*))?$/;

/** Reads a response from however its bytes are cut. nginx: ngx_js_http_process_status_line and those behind it. */
export class FetchResponseReader {
  status = 0;
  statusText = '';
  readonly headers = new FetchHeaders();
  /** The connection may serve another request. */
  keepAlive = true;
  /** All of it came. */
  done = false;
  readonly #limits: ResponseLimits;
  #head: Buffer | null = null;
  #inBody = false;
  #chunks: ChunkedBody | undefined = undefined;
  #length = -1;
  #size = 0;
  readonly #pieces: Buffer[] = [];

  constructor(limits: ResponseLimits) {
    this.#limits = limits;
  }

  get body(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  /** Takes bytes. @throws FetchError for what is not a response. */
  take(bytes: Buffer): void {
    if (this.#inBody) {
      this.#takeBody(bytes);
      return;
    }
    const head = this.#head === null ? bytes : Buffer.concat([this.#head, bytes]);
    const end = headEnd(head);
    if (end === -1) {
      this.#head = head;
      const line = head.toString('latin1', 0, lineEnd(head));
      if (!STATUS_START.test(line)) {
        throw new FetchError('invalid http status line');
      }
      if (head.length >= this.#limits.head) {
        throw new FetchError('prematurely closed connection');
      }
      return;
    }
    if (end > this.#limits.head) {
      throw new FetchError('prematurely closed connection');
    }
    this.#head = null;
    this.#readHead(head.toString('latin1', 0, end));
    // The data of chunks is moved together in this memory.
    this.#takeBody(Buffer.from(head.subarray(end)));
  }

  /** The server sends no more. @throws FetchError when something is missing. */
  end(): void {
    this.keepAlive = false;
    if (this.done) {
      return;
    }
    if (!this.#inBody) {
      throw new FetchError(
        this.#head === null || STATUS_START.test(this.#line()) ? 'prematurely closed connection' : 'invalid http header',
      );
    }
    if (this.#chunks !== undefined) {
      throw new FetchError('invalid http chunked response');
    }
    if (this.#length !== -1) {
      throw new FetchError('prematurely closed connection');
    }
    this.done = true;
  }

  #line(): string {
    return this.#head!.toString('latin1', 0, lineEnd(this.#head!));
  }

  #readHead(head: string): void {
    const [first = '', ...lines] = head.split(/\r?\n/);
    const match = STATUS.exec(first);
    if (match === null) {
      throw new FetchError('invalid http status line');
    }
    this.status = Number(match[3]);
    this.statusText = textOf(match[4] ?? '');
    this.keepAlive = Number(match[1]) > 1 || (Number(match[1]) === 1 && Number(match[2]) >= 1);
    for (const line of lines) {
      if (line !== '') {
        this.#readHeader(line);
      }
    }
    this.#inBody = true;
    const bodyless = this.#limits.headOnly || this.status === 204 || this.status === 304;
    if (bodyless || this.#length === 0) {
      this.#chunks = undefined;
      this.#length = 0;
    }
  }

  #readHeader(line: string): void {
    const match = /^([^\s:\x00-\x1f\x7f]+):[ \t]*(.*?)[ \t]*$/s.exec(line);
    if (match === null) {
      throw new FetchError('invalid http header');
    }
    const [, name = '', value = ''] = match;
    try {
      this.headers.append(name, textOf(value));
    } catch {
      throw new FetchError('invalid http header');
    }
    switch (name.toLowerCase()) {
      case 'transfer-encoding':
        if (value.toLowerCase() === 'chunked') {
          this.#chunks = new ChunkedBody(false);
        }
        break;
      case 'connection':
        if (value.toLowerCase() === 'close') {
          this.keepAlive = false;
        }
        break;
      case 'content-length':
        if (!/^\d{1,15}$/.test(value)) {
          throw new FetchError('invalid http content length');
        }
        this.#length = Number(value);
        if (!this.#limits.headOnly && this.#length > this.#limits.body) {
          throw new FetchError('http content length is too large');
        }
        break;
    }
  }

  #takeBody(bytes: Buffer): void {
    if (this.#chunks !== undefined) {
      this.#takeChunks(bytes, this.#chunks);
      return;
    }
    const rest = this.#length === -1 ? bytes.length : Math.min(bytes.length, this.#length - this.#size);
    if (this.#length === -1 && this.#size + rest > this.#limits.body) {
      throw new FetchError('http response body is too large');
    }
    this.#add(bytes.subarray(0, rest));
    if (this.#length !== -1 && this.#size === this.#length) {
      this.#finish(rest < bytes.length);
    }
  }

  #takeChunks(bytes: Buffer, chunks: ChunkedBody): void {
    const code = chunks.read(bytes, 0, bytes.length);
    if (code === CHUNK_INVALID) {
      throw new FetchError('invalid http chunked response');
    }
    this.#add(bytes.subarray(chunks.start, chunks.end));
    if (this.#size > this.#limits.body * CHUNKED_FACTOR) {
      throw new FetchError('very large http chunked response');
    }
    if (code === CHUNK_DONE) {
      this.#finish(chunks.next < bytes.length);
    }
  }

  #add(bytes: Buffer): void {
    if (bytes.length > 0) {
      this.#pieces.push(bytes);
      this.#size += bytes.length;
    }
  }

  /** `more`: the server sent what nobody asked for. */
  #finish(more: boolean): void {
    this.done = true;
    this.keepAlive &&= !more;
  }
}

const LF = 10;

function lineEnd(bytes: Buffer): number {
  const at = bytes.indexOf(LF);
  return at === -1 ? bytes.length : at > 0 && bytes[at - 1] === 13 ? at - 1 : at;
}

/** Where the body begins; -1 when the empty line has not come. */
function headEnd(bytes: Buffer): number {
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) {
      return at + 2;
    }
    if (bytes[at + 1] === 13 && bytes[at + 2] === LF) {
      return at + 3;
    }
  }
  return -1;
}
