import { WARN } from '../../shared/log/level.js';
import { CONNECTION_FIELDS } from '../http/fields/connection-fields.js';
import type { AdoptedField, HeadersOut } from '../http/request/headers-out.js';
import type { Request } from '../http/request/request.js';
import { TOKEN } from '../http/syntax/token.js';
import { bytesOf, integer } from './text.js';

// The only place that writes what JavaScript gives into the head of a response, whatever kind of handler it comes from. Each text is looked
// at here: one that holds the end of a line would begin a header, or a response, of its own.

const NOT_IN_VALUES = /[^\t\x20-\x7e\x80-\xff]/;

/** Headers that have a field of their own. */
const ADOPTED: ReadonlyMap<string, readonly [AdoptedField, string]> = new Map([
  ['last-modified', ['lastModifiedText', 'Last-Modified']],
  ['etag', ['etag', 'ETag']],
  ['location', ['location', 'Location']],
  ['server', ['server', 'Server']],
  ['date', ['date', 'Date']],
  ['content-encoding', ['contentEncoding', 'Content-Encoding']],
  ['accept-ranges', ['acceptRanges', 'Accept-Ranges']],
  ['content-range', ['contentRange', 'Content-Range']],
  ['www-authenticate', ['wwwAuthenticate', 'WWW-Authenticate']],
  ['expires', ['expires', 'Expires']],
  ['refresh', ['refresh', 'Refresh']],
]);

/** Fields that are the response's own when njs sets them: the last of several values counts. */
const LAST_COUNTS = new Set(['last-modified', 'location', 'content-encoding', 'date', 'server']);

/** What the server says of the connection itself. */
const CONNECTION = new Set([...CONNECTION_FIELDS, 'te', 'trailer']);

/** The name of a header, which is a token. @throws TypeError for one that is none. nginx: ngx_js_check_header_name. */
export function headerName(name: string): string {
  if (!TOKEN.test(name)) {
    throw new TypeError('invalid header name');
  }
  return name;
}

/** The value of a header, one character a byte. @throws TypeError for one with control characters. nginx: ngx_js_check_header_value. */
export function headerValue(value: string): string {
  if (NOT_IN_VALUES.test(value)) {
    throw new TypeError('invalid header value');
  }
  return value;
}

/** Sets the status with its usual reason, or with another one. @throws for what is no status and no reason. */
export function setStatus(r: Request, status: unknown, reason?: string | undefined): void {
  const code = integer(status);
  if (code < 0) {
    throw new RangeError('status is out of range');
  }
  r.out.statusText = reason === undefined || reason === '' ? undefined : headerValue(reason);
  r.out.status = code;
}

/**
 * Sets the status of a response that ends its exchange, and returns it. Whatever a script's object says it has, a status below 200 would
 * leave the client waiting for another response. @throws for what is no status, no final one, and no reason.
 */
export function setFinalStatus(r: Request, status: unknown, reason?: string | undefined): number {
  if (typeof status !== 'number' || !(status >= 200 && status <= 999)) {
    throw new RangeError('the status of the response is out of range');
  }
  setStatus(r, status, reason);
  return r.out.status;
}

/** Sets where a redirect leads to. @throws TypeError for what cannot stand in a head. */
export function setRedirect(r: Request, target: string): void {
  r.out.location = headerValue(target);
}

/**
 * Adds one header of a response of the web's or of Node's; `lower` is its name in lower case.
 * @throws TypeError for what cannot stand in a head.
 */
export function addScriptHeader(r: Request, name: string, lower: string, value: string): void {
  const { out } = r;
  headerName(name);
  headerValue(value);
  switch (lower) {
    case 'content-type':
      out.readContentType(value);
      return;
    case 'content-length':
      if (/^\d{1,15}$/.test(value)) {
        out.contentLength = Number(value);
      }
      return;
    default:
  }
  if (CONNECTION.has(lower)) {
    return;
  }
  const field = ADOPTED.get(lower);
  if (field === undefined) {
    out.add(name, value);
  } else {
    out.adopt(field[0], name === lower ? field[1] : name, value);
  }
}

/**
 * Puts the values that `r.headersOut` is given in place of a header's; undefined, null and empty texts take it off.
 * @throws TypeError for what cannot stand in a head, and then nothing is changed. nginx: ngx_http_js_ext_header_out.
 */
export function replaceHeader(r: Request, given: string, value: unknown): void {
  const { out } = r;
  const name = headerName(given);
  const lower = name.toLowerCase();
  if (r.headGiven) {
    r.log(WARN, `ignored setting of response header "${name}" because headers were already sent`);
    return;
  }
  if (lower === 'transfer-encoding') {
    r.log(WARN, 'ignored setting of response header "Transfer-Encoding", which is the server\'s own');
    return;
  }
  const list = Array.isArray(value) ? value : [value];
  const values = (list as unknown[]).map((one) => (one === undefined || one === null ? '' : headerValue(bytesOf(one))));
  switch (lower) {
    case 'content-length':
      out.contentLength = lengthOf(values.at(-1) ?? '');
      if (out.contentLength === -1) {
        out.lengthPlace = null;
      } else {
        out.placeLength();
      }
      return;
    case 'content-type':
      out.readContentType(values.at(-1) ?? '');
      return;
    default:
  }
  takeOff(out, lower);
  const field = LAST_COUNTS.has(lower) || lower === 'etag' ? ADOPTED.get(lower) : undefined;
  for (const text of LAST_COUNTS.has(lower) ? values.slice(-1) : values) {
    if (text === '') {
      continue;
    }
    if (field === undefined) {
      out.add(name, text);
    } else {
      out.adopt(field[0], name, text);
    }
  }
}

/** Takes a header off that `r.headersOut` has, unless the head is on its way. Any name will do, as in njs. */
export function removeHeader(r: Request, name: string): void {
  if (TOKEN.test(name) && name.toLowerCase() !== 'transfer-encoding' && !r.headGiven) {
    replaceHeader(r, name, undefined);
  }
}

function lengthOf(text: string): number {
  if (text === '') {
    return -1;
  }
  if (!/^\d{1,15}$/.test(text)) {
    throw new TypeError('failed converting argument to positive integer');
  }
  return Number(text);
}

function takeOff(out: HeadersOut, lower: string): void {
  const field = ADOPTED.get(lower);
  if (field !== undefined) {
    out[field[0]] = undefined;
  }
  if (lower === 'last-modified') {
    out.lastModified = -1;
  }
  for (const header of out.list) {
    if (header.name.length === lower.length && header.name.toLowerCase() === lower) {
      header.name = '';
    }
  }
}

/**
 * Sends a head of status 1xx, names and values by turns, unless the answer has begun.
 * @throws TypeError for what cannot stand in a head.
 */
export function sendInformation(r: Request, status: number, fields: readonly string[]): void {
  for (let i = 0; i < fields.length; i += 2) {
    headerName(fields[i]!);
    headerValue(fields[i + 1]!);
  }
  if (r.headerSent || r.finished) {
    return;
  }
  if (status === 100) {
    r.clientExchange.sendContinue(r);
  } else {
    r.clientExchange.sendInformational(r, status, fields);
  }
}
