import { clientSlot } from '../request/client-settings.js';
import type { Request } from '../request/request.js';
import { reasonPhrase } from '../request/response-status.js';
import { type HeadEncoder, writeHead } from '../serving/write-head.js';
import { METHOD } from '../syntax/method.js';
import { HTTP_11 } from '../syntax/request-line.js';

/**
 * The response head as text, with the status line before it. Also decides the body's framing and whether the connection is kept. nginx:
 * ngx_http_header_filter.
 */
export function http1Head(r: Request): string {
  const { status } = r.out;
  if (status !== 101) {
    decideFraming(r);
  }
  writeHead(r, status, encoder);
  const text = encoder.text + '\r\n';
  encoder.text = '';
  return text;
}

/** Writes heads of HTTP/1 as text: one for all connections, since a head is written without a pause. */
class Http1Encoder implements HeadEncoder {
  text = '';

  begin(r: Request, status: number, server: string, date: string, type: string): void {
    const { statusText } = r.out;
    const usual = statusText === undefined || (status === 200 && statusText === 'OK');
    if (usual && server !== '' && date !== '' && status >= 200) {
      this.text = usualStart(status, type, server, date);
      return;
    }
    let text = statusLine(status, statusText);
    if (server !== '') {
      text += `Server: ${server}\r\n`;
    }
    if (date !== '') {
      text += `Date: ${date}\r\n`;
    }
    this.text = text + typeLine(type);
  }

  contentLength(length: number): void {
    this.text += `Content-Length: ${length}\r\n`;
  }

  lastModified(date: string): void {
    this.text += `Last-Modified: ${date}\r\n`;
  }

  location(value: string): void {
    this.text += `Location: ${value}\r\n`;
  }

  framing(r: Request, status: number): void {
    if (status === 101) {
      this.text += 'Connection: upgrade\r\n';
      return;
    }
    if (r.chunkedOut) {
      this.text += 'Transfer-Encoding: chunked\r\n';
    }
    if (!r.keepalive) {
      this.text += 'Connection: close\r\n';
      return;
    }
    this.text += 'Connection: keep-alive\r\n';
    const { keepaliveHeader } = r.location.conf(clientSlot);
    if (keepaliveHeader > 0) {
      this.text += `Keep-Alive: timeout=${keepaliveHeader}\r\n`;
    }
  }

  vary(value: string): void {
    this.text += `Vary: ${value}\r\n`;
  }

  field(name: string, value: string): void {
    this.text += `${name}: ${value}\r\n`;
  }
}

const encoder = new Http1Encoder();

function statusLine(status: number, reason: string | undefined): string {
  // A backend may have sent one with less than three digits' worth.
  const code = status < 100 ? String(status).padStart(3, '0') : status;
  if (reason === '') {
    return `HTTP/1.1 ${code}\r\n`;
  }
  // A response with an interim status, as `return` can give it, has no phrase in nginx.
  return `HTTP/1.1 ${code} ${reason ?? (status < 200 ? '' : reasonPhrase(status))}\r\n`;
}

/** Types for which the first lines are kept, by status: backends may name a new one in each response. */
const TYPES_MOST = 64;

let startServer = '';
let startDate = '';
let starts = new Map<number, Map<string, string>>();

/** The first lines of most answers, which are made once a second for each status and type. */
function usualStart(status: number, type: string, server: string, date: string): string {
  if (date !== startDate || server !== startServer) {
    startServer = server;
    startDate = date;
    starts = new Map();
  }
  let ofStatus = starts.get(status);
  if (ofStatus === undefined) {
    ofStatus = new Map();
    starts.set(status, ofStatus);
  }
  let start = ofStatus.get(type);
  if (start === undefined) {
    const text = `${statusLine(status, undefined)}Server: ${server}\r\nDate: ${date}\r\n${typeLine(type)}`;
    // One flat piece of memory: joined text would be put together again for each response.
    start = Buffer.from(text, 'latin1').toString('latin1');
    if (ofStatus.size < TYPES_MOST) {
      ofStatus.set(type, start);
    }
  }
  return start;
}

const typeLine = (type: string): string => (type === '' ? '' : `Content-Type: ${type}\r\n`);

/** Chooses chunked framing, or the end of the connection, for a body of unknown length. nginx: ngx_http_chunked_header_filter. */
function decideFraming(r: Request): void {
  const out = r.out;
  const status = out.status;
  if (status === 304 || status === 204 || status < 200 || r.methodBit === METHOD.HEAD) {
    return;
  }
  // A tunnel follows.
  if (r.methodBit === METHOD.CONNECT && status < 300) {
    return;
  }
  if (out.contentLength !== -1 && !r.expectTrailers) {
    return;
  }
  if (r.httpVersion >= HTTP_11 && r.location.conf(clientSlot).chunkedTransferEncoding) {
    out.contentLength = -1;
    r.chunkedOut = true;
  } else if (out.contentLength === -1) {
    r.keepalive = false;
  }
}
