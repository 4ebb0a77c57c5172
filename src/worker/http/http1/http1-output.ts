// Longer than most: how a response leaves, by its length and at its pace, which only makes sense together.

import { ERROR } from '../../../shared/log/level.js';
import type { LogFiles } from '../../../shared/log/log-files.js';
import type { Socket } from '../../../shared/net/socket.js';
import { AtTickEnd, endOfTick, type TickTask } from '../../../shared/time/end-of-tick.js';
import { setTimer } from '../../../shared/time/timer.js';
import type { Deadline } from '../../time/deadline.js';
import { makePacer, type RatePacer } from '../body/rate.js';
import type { Chunk } from '../request/body-stage.js';
import { clientSlot } from '../request/client-settings.js';
import { logResponseHead } from '../request/debug-lines.js';
import type { Request } from '../request/request.js';
import { reasonPhrase } from '../request/response-status.js';
import { HTTP_10, HTTP_11 } from '../syntax/request-line.js';
import { http1Head } from './response-head.js';

const CONTINUE = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');

/**
 * The way out of an HTTP/1 connection: puts heads and framed pieces of body on the socket, one response at a time, and
 * asks for the next piece when there is room. nginx: ngx_http_write_filter, ngx_http_writer.
 */
export class Http1Output implements TickTask {
  // The latest connection's.
  #socket!: Socket;
  #deadline!: Deadline;
  readonly #logFiles: LogFiles;
  #request: Request | null = null;
  /** The head, until it leaves with the first piece of the body. */
  #head: string | null = null;
  #flushScheduled = false;
  /** How many bytes of the body are still to come by what its head says; -1 where it does not say that, or no response can follow. */
  #left = -1;
  #pacer: RatePacer | null = null;
  /** Bytes sent that the pace does not count: a head of usual length. */
  #uncounted = 0;
  /** What is left of a long head waits for its pace. */
  #headWaits = false;
  /** What is left of a piece waits for its pace. */
  #pausing = false;
  #waiting = false;
  #lastQueued = false;

  constructor(logFiles: LogFiles) {
    this.#logFiles = logFiles;
  }

  /** Serves a connection from now on. `deadline` runs out when its client takes nothing for `send_timeout`. */
  begin(socket: Socket, deadline: Deadline): void {
    this.#socket = socket;
    this.#deadline = deadline;
  }

  /**
   * The head waits to leave, and should do so at the end of the tick. That of a response which subrequests join waits for the first piece:
   * when one of them fails before, the client gets no response, rather than one that looks empty. nginx: postpone_output.
   */
  get pendingHead(): boolean {
    return this.#head !== null && this.#request?.postpones !== true;
  }

  sendContinue(r: Request): void {
    const expect = r.httpVersion >= HTTP_11 ? r.header('expect') : undefined;
    if (expect !== undefined && expect.toLowerCase() === '100-continue') {
      r.bytesSent += CONTINUE.length;
      this.#socket.write(CONTINUE);
    }
  }

  sendInformational(r: Request, status: number, fields: readonly string[]): void {
    if (r.httpVersion < HTTP_11) {
      return;
    }
    let text = `HTTP/1.1 ${status} ${reasonPhrase(status)}\r\n`;
    for (let i = 0; i < fields.length; i += 2) {
      text += `${fields[i]}: ${fields[i + 1]}\r\n`;
    }
    text += '\r\n';
    r.bytesSent += text.length;
    this.#socket.write(text);
  }

  sendHead(r: Request): void {
    this.#logFiles.flushErrors();
    this.#request = r;
    if (r.httpVersion < HTTP_10) {
      // Nothing but the end of the connection tells a client where such a response ends.
      r.keepalive = false;
      this.#head = '';
    } else {
      this.#head = http1Head(r);
    }
    if (r.debugging) {
      logResponseHead(r, this.#head);
    }
    r.headerSize = this.#head.length;
    this.#left = r.keepalive && !r.chunkedOut && this.#head !== '' ? r.out.contentLength : -1;
    // The rate is looked at without a body, too: a complaint about it is logged, and so is the variable.
    const pacer = makePacer(r);
    if (r.headerOnly) {
      this.flush();
    } else {
      this.#pacer = pacer;
      this.#uncounted = this.#pacer !== null && r.headerSize > this.#pacer.freeHead ? 0 : r.headerSize;
    }
  }

  /** Sends the head now, without waiting for a piece of body. */
  flush(): void {
    const head = this.#head;
    const r = this.#request;
    if (head === null || head === '' || r === null) {
      return;
    }
    if (this.#pacer !== null && this.#uncounted === 0) {
      this.#paceHead(r, this.#pacer, head);
      return;
    }
    this.#head = null;
    r.bytesSent += head.length;
    this.#socket.write(head);
  }

  /** Sends as much of a long head as its pace allows, and the rest later. */
  #paceHead(r: Request, pacer: RatePacer, head: string): void {
    if (this.#headWaits) {
      return;
    }
    const allowed = Math.min(Math.max(pacer.allowed(performance.now(), r.bytesSent), 0), head.length);
    this.#head = allowed === head.length ? null : head.slice(allowed);
    if (allowed > 0) {
      r.bytesSent += allowed;
      this.#socket.write(head.slice(0, allowed));
    }
    if (this.#head === null) {
      return;
    }
    this.#headWaits = true;
    setTimer(sendHeadRest, pacer.delay(performance.now(), r.bytesSent), this, r);
  }

  headDue(r: Request): void {
    if (r !== this.#request) {
      return;
    }
    this.#headWaits = false;
    this.flush();
  }

  /** Sends the head at the end of the tick unless a piece of body takes it along before. */
  flushSoon(): void {
    if (this.#flushScheduled) {
      return;
    }
    this.#flushScheduled = true;
    endOfTick.ask(AtTickEnd.SENDS, this);
  }

  tickEnded(): void {
    this.#flushScheduled = false;
    // Another connection's head by now, perhaps, which leaves at the end of this tick as well, unless it is to wait.
    if (this.pendingHead) {
      this.flush();
    }
  }

  /** Goes on with what waited for its pace. */
  restDue(r: Request, rest: Chunk | null, last: boolean): void {
    if (r === this.#request) {
      this.#pausing = false;
      this.send(r, rest, last);
    }
  }

  send(r: Request, given: Chunk | null, givenLast: boolean): void {
    if (r !== this.#request || this.#lastQueued) {
      return;
    }
    let [chunk, last] = [given, givenLast];
    const size = chunk === null ? 0 : chunk.length;
    if (this.#left >= 0 && (last ? size !== this.#left : size > this.#left)) {
      const most = this.#wrongLength(r, size);
      chunk = chunk === null ? null : chunk.subarray(0, most);
      last = true;
    }
    if (!this.#waitsForPace(r, chunk, last)) {
      this.#sent(r, this.#write(r, chunk, last), last);
    }
  }

  /**
   * The body that ends is shorter than its head has said, or it becomes longer: what is too much would be taken for another response. The
   * connection ends with what was announced of it. Returns how many bytes of the piece may leave.
   */
  #wrongLength(r: Request, size: number): number {
    r.keepalive = false;
    if (size > this.#left) {
      const { source } = r;
      r.source = null;
      source?.abort(r);
    }
    r.log(ERROR, `the response is ${size > this.#left ? 'longer' : 'shorter'} than its "Content-Length"`);
    const most = Math.min(size, this.#left);
    // What waits for its pace comes by here again.
    this.#left = -1;
    return most;
  }

  /** Sends the bytes `start..end`, whose memory is the caller's again when this returns. */
  sendLent(r: Request, bytes: Buffer, start: number, end: number, last: boolean): void {
    if (this.#pacer !== null) {
      this.send(r, Buffer.from(bytes.subarray(start, end)), last);
    } else if (this.#left >= 0 && (last ? end - start !== this.#left : end - start > this.#left)) {
      this.send(r, Buffer.from(bytes.subarray(start, end)), last);
    } else if (r === this.#request) {
      this.#sent(r, this.#writeLent(r, bytes, start, end, last), last);
    }
  }

  /** Whether all or a part of a piece has to wait until the pace allows it. */
  #waitsForPace(r: Request, chunk: Chunk | null, last: boolean): boolean {
    const pacer = this.#pacer;
    if (pacer === null) {
      return false;
    }
    if (this.#uncounted === 0 && this.#head !== null && this.#head !== '') {
      this.#paceHead(r, pacer, this.#head);
      if (this.#head !== null) {
        this.#pausing = true;
        setTimer(sendRest, pacer.delay(performance.now(), r.bytesSent), this, r, chunk, last);
        return true;
      }
    }
    if (chunk !== null && chunk.length > 0) {
      const allowed = pacer.allowed(performance.now(), r.bytesSent - this.#uncounted);
      if (allowed < chunk.length) {
        this.#sendLater(r, pacer, chunk, last, allowed);
        return true;
      }
    }
    return false;
  }

  /** A piece was given to the socket, which takes more at once if it is `flowing`. */
  #sent(r: Request, flowing: boolean, last: boolean): void {
    if (last) {
      this.#lastQueued = true;
      if (this.empty) {
        this.#sentAll(r);
      } else {
        this.#awaitDrain(r, flowing);
      }
    } else if (flowing) {
      r.more();
    } else {
      this.#awaitDrain(r, false);
    }
  }

  /** How many bytes of the body may be offered at a time: they leave as they are, as fast as the client takes them. */
  offerLimit(r: Request): number {
    return r === this.#request && this.#pacer === null && !r.chunkedOut ? this.#socket.offerLimit : 0;
  }

  /** Sends as many of the bytes as the client's connection takes now, and returns how many; what to do next is up to `send`. */
  offer(r: Request, bytes: Chunk): number {
    this.flush();
    const fits = this.#left < 0 || bytes.length <= this.#left;
    const taken = this.#socket.offer(fits ? bytes : bytes.subarray(0, this.#left));
    this.#count(r, taken);
    return taken;
  }

  /** Offers bytes of a file that the kernel sends by itself; -1 where it does not. */
  offerFile(r: Request, fd: number, at: number, size: number): number {
    if (this.#socket.offerFile === undefined || (this.#left >= 0 && size > this.#left)) {
      return -1;
    }
    this.flush();
    const taken = this.#socket.offerFile(fd, at, size);
    this.#count(r, Math.max(0, taken));
    return taken;
  }

  /** Counts bytes of the body that left as they are. */
  #count(r: Request, bytes: number): void {
    r.bytesSent += bytes;
    this.#left = this.#left < 0 ? -1 : this.#left - bytes;
  }

  /** A piece of the response is on its way: it waits for the client, or for its pace. */
  get busy(): boolean {
    return this.#waiting || this.#headWaits || this.#pausing || this.#lastQueued;
  }

  /** The kernel has taken everything. */
  get empty(): boolean {
    return this.#socket.flushed;
  }

  /** Sends what the rate allows and the rest after a pause. nginx: ngx_http_write_filter with limit_rate. */
  #sendLater(r: Request, pacer: RatePacer, chunk: Chunk, last: boolean, allowed: number): void {
    let rest = chunk;
    if (allowed > 0) {
      rest = chunk.subarray(allowed);
      this.#write(r, chunk.subarray(0, allowed), false);
    }
    this.#pausing = true;
    setTimer(sendRest, pacer.delay(performance.now(), r.bytesSent - this.#uncounted), this, r, rest, last);
  }

  #awaitDrain(r: Request, flowing: boolean): void {
    this.#waiting = true;
    this.#deadline.set(performance.now(), r.location.conf(clientSlot).sendTimeout);
    if (flowing) {
      this.#socket.awaitFlush();
    }
  }

  /** The socket has room again. */
  drained(): void {
    const r = this.#request;
    if (!this.#waiting || r === null) {
      return;
    }
    this.#waiting = false;
    this.#deadline.clear();
    if (this.#lastQueued) {
      this.#sentAll(r);
    } else {
      r.more();
    }
  }

  #sentAll(r: Request): void {
    this.#lastQueued = false;
    r.finalize(0);
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
    this.#left = -1;
    this.#pacer = null;
    this.#headWaits = false;
    this.#pausing = false;
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
      if (last) {
        after += lastChunk(r);
      }
    }
    const total = before.length + size + after.length;
    if (total === 0) {
      return !this.#socket.pending;
    }
    r.bytesSent += before.length + after.length;
    this.#count(r, size);
    const socket = this.#socket;
    if (size === 0) {
      return socket.write(before + after);
    }
    if (before === '' && after === '') {
      return socket.write(chunk as Buffer);
    }
    return socket.writeJoined(before, chunk as Buffer, after);
  }

  /** Writes the bytes `start..end`, which are lent. */
  #writeLent(r: Request, bytes: Buffer, start: number, end: number, last: boolean): boolean {
    let before = this.#head ?? '';
    this.#head = null;
    let after = '';
    if (r.chunkedOut) {
      before += `${(end - start).toString(16)}\r\n`;
      after = last ? `\r\n${lastChunk(r)}` : '\r\n';
    }
    r.bytesSent += before.length + after.length;
    this.#count(r, end - start);
    return this.#socket.writeLent(before, bytes, start, end, after);
  }
}

function sendHeadRest(output: Http1Output, r: Request): void {
  output.headDue(r);
}

function sendRest(output: Http1Output, r: Request, rest: Chunk | null, last: boolean): void {
  output.restDue(r, rest, last);
}

/** The end of a chunked body with its trailers. */
function lastChunk(r: Request): string {
  const trailers = r.out.trailers;
  let text = '0\r\n';
  for (let i = 0; i < trailers.length; i += 2) {
    text += `${trailers[i]}: ${trailers[i + 1]}\r\n`;
  }
  return text + '\r\n';
}
