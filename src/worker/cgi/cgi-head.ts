import { ERROR } from '../../shared/log/level.js';
import { latin1 } from '../bytes/latin1.js';
import { HeaderLine, LINE_AGAIN, LINE_END, LINE_HEADER, LINE_IGNORED } from '../http/syntax/header-line.js';
import { NO_BYTES, type QuietBytes } from '../http/syntax/quiet-bytes.js';
import { HeaderKind, type HeaderKinds } from '../upstream/response/header-kinds.js';
import { addHeader, quietInStatus, type Reporter, readStatusLine, STATUS_AGAIN, USUAL_HEAD } from '../upstream/response/http1-head.js';
import type { UpstreamHead } from '../upstream/response/upstream-head.js';

/** Nothing is kept in it between two calls. */
const line = new HeaderLine(true, true);

/** The head is not complete. */
export const CGI_AGAIN = 0;
/** The head breaks the rules; why was logged. */
export const CGI_INVALID = -1;

/**
 * Reads a head as CGI programs write it: headers without a status line, the status in `Status`; with `statusLine`, one of
 * HTTP may come first. nginx: ngx_http_fastcgi_process_header, ngx_http_scgi_process_status_line.
 */
export class CgiHeadReader {
  /** The offset at which the next {@link read} goes on; bytes before it need not be given again. */
  next = 0;
  /** The bytes with which the head stays incomplete, after CGI_AGAIN: it need not be read again for them. */
  quiet: QuietBytes = NO_BYTES;
  readonly #statusLine: boolean;
  #inHeaders: boolean;

  constructor(statusLine: boolean) {
    this.#statusLine = statusLine;
    this.#inHeaders = !statusLine;
  }

  /** Prepares for another response. */
  reset(): void {
    this.next = 0;
    this.#inHeaders = !this.#statusLine;
  }

  /** Returns the offset behind the head, CGI_AGAIN or CGI_INVALID. */
  read(head: UpstreamHead, kinds: HeaderKinds, reporter: Reporter, bytes: Buffer, start: number, end: number): number {
    if (end - start <= USUAL_HEAD) {
      return this.#read(head, kinds, reporter, bytes, start, end);
    }
    const code = this.#read(head, kinds, reporter, bytes, start, start + USUAL_HEAD);
    return code === CGI_AGAIN ? this.#read(head, kinds, reporter, bytes, this.next, end) : code;
  }

  #read(head: UpstreamHead, kinds: HeaderKinds, reporter: Reporter, bytes: Buffer, start: number, end: number): number {
    const text = latin1(bytes, start, end);
    this.next = start;
    if (!this.#inHeaders) {
      const length = readStatusLine(head, text);
      if (length <= STATUS_AGAIN) {
        this.quiet = quietInStatus(length, text);
        return CGI_AGAIN;
      }
      this.#inHeaders = true;
      if (length > 0) {
        this.next = start + length;
      }
    }
    line.begin(text, start);
    for (;;) {
      const code = line.scan(bytes, this.next, end);
      if (code === LINE_AGAIN) {
        this.quiet = line.quiet;
        return CGI_AGAIN;
      }
      if (code === LINE_END) {
        return cgiStatus(head, reporter) ? line.next : CGI_INVALID;
      }
      if (code === LINE_HEADER) {
        if (!addHeader(head, kinds, reporter, line)) {
          return CGI_INVALID;
        }
      } else if (code !== LINE_IGNORED) {
        reporter.log(ERROR, `upstream sent invalid header: ${line.quoteInvalid(bytes)}`);
        return CGI_INVALID;
      }
      this.next = line.next;
    }
  }
}

/** Takes the status from the headers: `Status`, else 302 with a Location, else 200. Returns false for a malformed one. */
function cgiStatus(head: UpstreamHead, reporter: Reporter): boolean {
  // A status line has said it.
  if (head.status !== 0) {
    return true;
  }
  const text = head.value(HeaderKind.STATUS);
  if (text === undefined) {
    head.status = head.value(HeaderKind.LOCATION) === undefined ? 200 : 302;
    return true;
  }
  const status = /^[0-9]{3}/.exec(text);
  if (status === null) {
    reporter.log(ERROR, `upstream sent invalid status "${text}"`);
    return false;
  }
  head.status = Number(status[0]);
  // nginx sends all of it: `Status: 2000 x` makes a status line that no client can read. What follows a fourth digit is no reason.
  head.statusText = text.length > 4 && (text[3] === ' ' || text[3] === '\t') ? text.slice(4) : undefined;
  return true;
}
