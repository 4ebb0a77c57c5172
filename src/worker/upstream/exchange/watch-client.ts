import { INFO } from '../../../shared/log/level.js';
import type { ClientWatcher } from '../../http/request/client-stream.js';
import { CLIENT_CLOSED_REQUEST } from '../../http/request/codes.js';
import type { UpstreamRequest } from './upstream-request.js';

/** The backend's work goes on without the client. */
const nobody: ClientWatcher = { clientGone(): void {} };

/** Has the business with backends end when the client leaves, unless the settings say otherwise. */
export function watchClient(u: UpstreamRequest): void {
  const { r } = u;
  if (r !== r.main) {
    const cleanup = (): void => u.cleanup();
    r.main.onFinish(cleanup);
    r.onFinish(() => r.main.forget(cleanup));
    if (u.conf.settings.ignoreClientAbort && !r.main.headerSent) {
      r.stream.watchClient(r, nobody);
    }
    return;
  }
  const watched = u.store === null && !r.postAction && !u.conf.settings.ignoreClientAbort;
  r.stream.watchClient(r, watched ? u : nobody);
}

/** The client has gone while a backend was asked, or is about to be. nginx: ngx_http_upstream_check_broken_connection. */
export function endWithoutClient(u: UpstreamRequest): void {
  if (u.done) {
    return;
  }
  const asking = u.peer.connection !== null;
  const closing = !u.cacheable && asking;
  const closed = closing ? ', so upstream connection is closed too' : '';
  u.log(INFO, `epoll_wait() reported that client prematurely closed connection${closed}`);
  if (closing || !asking) {
    u.finalize(CLIENT_CLOSED_REQUEST);
  }
}
