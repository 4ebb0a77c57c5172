import type { AdoptedField, HeadersOut } from '../../http/request/headers-out.js';
import type { Request } from '../../http/request/request.js';

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

/** What the server says of the connection itself. */
const CONNECTION = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade']);

/** Puts one header that a handler gave into the response's head; `lower` is its name in lower case. */
export function putHeader(out: HeadersOut, name: string, lower: string, value: string): void {
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

/** The status with which a response goes out. */
export function setStatus(r: Request, status: number, text: string | undefined): void {
  r.out.status = status;
  r.out.statusText = text === undefined || text === '' ? undefined : `${text}`;
}
