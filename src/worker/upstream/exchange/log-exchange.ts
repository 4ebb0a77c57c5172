import { DEBUG } from '../../../shared/log/level.js';
import type { UpstreamRequest } from './upstream-request.js';

// Lines of level debug about backends. A caller asks `r.debugging`, which compares integers, before it calls one of these.

/** `proxy`, `fastcgi` and so on. */
function protocolOf({ schema }: UpstreamRequest): string {
  return schema.startsWith('http') ? 'proxy' : schema.slice(0, schema.indexOf(':'));
}

/** What is asked of a backend. nginx: the end of ngx_http_proxy_create_request. */
export function logRequestText(u: UpstreamRequest, text: string): void {
  for (const line of text.split('\r\n')) {
    if (line !== '') {
      u.log(DEBUG, `http proxy header: "${line}"`);
    }
  }
}

/** What a backend, or the cache, has answered. nginx: ngx_http_proxy_process_status_line, ngx_http_proxy_process_header. */
export function logUpstreamHead(u: UpstreamRequest): void {
  const protocol = protocolOf(u);
  const { status, statusText, headers } = u.head;
  u.log(DEBUG, `http ${protocol} status ${status} "${status}${statusText === undefined ? '' : ` ${statusText}`}"`);
  for (const { name, value } of headers) {
    u.log(DEBUG, `http ${protocol} header: "${name}: ${value}"`);
  }
}
