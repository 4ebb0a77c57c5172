import { ERROR } from '../../../shared/log/level.js';
import type { Request } from '../../http/request/request.js';
import { METHOD } from '../../http/syntax/method.js';
import type { BodyFrame, Exchange } from '../../upstream/exchange/exchange.js';
import { logRequestText } from '../../upstream/exchange/log-exchange.js';
import { switchProtocols } from '../../upstream/exchange/switch-protocols.js';
import type { UpstreamRequest } from '../../upstream/exchange/upstream-request.js';
import { HEAD_OK } from '../../upstream/response/head-codes.js';
import { Http1Reader } from '../../upstream/response/http1-reader.js';
import type { ProxyLocation } from './compiled-location.js';
import type { CompiledHeaders } from './request-headers.js';
import type { ProxyVars } from './settings.js';
import { askedMethod, type ProxyContext, proxiedUri } from './target.js';

const CHUNK: BodyFrame = {
  largest: Number.MAX_SAFE_INTEGER,
  before: (size) => `${size.toString(16)}\r\n`,
  after: () => '\r\n',
  last: '0\r\n\r\n',
};

/** One request to an HTTP/1 backend. nginx: ngx_http_proxy_ctx_t and the functions around it. */
export class ProxyExchange extends Http1Reader implements Exchange, ProxyContext {
  readonly location: ProxyLocation;
  vars: ProxyVars;
  requestText = '';
  bodyFrame: BodyFrame | undefined = undefined;
  readonly sendsBody: boolean;
  /** The value of Content-Length, -1 for none. */
  bodyLength = -1;
  chunked = false;
  owesBody = false;
  #head = false;

  constructor(location: ProxyLocation, vars: ProxyVars) {
    super();
    this.location = location;
    this.vars = vars;
    this.sendsBody = location.body === undefined && location.conf.settings.passRequestBody;
  }

  // nginx: ngx_http_proxy_create_request.
  createRequest(u: UpstreamRequest): boolean {
    const { r } = u;
    const location = this.location;
    const headers = u.cacheable && location.cacheHeaders !== undefined ? location.cacheHeaders : location.headers;
    const method = askedMethod(u, location);
    if (method === undefined) {
      return false;
    }
    this.#head = method.length === 4 && method.toUpperCase() === 'HEAD';
    let host = headers.host === undefined ? this.vars.hostHeader : headers.host.eval(r);
    if (host === '' && location.http11) {
      host = this.vars.hostHeader;
    }
    const uri = proxiedUri(r, location, this.vars);
    if (uri === '') {
      r.log(ERROR, 'zero length URI to proxy');
      return false;
    }
    u.askFor(uri);
    let body = '';
    if (location.body !== undefined) {
      body = location.body.eval(r);
      this.bodyLength = body.length;
    } else if (r.chunkedIn && r.requestBodyNoBuffering) {
      this.bodyLength = -1;
      this.chunked = true;
      this.bodyFrame = CHUNK;
    } else {
      this.bodyLength = r.contentLength;
    }
    this.owesBody = false;
    const sent = location.body !== undefined ? body.length : this.sendsBody && r.body !== null ? r.body.length : 0;
    let text = `${method} ${uri}${location.versionText}`;
    if (host !== '') {
      text += `Host: ${host}\r\n`;
    }
    text += this.#ownHeaders(r, headers, sent);
    if (location.conf.settings.passRequestHeaders) {
      text += clientHeaders(r, headers.replaced);
    }
    if (r.debugging) {
      logRequestText(u, text);
    }
    this.requestText = `${text}\r\n${body}`;
    return true;
  }

  /** `sent`: how long the body is, unless it is sent as it comes. */
  #ownHeaders(r: Request, headers: CompiledHeaders, sent: number): string {
    const lines = headers.lines;
    let text = '';
    for (let i = 0; i < lines.length; i++) {
      const { before, value, line, length } = lines[i]!;
      if (line !== undefined) {
        text += line;
        this.owesBody ||= length && Number(line.slice(before.length)) !== sent;
      } else if (value === 'body-length') {
        if (this.bodyLength >= 0) {
          text += `${before}${this.bodyLength}\r\n`;
          this.owesBody = this.bodyLength !== sent && !r.requestBodyNoBuffering;
        }
      } else if (value === 'chunked') {
        if (this.chunked) {
          text += `${before}chunked\r\n`;
        }
      } else {
        const evaluated = value.eval(r);
        if (evaluated !== '') {
          text += `${before}${evaluated}\r\n`;
          this.owesBody ||= length && Number(evaluated) !== sent;
        }
      }
    }
    return text;
  }

  reset(): void {
    this.restart();
  }

  // nginx: the end of ngx_http_proxy_process_header.
  readHead(u: UpstreamRequest, bytes: Buffer, start: number, end: number): number {
    const head = u.head;
    const code = this.parseHead(head, u.conf.kinds, u, bytes, start, end);
    if (code !== HEAD_OK) {
      return code;
    }
    // So that the connection can be kept although the body is not read.
    if (this.#head || head.status === 204 || head.status === 304 || (!head.chunked && head.contentLength === 0)) {
      u.keepConnection(!head.connectionClose);
    }
    // A client that asked otherwise waits for the body that a HEAD announces: only the end of the connection tells it that none comes.
    if (this.#head && u.r.methodBit !== METHOD.HEAD) {
      u.r.keepalive = false;
    }
    return head.status === 101 ? switchProtocols(u) : HEAD_OK;
  }

  beginBody(u: UpstreamRequest): void {
    const { settings } = u.conf;
    this.expectBody(u.head, this.#head, settings.passTrailers, settings.bufferSize);
  }

  readBody(u: UpstreamRequest, bytes: Buffer, start: number, end: number): boolean {
    const sound = this.body(u.head, u, u.pipe!, bytes, start, end);
    if (this.complete) {
      u.keepConnection(this.keepalive);
    }
    return sound;
  }
}

/** The client's headers that go on to the backend as they came. */
function clientHeaders(r: Request, replaced: ReadonlySet<string>): string {
  const { headers, names } = r.head;
  let text = '';
  for (let i = 0; i < names.length; i++) {
    if (!replaced.has(names[i]!)) {
      text += `${headers[i * 2]}: ${headers[i * 2 + 1]}\r\n`;
    }
  }
  return text;
}
