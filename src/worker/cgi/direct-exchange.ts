import { WARN } from '../../shared/log/level.js';
import { METHOD } from '../http/syntax/method.js';
import type { QuietBytes } from '../http/syntax/quiet-bytes.js';
import type { Exchange } from '../upstream/exchange/exchange.js';
import { switchProtocols } from '../upstream/exchange/switch-protocols.js';
import type { UpstreamRequest } from '../upstream/exchange/upstream-request.js';
import { HEAD_AGAIN, HEAD_INTERIM, HEAD_INVALID, HEAD_OK, isInterim } from '../upstream/response/head-codes.js';
import { CGI_AGAIN, CGI_INVALID, CgiHeadReader } from './cgi-head.js';

/** The response ends with the connection. */
const UNTIL_CLOSE = -1;

/**
 * One request of a protocol whose bodies have no framing, and whose responses look as CGI programs write them, perhaps
 * with a status line before them. `request` makes what is sent before the body, undefined (with the reason logged) to end
 * with 500. nginx: the common part of ngx_http_scgi_module.c and ngx_http_uwsgi_module.c.
 */
export class DirectCgiExchange implements Exchange {
  requestText = '';
  readonly bodyFrame = undefined;
  readonly sendsBody: boolean;
  complete = false;
  next = 0;
  readonly #reader = new CgiHeadReader(true);
  readonly #request: (u: UpstreamRequest) => string | undefined;
  /** Body that is still to come, or UNTIL_CLOSE. */
  #left = UNTIL_CLOSE;

  constructor(sendsBody: boolean, request: (u: UpstreamRequest) => string | undefined) {
    this.sendsBody = sendsBody;
    this.#request = request;
  }

  createRequest(u: UpstreamRequest): boolean {
    const text = this.#request(u);
    if (text === undefined) {
      return false;
    }
    this.requestText = text;
    return true;
  }

  get quiet(): QuietBytes {
    return this.#reader.quiet;
  }

  reset(): void {
    this.complete = false;
    this.#reader.reset();
    this.#left = UNTIL_CLOSE;
  }

  // nginx: ngx_http_scgi_process_status_line, ngx_http_scgi_process_header.
  readHead(u: UpstreamRequest, bytes: Buffer, start: number, end: number): number {
    const behind = this.#reader.read(u.head, u.conf.kinds, u, bytes, start, end);
    this.next = this.#reader.next;
    if (behind === CGI_AGAIN) {
      return HEAD_AGAIN;
    }
    if (behind === CGI_INVALID) {
      return HEAD_INVALID;
    }
    if (isInterim(u.head.status)) {
      this.#reader.reset();
      this.next = behind;
      return HEAD_INTERIM;
    }
    this.next = behind;
    return u.head.status === 101 ? switchProtocols(u) : HEAD_OK;
  }

  // nginx: ngx_http_scgi_input_filter_init.
  beginBody(u: UpstreamRequest): void {
    const { status, contentLength } = u.head;
    if (status === 204 || status === 304) {
      this.#left = 0;
    } else {
      this.#left = u.r.methodBit === METHOD.HEAD ? UNTIL_CLOSE : contentLength;
    }
    this.complete = this.#left === 0;
  }

  get endsWithConnection(): boolean {
    return this.#left === UNTIL_CLOSE;
  }

  // nginx: ngx_event_pipe_copy_input_filter.
  readBody(u: UpstreamRequest, bytes: Buffer, start: number, end: number): boolean {
    if (this.#left === UNTIL_CLOSE) {
      u.pipe!.add(bytes, start, end);
      return true;
    }
    let size = end - start;
    if (size > this.#left) {
      u.log(WARN, 'upstream sent more data than specified in "Content-Length" header');
      size = this.#left;
    }
    u.pipe!.add(bytes, start, start + size);
    this.#left -= size;
    this.complete = this.#left === 0;
    return true;
  }
}
