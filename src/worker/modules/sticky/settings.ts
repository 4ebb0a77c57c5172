import type { ComplexValue } from '../../../shared/value/complex.js';
import type { Request } from '../../http/request/request.js';
import type { SessionZoneRef } from './zone.js';

/** The cookie that `sticky cookie` sets. */
export interface StickyCookie {
  readonly name: string;
  domain: ComplexValue<Request> | undefined;
  /** With `; path=` before it, or empty. */
  path: string;
  /** Seconds; Infinity for `max`; undefined for a cookie of the session. */
  expires: number | undefined;
  httponly: boolean;
  secure: boolean;
  samesite: ComplexValue<Request> | undefined;
}

/** What a `sticky` directive says. Variables are given by their slots. nginx: ngx_http_upstream_sticky_srv_conf_t. */
export interface StickySettings {
  /** The first of these with a value says which server, or in `learn` which session, a request asks for. */
  readonly lookup: readonly number[];
  /** The first of these with a value names the session that a response began. */
  readonly create: readonly number[];
  readonly cookie: StickyCookie | undefined;
  /** Where `learn` keeps sessions. */
  readonly zone: SessionZoneRef | undefined;
  /** Sessions are learned as soon as the response's head is there, not at its end. */
  readonly afterHeader: boolean;
}
