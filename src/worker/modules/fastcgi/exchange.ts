import { ERROR as ERR, WARN } from '../../../shared/log/level.js';
import { CGI_AGAIN, CGI_INVALID, readCgiHead } from '../../upstream/cgi/cgi-head.js';
import type { RequestParams } from '../../upstream/cgi/handler.js';
import type { UpstreamRequest } from '../../upstream/engine.js';
import { HEAD_AGAIN, HEAD_INVALID, HEAD_OK } from '../../upstream/head-codes.js';
import type { BodyFrame, Exchange } from '../../upstream/protocol.js';
import { beginRecord, CONTENT, NEED_MORE, pair, paramRecords, RECORD, RecordReader, STDIN_END, stdinFrame } from './records.js';

/** What a location sends to its backend, compiled. */
export interface FastcgiRequestPlan {
  readonly params: RequestParams;
  readonly keepConnection: boolean;
  readonly catchStderr: readonly string[];
  readonly passBody: boolean;
}

const EMPTY = Buffer.alloc(0);

/** One request to a FastCGI responder. nginx: ngx_http_fastcgi_module.c. */
export class FastcgiExchange implements Exchange {
  requestText = '';
  readonly bodyFrame: BodyFrame | undefined;
  readonly sendsBody: boolean;
  readonly endsWithConnection: boolean;
  readonly keepsHead = true;
  complete = false;
  next = 0;
  readonly #plan: FastcgiRequestPlan;
  readonly #records = new RecordReader();
  /** Standard output until the head is complete. */
  #head: Buffer = EMPTY;
  #stderr = '';
  #inHead = true;
  /** Body that is still to come, -1 when unknown. */
  #left = -1;

  constructor(plan: FastcgiRequestPlan) {
    this.#plan = plan;
    this.sendsBody = plan.passBody;
    this.bodyFrame = plan.passBody ? stdinFrame : undefined;
    this.endsWithConnection = !plan.keepConnection;
  }

  // nginx: ngx_http_fastcgi_create_request.
  createRequest(u: UpstreamRequest): boolean {
    const { r } = u;
    const plan = this.#plan;
    let text = '';
    plan.params.each(u, (name, value) => {
      text += pair(name, value);
    });
    const params = paramRecords(text);
    if (params === undefined) {
      r.log(ERR, `fastcgi request record is too big: ${text.length}`);
      return false;
    }
    const body = plan.passBody && (r.requestBodyNoBuffering || (r.body !== null && r.body.length > 0));
    this.requestText = beginRecord(plan.keepConnection) + params + (body ? '' : STDIN_END);
    return true;
  }

  reset(): void {
    this.#records.reset();
    this.#head = EMPTY;
    this.#stderr = '';
    this.#inHead = true;
    this.complete = false;
  }

  // nginx: ngx_http_fastcgi_process_header.
  readHead(u: UpstreamRequest, bytes: Buffer, start: number, end: number): number {
    const records = this.#records;
    for (let at = start; ; at = records.next) {
      const code = records.read(bytes, at, end);
      this.next = records.next;
      if (code === NEED_MORE) return HEAD_AGAIN;
      if (code === CONTENT) {
        if (records.type === RECORD.STDERR) this.#stderr += bytes.toString('latin1', records.start, records.end);
        else if (records.type === RECORD.STDOUT) {
          const status = this.#takeHead(u, bytes);
          if (status !== HEAD_AGAIN) return status;
        } else if (records.type !== RECORD.END) return this.#unexpected(u);
        continue;
      }
      if (records.type === RECORD.STDERR) {
        if (!this.#tellStderr(u, 'reading response header from upstream')) return HEAD_INVALID;
      } else if (records.type === RECORD.END || (records.type === RECORD.STDOUT && records.empty)) {
        u.log(ERR, 'upstream prematurely closed FastCGI stdout');
        return HEAD_INVALID;
      }
    }
  }

  #unexpected(u: UpstreamRequest): number {
    u.log(ERR, `upstream sent unexpected FastCGI record: ${this.#records.type}`);
    return HEAD_INVALID;
  }

  #takeHead(u: UpstreamRequest, bytes: Buffer): number {
    const records = this.#records;
    const fresh = bytes.subarray(records.start, records.end);
    this.#head = this.#head.length === 0 ? Buffer.from(fresh) : Buffer.concat([this.#head, fresh]);
    const behind = readCgiHead(u.head, u.conf.kinds, u, this.#head, 0, this.#head.length);
    if (behind === CGI_INVALID) return HEAD_INVALID;
    if (behind === CGI_AGAIN) {
      if (this.#head.length < u.conf.settings.bufferSize) return HEAD_AGAIN;
      u.log(ERR, 'upstream sent too big header');
      return HEAD_INVALID;
    }
    // What follows the head in this record is body.
    records.unread(this.#head.length - behind);
    this.next = records.next;
    this.#head = EMPTY;
    this.#inHead = false;
    return HEAD_OK;
  }

  /** Writes what the responder said on standard error. Returns false when it is among what `fastcgi_catch_stderr` names. */
  #tellStderr(u: UpstreamRequest, action: string): boolean {
    const text = this.#stderr.replace(/[\r\n.\s]+$/, '');
    this.#stderr = '';
    if (text === '') return true;
    u.action = action;
    u.log(ERR, `FastCGI sent in stderr: "${text}"`);
    return !this.#inHead || !this.#plan.catchStderr.some((caught) => text.includes(caught));
  }

  beginBody(u: UpstreamRequest): void {
    const { head, r } = u;
    this.#left = head.status === 204 || head.status === 304 || r.methodBit === 4 ? 0 : head.contentLength;
  }

  // nginx: ngx_http_fastcgi_input_filter.
  readBody(u: UpstreamRequest, bytes: Buffer, start: number, end: number): boolean {
    const records = this.#records;
    for (let at = start; !this.complete; at = records.next) {
      const code = records.read(bytes, at, end);
      if (code === NEED_MORE) return true;
      if (code === CONTENT) {
        if (records.type === RECORD.STDERR) this.#stderr += bytes.toString('latin1', records.start, records.end);
        else if (records.type === RECORD.STDOUT) this.#takeBody(u, bytes);
        continue;
      }
      if (records.type === RECORD.STDERR) this.#tellStderr(u, 'reading upstream');
      else if (records.type === RECORD.END) return this.#ended(u);
      else if (records.type !== RECORD.STDOUT) {
        u.log(ERR, `upstream sent unexpected FastCGI record: ${records.type}`);
        return false;
      }
    }
    return true;
  }

  #takeBody(u: UpstreamRequest, bytes: Buffer): void {
    const { start, end } = this.#records;
    if (this.#left === -1) {
      u.pipe!.add(bytes, start, end);
      return;
    }
    const size = end - start;
    if (size > this.#left) {
      u.log(WARN, 'upstream sent more data than specified in "Content-Length" header');
      if (this.#left > 0) u.pipe!.add(bytes, start, start + this.#left);
      this.#left = 0;
      return;
    }
    u.pipe!.add(bytes, start, end);
    this.#left -= size;
  }

  #ended(u: UpstreamRequest): boolean {
    if (this.#left > 0) {
      u.log(ERR, 'upstream prematurely closed FastCGI request');
      return false;
    }
    this.complete = true;
    u.keepalive = this.#plan.keepConnection;
    return true;
  }
}
