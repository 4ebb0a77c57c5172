import type { Socket } from 'node:net';
import { DirectWriter, REFUSED, WRITTEN } from '../../shared/net/direct-writer.js';
import { makePacer, type RatePacer } from '../body/rate.js';
import type { Chunk } from '../body/stage.js';
import type { Deadline } from './deadline.js';
import { finalize } from './finalize.js';
import type { Request } from './request.js';
import { HTTP_10, HTTP_11 } from './request-line.js';
import { http1Head } from './response-head.js';
import { reasonPhrase } from './response-status.js';
import type { TurnEnd, TurnTask } from './turn-end.js';

/** Up to this size head and body are copied into one buffer, which is cheaper than two writes. */
const COPY_LIMIT = 32 * 1024;
const EMPTY = Buffer.alloc(0);
const CONTINUE = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');

/**
 * The way out of an HTTP/1 connection: puts heads and framed pieces of body on the socket, one response at a time, and
 * asks for the next piece when there is room. nginx: ngx_http_write_filter, ngx_http_writer.
 */
export class Http1Output implements TurnTask {
  readonly #socket: Socket;
  readonly #deadline: Deadline;
  readonly #turn: TurnEnd;
  #request: Request | null = null;
  /** The head, until it leaves with the first piece of the body. */
  #head: string | null = null;
  #flushScheduled = false;
  #pacer: RatePacer | null = null;
  /** Bytes sent that the pace does not count: a head of usual length. */
  #uncounted = 0;
  /** What is left of a long head waits for its pace. */
  #headWaits = false;
  #waiting = false;
  #lastQueued = false;
  readonly #onFlushed: () => void;
  readonly #direct: DirectWriter;

  /** `deadline` runs out when a client takes nothing for `send_timeout`. */
  constructor(socket: Socket, deadline: Deadline, turn: TurnEnd, tls: boolean) {
    this.#socket = socket;
    this.#deadline = deadline;
    this.#turn = turn;
    this.#onFlushed = () => this.drained();
    socket.on('drain', this.#onFlushed);
    this.#direct = new DirectWriter(socket, this.#onFlushed, tls);
  }

  /** Some of the response still waits to leave. */
  get pendingHead(): boolean {
    return this.#head !== null;
  }

  sendContinue(r: Request): void {
    const expect = r.httpVersion >= HTTP_11 ? r.header('expect') : undefined;
    if (expect !== undefined && expect.toLowerCase() === '100-continue') this.#put(CONTINUE);
  }

  sendInformational(r: Request, status: number, fields: readonly string[]): void {
    if (r.httpVersion < HTTP_11) return;
    let text = `HTTP/1.1 ${status} ${reasonPhrase(status)}\r\n`;
    for (let i = 0; i < fields.length; i += 2) text += `${fields[i]}: ${fields[i + 1]}\r\n`;
    this.#put(text + '\r\n');
  }

  sendHead(r: Request): void {
    this.#request = r;
    this.#head = r.httpVersion < HTTP_10 ? '' : http1Head(r);
    r.headerSize = this.#head.length;
    if (r.headerOnly) this.flush();
    else {
      this.#pacer = makePacer(r);
      this.#uncounted = this.#pacer !== null && r.headerSize > this.#pacer.freeHead ? 0 : r.headerSize;
    }
  }

  /** Sends the head now, without waiting for a piece of body. */
  flush(): void {
    const head = this.#head;
    const r = this.#request;
    if (head === null || head === '' || r === null) return;
    if (this.#pacer !== null && this.#uncounted === 0) {
      this.#paceHead(r, this.#pacer, head);
      return;
    }
    this.#head = null;
    r.bytesSent += head.length;
    this.#put(head);
  }

  /** Sends as much of a long head as its pace allows, and the rest later. */
  #paceHead(r: Request, pacer: RatePacer, head: string): void {
    if (this.#headWaits) return;
    const allowed = Math.min(Math.max(pacer.allowed(performance.now(), r.bytesSent), 0), head.length);
    this.#head = allowed === head.length ? null : head.slice(allowed);
    if (allowed > 0) {
      r.bytesSent += allowed;
      this.#put(head.slice(0, allowed));
    }
    if (this.#head === null) return;
    this.#headWaits = true;
    setTimeout(sendHeadRest, pacer.delay(performance.now(), r.bytesSent), this, r);
  }

  headDue(r: Request): void {
    if (r !== this.#request) return;
    this.#headWaits = false;
    this.flush();
  }

  /** Sends the head at the end of the turn unless a piece of body takes it along before. */
  flushSoon(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    this.#turn.ask(this);
  }

  turnEnded(): void {
    this.#flushScheduled = false;
    this.flush();
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    if (r !== this.#request) return;
    const pacer = this.#pacer;
    if (pacer !== null && this.#uncounted === 0 && this.#head !== null && this.#head !== '') {
      this.#paceHead(r, pacer, this.#head);
      if (this.#head !== null) {
        setTimeout(sendRest, pacer.delay(performance.now(), r.bytesSent), this, r, chunk, last);
        return;
      }
    }
    if (pacer !== null && chunk !== null && chunk.length > 0) {
      const allowed = pacer.allowed(performance.now(), r.bytesSent - this.#uncounted);
      if (allowed < chunk.length) {
        this.#sendLater(r, pacer, chunk, last, allowed);
        return;
      }
    }
    const flowing = this.#write(r, chunk, last);
    if (last) {
      this.#lastQueued = true;
      if (this.empty) this.#sentAll(r);
      else this.#awaitDrain(r, flowing);
    } else if (flowing) r.more();
    else this.#awaitDrain(r, false);
  }

  /** How many bytes of the body may be offered at a time: they leave as they are, as fast as the client takes them. */
  offerLimit(r: Request): number {
    return r === this.#request && this.#pacer === null && !r.chunkedOut ? this.#direct.offerLimit : 0;
  }

  /** Sends as many of the bytes as the client's connection takes now, and returns how many; what to do next is up to `send`. */
  offer(r: Request, bytes: Chunk): number {
    this.flush();
    const taken = this.#direct.offer(bytes);
    r.bytesSent += taken;
    return taken;
  }

  /** The kernel has taken everything. */
  get empty(): boolean {
    return this.#direct.empty;
  }

  /** Sends what the rate allows and the rest after a pause. nginx: ngx_http_write_filter with limit_rate. */
  #sendLater(r: Request, pacer: RatePacer, chunk: Chunk, last: boolean, allowed: number): void {
    let rest = chunk;
    if (allowed > 0) {
      rest = chunk.subarray(allowed);
      this.#write(r, chunk.subarray(0, allowed), false);
    }
    setTimeout(sendRest, pacer.delay(performance.now(), r.bytesSent - this.#uncounted), this, r, rest, last);
  }

  #awaitDrain(r: Request, flowing: boolean): void {
    this.#waiting = true;
    this.#deadline.set(performance.now(), r.location.settings.sendTimeout);
    // Node tells when its buffer has drained only if a write returned false.
    if (!flowing || this.#direct.pending) return;
    this.#direct.hold();
    this.#socket.write(EMPTY, this.#onFlushed);
  }

  /** The socket has room again. */
  drained(): void {
    const r = this.#request;
    if (!this.#waiting || r === null) return;
    this.#waiting = false;
    this.#deadline.clear();
    if (this.#lastQueued) this.#sentAll(r);
    else r.more();
  }

  #sentAll(r: Request): void {
    this.#lastQueued = false;
    finalize(r, 0);
  }

  /** What is done to the socket from now on comes after everything that was written here. */
  handOver(): void {
    this.#direct.hold();
  }

  /** The response is over. */
  reset(): void {
    this.flush();
    this.abandon();
  }

  /** The response was given up: nothing more of it leaves. */
  abandon(): void {
    this.#request = null;
    this.#head = null;
    this.#pacer = null;
    this.#headWaits = false;
    this.#waiting = false;
    this.#lastQueued = false;
  }

  /** Puts head, framing and a piece on the socket. Returns false when the socket's buffer is full. */
  #write(r: Request, chunk: Chunk | null, last: boolean): boolean {
    let before = this.#head ?? '';
    this.#head = null;
    const size = chunk === null ? 0 : chunk.length;
    let after = '';
    if (r.chunkedOut) {
      if (size > 0) {
        before += `${size.toString(16)}\r\n`;
        after = '\r\n';
      }
      if (last) after += lastChunk(r);
    }
    const total = before.length + size + after.length;
    if (total === 0) return !this.#direct.pending;
    r.bytesSent += total;
    if (size === 0) return this.#put(before + after);
    if (before === '' && after === '') return this.#put(chunk as Buffer);
    const code = this.#direct.writeJoined(before, chunk as Buffer, after);
    if (code !== REFUSED) return code === WRITTEN;
    if (total <= COPY_LIMIT) {
      const whole = Buffer.allocUnsafe(total);
      whole.write(before, 0, before.length, 'latin1');
      (chunk as Buffer).copy(whole, before.length);
      if (after !== '') whole.write(after, before.length + size, after.length, 'latin1');
      return this.#put(whole);
    }
    const socket = this.#socket;
    this.#direct.hold();
    socket.cork();
    if (before !== '') socket.write(before, 'latin1');
    let flowing = socket.write(chunk as Buffer);
    if (after !== '') flowing = socket.write(after, 'latin1');
    socket.uncork();
    return flowing;
  }

  /** Writes one piece. Returns false when it has to wait for the client. */
  #put(data: string | Buffer): boolean {
    const code = this.#direct.write(data);
    if (code !== REFUSED) return code === WRITTEN;
    return typeof data === 'string' ? this.#socket.write(data, 'latin1') : this.#socket.write(data);
  }
}

function sendHeadRest(output: Http1Output, r: Request): void {
  output.headDue(r);
}

function sendRest(output: Http1Output, r: Request, rest: Chunk | null, last: boolean): void {
  output.send(r, rest, last);
}

/** The end of a chunked body with its trailers. */
function lastChunk(r: Request): string {
  const trailers = r.out.trailers;
  let text = '0\r\n';
  for (let i = 0; i < trailers.length; i += 2) text += `${trailers[i]}: ${trailers[i + 1]}\r\n`;
  return text + '\r\n';
}
