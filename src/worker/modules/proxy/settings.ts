import type { LateValue } from '../../../shared/config/late-value.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { RegexValue } from '../../../shared/value/regex-value.js';
import type { CacheSettings } from '../../cache/settings.js';
import type { Request } from '../../http/request/request.js';
import type { Declaration } from '../../upstream/group/group-config.js';
import type { UpstreamSettings } from '../../upstream/settings/settings.js';
import type { TlsClientSettings } from '../../upstream/settings/tls-settings.js';

/** One `proxy_set_header` line. */
export interface HeaderLineSource {
  readonly name: string;
  readonly value: LateValue<Request>;
}

/** The parts of a backend's URL that requests use. nginx: ngx_http_proxy_vars_t. */
export interface ProxyVars {
  /** `http://` or `https://`. */
  readonly schema: string;
  /** `$proxy_host`, the default Host. */
  readonly hostHeader: string;
  /** `$proxy_port`; empty for unix sockets. */
  readonly port: string;
  readonly uri: string;
  /** What a cache key begins with. */
  readonly keyStart: string;
}

/** A `proxy_pass` line. */
export interface ProxyPass {
  /** The line's URL when it holds variables. */
  readonly dynamic: ComplexValue<Request> | undefined;
  /** What a URL without variables says. */
  readonly fixed: { readonly url: string; readonly declaration: Declaration; readonly vars: ProxyVars } | undefined;
  /** The location's name, which the URL's path stands for; empty where it cannot. */
  readonly location: string;
}

/** How a part of a redirect or a cookie is replaced. */
export interface Rewrite {
  readonly kind: 'prefix' | 'domain' | 'regex';
  readonly pattern: ComplexValue<Request> | undefined;
  readonly regex: RegexValue<Request> | undefined;
  readonly replacement: ComplexValue<Request>;
}

/** A `proxy_cookie_flags` line. */
export interface CookieFlags {
  readonly name: ComplexValue<Request> | undefined;
  readonly regex: RegexValue<Request> | undefined;
  readonly flags: readonly ComplexValue<Request>[];
}

/** All `proxy_*` settings of a location. nginx: ngx_http_proxy_loc_conf_t. */
export interface ProxySettings extends UpstreamSettings, CacheSettings, TlsClientSettings {
  pass: ProxyPass | undefined;
  headers: readonly HeaderLineSource[];
  body: ComplexValue<Request> | undefined;
  method: ComplexValue<Request> | undefined;
  /** Streams that an HTTP/2 connection has at a time. */
  maxStreams: number;
  /** Major * 1000 + minor; 0: 1.1 as nginx says, 1.0 by our own default. */
  httpVersion: number;
  /** False where `proxy_redirect off` stands. */
  redirect: boolean;
  /** The lines of `proxy_redirect`; undefined: one made of `proxy_pass`. */
  redirects: readonly Rewrite[] | undefined;
  cookieDomains: readonly Rewrite[] | null;
  cookiePaths: readonly Rewrite[] | null;
  cookieFlags: readonly CookieFlags[] | null;
}
