import type { Request } from '../../http/request/request.js';
import type { QuietBytes } from '../../http/syntax/quiet-bytes.js';
import type { Http2User } from '../http2/http2-user.js';
import type { UpstreamRequest } from './upstream-request.js';

/**
 * One request's use of a protocol: how the request is written and the response read. It knows nothing of peers,
 * connections or buffering. nginx: the callbacks of ngx_http_upstream_t.
 */
export interface Exchange {
  /**
   * Makes the bytes to send before the body, as latin1 text. Returns false, with the reason logged, to end with 500. nginx:
   * create_request.
   */
  createRequest(u: UpstreamRequest): boolean;
  /** The text that {@link createRequest} made. */
  readonly requestText: string;
  /** Frames pieces of body; undefined when they go out as they are. */
  readonly bodyFrame: BodyFrame | undefined;
  /** The body goes with the request. */
  readonly sendsBody: boolean;
  /** The request announces a body of another length than the one it is sent with. */
  readonly owesBody?: boolean;
  /** Forgets the response, for another attempt. nginx: reinit_request. */
  reset(u: UpstreamRequest): void;
  /** Reads the head from `start`; returns a HEAD_ code (head-codes.ts) and leaves in `next` where to go on. nginx: process_header. */
  readHead(u: UpstreamRequest, bytes: Buffer, start: number, end: number): number;
  /** {@link readHead} keeps what it was given itself, and sees to the limit of the head's size. */
  readonly keepsHead?: true;
  /** The backend sends no head: {@link readHead} makes one as soon as the request was sent. nginx: ignore_input. */
  readonly makesHead?: true;
  readonly next: number;
  /** After HEAD_AGAIN: the bytes that need not be given to {@link readHead} before others come. */
  readonly quiet?: QuietBytes;
  /** Whether some of the bytes that came behind a head without a body are one; if absent, all are. */
  hasBody?(bytes: Buffer, start: number, end: number): boolean;
  /** The head is done with: prepares for the body. nginx: input_filter_init. */
  beginBody(u: UpstreamRequest): void;
  /**
   * Takes the framing off and gives the pieces to `u.pipe.add`. Sets {@link complete} at the end of the body. Returns
   * false when the response is malformed. nginx: input_filter.
   */
  readBody(u: UpstreamRequest, bytes: Buffer, start: number, end: number): boolean;
  /**
   * How many bytes have to come at least until the end of the response: with as many a buffered response is passed on. Undefined where
   * whole buffers are awaited. nginx: ngx_event_pipe_t.length.
   */
  readonly least?: number | undefined;
  /** The whole response has been read. */
  readonly complete: boolean;
  /** The response ends with the connection. */
  readonly endsWithConnection: boolean;
  /** Has the request sent on a stream of an HTTP/2 connection; undefined where it has a connection of its own. */
  readonly http2User?: Http2User;
  /** Of a stream: what the backend did wrong; empty while it did nothing wrong. */
  readonly problem?: string;
}

/** The framing of a request body of unknown length. */
export interface BodyFrame {
  /** The longest piece that one frame can hold. */
  readonly largest: number;
  before(size: number): string;
  after(size: number): string;
  readonly last: string;
}

/** Changes a response head of the backend on its way to the client. */
export interface HeadRewriter {
  /** Redirects are changed; otherwise only cookies are. */
  readonly redirects: boolean;
  /** Returns the new value of a Location, or of a Refresh whose URL begins at `prefix`; undefined to leave it. */
  redirect(r: Request, value: string, prefix: number): string | undefined;
  cookie(r: Request, value: string): string | undefined;
}
