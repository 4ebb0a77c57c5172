import { INFO } from '../../../shared/log/level.js';
import { unwatchClient, watchClient } from '../../http/request/client-gone.js';
import { CLIENT_CLOSED_REQUEST } from '../../http/request/codes.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Whether the business with backends ends when the client leaves. nginx: where ngx_http_upstream_rd_check_broken_connection is set. */
export function heedsClient(u: UpstreamRequest): boolean {
  const { r } = u;
  return u.store === null && !r.postAction && !u.conf.settings.ignoreClientAbort && (r.child === null || r.child.heedsClient);
}

/** The business begins: it hears of its client from now on, and ends with the main request. */
export function beginWork(u: UpstreamRequest): void {
  const { r } = u;
  if (r !== r.main) {
    r.main.children!.works.add(u);
  } else {
    watchClient(r, heedsClient(u) ? u : null);
  }
}

/** The business is over. */
export function endWork(u: UpstreamRequest): void {
  const { r } = u;
  if (r === r.main) {
    unwatchClient(r, u);
  } else {
    r.main.children!.works.delete(u);
  }
}

/**
 * The client has gone while a backend was asked, or is about to be; `reason`: see {@link ClientWatcher}. nginx:
 * ngx_http_upstream_check_broken_connection.
 */
export function endWithoutClient(u: UpstreamRequest, reason: string | null): void {
  if (u.done || !heedsClient(u)) {
    return;
  }
  const asking = u.peer.connection !== null;
  const closing = !u.cacheable && asking;
  if (reason !== null) {
    const closed = closing ? ', so upstream connection is closed too' : '';
    u.log(INFO, `epoll_wait() reported that client prematurely closed connection${closed}${reason}`);
  }
  if (!closing && asking) {
    return;
  }
  const { r } = u;
  if (r === r.main) {
    u.finalize(CLIENT_CLOSED_REQUEST);
  } else {
    r.main.terminate(CLIENT_CLOSED_REQUEST);
  }
}
