import { randomBytes } from 'node:crypto';
import { ERROR, INFO } from '../../../shared/log/level.js';
import type { Request } from '../request/request.js';
import { acceptOf } from '../syntax/websocket-accept.js';

/** The status by which an HTTP/1.1 backend says that it switches protocols. */
export const SWITCHING = 101;

/** A new key for `Sec-WebSocket-Key`: HTTP/2 and HTTP/3 have none, HTTP/1.1 backends ask for it (RFC 8441, 5.1). */
export const newKey = (): string => randomBytes(16).toString('base64');

/**
 * The status for a client of HTTP/2 or HTTP/3 where HTTP/1.1 would have that of `r.out`; `key` is that of the WebSocket that it asked for,
 * or empty.
 * A status of 2xx would say that a WebSocket is there, and 101 does not exist (RFC 9113, 8.6).
 */
export function statusForWebSocket(r: Request, key: string): number {
  const { status } = r.out;
  if (status !== SWITCHING) {
    if (status < 200 || status > 299) {
      return status;
    }
    r.log(INFO, `client asked for a WebSocket, the response is ${status}`);
    return 501;
  }
  const accept = r.out.list.find(({ name }) => name.toLowerCase() === 'sec-websocket-accept');
  if (key !== '' && accept?.value.trim() === acceptOf(key)) {
    accept.name = '';
    r.out.contentLength = -1;
    return 200;
  }
  r.log(ERROR, key === '' ? 'upstream switched protocols without being asked' : 'upstream sent invalid "Sec-WebSocket-Accept" header');
  return 502;
}
