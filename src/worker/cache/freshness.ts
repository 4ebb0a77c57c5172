import { parseNumber } from '../../shared/config/language/units.js';
import { parseHttpDate } from '../text/http-date.js';
import type { UpstreamRequest } from '../upstream/exchange/upstream-request.js';
import { HeaderKind } from '../upstream/response/header-kinds.js';
import type { UpstreamHead } from '../upstream/response/upstream-head.js';
import { IGNORE } from '../upstream/settings/failure.js';
import type { CacheUse } from './use.js';

/** Longest `Vary` that is understood. nginx: NGX_HTTP_CACHE_VARY_LEN. */
const MAX_VARY = 128;

/**
 * Reads from a head how long the response may be kept, header by header in their order, since later ones depend on
 * earlier ones. nginx: ngx_http_upstream_process_cache_control and the functions beside it.
 */
export function readFreshness(u: UpstreamRequest, head: UpstreamHead, use: CacheUse, now: number): void {
  const ignore = u.conf.settings.ignoreHeaders;
  use.noCache = use.expired = use.accelExpires = false;
  use.vary = '';
  for (const { kind, value } of head.headers) {
    if (kind <= 0) {
      continue;
    }
    switch (kind & ~HeaderKind.HIDDEN) {
      case HeaderKind.SET_COOKIE:
        if ((ignore & IGNORE.SET_COOKIE) === 0) {
          refuse(u, use, 'set-cookie');
        }
        break;
      case HeaderKind.CACHE_CONTROL:
        if ((ignore & IGNORE.CACHE_CONTROL) === 0) {
          cacheControl(u, use, value.toLowerCase(), now);
        }
        break;
      case HeaderKind.EXPIRES:
        if ((ignore & IGNORE.EXPIRES) === 0 && use.validUntil === 0) {
          expires(use, value, now);
        }
        break;
      case HeaderKind.XA_EXPIRES:
        if (use.accelExpires) {
          break;
        }
        use.accelExpires = true;
        if ((ignore & IGNORE.XA_EXPIRES) === 0) {
          accelExpires(u, use, value, now);
        }
        break;
      case HeaderKind.VARY:
        if ((ignore & IGNORE.VARY) === 0 && u.cacheable) {
          vary(u, use, value);
        }
        break;
      default:
        break;
    }
  }
}

function refuse(u: UpstreamRequest, use: CacheUse, reason: string): void {
  u.allowCaching(false);
  use.reason = reason;
}

/** Reads digits up to a separator; undefined when there is anything else. nginx: ngx_http_upstream_process_delta_seconds. */
function deltaSeconds(text: string, at: number): number | undefined {
  let n = 0;
  for (let i = at; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 44 || c === 59 || c === 32) {
      break;
    }
    if (c < 48 || c > 57) {
      return undefined;
    }
    n = n * 10 + c - 48;
  }
  return Math.min(n, Number.MAX_SAFE_INTEGER);
}

function cacheControl(u: UpstreamRequest, use: CacheUse, text: string, now: number): void {
  if (use.validUntil === 0 || !use.accelExpires) {
    for (const word of ['no-cache', 'no-store', 'private']) {
      if (!text.includes(word)) {
        continue;
      }
      use.noCache = true;
      use.reason = word;
      return;
    }
    let at = text.indexOf('s-maxage=');
    if (at !== -1) {
      at += 9;
    } else {
      at = text.indexOf('max-age=');
      if (at !== -1) {
        at += 8;
      }
    }
    if (at !== -1) {
      const seconds = deltaSeconds(text, at);
      if (seconds === undefined) {
        refuse(u, use, 'malformed cache-control');
        return;
      }
      if (seconds === 0) {
        use.noCache = true;
        use.reason = 'max-age=0';
        return;
      }
      use.validUntil = Math.min(now + seconds, Number.MAX_SAFE_INTEGER);
      use.expired = false;
    }
  }
  const revalidate = text.indexOf('stale-while-revalidate=');
  if (revalidate !== -1) {
    const seconds = deltaSeconds(text, revalidate + 23);
    if (seconds === undefined) {
      refuse(u, use, 'malformed cache-control');
      return;
    }
    use.updating = use.onError = seconds;
  }
  const onError = text.indexOf('stale-if-error=');
  if (onError !== -1) {
    const seconds = deltaSeconds(text, onError + 15);
    if (seconds === undefined) {
      refuse(u, use, 'malformed cache-control');
      return;
    }
    use.onError = seconds;
  }
}

function expires(use: CacheUse, value: string, now: number): void {
  const time = parseHttpDate(value);
  if (time === -1 || time < now) {
    use.expired = true;
    use.reason = 'expired';
  } else {
    use.validUntil = time;
  }
}

// nginx: ngx_http_upstream_process_accel_expires.
function accelExpires(u: UpstreamRequest, use: CacheUse, value: string, now: number): void {
  const absolute = value.startsWith('@');
  const n = parseNumber(absolute ? value.slice(1) : value);
  if (n === undefined) {
    return;
  }
  if (!absolute && n === 0) {
    refuse(u, use, 'x-accel-expires: 0');
    return;
  }
  use.validUntil = absolute ? n : now + n;
  use.noCache = use.expired = false;
}

function vary(u: UpstreamRequest, use: CacheUse, value: string): void {
  if (value === '*') {
    refuse(u, use, 'vary: *');
    return;
  }
  use.vary = use.vary === '' ? value : `${use.vary}, ${value}`;
  if (use.vary.length > MAX_VARY) {
    refuse(u, use, 'vary is too long');
  }
}
