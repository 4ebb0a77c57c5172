/**
 * Why an attempt at a backend came to nothing, as bits: what `*_next_upstream` and `*_cache_use_stale` list.
 * nginx: NGX_HTTP_UPSTREAM_FT_*.
 */
export const FailureType = {
  ERROR: 0x2,
  TIMEOUT: 0x4,
  INVALID_HEADER: 0x8,
  HTTP_500: 0x10,
  HTTP_502: 0x20,
  HTTP_503: 0x40,
  HTTP_504: 0x80,
  HTTP_403: 0x100,
  HTTP_404: 0x200,
  HTTP_429: 0x400,
  UPDATING: 0x800,
  NON_IDEMPOTENT: 0x4000,
  /** The backend has not looked at the request, and will not. */
  REFUSED: 0x8000,
  /** The backend cannot serve such a request, and is well otherwise. */
  UNSUITED: 0x10000,
  NOLIVE: 0x40000000,
  OFF: 0x20000000,
} as const;

/** The words of `*_next_upstream` and `*_cache_use_stale`. nginx: ngx_http_proxy_next_upstream_masks. */
export const nextUpstreamWords = {
  error: FailureType.ERROR,
  timeout: FailureType.TIMEOUT,
  invalid_header: FailureType.INVALID_HEADER,
  non_idempotent: FailureType.NON_IDEMPOTENT,
  http_500: FailureType.HTTP_500,
  http_502: FailureType.HTTP_502,
  http_503: FailureType.HTTP_503,
  http_504: FailureType.HTTP_504,
  http_403: FailureType.HTTP_403,
  http_404: FailureType.HTTP_404,
  http_429: FailureType.HTTP_429,
  updating: FailureType.UPDATING,
  off: FailureType.OFF,
} as const;

const { http_502: _502, http_504: _504, ...cgiWords } = nextUpstreamWords;

/** The words for application servers. nginx: ngx_http_fastcgi_next_upstream_masks. */
export const cgiNextUpstreamWords = cgiWords;

/** The bit of a status that may send a request on to another backend; 0 for all others. nginx: ngx_http_upstream_next_errors. */
export function statusFailure(status: number): number {
  switch (status) {
    case 500:
      return FailureType.HTTP_500;
    case 502:
      return FailureType.HTTP_502;
    case 503:
      return FailureType.HTTP_503;
    case 504:
      return FailureType.HTTP_504;
    case 403:
      return FailureType.HTTP_403;
    case 404:
      return FailureType.HTTP_404;
    case 429:
      return FailureType.HTTP_429;
    default:
      return 0;
  }
}

/** The status a client gets for a failure when no other backend is tried. */
export function failureStatus(failure: number): number {
  switch (failure) {
    case FailureType.TIMEOUT:
    case FailureType.HTTP_504:
      return 504;
    case FailureType.HTTP_500:
      return 500;
    case FailureType.HTTP_503:
      return 503;
    case FailureType.HTTP_403:
      return 403;
    case FailureType.HTTP_404:
      return 404;
    case FailureType.HTTP_429:
      return 429;
    default:
      return 502;
  }
}

/** What `*_ignore_headers` lists, as bits. nginx: NGX_HTTP_UPSTREAM_IGN_*. */
export const IGNORE = {
  XA_REDIRECT: 0x2,
  XA_EXPIRES: 0x4,
  EXPIRES: 0x8,
  CACHE_CONTROL: 0x10,
  SET_COOKIE: 0x20,
  XA_LIMIT_RATE: 0x40,
  XA_BUFFERING: 0x80,
  XA_CHARSET: 0x100,
  VARY: 0x200,
} as const;

export const ignoreHeaderWords = {
  'x-accel-redirect': IGNORE.XA_REDIRECT,
  'x-accel-expires': IGNORE.XA_EXPIRES,
  'x-accel-limit-rate': IGNORE.XA_LIMIT_RATE,
  'x-accel-buffering': IGNORE.XA_BUFFERING,
  'x-accel-charset': IGNORE.XA_CHARSET,
  expires: IGNORE.EXPIRES,
  'cache-control': IGNORE.CACHE_CONTROL,
  'set-cookie': IGNORE.SET_COOKIE,
  vary: IGNORE.VARY,
} as const;
