import { ERROR } from '../../../shared/log/level.js';
import { targetText } from '../../http/request/line-text.js';
import type { Request } from '../../http/request/request.js';
import { TOKEN } from '../../http/syntax/token.js';
import { escapeUri } from '../../http/syntax/uri-escape.js';
import type { UpstreamRequest } from '../../upstream/exchange/upstream-request.js';
import type { ProxyLocation } from './compiled-location.js';
import type { ProxyVars } from './settings.js';

/** What the exchanges of all versions of HTTP know of a request. nginx: ngx_http_proxy_ctx_t. */
export interface ProxyContext {
  readonly location: ProxyLocation;
  vars: ProxyVars;
  /** The length of the body that the backend gets, -1 where it is not known. */
  readonly bodyLength: number;
  /** The request's body is framed in chunks. */
  readonly chunked: boolean;
}

/** What a method can be: nothing in it ends it, or the request line. */

/** The method that the backend is asked with; undefined, with the reason logged, for a text that is none. */
export function askedMethod(u: UpstreamRequest, { method }: ProxyLocation): string | undefined {
  const { r } = u;
  const asked = u.method !== '' ? u.method : method === undefined ? r.method : method.eval(r);
  if (method !== undefined && !TOKEN.test(asked)) {
    r.log(ERROR, `"${asked}" is no method to proxy with`);
    return undefined;
  }
  return asked;
}

/** What a response is kept under unless `proxy_cache_key` says it. nginx: ngx_http_proxy_create_key. */
export function cacheKey(u: UpstreamRequest): string {
  const { location, vars } = u.exchange as unknown as ProxyContext;
  return vars.keyStart + proxiedUri(u.r, location, vars);
}

/** The URI that the backend is asked for. */
export function proxiedUri(r: Request, location: ProxyLocation, vars: ProxyVars): string {
  const given = vars.uri;
  if (given === '') {
    if (r.validUnparsedUri) {
      return r.unparsedUri;
    }
  } else if (location.dynamic) {
    return targetText(given);
  }
  const mapped = r.validLocation && given !== '';
  let rest = mapped ? r.uri.slice(location.name.length) : r.uri;
  if (r.head.quotedUri || r.internal) {
    rest = escapeUri(rest, 'uri');
  }
  const path = r.validLocation ? given + rest : rest;
  return targetText(r.args === '' ? path : `${path}?${r.args}`);
}
