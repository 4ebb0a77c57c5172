import { ERROR } from '../../../shared/log/level.js';
import { type Field, NAME } from '../../http/fields/field.js';
import { ERROR_CODE } from '../../http/http2-frames/protocol.js';
import type { HpackSectionWriter } from '../../http/http2-frames/section-writer.js';
import { METHOD } from '../../http/syntax/method.js';
import type { Http2User } from '../http2/http2-user.js';
import { HEAD_AGAIN, HEAD_INTERIM, HEAD_INVALID, HEAD_OK, isInterim } from '../response/head-codes.js';
import { takeHeader } from '../response/http1-head.js';
import type { PieceSink } from '../response/http1-reader.js';
import type { Exchange } from './exchange.js';
import { Http2Head } from './http2-head.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Where the reading of the response stands. */
const AT = { HEAD: 0, INTERIM: 1, BODY: 2, TRAILERS: 3 } as const;

/** The length of the body is not known. */
const UNKNOWN = -1;

/**
 * One request on an HTTP/2 stream, which gives it the fields of the response; the bytes that the engine has it read are the data.
 * nginx: the input side of ngx_http_grpc_module and ngx_http_proxy_v2_module.
 */
export abstract class Http2Exchange implements Exchange, Http2User {
  requestText = '';
  readonly bodyFrame = undefined;
  abstract readonly sendsBody: boolean;
  abstract readonly maxStreams: number;
  readonly keepsHead = true;
  readonly endsWithConnection = false;
  readonly least = 1;
  readonly http2User: Http2User = this;
  complete = false;
  connects = false;
  /** Takes the body, for whoever asks on the server's own account; null: the request's pipe does. */
  sink: PieceSink | null = null;
  next = 0;
  answered = false;
  /** The request's head. */
  protected readonly head: Http2Head = new Http2Head();
  /** The request is a HEAD. */
  protected bodiless = false;
  /** The length that the backend announced, where the client is told another one. */
  protected announced: number | undefined = undefined;
  /** Whose exchange it is; set when its request is made. */
  protected request!: UpstreamRequest;
  #at: number = AT.HEAD;
  #status = 0;
  #ended = false;
  /** What the backend did wrong, which is logged when the exchange's turn comes. */
  #problem = '';
  /** The log knows of the problem. */
  #told = false;
  /** The problem lies in how a header section is made. */
  #malformed = false;
  #left = UNKNOWN;

  encode?(piece: Buffer): Buffer;

  /** Fills in {@link head}. Returns false, with the reason logged, to end with 500. */
  abstract createHead(u: UpstreamRequest): boolean;

  writeHead(section: HpackSectionWriter): void {
    this.head.write(section);
  }

  createRequest(u: UpstreamRequest): boolean {
    this.request = u;
    this.bodiless = u.r.methodBit === METHOD.HEAD;
    if (!this.createHead(u)) {
      return false;
    }
    if (this.head.tooLong !== '') {
      u.log(ERROR, `too long http2 ${this.head.tooLong}`);
      return false;
    }
    return true;
  }

  get headLimit(): number {
    return this.request.conf.settings.bufferSize;
  }

  // nginx: ngx_http_grpc_reinit_request.
  reset(): void {
    this.complete = false;
    this.answered = false;
    this.#at = AT.HEAD;
    this.#status = 0;
    this.#ended = false;
    this.#problem = '';
    this.#told = false;
    this.#malformed = false;
    this.announced = undefined;
  }

  // ---------------------------------------------------------------- what the stream reads

  beginSection(): void {
    if (this.answered) {
      this.#at = AT.TRAILERS;
      this.request.head.forgetTrailers();
    } else {
      this.#at = AT.HEAD;
      this.#status = 0;
      this.request.action = 'reading response header from upstream';
    }
  }

  sectionMalformed(): void {
    if (this.#problem === '') {
      this.#malformed = true;
    }
  }

  // nginx: the part of ngx_http_grpc_process_header for one line, and that of ngx_http_grpc_filter.
  field(field: Field): void {
    if (this.#problem !== '') {
      return;
    }
    const { name, value } = field;
    const { text } = name;
    if (name.state === NAME.REFUSED || field.broken) {
      this.#problem = `upstream sent invalid header: "${text}: ${value}"`;
      this.#malformed = true;
      return;
    }
    if (this.#at === AT.TRAILERS) {
      if (text.charCodeAt(0) === 0x3a) {
        this.#problem = `upstream sent invalid trailer "${text}: ${value}"`;
      } else {
        this.request.head.addTrailer(text, text, value);
      }
    } else if (text.charCodeAt(0) === 0x3a) {
      this.#pseudo(text, value);
    } else if (this.#status === 0) {
      this.#problem = 'upstream sent no :status header';
    } else {
      this.#header(field);
    }
  }

  #pseudo(name: string, value: string): void {
    if (name !== ':status') {
      this.#problem = `upstream sent invalid header "${name}: ${value}"`;
    } else if (this.#status !== 0) {
      this.#problem = 'upstream sent duplicate :status header';
    } else if (!/^\d{3}$/.test(value)) {
      this.#problem = `upstream sent invalid :status "${value}"`;
    } else {
      const status = Number(value);
      if (status < 200 && !isInterim(status)) {
        this.#problem = `upstream sent unexpected :status "${value}"`;
        return;
      }
      this.#status = status;
      this.request.head.status = status;
    }
  }

  #header({ name, value }: Field): void {
    const u = this.request;
    const { text, known } = name;
    const { kinds } = u.conf;
    if (!takeHeader(u.head, u, text, text, value, known === undefined ? kinds.of(text) : kinds.ofKnown(known))) {
      this.#problem = 'upstream sent invalid header';
      this.#told = true;
    }
  }

  endSection(last: boolean): void {
    if (this.#problem !== '' || this.#at === AT.TRAILERS) {
      return;
    }
    if (this.#status === 0) {
      this.#problem = 'upstream sent no :status header';
    } else if (!isInterim(this.#status)) {
      this.#at = AT.BODY;
      this.answered = true;
    } else if (last) {
      this.#problem = 'upstream prematurely closed stream';
    } else {
      this.#at = AT.INTERIM;
    }
  }

  inputEnded(): void {
    this.#ended = true;
  }

  inputBroken(problem: string, code: number): void {
    if (this.#problem === '') {
      this.#problem = problem;
    }
    // A client that hears of a refusal could take it for the whole call's, of which a part is there.
    if (this.answered && code !== ERROR_CODE.REFUSED_STREAM) {
      this.request.r.resetCode = code;
    }
  }

  // ---------------------------------------------------------------- what the engine reads

  get problem(): string {
    return this.#problem;
  }

  /** Logs what the backend did wrong. nginx: ngx_http_grpc_process_header and ngx_http_grpc_filter, and what they call. */
  #tell(u: UpstreamRequest): void {
    if (!this.#told) {
      u.log(ERROR, this.#problem);
    }
    if (this.#malformed) {
      u.log(ERROR, `upstream sent invalid ${this.answered ? 'trailer' : 'header'}`);
    }
  }

  readHead(u: UpstreamRequest, _bytes: Buffer, _start: number, end: number): number {
    this.next = end;
    if (this.#problem !== '') {
      this.#tell(u);
      return HEAD_INVALID;
    }
    if (this.#at === AT.INTERIM) {
      this.#at = AT.HEAD;
      return HEAD_INTERIM;
    }
    return this.answered ? HEAD_OK : HEAD_AGAIN;
  }

  // nginx: ngx_http_grpc_filter_init.
  beginBody(u: UpstreamRequest): void {
    const { status, contentLength } = u.head;
    this.#left = status === 204 || status === 304 || this.bodiless ? 0 : (this.announced ?? contentLength);
    // A body that is missing is told of by readBody.
    this.complete = this.#ended && this.#left <= 0;
  }

  /** Passes data on. */
  protected give(u: UpstreamRequest, bytes: Buffer, start: number, end: number): void {
    (this.sink ?? u.pipe!).add(bytes, start, end);
  }

  readBody(u: UpstreamRequest, bytes: Buffer, start: number, end: number): boolean {
    if (start < end) {
      if (this.#left !== UNKNOWN && end - start > this.#left) {
        u.log(ERROR, 'upstream sent response body larger than indicated content length');
        return false;
      }
      if (this.#left !== UNKNOWN) {
        this.#left -= end - start;
      }
      this.give(u, bytes, start, end);
    }
    if (this.#problem !== '') {
      this.#tell(u);
      return false;
    }
    if (!this.#ended) {
      return true;
    }
    if (this.#left > 0) {
      u.log(ERROR, 'upstream prematurely closed stream');
      return false;
    }
    this.complete = true;
    return true;
  }
}
