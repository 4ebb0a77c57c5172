import { ALERT } from '../../../shared/log/level.js';
import { DONE, FAILED, OK, type Result } from '../../task/codes.js';
import { METHOD } from '../syntax/method.js';
import type { BodyStage, Chunk, SeekableSource, Source } from './body-stage.js';
import { chainEnd } from './chain-end.js';
import { logUri } from './debug-lines.js';
import type { Request } from './request.js';
import { traceFirstHeaders } from './trace-headers.js';

/**
 * Runs the header filters and makes the head ready to leave. Returns OK, or a status or FAILED to end the request with.
 * When `r.headerOnly` is set afterwards, there is no body to send. nginx: ngx_http_send_header.
 */
export function sendHeader(r: Request): Result {
  if (r.postAction) {
    return OK;
  }
  if (r.headerSent) {
    r.log(ALERT, 'header already sent');
    return FAILED;
  }
  const out = r.out;
  if (r.errStatus !== 0) {
    // Under another status, a client would wait for the body that the length is of, or take the next response for it.
    if ((out.status === 204 || out.status === 304) && out.contentLength > 0) {
      out.contentLength = 0;
    }
    out.status = r.errStatus;
    out.statusText = undefined;
  }
  r.bodyLength = out.contentLength;
  if (r.trace !== null && r === r.main) {
    traceFirstHeaders(r);
  }
  const filters = r.location.headerFilters;
  for (let i = 0; i < filters.length; i++) {
    const code = filters[i]!(r);
    if (code !== OK) {
      return code;
    }
    // A filter may have answered in another way, as not-modified does through a special response.
    if (r.headerSent) {
      return OK;
    }
  }
  r.headerSent = true;
  if (r !== r.main) {
    return OK;
  }
  // nginx: ngx_http_header_filter decides what has no body.
  if (r.methodBit === METHOD.HEAD) {
    r.headerOnly = true;
  }
  if (out.status !== 200 && out.status !== 206 && out.status !== 304) {
    out.ignoreLastModified();
  }
  if (out.status === 204) {
    r.headerOnly = true;
    // A backend may say of what type the nothing is.
    if (out.statusText === undefined) {
      out.contentType = '';
    }
    out.contentLength = -1;
  } else if (out.status === 304) {
    r.headerOnly = true;
  }
  r.clientExchange.sendHead(r);
  return OK;
}

/** Gives the body to the chain: the location's filters that this response needs, then the wire. */
export function sendBody(r: Request, source: Source): void {
  if (r.debugging) {
    logUri(r, 'http output filter');
  }
  r.source = source;
  r.first = buildChain(r);
  r.more();
}

/** Makes the body chain of a response whose head was sent. */
function buildChain(r: Request): BodyStage {
  let stage = chainEnd(r);
  const filters = r.location.bodyFilters;
  for (let i = filters.length - 1; i >= 0; i--) {
    stage = filters[i]!(r, stage);
  }
  return stage;
}

/** Sends head and body: what most content handlers end with. Returns the code to return from the handler. */
export function respond(r: Request, source: Source): Result {
  const code = sendHeader(r);
  if (code === FAILED || code > OK || r.headerOnly) {
    source.abort(r);
    return code;
  }
  sendBody(r, source);
  return DONE;
}

/** A body that is one piece of memory. */
class OneChunk implements SeekableSource {
  readonly #whole: Chunk;
  #chunk: Chunk;
  constructor(chunk: Chunk) {
    this.#whole = chunk;
    this.#chunk = chunk;
  }
  pull(r: Request): void {
    if (r.source === this) {
      r.source = null;
    }
    r.first!.send(r, this.#chunk, true);
  }
  abort(): void {}
  seek(start: number, end: number): void {
    this.#chunk = this.#whole.subarray(start, end);
  }
}

/** Sends a body that is in memory already. Sets the length. */
export function respondBuffer(r: Request, status: number, body: Buffer): Result {
  if (r.out.status === 0) {
    r.out.status = status;
  }
  r.out.contentLength = body.length;
  return respond(r, new OneChunk(body));
}

/** A source for one piece of memory, for callers that set the head themselves. */
export const bufferSource = (body: Chunk): SeekableSource => new OneChunk(body);
