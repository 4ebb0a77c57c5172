import { DEBUG, ERROR } from '../../../shared/log/level.js';
import type { Request } from '../../http/request/request.js';
import { now } from '../../task/at-work.js';
import type { Channel, ChannelOwner } from '../connection/channel.js';
import { transferFailure } from '../connection/wire-errors.js';
import { Http2Refused, Http2Unsuited } from '../http2/http2-user.js';
import { HEAD_AGAIN, HEAD_ERROR, HEAD_INTERIM, HEAD_INVALID, HEAD_NONE } from '../response/head-codes.js';
import { type HeldHead, holdHead } from '../response/held-head.js';
import { FailureType, statusFailure } from '../settings/failure.js';
import { interceptError } from './intercept.js';
import { logUpstreamHead } from './log-exchange.js';
import { mayTryNext } from './next-upstream.js';
import { passInterim } from './pass-interim.js';
import { heedHead, processHead } from './process-head.js';
import { sendResponse } from './send-response.js';
import { traceResponse } from './trace-exchange.js';
import type { UpstreamRequest } from './upstream-request.js';

const HTTP_2 = 2000;

/**
 * Reads the response head of one attempt, and says what becomes of the response. It owns the connection from the time the
 * request is sent on. nginx: ngx_http_upstream_process_header.
 */
export class ResponseHeadReader implements ChannelOwner {
  readonly #u: UpstreamRequest;
  #held: HeldHead | null = null;
  /** How many bytes of interim heads there were. */
  #interimBytes = 0;

  constructor(u: UpstreamRequest) {
    this.#u = u;
  }

  get r(): Request {
    return this.#u.r;
  }

  connected(): void {}

  ready(): void {}

  received(_c: Channel, bytes: Buffer, end: number): void {
    this.#take(bytes, end);
  }

  #take(given: Buffer, size: number): void {
    const u = this.#u;
    u.action = 'reading response header from upstream';
    if (this.r.debugging) {
      u.log(DEBUG, 'http upstream process header');
    }
    u.peer.attempt!.bytesReceived += size;
    const held = this.#held;
    if (held === null) {
      this.#read(given, 0, size);
      return;
    }
    if (held.goesOn(given, 0, size, u.exchange.quiet) || held.length >= u.conf.settings.bufferSize) {
      this.#read(held.all, held.read, held.length);
    }
  }

  /** Reads on from `start` in bytes that begin with the head. */
  #read(bytes: Buffer, from: number, end: number): void {
    const u = this.#u;
    const { exchange } = u;
    const { bufferSize } = u.conf.settings;
    let start = from;
    let base = 0;
    for (;;) {
      const limit = Math.min(end, base + bufferSize);
      const code = exchange.readHead(u, bytes, start, limit);
      start = exchange.next;
      if (code === HEAD_AGAIN && exchange.keepsHead) {
        if (start >= end) {
          return;
        }
        base = start;
        continue;
      }
      if (code === HEAD_AGAIN) {
        if (limit - base === bufferSize) {
          u.peer.report(ERROR, 'upstream sent too big header');
          u.peer.next(FailureType.INVALID_HEADER);
          return;
        }
        this.#held = holdHead(this.#held, bytes, base, end, start);
        return;
      }
      if (code === HEAD_INTERIM) {
        this.#interimBytes += start - base;
        if (!u.head.countInterim()) {
          u.peer.report(ERROR, 'upstream sent too many interim responses');
          u.peer.next(FailureType.INVALID_HEADER);
          return;
        }
        passInterim(u, this.#interimBytes);
        u.head.clear();
        if (u.done) {
          return;
        }
        base = start;
        continue;
      }
      if (this.#complete(code)) {
        this.#decide(bytes, start, end);
      }
      return;
    }
  }

  /** Takes note of how reading the head has ended. Returns false when there is none to go on with. */
  #complete(code: number): boolean {
    const u = this.#u;
    const attempt = u.peer.attempt!;
    if (code === HEAD_NONE && u.peer.reused) {
      // It stood behind the response before, which said that it was shorter.
      u.peer.report(ERROR, 'upstream sent no valid header on a connection that was kept');
      u.peer.next(FailureType.ERROR);
      return false;
    }
    // A backend that has sent a head does not speak HTTP/0.9.
    const broken = code === HEAD_NONE && u.head.interims > 0;
    if (broken) {
      u.log(ERROR, 'upstream sent no valid header after an interim response');
    }
    const untellable = code !== HEAD_INVALID && code !== HEAD_ERROR && this.#untellable(code);
    if (untellable) {
      u.log(ERROR, `upstream sent ${code === HEAD_NONE ? 'no valid HTTP/1.0 header' : 'a status below 100'}, which HTTP/2 cannot pass on`);
    }
    if (broken || untellable || code === HEAD_INVALID) {
      attempt.reason = 'upstream sent invalid header';
      u.peer.next(FailureType.INVALID_HEADER);
      return false;
    }
    if (code === HEAD_ERROR) {
      u.finalize(500);
      return false;
    }
    if (code === HEAD_NONE) {
      // nginx logs neither an error nor a status of a response that a cache might keep.
      if (!u.conf.cache?.asked(u)) {
        u.log(ERROR, 'upstream sent no valid HTTP/1.0 header');
        attempt.status = 200;
      }
      this.r.httpVersion = 9;
    } else if (attempt.status === 0 && !u.exchange.makesHead) {
      attempt.status = u.head.status;
    }
    return true;
  }

  /**
   * HTTP/2 has no responses without a head, as those of HTTP/0.9 are, and none with a status below 100: strict clients would take `:status
   * 000` for an error of the whole connection. What is put into another response needs no status.
   */
  #untellable(code: number): boolean {
    const { r } = this;
    return r.httpVersion >= HTTP_2 && r === r.main && !this.#u.exchange.makesHead && (code === HEAD_NONE || this.#u.head.status < 100);
  }

  /** Has the response sent, or another one in its place; its body begins with `bytes` from `start` on. */
  #decide(bytes: Buffer, start: number, end: number): void {
    const u = this.#u;
    const { cache } = u.conf;
    // A response that is its head alone may end here, unread by anybody else; whatever follows would answer the next request.
    if (start < end) {
      u.keepConnection(false);
    }
    u.peer.headRead(now());
    if (this.r.debugging) {
      logUpstreamHead(u);
    }
    heedHead(u);
    cache?.headRead(u);
    const status = u.head.status;
    if (this.r.trace !== null) {
      traceResponse(u);
    }
    if (status >= 300) {
      if (this.#tryNext(status)) {
        return;
      }
      if (interceptError(u, status)) {
        return;
      }
    }
    u.peer.headAccepted();
    cache?.headAccepted(u);
    if (processHead(u)) {
      sendResponse(u, bytes, start, end);
    }
  }

  // nginx: ngx_http_upstream_test_next.
  #tryNext(status: number): boolean {
    const u = this.#u;
    const { cache } = u.conf;
    const failure = statusFailure(status);
    if (failure !== 0) {
      if (u.peer.mayTryAnother && mayTryNext(u, failure)) {
        u.peer.next(failure);
        return true;
      }
      if (cache?.failed(u, failure, true)) {
        return true;
      }
    }
    return status === 304 && cache !== undefined && cache.notModified(u);
  }

  ended(): void {
    const u = this.#u;
    u.action = 'reading response header from upstream';
    u.peer.report(ERROR, 'upstream prematurely closed connection');
    u.peer.next(FailureType.ERROR);
  }

  failed(_c: Channel, error: Error): void {
    const u = this.#u;
    u.action = u.output!.complete ? 'reading response header from upstream' : 'sending request to upstream';
    if (error instanceof Http2Refused) {
      u.peer.blame(error.message);
      u.peer.next(FailureType.REFUSED);
      return;
    }
    if (error instanceof Http2Unsuited) {
      u.peer.report(ERROR, error.message);
      u.peer.next(FailureType.UNSUITED);
      return;
    }
    const { level, message } = transferFailure(error);
    u.peer.report(level, message);
    u.peer.next(FailureType.ERROR);
  }

  drained(c: Channel): void {
    this.#u.output!.drained(c);
  }

  timedOut(): void {
    const u = this.#u;
    if (u.output!.complete) {
      u.action = 'reading response header from upstream';
    }
    u.peer.next(FailureType.TIMEOUT);
  }
}
