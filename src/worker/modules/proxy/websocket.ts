import type { ComplexValue } from '../../../shared/value/complex.js';
import type { Request } from '../../http/request/request.js';
import { HeaderSlot } from '../../http/syntax/header-names.js';
import { METHOD } from '../../http/syntax/method.js';

/** The protocol of RFC 8441 that WebSockets have. */
export const WEBSOCKET = 'websocket';
/** The client's key, which HTTP/2 does not have (RFC 8441, 5). */
export const KEY_HEADER = 'sec-websocket-key';
/** The answer to it. */
export const ACCEPT_HEADER = 'sec-websocket-accept';

const HTTP_11 = 1001;

/**
 * The key of the WebSocket that a request asks for; empty if it asks for none. `upgrade` is the location's `proxy_set_header Upgrade`,
 * without which the header goes no further than here, as over HTTP/1.1. What is no whole handshake stays an ordinary request.
 */
export function webSocketKey(r: Request, upgrade: ComplexValue<Request> | undefined): string {
  if (upgrade === undefined || r !== r.main || r.methodBit !== METHOD.GET || r.httpVersion < HTTP_11) {
    return '';
  }
  if (!r.head.has(HeaderSlot.upgrade) || r.chunkedIn || r.contentLength > 0 || r.body?.lost) {
    return '';
  }
  return upgrade.eval(r).toLowerCase() === WEBSOCKET ? (r.header(KEY_HEADER) ?? '') : '';
}
