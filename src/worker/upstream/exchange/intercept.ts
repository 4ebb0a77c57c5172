import { errorPageSlot } from '../../http/request/error-page.js';
import type { Request } from '../../http/request/request.js';
import { asStatus } from '../../task/codes.js';
import { HeaderKind } from '../response/header-kinds.js';
import type { UpstreamHead } from '../response/upstream-head.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Has a request's response ask for the credentials that a backend's asks for, be they hidden from clients or not. */
export function passChallenges(head: UpstreamHead, r: Request): void {
  for (const { kind, name, value } of head.headers) {
    if ((kind & ~HeaderKind.HIDDEN) === HeaderKind.WWW_AUTHENTICATE) {
      r.out.adopt('wwwAuthenticate', name, value);
    }
  }
}

/**
 * Answers a backend's error with a page of the location. Returns false when its own answer goes out. nginx:
 * ngx_http_upstream_intercept_errors.
 */
export function interceptError(u: UpstreamRequest, status: number): boolean {
  const { r, conf, head } = u;
  if (status === 404 && conf.intercept404) {
    u.finalize(404);
    return true;
  }
  if (!conf.settings.interceptErrors) {
    return false;
  }
  const pages = r.location.conf(errorPageSlot).errorPages;
  for (let i = 0; i < pages.length; i++) {
    if (pages[i]!.status !== status) {
      continue;
    }
    if (status === 401) {
      passChallenges(head, r);
    }
    conf.cache?.intercepted(u, status);
    u.finalize(asStatus(status));
    return true;
  }
  return false;
}
