import { parseNumber } from '../../../shared/config/language/units.js';
import { internalRedirect, namedLocation } from '../../http/request/internal-redirect.js';
import { readUnsafeUri } from '../../http/request/unsafe-uri.js';
import { METHOD } from '../../http/syntax/method.js';
import { DECLINED } from '../../task/codes.js';
import { parseHttpDate } from '../../text/http-date.js';
import { HeaderKind } from '../response/header-kinds.js';
import { IGNORE } from '../settings/failure.js';
import type { UpstreamRequest } from './upstream-request.js';

/**
 * Does what a head asks of the server itself, which holds whatever becomes of the response: it may be left for another one, such as an
 * error page. nginx: the handlers of ngx_http_upstream_headers_in.
 */
export function heedHead(u: UpstreamRequest): void {
  const { head } = u;
  if (head.has(HeaderKind.XA_LIMIT_RATE)) {
    limitRate(u, head.value(HeaderKind.XA_LIMIT_RATE)!);
  }
  if (head.has(HeaderKind.XA_BUFFERING)) {
    changeBuffering(u);
  }
  if (head.has(HeaderKind.XA_CHARSET)) {
    overrideCharset(u);
  }
}

/**
 * Makes the client's response head of the backend's. Returns false when the backend sent the request elsewhere, so that
 * there is nothing more to do. nginx: ngx_http_upstream_process_headers.
 */
export function processHead(u: UpstreamRequest): boolean {
  const { r, conf, head } = u;
  const settings = conf.settings;
  if (head.has(HeaderKind.XA_REDIRECT) && (settings.ignoreHeaders & IGNORE.XA_REDIRECT) === 0) {
    redirectInside(u, head.value(HeaderKind.XA_REDIRECT)!);
    return false;
  }
  const { headers } = head;
  for (let i = 0; i < headers.length; i++) {
    const { kind, name, value } = headers[i]!;
    if (kind === HeaderKind.OTHER) {
      r.out.add(name, value);
    } else if (kind > 0 && kind < HeaderKind.HIDDEN) {
      copyHeader(u, kind, name, value);
    }
  }
  const out = r.out;
  if (conf.passServer && !head.has(HeaderKind.SERVER)) {
    out.omitServer = true;
  }
  if (conf.passDate && !head.has(HeaderKind.DATE)) {
    out.omitDate = true;
  }
  out.status = head.status;
  out.statusText = head.statusText;
  out.contentLength = head.contentLength;
  r.disableNotModified = !u.cacheable;
  if (settings.forceRanges) {
    out.allowRanges = true;
    r.singleRange = !u.cached;
  }
  return true;
}

/** Makes the client's trailers of the backend's. nginx: ngx_http_upstream_process_trailers. */
export function copyTrailers({ r, conf, head }: UpstreamRequest): void {
  for (let i = 0; i < head.trailers.length; i += 3) {
    if ((conf.kinds.of(head.trailers[i + 1]!) & HeaderKind.HIDDEN) !== 0) {
      continue;
    }
    r.out.addTrailer(head.trailers[i]!, head.trailers[i + 2]!);
  }
}

/** Copies one header. nginx: the copy handlers of ngx_http_upstream_headers_in. */
function copyHeader(u: UpstreamRequest, kind: number, name: string, value: string): void {
  const { r, conf } = u;
  const out = r.out;
  switch (kind) {
    case HeaderKind.CONTENT_LENGTH:
    case HeaderKind.CONNECTION:
    case HeaderKind.KEEP_ALIVE:
    case HeaderKind.TRANSFER_ENCODING:
      return;
    case HeaderKind.CONTENT_TYPE:
      out.readContentType(value);
      return;
    case HeaderKind.DATE:
      out.adopt('date', name, value);
      return;
    case HeaderKind.LAST_MODIFIED:
      out.adopt('lastModifiedText', name, value);
      out.lastModified = parseHttpDate(value);
      return;
    case HeaderKind.ETAG:
      out.adopt('etag', name, value);
      return;
    case HeaderKind.SERVER:
      out.adopt('server', name, value);
      return;
    case HeaderKind.LOCATION:
      copyLocation(u, name, value);
      return;
    case HeaderKind.REFRESH:
      copyRefresh(u, name, value);
      return;
    case HeaderKind.SET_COOKIE:
      out.add(name, conf.rewriter?.cookie(r, value) ?? value);
      return;
    case HeaderKind.EXPIRES:
      out.adopt('expires', name, value);
      return;
    case HeaderKind.ACCEPT_RANGES:
      if (conf.settings.forceRanges) {
        return;
      }
      if (u.cached || u.cacheable) {
        out.allowRanges = true;
        r.singleRange = !u.cached;
        return;
      }
      out.adopt('acceptRanges', name, value);
      return;
    case HeaderKind.UPGRADE:
      if (r.httpVersion < 2000) {
        out.add(name, value);
      }
      return;
    case HeaderKind.CONTENT_RANGE:
      out.adopt('contentRange', name, value);
      return;
    case HeaderKind.CONTENT_ENCODING:
      out.adopt('contentEncoding', name, value);
      return;
    default:
      out.add(name, value);
  }
}

// nginx: ngx_http_upstream_rewrite_location.
function copyLocation(u: UpstreamRequest, name: string, value: string): void {
  const out = u.r.out;
  const rewriter = u.conf.rewriter;
  if (rewriter?.redirects) {
    const changed = rewriter.redirect(u.r, value, 0);
    if (changed === undefined) {
      out.add(name, value);
    } else {
      out.adopt('location', name, changed);
    }
  } else if (value.charCodeAt(0) === 47) {
    out.add(name, value);
  }
  // A path stays as it is: only the server's own redirects are made absolute.
  else {
    out.adopt('location', name, value);
  }
}

// nginx: ngx_http_upstream_rewrite_refresh.
function copyRefresh(u: UpstreamRequest, name: string, value: string): void {
  const out = u.r.out;
  const rewriter = u.conf.rewriter;
  if (!rewriter?.redirects) {
    out.adopt('refresh', name, value);
    return;
  }
  const at = value.toLowerCase().indexOf('url=');
  const changed = at === -1 ? undefined : rewriter.redirect(u.r, value, at + 4);
  if (changed === undefined) {
    out.add(name, value);
  } else {
    out.adopt('refresh', name, changed);
  }
}

function limitRate(u: UpstreamRequest, value: string): void {
  const rate = (u.conf.settings.ignoreHeaders & IGNORE.XA_LIMIT_RATE) === 0 ? parseNumber(value) : undefined;
  if (rate === undefined) {
    return;
  }
  u.r.limitRate = rate;
  u.r.limitRateSet = true;
}

/** The last of several counts, and an empty one says nothing. nginx: ngx_http_upstream_process_charset. */
function overrideCharset(u: UpstreamRequest): void {
  if ((u.conf.settings.ignoreHeaders & IGNORE.XA_CHARSET) !== 0) {
    return;
  }
  for (const { kind, value } of u.head.headers) {
    if ((kind & ~HeaderKind.HIDDEN) === HeaderKind.XA_CHARSET) {
      u.r.out.overrideCharset = value === '' ? undefined : value;
    }
  }
}

// nginx: ngx_http_upstream_process_buffering.
function changeBuffering(u: UpstreamRequest): void {
  if ((u.conf.settings.ignoreHeaders & IGNORE.XA_BUFFERING) !== 0 || !u.conf.changeBuffering) {
    return;
  }
  for (const header of u.head.headers) {
    if ((header.kind & ~HeaderKind.HIDDEN) !== HeaderKind.XA_BUFFERING) {
      continue;
    }
    const value = header.value.toLowerCase();
    if (value === 'no') {
      u.useBuffering(false);
    } else if (value === 'yes') {
      u.useBuffering(true);
    }
  }
}

/** Headers that stay when a response is taken from inside the server instead. */
const KEPT_ON_REDIRECT = new Set<number>([
  HeaderKind.CONTENT_TYPE,
  HeaderKind.SET_COOKIE,
  HeaderKind.CONTENT_DISPOSITION,
  HeaderKind.CACHE_CONTROL,
  HeaderKind.EXPIRES,
  HeaderKind.ACCEPT_RANGES,
]);

/** Follows X-Accel-Redirect. */
function redirectInside(u: UpstreamRequest, target: string): void {
  const { r, head } = u;
  u.finalize(DECLINED);
  for (const { kind, name, value } of head.headers) {
    if (kind === HeaderKind.DROPPED) {
      continue;
    }
    const base = kind & ~HeaderKind.HIDDEN;
    if (KEPT_ON_REDIRECT.has(base)) {
      copyHeader(u, base, name, value);
    }
  }
  if (target.startsWith('@')) {
    namedLocation(r, target);
    return;
  }
  const uri = readUnsafeUri(r, target);
  if (uri === undefined) {
    r.finalize(404);
    return;
  }
  if (r.methodBit !== METHOD.HEAD) {
    r.methodBit = METHOD.GET;
    r.method = 'GET';
  }
  internalRedirect(r, uri.uri, uri.args, 0);
}
