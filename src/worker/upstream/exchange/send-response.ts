import { ERROR, WARN } from '../../../shared/log/level.js';
import { sendHeader } from '../../http/request/respond.js';
import { METHOD } from '../../http/syntax/method.js';
import { FAILED, OK } from '../../task/codes.js';
import { ResponseBodyReader } from './response-body-reader.js';
import { Tunnel } from './tunnel.js';
import type { UpstreamRequest } from './upstream-request.js';

const HTTP_2 = 2000;

/**
 * Sends the head that was read to the client, and hands the connection over to what reads on; `bytes` from `start` to `end`
 * came behind that head. nginx: ngx_http_upstream_send_response.
 */
export function sendResponse(u: UpstreamRequest, bytes: Buffer, start: number, end: number): void {
  const { r } = u;
  const { cache } = u.conf;
  const { status } = u.head;
  const { limitRate, limitRateSet } = r;
  if (!u.buffering && !u.upgrade && !r.headerOnly && r.methodBit !== METHOD.HEAD && status !== 204 && status !== 304) {
    // What is passed on as it comes has no rate; a head alone is sent as any other.
    r.limitRate = 0;
    r.limitRateSet = true;
  }
  const code = sendHeader(r);
  if (u.done) {
    return;
  }
  if (code === FAILED || code > OK) {
    // The page in its place has one.
    r.limitRate = limitRate;
    r.limitRateSet = limitRateSet;
    u.finalize(code);
    return;
  }
  u.headerWasSent();
  // On a stream the request goes on beside its response.
  if (!r.requestBodyNoBuffering && u.exchange.http2User === undefined) {
    u.output!.stop();
  }
  // An HTTP/2 client may have been told something else.
  if (u.upgrade && r.out.status < 300) {
    cache?.passing(u);
    upgrade(u, bytes, start, end);
    return;
  }
  if (u.buffering) {
    cache?.begin(u);
    if (u.store !== null) {
      u.copyBodyTo(u.store);
    }
  } else {
    cache?.passing(u);
  }
  if (r.headerOnly && (!u.buffering || u.tee === null)) {
    if (start < end) {
      bodyBehind(u, bytes, start, end);
    }
    u.finalize(code);
    return;
  }
  if (!u.buffering) {
    r.flushBody = true;
  }
  const reader = new ResponseBodyReader(u);
  u.peer.connection!.owner = reader;
  u.passOn(reader);
  reader.start(bytes, start, end);
}

/**
 * Something came behind a head that has no body. As in nginx, that is only told for clients of HTTP/1, not of HEAD, and of statuses that
 * came with the backend's own reason.
 */
function bodyBehind(u: UpstreamRequest, bytes: Buffer, start: number, end: number): void {
  const { exchange, head, r } = u;
  const { status } = head;
  if ((status !== 204 && status !== 304) || head.statusText === undefined || r.httpVersion >= HTTP_2 || r.methodBit === METHOD.HEAD) {
    return;
  }
  u.peer.attempt!.responseLength += end - start;
  if (exchange.hasBody?.(bytes, start, end) === false) {
    return;
  }
  u.action = u.buffering ? 'reading upstream' : 'reading response header from upstream';
  u.log(WARN, 'upstream sent more data than specified in "Content-Length" header');
}

// nginx: ngx_http_upstream_upgrade.
function upgrade(u: UpstreamRequest, bytes: Buffer, start: number, end: number): void {
  const { r } = u;
  if (r !== r.main) {
    u.log(ERROR, 'connection upgrade in subrequest');
    u.finalize(FAILED);
    return;
  }
  r.keepalive = false;
  u.action = 'proxying upgraded connection';
  const connection = u.peer.connection!;
  const tunnel = new Tunnel(u, connection);
  connection.owner = tunnel;
  u.passOn(tunnel);
  tunnel.start(bytes.subarray(start, end));
}
