import { ERROR } from '../../../shared/log/level.js';
import type { Request } from '../../http/request/request.js';
import { sendBody } from '../../http/request/respond.js';
import { now } from '../../task/at-work.js';
import { FAILED, OK } from '../../task/codes.js';
import type { Channel, ChannelOwner } from '../connection/channel.js';
import { transferFailure } from '../connection/wire-errors.js';
import { ResponsePipe } from './pipe.js';
import { ReadPacer } from './read-pacer.js';
import type { Passing, UpstreamRequest } from './upstream-request.js';

/**
 * Reads a response's body into the pipe that leads to the client. It owns the connection once the head was sent on. nginx:
 * ngx_http_upstream_process_upstream, ngx_http_upstream_process_non_buffered_upstream.
 */
export class ResponseBodyReader implements ChannelOwner, Passing {
  readonly #u: UpstreamRequest;
  readonly pipe: ResponsePipe;
  readonly #pacer: ReadPacer | null;
  /** With so many bytes what is here is passed on, and how many have come since it was. */
  #least = Number.POSITIVE_INFINITY;
  #came = 0;

  constructor(u: UpstreamRequest) {
    this.#u = u;
    this.pipe = new ResponsePipe(u, this, u.buffering);
    this.#pacer = u.buffering ? ReadPacer.begin(u, this) : null;
  }

  get r(): Request {
    return this.#u.r;
  }

  /** Begins, with what came behind the head. */
  start(bytes: Buffer, start: number, end: number): void {
    const { r, pipe } = this;
    const u = this.#u;
    const { exchange } = u;
    exchange.beginBody(u);
    this.#least = exchange.least ?? Number.POSITIVE_INFINITY;
    // As in nginx, what came with the head of a response that is not buffered is read before that.
    if (u.buffering) {
      u.action = 'reading upstream';
    }
    // The client's side begins first, so that a large first piece goes to it and not to a temporary file.
    if (r.headerOnly) {
      pipe.abandon();
    } else if (!r.finished) {
      sendBody(r, pipe);
    }
    if (u.done) {
      return;
    }
    if (exchange.complete) {
      if (start < end) {
        u.peer.attempt!.responseLength += end - start;
        exchange.readBody(u, bytes, start, end);
      }
      this.#complete();
      pipe.own();
      return;
    }
    u.peer.connection!.deadline.set(now(), u.conf.settings.readTimeout);
    if (start !== end) {
      if (this.#pacer === null) {
        this.#read(bytes, start, end);
      } else {
        this.#pacer.take(bytes, start, end);
      }
    }
    if (!u.done) {
      u.action = 'reading upstream';
    }
  }

  /** Reads a piece of the body; what it yields goes to the pipe. */
  #read(bytes: Buffer, start: number, end: number): void {
    this.#take(bytes, start, end);
    this.pipe.own();
  }

  #take(bytes: Buffer, start: number, end: number): void {
    const u = this.#u;
    const { exchange } = u;
    const attempt = u.peer.attempt!;
    attempt.responseLength += end - start;
    if (!exchange.readBody(u, bytes, start, end)) {
      attempt.reason = 'upstream sent invalid response';
      // What came before was whole and sound, and the client gets it, however it was cut into pieces. Where nothing of a body came, no
      // head goes out that is still here, as in nginx.
      u.finalize(this.pipe.begun || exchange.http2User !== undefined ? 502 : FAILED);
      return;
    }
    if (exchange.complete) {
      this.#complete();
      return;
    }
    this.#came += end - start;
    if (this.#came >= this.#least) {
      this.#came = 0;
      this.#least = exchange.least ?? Number.POSITIVE_INFINITY;
      this.pipe.flow();
    }
    if (!this.pipe.settle(end - start)) {
      u.finalize(FAILED);
      return;
    }
    const c = u.peer.connection;
    if (c !== null && !c.paused) {
      c.deadline.set(now(), u.conf.settings.readTimeout);
    }
  }

  #complete(): void {
    const u = this.#u;
    if (u.cacheable) {
      u.conf.cache!.commit(u);
    }
    u.store?.commit();
    u.finalize(OK);
  }

  // ---------------------------------------------------------------- how fast it reads

  /** The client's side has enough for now. */
  pause(): void {
    const c = this.#u.peer.connection;
    if (c === null || c.paused) {
      return;
    }
    c.pause();
    c.deadline.clear();
  }

  /** The client's side has room again. */
  resume(): void {
    const c = this.#u.peer.connection;
    if (c === null || !c.paused || this.#pacer?.holding) {
      return;
    }
    c.resume();
    c.deadline.set(performance.now(), this.#u.conf.settings.readTimeout);
  }

  /** Bytes that the rate limit has let through. */
  paced(bytes: Buffer, start: number, end: number): void {
    if (!this.#u.done) {
      this.#read(bytes, start, end);
    }
  }

  /** The response is over, whatever is left of it. */
  stop(): void {
    const pacer = this.#pacer;
    if (pacer === null) {
      return;
    }
    if (pacer.leftOver) {
      this.#u.keepConnection(false);
    }
    pacer.stop();
  }

  // ---------------------------------------------------------------- the connection

  connected(): void {}

  ready(): void {}

  received(_c: Channel, bytes: Buffer, end: number): void {
    const u = this.#u;
    u.action = 'reading upstream';
    u.peer.attempt!.bytesReceived += end;
    // What brings no bytes tells of the end.
    if (this.#pacer === null || end === 0) {
      this.#read(bytes, 0, end);
    } else {
      this.#pacer.take(bytes, 0, end);
    }
  }

  ended(): void {
    if (this.#pacer === null || !this.#pacer.endAfterHeld()) {
      this.finish();
    }
  }

  /** The backend has closed its side, and all that it sent was read. */
  finish(): void {
    const u = this.#u;
    if (u.done) {
      return;
    }
    if (u.exchange.endsWithConnection) {
      u.keepConnection(false);
      this.#complete();
      return;
    }
    u.action = 'reading upstream';
    u.peer.report(ERROR, 'upstream prematurely closed connection');
    u.finalize(502);
  }

  failed(_c: Channel, error: Error): void {
    const u = this.#u;
    u.action = 'reading upstream';
    const { level, message } = transferFailure(error, u.buffering ? 'readv' : 'recv');
    u.peer.report(level, message);
    u.finalize(502);
  }

  drained(c: Channel): void {
    this.#u.output!.drained(c);
  }

  timedOut(): void {
    const u = this.#u;
    u.action = 'reading upstream';
    u.log(ERROR, 'upstream timed out (110: Connection timed out)');
    u.peer.attempt!.reason = 'upstream timed out';
    if (u.buffering) {
      this.pipe.forget();
    }
    u.finalize(u.buffering ? 502 : 504);
  }
}
