import { ERROR, WARN } from '../../../shared/log/level.js';
import { moveDown } from '../../bytes/gathered.js';
import { CGI_AGAIN, CGI_INVALID, CgiHeadReader } from '../../cgi/cgi-head.js';
import type { RequestParams } from '../../cgi/handler.js';
import { METHOD } from '../../http/syntax/method.js';
import type { BodyFrame, Exchange } from '../../upstream/exchange/exchange.js';
import type { UpstreamRequest } from '../../upstream/exchange/upstream-request.js';
import { HEAD_AGAIN, HEAD_INTERIM, HEAD_INVALID, HEAD_OK, isInterim } from '../../upstream/response/head-codes.js';
import { type HeldHead, holdHead } from '../../upstream/response/held-head.js';
import {
  BROKEN,
  beginRecord,
  CONTENT,
  NEED_MORE,
  paramRecords,
  RECORD,
  RECORD_BEGIN,
  RecordReader,
  STDIN_END,
  stdinFrame,
} from './records.js';

/** What a location sends to its backend, compiled. */
export interface FastcgiRequestPlan {
  readonly params: RequestParams;
  readonly keepConnection: boolean;
  readonly catchStderr: readonly string[];
  readonly passBody: boolean;
}

/** Bytes of a record's head. */
const RECORD_HEAD = 8;
/** The length of the body is not known. */
const UNKNOWN = -1;
/** A body need not come; if it does, it is as long as the head says. */
const UNTIL_DATA = -2;

/** What is cut from the end of messages: line ends, full stops and spaces. */
const STDERR_TAIL = Buffer.from('\n\r. ');

/** One request to a FastCGI responder. nginx: ngx_http_fastcgi_module.c. */
export class FastcgiExchange implements Exchange {
  requestText = '';
  readonly bodyFrame: BodyFrame | undefined;
  readonly sendsBody: boolean;
  endsWithConnection = false;
  readonly keepsHead = true;
  complete = false;
  next = 0;
  readonly #plan: FastcgiRequestPlan;
  readonly #records = new RecordReader();
  readonly #reader = new CgiHeadReader(false);
  /** The part of the head that was not understood yet. */
  #held: HeldHead | null = null;
  /** Size of the head so far. */
  #headSize = 0;
  /** Body that is still to come, or one of these two. */
  #left = UNKNOWN;
  /** Some of what came behind the head was read. */
  #bodyRead = false;
  /** Where in the bytes at hand the body is that they held: that of all records is moved together. */
  #start = 0;
  #end = 0;

  constructor(plan: FastcgiRequestPlan) {
    this.#plan = plan;
    this.sendsBody = plan.passBody;
    this.bodyFrame = plan.passBody ? stdinFrame : undefined;
  }

  /** nginx: the end of ngx_http_fastcgi_input_filter; the head of a record is awaited at first. */
  get least(): number | undefined {
    if (!this.#plan.keepConnection) {
      return undefined;
    }
    return this.#bodyRead ? this.#records.least : RECORD_HEAD;
  }

  // nginx: ngx_http_fastcgi_create_request.
  createRequest(u: UpstreamRequest): boolean {
    const { r } = u;
    const plan = this.#plan;
    const text = plan.params.text(u);
    const params = paramRecords(text);
    if (params === undefined) {
      r.log(ERROR, `fastcgi request record is too big: ${text.length}`);
      return false;
    }
    const body = plan.passBody && (r.requestBodyNoBuffering || (r.body !== null && r.body.length > 0));
    this.requestText = beginRecord(plan.keepConnection) + params + (body ? '' : STDIN_END);
    return true;
  }

  reset(): void {
    this.#records.reset();
    this.#reader.reset();
    this.#held = null;
    this.#headSize = 0;
    this.complete = false;
    this.#bodyRead = false;
  }

  // nginx: ngx_http_fastcgi_process_header.
  readHead(u: UpstreamRequest, bytes: Buffer, start: number, end: number): number {
    const records = this.#records;
    for (let at = start; ; at = records.next) {
      const code = records.read(bytes, at, end);
      this.next = records.next;
      if (code === NEED_MORE) {
        return HEAD_AGAIN;
      }
      if (code === BROKEN) {
        return invalid(u, `upstream sent ${records.reason}`);
      }
      if (code === RECORD_BEGIN) {
        if (records.type === RECORD.END) {
          return invalid(u, `upstream sent unexpected FastCGI record: ${records.type}`);
        }
        if (records.type === RECORD.STDOUT && records.length === 0) {
          return invalid(u, 'upstream prematurely closed FastCGI stdout');
        }
      } else if (code === CONTENT) {
        if (records.type === RECORD.STDERR) {
          if (this.#isCaught(logStderr(u, bytes, records))) {
            return HEAD_INVALID;
          }
          continue;
        }
        const status = this.#takeHead(u, bytes);
        if (status !== HEAD_AGAIN) {
          return status;
        }
      }
    }
  }

  #isCaught(text: string): boolean {
    const { catchStderr } = this.#plan;
    for (let i = 0; i < catchStderr.length; i++) {
      if (text.includes(catchStderr[i]!)) {
        return true;
      }
    }
    return false;
  }

  #takeHead(u: UpstreamRequest, bytes: Buffer): number {
    const records = this.#records;
    const { bufferSize } = u.conf.settings;
    const held = this.#held;
    let head = bytes;
    let { start, end } = records;
    this.#headSize += end - start;
    if (held !== null) {
      if (!held.goesOn(bytes, start, end, this.#reader.quiet) && this.#headSize < bufferSize) {
        return HEAD_AGAIN;
      }
      head = held.all;
      start = 0;
      end = held.length;
    }
    const behind = this.#reader.read(u.head, u.conf.kinds, u, head, start, end);
    if (behind === CGI_INVALID) {
      return HEAD_INVALID;
    }
    if (behind === CGI_AGAIN) {
      if (this.#headSize >= bufferSize) {
        return invalid(u, 'upstream sent too big header');
      }
      const { next } = this.#reader;
      this.#held = holdHead(held, head, next, end, next);
      return HEAD_AGAIN;
    }
    // What follows the head in this record is body.
    records.unread(end - behind);
    this.next = records.next;
    this.#held = null;
    if (isInterim(u.head.status)) {
      this.#reader.reset();
      this.#headSize = 0;
      return HEAD_INTERIM;
    }
    return u.head.status === 101 ? invalid(u, 'upstream switched protocols, which FastCGI cannot') : HEAD_OK;
  }

  hasBody(bytes: Buffer, start: number, end: number): boolean {
    const records = this.#records;
    for (let at = start; ; at = records.next) {
      const code = records.read(bytes, at, end);
      if (code === CONTENT && records.type === RECORD.STDOUT && records.end > records.start) {
        return true;
      }
      if (code === NEED_MORE || code === BROKEN) {
        return false;
      }
    }
  }

  // nginx: ngx_http_fastcgi_input_filter_init.
  beginBody(u: UpstreamRequest): void {
    const { status, contentLength } = u.head;
    this.endsWithConnection = !this.#plan.keepConnection || !u.buffering;
    if (status === 204 || status === 304) {
      this.#left = 0;
    } else {
      this.#left = u.r.methodBit === METHOD.HEAD ? UNTIL_DATA : contentLength;
    }
  }

  // nginx: ngx_http_fastcgi_input_filter, ngx_http_fastcgi_non_buffered_filter.
  readBody(u: UpstreamRequest, bytes: Buffer, start: number, end: number): boolean {
    this.#start = this.#end = start;
    this.#bodyRead = true;
    const sound = this.#readRecords(u, bytes, start, end);
    this.#passOn(u, bytes);
    return sound;
  }

  #readRecords(u: UpstreamRequest, bytes: Buffer, start: number, end: number): boolean {
    const records = this.#records;
    for (let at = start; ; at = records.next) {
      const code = records.read(bytes, at, end);
      if (code === NEED_MORE) {
        return true;
      }
      if (code === BROKEN) {
        u.log(ERROR, `upstream sent ${records.reason}`);
        return false;
      }
      const { type } = records;
      if (code === RECORD_BEGIN) {
        if (!this.#begins(u, bytes, type, records.length)) {
          return true;
        }
      } else if (code === CONTENT) {
        if (type === RECORD.STDERR) {
          logStderr(u, bytes, records);
        } else if (type === RECORD.STDOUT && !this.#takeBody(u, bytes)) {
          return true;
        }
      } else if (type === RECORD.END) {
        this.#ended(u, bytes, records.next === end);
        return true;
      }
    }
  }

  /** Looks at a record's head. Returns false when nothing more is to be read. */
  #begins(u: UpstreamRequest, bytes: Buffer, type: number, length: number): boolean {
    // A response that is not buffered may go on until the end of the request.
    if (this.#left <= 0 || !u.buffering) {
      return true;
    }
    if (type === RECORD.END) {
      return this.#brokenOff(u, bytes, 'upstream prematurely closed FastCGI request');
    }
    return type !== RECORD.STDOUT || length > 0 || this.#brokenOff(u, bytes, 'upstream prematurely closed FastCGI stdout');
  }

  /** Passes a piece on. Returns false when the backend sends more than it announced, which ends the body. */
  #takeBody(u: UpstreamRequest, bytes: Buffer): boolean {
    const { start, end } = this.#records;
    if (this.#left === UNTIL_DATA) {
      this.#left = u.head.contentLength;
    }
    if (this.#left === UNKNOWN) {
      this.#gather(bytes, start, end);
      return true;
    }
    const size = end - start;
    if (size > this.#left) {
      u.log(WARN, 'upstream sent more data than specified in "Content-Length" header');
      this.#gather(bytes, start, start + this.#left);
      this.#left = 0;
      this.complete = true;
      return false;
    }
    this.#gather(bytes, start, end);
    this.#left -= size;
    return true;
  }

  #gather(bytes: Buffer, start: number, end: number): void {
    if (this.#end === this.#start) {
      this.#start = this.#end = start;
    } else {
      moveDown(bytes, this.#end, start, end);
    }
    this.#end += end - start;
  }

  #passOn(u: UpstreamRequest, bytes: Buffer): void {
    if (this.#end > this.#start) {
      u.pipe!.add(bytes, this.#start, this.#end);
    }
    this.#start = this.#end;
  }

  /** The response ends here, although the client was promised more. */
  #brokenOff(u: UpstreamRequest, bytes: Buffer, reason: string): false {
    this.#passOn(u, bytes);
    u.peer.report(ERROR, reason);
    u.finalize(502);
    return false;
  }

  /** The request is over; `clean` when nothing follows. */
  #ended(u: UpstreamRequest, bytes: Buffer, clean: boolean): void {
    if (this.#left > 0) {
      this.#brokenOff(u, bytes, 'upstream prematurely closed FastCGI request');
      return;
    }
    this.complete = true;
    u.keepConnection(clean);
  }
}

function invalid(u: UpstreamRequest, reason: string): number {
  u.log(ERROR, reason);
  return HEAD_INVALID;
}

/** Logs the text that the responder wrote to standard error, without its line end. Returns the text. */
function logStderr(u: UpstreamRequest, bytes: Buffer, { start, end }: RecordReader): string {
  let last = end - 1;
  while (last > start && STDERR_TAIL.includes(bytes[last]!)) {
    last--;
  }
  const text = bytes.toString('latin1', start, last + 1);
  u.log(ERROR, `FastCGI sent in stderr: "${text}"`);
  return text;
}
