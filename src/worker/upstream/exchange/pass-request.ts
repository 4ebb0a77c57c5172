import type { Request } from '../../http/request/request.js';
import { readBody, testExpect } from '../../http/request/request-body.js';
import { startUnbuffered } from './body-relay.js';
import { startUpstream, type UpstreamRequest } from './upstream-request.js';

/** Has a request passed on: at once, or once its body is there; with `unbuffered` while its body comes. */
export function passRequest(r: Request, u: UpstreamRequest, unbuffered: boolean): void {
  if (unbuffered && r === r.main && r.body === null && !r.clientExchange.bodyDone(r)) {
    testExpect(r);
    startUnbuffered(u);
  } else if (r.contentLength < 0 && !r.chunkedIn) {
    u.start();
  } else {
    readBody(r, startUpstream);
  }
}
