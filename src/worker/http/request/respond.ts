import { ALERT } from '../../../shared/log/level.js';
import { AGAIN, DONE, FAILED, OK, type Result } from '../../task/codes.js';
import { METHOD } from '../syntax/method.js';
import type { BodyFilter, BodyStage, Chunk, SeekableSource, Source } from './body-stage.js';
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
  if (r.headGiven) {
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
  return filterHead(r, 0);
}

/**
 * Has the head wait for what `filter`, the body filter of the same module, finds in the body: its stage calls {@link sendHeldHead}, or
 * {@link forgetHeldHead}. A header filter returns the result, which is AGAIN.
 */
export function holdHead(r: Request, filter: BodyFilter): typeof AGAIN {
  r.headHolder = filter;
  return AGAIN;
}

/** Sends a head that was held back, past the filters that it has not been through. Returns what {@link sendHeader} does. */
export function sendHeldHead(r: Request): Result {
  r.headHolder = null;
  return filterHead(r, r.headFilters);
}

/**
 * Forgets a response whose head is held back, and whose body has ended or was given up: the request is finalized with a status next. nginx:
 * ngx_http_filter_finalize_request.
 */
export function forgetHeldHead(r: Request): void {
  r.headHolder = null;
  r.first = null;
  r.bodyIdentity = undefined;
  r.out.clear();
  r.ctx = null;
}

/** Runs the header filters from one on, and makes the head ready to leave. */
function filterHead(r: Request, from: number): Result {
  const out = r.out;
  const filters = r.location.headerFilters;
  for (let i = from; i < filters.length; i++) {
    const code = filters[i]!(r);
    if (code !== OK) {
      if (code === AGAIN) {
        r.headFilters = i + 1;
        return OK;
      }
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
  // One that is no date stays.
  if (out.lastModified !== -1 && out.status !== 200 && out.status !== 206 && out.status !== 304) {
    out.ignoreLastModified();
  }
  if (out.status === 204) {
    out.ignoreLastModified();
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

/** Makes the body chain of a response from one filter on: as far as its head has come. */
function buildChain(r: Request, from = 0): BodyStage {
  const filters = r.location.bodyFilters;
  const { headHolder } = r;
  let end = filters.length;
  let stage: BodyStage;
  if (headHolder === null) {
    stage = chainEnd(r);
  } else {
    end = filters.indexOf(headHolder) + 1;
    stage = new RestOfChain(end);
  }
  for (let i = end - 1; i >= from; i--) {
    stage = filters[i]!(r, stage);
  }
  return stage;
}

/** Stands for the stages behind one that holds the head back: which of them there are depends on the head that it sends. */
class RestOfChain implements BodyStage {
  readonly #from: number;
  #first: BodyStage | null = null;

  constructor(from: number) {
    this.#from = from;
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    if (this.#first !== null) {
      this.#first.send(r, chunk, last);
      return;
    }
    this.#first = buildChain(r, this.#from);
    this.#first.send(r, chunk, last);
    // What joins bodies waits until it is asked, and was not there when somebody asked.
    r.postponed?.pull();
  }

  abort(r: Request): void {
    this.#first?.abort?.(r);
  }
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
  if (r.out.status === 0 || r.postAction) {
    r.out.status = status;
  }
  r.out.contentLength = body.length;
  return respond(r, new OneChunk(body));
}

/** A source for one piece of memory, for callers that set the head themselves. */
export const bufferSource = (body: Chunk): SeekableSource => new OneChunk(body);
