import { ERROR as ERR } from '../../../shared/log/level.js';
import type { BodySink } from '../../http/request/client-stream.js';
import { RequestBody } from '../../http/request/request-body.js';
import { Gathered } from '../../io/gathered.js';
import type { UpstreamConnection } from '../connection/connection.js';
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
  r.stream.readBody(r, relay);
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
    body.length = relay.received;
    if (r.chunkedIn) {
      r.contentLength = body.length;
    }
  } else {
    r.requestBodyNoBuffering = true;
  }
  u.start();
}

/** Passes a body on. nginx: the request_body_no_buffering part of ngx_http_upstream_send_request_body. */
export class BodyRelay implements RequestSender, BodySink {
  readonly #u: UpstreamRequest;
  #output: RequestOutput | null = null;
  #c: UpstreamConnection | null = null;
  /** What came since the last write. */
  readonly bytes = new Gathered();
  #scheduled = false;
  #paused = false;
  #blocked = false;
  #stopped = false;
  #lastSent = false;
  readonly room: number;
  /** The client has sent all of it. */
  complete = false;
  received = 0;

  constructor(u: UpstreamRequest) {
    this.#u = u;
    this.room = u.r.location.settings.clientBodyBufferSize;
  }

  /** What sends the request from now on, and the connection to use. */
  bind(output: RequestOutput, c: UpstreamConnection): this {
    this.#output = output;
    this.#c = c;
    return this;
  }

  start(): void {
    const { socket } = this.#c!;
    socket.cork();
    this.#blocked = !this.#c!.writeText(this.#u.exchange.requestText);
    this.#flush();
    socket.uncork();
  }

  data(bytes: Buffer, start: number, end: number, announced: number): boolean {
    if (this.#stopped) {
      return false;
    }
    const { r } = this.#u;
    const { clientMaxBodySize, clientBodyBufferSize } = r.location.settings;
    this.received += end - start;
    if (r.chunkedIn && clientMaxBodySize !== 0 && this.received + announced > clientMaxBodySize) {
      r.log(ERR, `client intended to send too large chunked body: ${this.received}+${announced} bytes`);
      this.#u.finalize(413);
      return false;
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

  /** Called at the end of the turn in which data came. */
  due(): void {
    this.#scheduled = false;
    this.#flush();
  }

  end(): void {
    this.complete = true;
    if (this.#c !== null) {
      this.#flush();
    }
  }

  fail(status: number): void {
    if (!this.#stopped) {
      this.#u.finalize(status);
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
      if (c.flushed) {
        this.#output!.finish();
      } else {
        this.#output!.awaitBackend();
        if (flowing) {
          c.awaitFlush();
        }
      }
    } else if (flowing) {
      this.#output!.awaitClient();
      this.#goOn();
    } else {
      this.#blocked = true;
      this.#output!.awaitBackend();
    }
  }

  #write(c: UpstreamConnection): boolean {
    const frame = this.#u.exchange.bodyFrame;
    const size = this.bytes.length;
    const pieces = this.bytes.take();
    let flowing = true;
    c.socket.cork();
    const whole = frame !== undefined && size > 0 && size <= frame.largest;
    if (whole) {
      c.writeText(frame.before(size));
    }
    for (let i = 0; i < pieces.length; i++) {
      flowing = writePiece(c, whole ? undefined : frame, pieces[i]!);
    }
    if (whole) {
      flowing = c.writeText(frame.after(size));
    }
    if (frame !== undefined && this.complete) {
      flowing = c.writeText(frame.last);
    }
    c.socket.uncork();
    return flowing;
  }

  #goOn(): void {
    if (!this.#paused) {
      return;
    }
    this.#paused = false;
    this.#u.r.stream.resumeBody(this.#u.r);
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

  stop(): void {
    // Another peer may still get what was not sent.
    if (this.#u.done || this.#u.requestSent) {
      this.#stopped = true;
    }
  }
}

function flushRelay(relay: BodyRelay): void {
  relay.due();
}
