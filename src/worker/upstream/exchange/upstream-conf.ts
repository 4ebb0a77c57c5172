import type { HeaderKinds } from '../response/header-kinds.js';
import type { CompleteSettings } from '../settings/settings.js';
import type { HeadRewriter } from './exchange.js';
import type { ResponseCache } from './response-cache.js';
import type { UpstreamTls } from './tls.js';

/** A location's settings for its backends, compiled. One object for each location, so that it also names the location. */
export interface UpstreamConf {
  /** The family of directives, such as `proxy`; for messages. */
  readonly module: string;
  readonly settings: Readonly<CompleteSettings>;
  readonly kinds: HeaderKinds;
  /** The backend's own Server and Date headers are passed on, or left out as it leaves them out. */
  readonly passServer: boolean;
  readonly passDate: boolean;
  /** Changes redirects and cookies; undefined when nothing does. */
  readonly rewriter: HeadRewriter | undefined;
  /** `X-Accel-Buffering` may change `buffering`. */
  readonly changeBuffering: boolean;
  readonly passInterim: boolean;
  /** A 404 of the backend is answered with the location's own page. */
  readonly intercept404: boolean;
  /** What a client gets when no backend can be asked: 502 as nginx says, 503 by our own default. */
  readonly noLiveStatus: number;
  readonly tls: UpstreamTls | undefined;
  /** Set by the cache for locations that keep responses. */
  readonly cache: ResponseCache | undefined;
}

/** The body of a response is also given to whoever keeps a copy. */
export interface BodyTee {
  /** Bytes `start..end` came; their memory is used again after the call. */
  write(bytes: Buffer, start: number, end: number): void;
}
