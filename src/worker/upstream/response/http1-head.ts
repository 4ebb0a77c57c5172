import type { Level } from '../../../shared/log/level.js';
import { ERROR, WARN } from '../../../shared/log/level.js';
import { latin1 } from '../../bytes/latin1.js';
import { HeaderLine, LINE_AGAIN, LINE_END, LINE_HEADER, LINE_IGNORED } from '../../http/syntax/header-line.js';
import { allBut, NO_BYTES, type QuietBytes, quietBytes } from '../../http/syntax/quiet-bytes.js';
import { lowerAscii } from '../../text/ascii-case.js';
import { HEAD_AGAIN, HEAD_INTERIM, HEAD_INVALID, HEAD_NONE, HEAD_OK, isInterim } from './head-codes.js';
import { HeaderKind, type HeaderKinds } from './header-kinds.js';
import type { ResponseHeader, UpstreamHead } from './upstream-head.js';

/** Takes error log lines about the backend at hand. */
export interface Reporter {
  log(level: Level, message: string): void;
}

const SPACE = 32;
const CR = 13;
const LF = 10;
const DOT = 46;

/** Most heads are not longer, in bytes: no text is made of what follows, which may be a large piece of the body. */
export const USUAL_HEAD = 1024;

/** Nothing is kept in it between two calls, so one serves all connections. */
const line = new HeaderLine(true, true);

/** Where the reading of a head stands. */
export interface HeadProgress {
  inHeaders: boolean;
  /** The bytes with which the head stays incomplete, after HEAD_AGAIN: it need not be read again for them. */
  quiet: QuietBytes;
  /** Where to go on. */
  next: number;
}

/**
 * Reads the head of an HTTP/1 response from `start`. Bytes that were read need not be given again: after HEAD_AGAIN the
 * next call starts at `next`. nginx: ngx_http_proxy_process_status_line, ngx_http_proxy_process_header.
 */
export function readHttp1Head(
  progress: HeadProgress,
  head: UpstreamHead,
  kinds: HeaderKinds,
  reporter: Reporter,
  bytes: Buffer,
  start: number,
  end: number,
): number {
  if (end - start <= USUAL_HEAD) {
    return readLines(progress, head, kinds, reporter, bytes, start, end);
  }
  const code = readLines(progress, head, kinds, reporter, bytes, start, start + USUAL_HEAD);
  return code === HEAD_AGAIN ? readLines(progress, head, kinds, reporter, bytes, progress.next, end) : code;
}

function readLines(
  progress: HeadProgress,
  head: UpstreamHead,
  kinds: HeaderKinds,
  reporter: Reporter,
  bytes: Buffer,
  start: number,
  end: number,
): number {
  const text = latin1(bytes, start, end);
  let pos = start;
  if (!progress.inHeaders) {
    const length = readStatusLine(head, text);
    progress.next = start;
    if (length <= STATUS_AGAIN) {
      progress.quiet = quietInStatus(length, text);
      return HEAD_AGAIN;
    }
    if (length === STATUS_NONE) {
      return HEAD_NONE;
    }
    pos += length;
    progress.inHeaders = true;
    if (head.connectionClose && isInterim(head.status)) {
      reporter.log(ERROR, `upstream sent HTTP/1.0 response with ${head.status === 103 ? 'early hints' : `status ${head.status}`}`);
      return HEAD_INVALID;
    }
  }
  line.begin(text, start);
  for (;;) {
    const code = line.scan(bytes, pos, end);
    if (code === LINE_HEADER) {
      pos = line.next;
      if (!addHeader(head, kinds, reporter, line)) {
        return HEAD_INVALID;
      }
    } else if (code === LINE_IGNORED) {
      pos = line.next;
    } else if (code === LINE_AGAIN) {
      progress.next = pos;
      progress.quiet = line.quiet;
      return HEAD_AGAIN;
    } else if (code === LINE_END) {
      progress.next = line.next;
      progress.inHeaders = false;
      if (head.chunked) {
        head.contentLength = -1;
      }
      return isInterim(head.status) ? HEAD_INTERIM : HEAD_OK;
    } else {
      reporter.log(ERROR, `upstream sent invalid header: ${line.quoteInvalid(bytes)}`);
      return HEAD_INVALID;
    }
  }
}

/**
 * Reads trailers of a chunked response from `start`, the beginning of a line. Returns the offset behind the empty line that ends them, 0
 * when more bytes are needed from `next` on, or -1 when they are malformed. nginx: ngx_http_proxy_process_trailer.
 */
export function readTrailers(
  progress: HeadProgress,
  head: UpstreamHead,
  reporter: Reporter,
  bytes: Buffer,
  start: number,
  end: number,
): number {
  line.begin(latin1(bytes, start, end), start);
  for (let pos = start; ; pos = line.next) {
    const code = line.scan(bytes, pos, end);
    if (code === LINE_HEADER) {
      const name = line.name();
      head.addTrailer(name, line.known === undefined ? lowerAscii(name) : line.known.lower, line.value());
    } else if (code === LINE_AGAIN) {
      progress.next = pos;
      progress.quiet = line.quiet;
      return 0;
    } else if (code === LINE_END) {
      return line.next;
    } else if (code !== LINE_IGNORED) {
      reporter.log(ERROR, `upstream sent invalid trailer: ${line.quoteInvalid(bytes)}`);
      return -1;
    }
  }
}

const USUAL_STATUS_LINE = 'HTTP/1.1 200 OK\r\n';

const isDigit = (c: number): boolean => c >= 48 && c <= 57;

/** {@link readStatusLine}: the text is no status line. */
export const STATUS_NONE = 0;
/** {@link readStatusLine}: more text is needed. */
export const STATUS_AGAIN = -1;
/** {@link readStatusLine}: more is needed of what stands behind the status. */
export const STATUS_AGAIN_IN_TEXT = -2;

const QUIET_SPACE = quietBytes(' ');
const QUIET_TEXT = allBut('\r\n');

/** The bytes with which a status line stays incomplete of which `text` has come. */
export const quietInStatus = (code: number, text: string): QuietBytes =>
  text.endsWith('\r') ? NO_BYTES : code === STATUS_AGAIN_IN_TEXT ? QUIET_TEXT : text.endsWith(' ') ? QUIET_SPACE : NO_BYTES;

/** Reads a status line. Returns its length, or one of the STATUS_ codes. nginx: ngx_http_parse_status_line. */
export function readStatusLine(head: UpstreamHead, text: string): number {
  const end = text.length;
  if (text.startsWith(USUAL_STATUS_LINE)) {
    head.status = 200;
    head.statusText = 'OK';
    return USUAL_STATUS_LINE.length;
  }
  let i = 5;
  if (end < 5 || !text.startsWith('HTTP/')) {
    return end < 5 && 'HTTP/'.startsWith(text) ? STATUS_AGAIN : STATUS_NONE;
  }
  const major = i;
  while (i < end && isDigit(text.charCodeAt(i))) {
    i++;
  }
  if (i - major > 3 || text.charCodeAt(major) === 48) {
    return STATUS_NONE;
  }
  if (i === end) {
    return STATUS_AGAIN;
  }
  if (i === major || text.charCodeAt(i) !== DOT) {
    return STATUS_NONE;
  }
  const minor = ++i;
  while (i < end && isDigit(text.charCodeAt(i))) {
    i++;
  }
  if (i - minor > 3) {
    return STATUS_NONE;
  }
  if (i === end) {
    return STATUS_AGAIN;
  }
  if (i === minor || text.charCodeAt(i) !== SPACE) {
    return STATUS_NONE;
  }
  const http10 = i === 8 && text.charCodeAt(major) === 49 && text.charCodeAt(minor) === 48;
  let status = 0;
  for (let digits = 0; digits < 3; i++) {
    if (i === end) {
      return STATUS_AGAIN;
    }
    const c = text.charCodeAt(i);
    if (c === SPACE) {
      continue;
    }
    if (!isDigit(c)) {
      return STATUS_NONE;
    }
    status = status * 10 + c - 48;
    digits++;
  }
  if (i === end) {
    return STATUS_AGAIN;
  }
  const after = text.charCodeAt(i);
  if (after !== SPACE && after !== DOT && after !== CR && after !== LF) {
    return STATUS_NONE;
  }
  const lf = text.indexOf('\n', i);
  const cr = text.indexOf('\r', i);
  if (cr !== -1 && (lf === -1 || cr < lf) && cr + 1 < end && cr + 1 !== lf) {
    return STATUS_NONE;
  }
  if (lf === -1) {
    return STATUS_AGAIN_IN_TEXT;
  }
  const textEnd = cr !== -1 && cr < lf ? cr : lf;
  head.status = status;
  head.statusText = text.slice(after === SPACE ? i + 1 : i, textEnd);
  if (http10) {
    head.connectionClose = true;
  }
  return lf + 1;
}

/**
 * Adds a header to a response head and acts on those that say how the response is to be read. Returns false when the
 * response is not acceptable with it. nginx: the handlers of ngx_http_upstream_headers_in.
 */
export function addHeader(head: UpstreamHead, kinds: HeaderKinds, reporter: Reporter, line: HeaderLine): boolean {
  const { known } = line;
  const name = line.name();
  const lower = known === undefined ? lowerAscii(name) : known.lower;
  return takeHeader(head, reporter, name, lower, line.value(), known === undefined ? kinds.of(lower) : kinds.ofKnown(known));
}

/** As {@link addHeader}, of a header whose parts and kind are known. */
export function takeHeader(head: UpstreamHead, reporter: Reporter, name: string, lower: string, value: string, givenKind: number): boolean {
  let kind = givenKind;
  const base = kind & ~HeaderKind.HIDDEN;
  if (base !== HeaderKind.OTHER && !isInterim(head.status)) {
    switch (base) {
      case HeaderKind.CONTENT_LENGTH:
        if (!readContentLength(head, reporter, name, value)) {
          return false;
        }
        break;
      case HeaderKind.TRANSFER_ENCODING:
        if (!readTransferEncoding(head, reporter, name, value)) {
          return false;
        }
        break;
      case HeaderKind.CONNECTION:
        if (value.toLowerCase().includes('close')) {
          head.connectionClose = true;
        }
        break;
      case HeaderKind.STATUS:
      case HeaderKind.CONTENT_TYPE:
      case HeaderKind.DATE:
      case HeaderKind.LAST_MODIFIED:
      case HeaderKind.ETAG:
      case HeaderKind.SERVER:
      case HeaderKind.LOCATION:
      case HeaderKind.REFRESH:
      case HeaderKind.EXPIRES:
      case HeaderKind.XA_EXPIRES:
      case HeaderKind.XA_REDIRECT:
      case HeaderKind.XA_LIMIT_RATE: {
        const before = head.header(base);
        if (before !== undefined) {
          reporter.log(WARN, `${duplicate(name, value, before)}, ignored`);
          kind = HeaderKind.DROPPED;
        }
        break;
      }
      default:
        break;
    }
  }
  head.add(name, lower, value, kind);
  return true;
}

const duplicate = (name: string, value: string, before: ResponseHeader): string =>
  `upstream sent duplicate header line: "${name}: ${value}", previous value: "${before.name}: ${before.value}"`;

function readContentLength(head: UpstreamHead, reporter: Reporter, name: string, value: string): boolean {
  const before = head.header(HeaderKind.CONTENT_LENGTH);
  if (before !== undefined) {
    reporter.log(ERROR, duplicate(name, value, before));
    return false;
  }
  if (head.has(HeaderKind.TRANSFER_ENCODING)) {
    return bothFramings(reporter);
  }
  const length = parseLength(value);
  if (length === -1) {
    reporter.log(ERROR, `upstream sent invalid "Content-Length" header: "${name}: ${value}"`);
    return false;
  }
  head.contentLength = length;
  return true;
}

/** A length as nginx reads it, -1 for anything that is not digits. nginx: ngx_atoof. */
function parseLength(value: string): number {
  if (value === '' || value.length > 16) {
    return -1;
  }
  let length = 0;
  for (let i = 0; i < value.length; i++) {
    const c = value.charCodeAt(i);
    if (!isDigit(c)) {
      return -1;
    }
    length = length * 10 + c - 48;
  }
  return length <= Number.MAX_SAFE_INTEGER ? length : -1;
}

function readTransferEncoding(head: UpstreamHead, reporter: Reporter, name: string, value: string): boolean {
  const before = head.header(HeaderKind.TRANSFER_ENCODING);
  if (before !== undefined) {
    reporter.log(ERROR, duplicate(name, value, before));
    return false;
  }
  if (head.has(HeaderKind.CONTENT_LENGTH)) {
    return bothFramings(reporter);
  }
  if (value.toLowerCase() !== 'chunked') {
    reporter.log(ERROR, `upstream sent unknown "Transfer-Encoding": "${value}"`);
    return false;
  }
  head.chunked = true;
  return true;
}

function bothFramings(reporter: Reporter): false {
  reporter.log(ERROR, 'upstream sent "Content-Length" and "Transfer-Encoding" headers at the same time');
  return false;
}
