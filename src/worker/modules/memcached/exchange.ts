import { parseNumber } from '../../../shared/config/language/units.js';
import { ERROR, INFO } from '../../../shared/log/level.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { latin1 } from '../../bytes/latin1.js';
import type { Request } from '../../http/request/request.js';
import { allBut } from '../../http/syntax/quiet-bytes.js';
import { escapeUri } from '../../http/syntax/uri-escape.js';
import type { Exchange } from '../../upstream/exchange/exchange.js';
import type { UpstreamRequest } from '../../upstream/exchange/upstream-request.js';
import { HEAD_AGAIN, HEAD_INVALID, HEAD_OK } from '../../upstream/response/head-codes.js';

/** What stands behind an entry's data. */
const TRAILER = Buffer.from('\r\nEND\r\n');

const LF = 10;
const QUIET = allBut('\n');

/** One look-up in a memcached server. nginx: ngx_http_memcached_module.c. */
export class MemcachedExchange implements Exchange {
  requestText = '';
  readonly bodyFrame = undefined;
  readonly sendsBody = false;
  readonly endsWithConnection = false;
  complete = false;
  next = 0;
  readonly quiet = QUIET;
  readonly #keyValue: ComplexValue<Request>;
  readonly #gzipFlag: number;
  #key = '';
  /** Bytes of data that are still to come. */
  #left = 0;
  /** Bytes of the trailer that have come. */
  #trailer = 0;

  constructor(key: ComplexValue<Request>, gzipFlag: number) {
    this.#keyValue = key;
    this.#gzipFlag = gzipFlag;
  }

  // nginx: ngx_http_memcached_create_request.
  createRequest(u: UpstreamRequest): boolean {
    const key = this.#keyValue.eval(u.r);
    if (key === '') {
      u.log(ERROR, 'the "$memcached_key" variable is not set');
      return false;
    }
    this.#key = escapeUri(key, 'memcached');
    this.requestText = `get ${this.#key}\r\n`;
    return true;
  }

  reset(): void {
    this.complete = false;
    this.#trailer = 0;
  }

  // nginx: ngx_http_memcached_process_header.
  readHead(u: UpstreamRequest, bytes: Buffer, start: number, end: number): number {
    this.next = start;
    const lf = bytes.indexOf(LF, start);
    if (lf === -1 || lf >= end) {
      return HEAD_AGAIN;
    }
    const text = latin1(bytes, start, lf);
    const line = text.endsWith('\r') ? text.slice(0, -1) : undefined;
    if (line === undefined) {
      return this.#invalid(u, text);
    }
    this.next = lf + 1;
    if (line.startsWith('VALUE ')) {
      return this.#value(u, line);
    }
    if (line !== 'END') {
      return this.#invalid(u, line);
    }
    u.log(INFO, `key: "${this.#key}" was not found by memcached`);
    u.head.contentLength = 0;
    u.head.status = 404;
    u.keepConnection(true);
    return HEAD_OK;
  }

  /** Reads a line with an entry's key, flags and length. */
  #value(u: UpstreamRequest, line: string): number {
    const key = this.#key;
    if (!line.startsWith(key, 6)) {
      return this.#broken(u, 'key', line);
    }
    const flagsStart = 6 + key.length + 1;
    const flagsEnd = line.indexOf(' ', flagsStart);
    if (line[flagsStart - 1] !== ' ' || flagsEnd === -1) {
      return this.#invalid(u, line);
    }
    if (this.#gzipFlag !== 0) {
      const flags = parseNumber(line.slice(flagsStart, flagsEnd));
      if (flags === undefined) {
        return this.#broken(u, 'flags', line);
      }
      if ((BigInt(flags) & BigInt(this.#gzipFlag)) !== 0n) {
        u.r.out.adopt('contentEncoding', 'Content-Encoding', 'gzip');
      }
    }
    const length = parseNumber(line.slice(flagsEnd + 1));
    if (length === undefined) {
      return this.#broken(u, 'length', line);
    }
    u.head.contentLength = length;
    u.head.status = 200;
    return HEAD_OK;
  }

  #broken(u: UpstreamRequest, what: string, line: string): number {
    u.log(ERROR, `memcached sent invalid ${what} in response "${line}" for key "${this.#key}"`);
    return HEAD_INVALID;
  }

  #invalid(u: UpstreamRequest, line: string): number {
    u.log(ERROR, `memcached sent invalid response: "${line}"`);
    return HEAD_INVALID;
  }

  beginBody(u: UpstreamRequest): void {
    this.#left = u.head.contentLength;
  }

  // nginx: ngx_http_memcached_filter.
  readBody(u: UpstreamRequest, bytes: Buffer, start: number, end: number): boolean {
    let at = start;
    if (this.#left > 0) {
      at = Math.min(end, start + this.#left);
      u.pipe!.add(bytes, start, at);
      this.#left -= at - start;
    }
    if (at === end) {
      return true;
    }
    const seen = this.#trailer;
    this.#trailer += end - at;
    if (this.#trailer > TRAILER.length || TRAILER.compare(bytes, at, end, seen, this.#trailer) !== 0) {
      u.log(ERROR, 'memcached sent invalid trailer');
      this.complete = true;
    } else if (this.#trailer === TRAILER.length) {
      this.complete = true;
      u.keepConnection(true);
    }
    return true;
  }
}
