import type { ComplexValue } from '../../../shared/value/complex.js';
import type { Request } from '../../http/request/request.js';
import type { Http2Headers } from '../../upstream/exchange/http2-head.js';
import type { UpstreamConf } from '../../upstream/exchange/upstream-conf.js';
import type { CompiledHeaders } from './request-headers.js';
import type { ProxyPass } from './settings.js';

/** A location's `proxy_*` settings, compiled for requests. */
export interface ProxyLocation {
  readonly conf: UpstreamConf;
  readonly pass: ProxyPass;
  /** `proxy_pass` holds variables. */
  readonly dynamic: boolean;
  /** The part of the URI that the path of `proxy_pass` stands for. */
  readonly name: string;
  readonly headers: CompiledHeaders;
  /** The headers of requests whose responses are cached. */
  readonly cacheHeaders: CompiledHeaders | undefined;
  readonly body: ComplexValue<Request> | undefined;
  readonly method: ComplexValue<Request> | undefined;
  readonly http11: boolean;
  /** Requests go over HTTP/2; undefined: over HTTP/1. */
  readonly http2: ProxyHttp2 | undefined;
  /** ` HTTP/1.1` and the end of the line. */
  readonly versionText: string;
}

/** What requests over HTTP/2 need besides. */
export interface ProxyHttp2 {
  readonly maxStreams: number;
  readonly headers: Http2Headers;
  /** The headers of requests whose responses are cached. */
  readonly cacheHeaders: Http2Headers | undefined;
}
