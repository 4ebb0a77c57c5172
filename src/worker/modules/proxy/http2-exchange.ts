import { ERROR } from '../../../shared/log/level.js';
import type { Field } from '../../http/fields/field.js';
import { METHOD } from '../../http/syntax/method.js';
import { acceptOf } from '../../http/syntax/websocket-accept.js';
import { Http2Exchange } from '../../upstream/exchange/http2-exchange.js';
import type { UpstreamRequest } from '../../upstream/exchange/upstream-request.js';
import { takeHeader } from '../../upstream/response/http1-head.js';
import type { ProxyHttp2, ProxyLocation } from './compiled-location.js';
import type { ProxyVars } from './settings.js';
import { askedMethod, type ProxyContext, proxiedUri } from './target.js';
import { ACCEPT_HEADER, KEY_HEADER, WEBSOCKET, webSocketKey } from './websocket.js';

/** One request to an HTTP/2 backend. nginx: ngx_http_proxy_v2_ctx_t and the functions around it. */
export class ProxyHttp2Exchange extends Http2Exchange implements ProxyContext {
  readonly location: ProxyLocation;
  vars: ProxyVars;
  readonly sendsBody: boolean;
  readonly maxStreams: number;
  readonly #http2: ProxyHttp2;
  bodyLength = -1;
  readonly chunked = false;
  /** The key of the WebSocket that the client asks for, or empty. */
  #key = '';

  constructor(location: ProxyLocation, http2: ProxyHttp2, vars: ProxyVars) {
    super();
    this.location = location;
    this.vars = vars;
    this.sendsBody = location.body === undefined && location.conf.settings.passRequestBody;
    this.#http2 = http2;
    this.maxStreams = http2.maxStreams;
  }

  // nginx: ngx_http_proxy_v2_create_request.
  createHead(u: UpstreamRequest): boolean {
    const { r } = u;
    const { location } = this;
    const http2 = this.#http2;
    const headers = u.cacheable && http2.cacheHeaders !== undefined ? http2.cacheHeaders : http2.headers;
    const method = askedMethod(u, location);
    if (method === undefined) {
      return false;
    }
    this.bodiless = method.length === 4 && method.toUpperCase() === 'HEAD';
    const uri = proxiedUri(r, location, this.vars);
    if (uri === '') {
      r.log(ERROR, 'zero length URI to proxy');
      return false;
    }
    u.askFor(uri);
    if (location.body !== undefined) {
      this.requestText = location.body.eval(r);
      this.bodyLength = this.requestText.length;
    } else {
      this.bodyLength = r.chunkedIn && r.requestBodyNoBuffering ? -1 : r.contentLength;
    }
    const host = headers.host?.eval(r) ?? '';
    const { head } = this;
    const authority = host === '' ? this.vars.hostHeader : host;
    this.#key = location.body === undefined && method === 'GET' ? webSocketKey(r, headers.upgrade) : '';
    this.connects = this.#key !== '';
    if (this.connects) {
      this.bodyLength = -1;
      head.begin('CONNECT', u.tls, uri, authority, WEBSOCKET);
    } else {
      head.begin(method, u.tls, uri, authority);
    }
    head.addLines(r, headers.lines, this.bodyLength);
    if (location.conf.settings.passRequestHeaders) {
      head.addClient(r, headers.replaced, this.connects ? KEY_HEADER : '');
    }
    return true;
  }

  // HTTP/1.1 clients are told what a backend of HTTP/1.1 would tell them.
  override field(field: Field): void {
    if (!this.connects || field.name.text !== ACCEPT_HEADER) {
      super.field(field);
    }
  }

  override endSection(last: boolean): void {
    const { answered } = this;
    super.endSection(last);
    if (this.connects && !answered && this.answered) {
      this.#answered();
    }
  }

  /** The backend has answered the request for a WebSocket. */
  #answered(): void {
    const u = this.request;
    const { head } = u;
    if (head.status > 299) {
      // It is an ordinary response: there is nothing to send behind the request.
      u.peer.connection!.finishRequest();
      return;
    }
    const { kinds } = u.conf;
    head.status = 101;
    head.statusText = 'Switching Protocols';
    head.contentLength = -1;
    takeHeader(head, u, 'Upgrade', 'upgrade', WEBSOCKET, kinds.of('upgrade'));
    takeHeader(head, u, 'Sec-WebSocket-Accept', ACCEPT_HEADER, acceptOf(this.#key), kinds.of(ACCEPT_HEADER));
    u.switchProtocols();
  }

  override beginBody(u: UpstreamRequest): void {
    super.beginBody(u);
    // A client that asked otherwise waits for the body that a HEAD announces: only the end of the connection tells it that none comes.
    if (this.bodiless && u.r.methodBit !== METHOD.HEAD) {
      u.r.keepalive = false;
    }
  }
}
