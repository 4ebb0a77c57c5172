import { KNOWN_NAMES, type KnownHeader, knownNames } from '../../http/syntax/header-names.js';

/**
 * Response headers of backends that the server itself acts on. A kind is a small number, so that reading and copying a
 * response head are two switches. nginx: ngx_http_upstream_headers_in.
 */
export const HeaderKind = {
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
  ['status', HeaderKind.STATUS],
  ['content-type', HeaderKind.CONTENT_TYPE],
  ['content-length', HeaderKind.CONTENT_LENGTH],
  ['date', HeaderKind.DATE],
  ['last-modified', HeaderKind.LAST_MODIFIED],
  ['etag', HeaderKind.ETAG],
  ['server', HeaderKind.SERVER],
  ['www-authenticate', HeaderKind.WWW_AUTHENTICATE],
  ['location', HeaderKind.LOCATION],
  ['refresh', HeaderKind.REFRESH],
  ['set-cookie', HeaderKind.SET_COOKIE],
  ['content-disposition', HeaderKind.CONTENT_DISPOSITION],
  ['cache-control', HeaderKind.CACHE_CONTROL],
  ['expires', HeaderKind.EXPIRES],
  ['accept-ranges', HeaderKind.ACCEPT_RANGES],
  ['upgrade', HeaderKind.UPGRADE],
  ['content-range', HeaderKind.CONTENT_RANGE],
  ['connection', HeaderKind.CONNECTION],
  ['keep-alive', HeaderKind.KEEP_ALIVE],
  ['vary', HeaderKind.VARY],
  ['link', HeaderKind.LINK],
  ['x-accel-expires', HeaderKind.XA_EXPIRES],
  ['x-accel-redirect', HeaderKind.XA_REDIRECT],
  ['x-accel-limit-rate', HeaderKind.XA_LIMIT_RATE],
  ['x-accel-buffering', HeaderKind.XA_BUFFERING],
  ['x-accel-charset', HeaderKind.XA_CHARSET],
  ['transfer-encoding', HeaderKind.TRANSFER_ENCODING],
  ['content-encoding', HeaderKind.CONTENT_ENCODING],
];

/**
 * The kind of each header name at one location, with {@link HeaderKind.HIDDEN} for those it hides. nginx:
 * ngx_http_upstream_hide_headers_hash.
 */
export class HeaderKinds {
  readonly #all = new Map<string, number>(kinds);
  /** The kinds of known names, by their number. */
  readonly #known = new Uint8Array(KNOWN_NAMES);

  /** Names of headers that a protocol and the configuration hide, and of those that are passed on all the same. */
  constructor(defaults: readonly string[], hide: readonly string[], pass: readonly string[]) {
    const all = this.#all;
    const hidden = new Set([...defaults, ...hide].map((name) => name.toLowerCase()));
    for (const name of pass) {
      hidden.delete(name.toLowerCase());
    }
    for (const name of hidden) {
      all.set(name, (all.get(name) ?? HeaderKind.OTHER) | HeaderKind.HIDDEN);
    }
    for (const [lower, number] of knownNames) {
      this.#known[number] = this.of(lower);
    }
  }

  /** The kind of a name in lower case. */
  of(lower: string): number {
    return this.#all.get(lower) ?? HeaderKind.OTHER;
  }

  ofKnown(header: KnownHeader): number {
    return this.#known[header.number]!;
  }
}
