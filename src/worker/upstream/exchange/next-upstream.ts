import { METHOD } from '../../http/syntax/method.js';
import { FailureType } from '../settings/failure.js';
import type { UpstreamRequest } from './upstream-request.js';

const NON_IDEMPOTENT: number = METHOD.POST | METHOD.LOCK | METHOD.PATCH;

/**
 * Whether `*_next_upstream` and its limits let a failed request go on to another peer; how many tries are left is for
 * the caller to look at. nginx: ngx_http_upstream_next, ngx_http_upstream_test_next.
 */
export function mayTryNext(u: UpstreamRequest, failure: number): boolean {
  const { r } = u;
  const settings = u.conf.settings;
  let needed = failure;
  if (failure === FailureType.REFUSED || failure === FailureType.UNSUITED) {
    needed = FailureType.ERROR;
  } else if (u.requestSent && (r.methodBit & NON_IDEMPOTENT) !== 0) {
    needed |= FailureType.NON_IDEMPOTENT;
  }
  if ((settings.nextUpstream & needed) !== needed) {
    return false;
  }
  if (u.requestSent && r.requestBodyNoBuffering && !(failure === FailureType.REFUSED && u.relay!.replayable)) {
    return false;
  }
  const timeout = settings.nextUpstreamTimeout;
  return timeout === 0 || performance.now() - u.peer.startTime < timeout;
}
