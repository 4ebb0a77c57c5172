import { KNOWN_NAMES, type KnownHeader, knownNames } from '../../http/syntax/header-names.js';

/**
 * Response headers of backends that the server itself acts on. A kind is a small number, so that reading and copying a
 * response head are two switches. nginx: ngx_http_upstream_headers_in.
 */
export const K = {
  /** Taken off, as a repeated one. nginx: h->hash = 0. */
  DROPPED: -1,
  OTHER: 0,
  STATUS: 1,
  CONTENT_TYPE: 2,
  CONTENT_LENGTH: 3,
  DATE: 4,
  LAST_MODIFIED: 5,
  ETAG: 6,
  SERVER: 7,
  WWW_AUTHENTICATE: 8,
  LOCATION: 9,
  REFRESH: 10,
  SET_COOKIE: 11,
  CONTENT_DISPOSITION: 12,
  CACHE_CONTROL: 13,
  EXPIRES: 14,
  ACCEPT_RANGES: 15,
  UPGRADE: 16,
  CONTENT_RANGE: 17,
  CONNECTION: 18,
  KEEP_ALIVE: 19,
  VARY: 20,
  LINK: 21,
  XA_EXPIRES: 22,
  XA_REDIRECT: 23,
  XA_LIMIT_RATE: 24,
  XA_BUFFERING: 25,
  XA_CHARSET: 26,
  TRANSFER_ENCODING: 27,
  CONTENT_ENCODING: 28,
  /** Added to the kind of a header that the location hides from its clients. */
  HIDDEN: 64,
} as const;

const kinds: readonly (readonly [string, number])[] = [
  ['status', K.STATUS],
  ['content-type', K.CONTENT_TYPE],
  ['content-length', K.CONTENT_LENGTH],
  ['date', K.DATE],
  ['last-modified', K.LAST_MODIFIED],
  ['etag', K.ETAG],
  ['server', K.SERVER],
  ['www-authenticate', K.WWW_AUTHENTICATE],
  ['location', K.LOCATION],
  ['refresh', K.REFRESH],
  ['set-cookie', K.SET_COOKIE],
  ['content-disposition', K.CONTENT_DISPOSITION],
  ['cache-control', K.CACHE_CONTROL],
  ['expires', K.EXPIRES],
  ['accept-ranges', K.ACCEPT_RANGES],
  ['upgrade', K.UPGRADE],
  ['content-range', K.CONTENT_RANGE],
  ['connection', K.CONNECTION],
  ['keep-alive', K.KEEP_ALIVE],
  ['vary', K.VARY],
  ['link', K.LINK],
  ['x-accel-expires', K.XA_EXPIRES],
  ['x-accel-redirect', K.XA_REDIRECT],
  ['x-accel-limit-rate', K.XA_LIMIT_RATE],
  ['x-accel-buffering', K.XA_BUFFERING],
  ['x-accel-charset', K.XA_CHARSET],
  ['transfer-encoding', K.TRANSFER_ENCODING],
  ['content-encoding', K.CONTENT_ENCODING],
];

/** The kind of each header name at one location, with {@link K.HIDDEN} for those it hides. nginx: ngx_http_upstream_hide_headers_hash. */
export class HeaderKinds {
  readonly #all = new Map<string, number>(kinds);
  /** The same for known names, by their number. */
  readonly #known = new Uint8Array(KNOWN_NAMES);

  /** Names of headers that a protocol and the configuration hide, and of those that are passed on all the same. */
  constructor(defaults: readonly string[], hide: readonly string[], pass: readonly string[]) {
    const all = this.#all;
    const hidden = new Set([...defaults, ...hide].map((name) => name.toLowerCase()));
    for (const name of pass) hidden.delete(name.toLowerCase());
    for (const name of hidden) all.set(name, (all.get(name) ?? K.OTHER) | K.HIDDEN);
    for (const [lower, number] of knownNames) this.#known[number] = this.of(lower);
  }

  /** The kind of a name in lower case. */
  of(lower: string): number {
    return this.#all.get(lower) ?? K.OTHER;
  }

  ofKnown(header: KnownHeader): number {
    return this.#known[header.number]!;
  }
}
