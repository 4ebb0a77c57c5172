import { Gathered } from '../../bytes/gathered.js';
import type { BodySink } from '../../http/request/client-exchange.js';
import { clientSlot } from '../../http/request/client-settings.js';
import { CLIENT_CLOSED_REQUEST } from '../../http/request/codes.js';
import { exceedsLimit, loseBody, RequestBody } from '../../http/request/request-body.js';
import type { Status } from '../../task/codes.js';
import type { Channel } from '../connection/channel.js';
import { writePiece } from './body-frame.js';
import type { RequestSender } from './body-sender.js';
import type { RequestOutput } from './request-output.js';
import type { UpstreamRequest } from './upstream-request.js';

/**
 * Starts a request whose body is passed on while it comes. A body that is here already is treated as any other, so that
 * several backends can be tried with it. nginx: ngx_http_read_client_request_body with request_body_no_buffering.
 */
export function startUnbuffered(u: UpstreamRequest): void {
  const { r } = u;
  r.body = new RequestBody();
  const relay = new BodyRelay(u);
  u.relayBody(relay);
  r.clientExchange.readBody(r, relay);
  // The connection gives what it has read already once the handler is left.
  process.nextTick(decide, u, relay, r.body);
}

function decide(u: UpstreamRequest, relay: BodyRelay, body: RequestBody): void {
  const { r } = u;
  if (u.done || r.finished) {
    return;
  }
  if (relay.complete) {
    u.relayBody(null);
    body.bytes = relay.bytes;
    body.complete = true;
    if (r.chunkedIn) {
      r.contentLength = body.length;
    }
  } else {
    r.requestBodyNoBuffering = true;
  }
  u.start();
}

/** So much of what was sent is kept at most. */
const MOST_KEPT = 64 * 1024;
/** Pieces of this length leave at once; smaller ones wait for what comes with them. */
const PASSED_ON = 8 * 1024;

/** Passes a body on. nginx: the request_body_no_buffering part of ngx_http_upstream_send_request_body. */
export class BodyRelay implements RequestSender, BodySink {
  readonly #u: UpstreamRequest;
  #output: RequestOutput | null = null;
  #c: Channel | null = null;
  /** What came since the last write. */
  readonly bytes: Gathered;
  /** What was sent, for a backend that refuses the request without a look; null once that is too much, or where none can refuse. */
  #kept: Gathered | null;
  #scheduled = false;
  #paused = false;
  #blocked = false;
  #stopped = false;
  #lastSent = false;
  readonly room: number;
  /** The client has sent all of it. */
  complete = false;
  #received = 0;

  constructor(u: UpstreamRequest) {
    this.#u = u;
    this.room = u.r.location.conf(clientSlot).clientBodyBufferSize;
    const ownConnection = u.exchange.http2User === undefined;
    // A stream keeps what it is given, so that it would copy what is lent.
    this.bytes = new Gathered(ownConnection);
    this.#kept = ownConnection ? null : new Gathered();
  }

  /** All that was sent can be sent again. */
  get replayable(): boolean {
    return this.#kept !== null;
  }

  /** What sends the request from now on, and the connection to use. */
  bind(output: RequestOutput, c: Channel): this {
    this.#output = output;
    this.#c = c;
    if (this.#kept !== null && this.#kept.length > 0) {
      this.#putBack(this.#kept);
    }
    return this;
  }

  /** What was sent is sent again, before what has come since. */
  #putBack(kept: Gathered): void {
    const since = this.bytes.take();
    this.#kept = new Gathered();
    for (const piece of [...kept.take(), ...since]) {
      this.bytes.add(piece, 0, piece.length);
    }
  }

  #keep(pieces: readonly Buffer[], size: number): void {
    const kept = this.#kept;
    if (kept === null) {
      return;
    }
    if (kept.length + size > Math.min(this.room, MOST_KEPT)) {
      this.#kept = null;
      return;
    }
    for (let i = 0; i < pieces.length; i++) {
      kept.add(pieces[i]!, 0, pieces[i]!.length);
    }
  }

  start(): void {
    const c = this.#c!;
    const { bodyFrame, requestText } = this.#u.exchange;
    // To have much leave together costs more than to send the head alone.
    const together = bodyFrame !== undefined || this.bytes.length < PASSED_ON;
    if (together) {
      c.cork();
    }
    this.#blocked = !c.writeText(requestText);
    this.#flush();
    if (together) {
      c.uncork();
    }
  }

  data(bytes: Buffer, start: number, end: number, announced: number): boolean {
    if (this.#stopped) {
      return false;
    }
    const { r } = this.#u;
    const { clientBodyBufferSize } = r.location.conf(clientSlot);
    if (r.chunkedIn && exceedsLimit(r, this.#received + end - start, announced)) {
      this.#u.finalize(413);
      return false;
    }
    this.#received += end - start;
    if (end - start >= PASSED_ON && this.#flows) {
      this.#passOn(bytes, start, end);
      return !this.#blocked;
    }
    this.bytes.add(bytes, start, end);
    // What comes together leaves together, once the connection has given all it has read.
    if (this.#c !== null && !this.#scheduled) {
      this.#scheduled = true;
      process.nextTick(flushRelay, this);
    }
    this.#paused = (this.#c === null || this.#blocked) && this.bytes.length >= clientBodyBufferSize;
    return !this.#paused;
  }

  /** Nothing stands between what comes and the backend. */
  get #flows(): boolean {
    return this.#c !== null && !this.#blocked && this.bytes.length === 0 && this.#u.exchange.bodyFrame === undefined && !this.#u.done;
  }

  /** Sends bytes straight out of the memory that they were read into. */
  #passOn(bytes: Buffer, start: number, end: number): void {
    this.#kept = null;
    if (this.#c!.writeLent(bytes, start, end)) {
      this.#output!.awaitBody();
    } else {
      this.#blocked = true;
      this.#paused = true;
      this.#output!.awaitBackend();
    }
  }

  /** Called at the end of the turn in which data came. What comes while the backend takes nothing waits, until it is as much as may. */
  due(): void {
    this.#scheduled = false;
    if (!this.#blocked) {
      this.#flush();
    }
  }

  end(): void {
    this.complete = true;
    const { body } = this.#u.r;
    if (body !== null) {
      body.came = this.#received;
    }
    if (this.#c !== null) {
      this.#flush();
    }
  }

  fail(status: Status): void {
    if (!this.#stopped) {
      // As in nginx, where it does not count who ended the body.
      this.#u.finalize(status === CLIENT_CLOSED_REQUEST ? 400 : status);
    }
  }

  /** Writes what there is. */
  #flush(): void {
    const c = this.#c;
    if (this.#stopped || this.#lastSent || c === null || this.#u.done) {
      return;
    }
    let flowing = !this.#blocked;
    if (this.bytes.length > 0 || this.complete) {
      flowing = this.#write(c);
    }
    if (this.complete) {
      this.#lastSent = true;
      c.finishRequest();
      if (c.flushed) {
        this.#output!.finish();
      } else {
        this.#output!.awaitBackend();
        if (flowing) {
          c.awaitFlush();
        }
      }
    } else if (flowing) {
      this.#output!.awaitBody();
      this.#goOn();
    } else {
      this.#blocked = true;
      this.#output!.awaitBackend();
    }
  }

  #write(c: Channel): boolean {
    const frame = this.#u.exchange.bodyFrame;
    const size = this.bytes.length;
    this.#keep(this.bytes.pieces, size);
    if (frame === undefined && this.bytes.lendable) {
      return this.bytes.lend((piece) => c.writeLent(piece, 0, piece.length));
    }
    const pieces = this.bytes.take();
    let flowing = true;
    const together = frame !== undefined || pieces.length > 1;
    if (together) {
      c.cork();
    }
    const whole = frame !== undefined && size > 0 && size <= frame.largest;
    if (whole) {
      c.writeText(frame.before(size));
    }
    for (let i = 0; i < pieces.length; i++) {
      flowing = writePiece(c, whole ? undefined : frame, pieces[i]!, false);
    }
    if (whole) {
      flowing = c.writeText(frame.after(size));
    }
    if (frame !== undefined && this.complete) {
      flowing = c.writeText(frame.last);
    }
    if (together) {
      c.uncork();
    }
    return flowing;
  }

  #goOn(): void {
    if (!this.#paused) {
      return;
    }
    this.#paused = false;
    this.#u.r.clientExchange.resumeBody(this.#u.r);
  }

  drained(): void {
    if (this.#stopped) {
      return;
    }
    this.#blocked = false;
    if (this.#lastSent) {
      if (this.#c!.flushed) {
        this.#output!.finish();
      }
      return;
    }
    this.#flush();
  }

  /** The business with backends is over: what was passed on is gone, and what was not is nobody else's. */
  leave(): void {
    this.#stopped = true;
    const { r } = this.#u;
    if (!r.finished) {
      loseBody(r);
    }
  }

  stop(): void {
    // Another peer may still get what was not sent, or all of it.
    if (this.#u.done || (this.#u.requestSent && this.#kept === null)) {
      this.#stopped = true;
    } else {
      this.#c = null;
      this.#blocked = this.#lastSent = false;
    }
  }
}

function flushRelay(relay: BodyRelay): void {
  relay.due();
}
