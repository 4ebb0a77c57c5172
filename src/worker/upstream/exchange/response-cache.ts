import type { Trace } from '../../http/request/trace.js';
import type { Result } from '../../task/codes.js';
import type { UpstreamRequest } from './upstream-request.js';

/**
 * Where a store of responses joins a request to a backend. The engine calls each method at the point where nginx's
 * ngx_http_upstream.c has its cache code, and knows nothing else of it.
 */
export interface ResponseCache {
  /**
   * Before a backend is asked. Returns DECLINED to ask it, AGAIN when the cache will call `u.proceed()` later, DONE
   * when the response was sent from the cache, or a status to answer with. nginx: ngx_http_upstream_cache.
   */
  lookup(u: UpstreamRequest): Result;
  /** Whether it was asked for this request; not where its method or its zone keeps it from that. */
  asked(u: UpstreamRequest): boolean;
  /** Tells the trace of the request what the cache had for it, when its backend is asked. */
  traceStatus(u: UpstreamRequest): void;
  /** Notes what was found, before a backend is asked or an error is answered that the cache remembers. */
  trace(u: UpstreamRequest, trace: Trace): void;
  /** A head was read: says what is in it for the cache. */
  headRead(u: UpstreamRequest): void;
  /** The head that was read is going to the client. */
  headAccepted(u: UpstreamRequest): void;
  /**
   * A failure (bits of `FT`) is about to be answered; `answered`: by the backend's own response. Returns true when a
   * stale response was sent instead.
   */
  failed(u: UpstreamRequest, failure: number, answered: boolean): boolean;
  /** The backend says 304 to a conditional request of the cache. Returns true when the stored response was sent. */
  notModified(u: UpstreamRequest): boolean;
  /** An error page takes the place of the response: the cache may remember the status. */
  intercepted(u: UpstreamRequest, status: number): void;
  /** The head is complete and goes to the client: decides whether the body is kept; calls `u.copyBodyTo` then. */
  begin(u: UpstreamRequest): void;
  /** The response goes straight to the client, and is not kept. */
  passing(u: UpstreamRequest): void;
  /** The body came in whole. */
  commit(u: UpstreamRequest): void;
  /** The request to the backend is over with this code; whatever was not committed is dropped. */
  finish(u: UpstreamRequest, code: number): void;
}
