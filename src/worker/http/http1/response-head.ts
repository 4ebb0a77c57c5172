import { currentHttpDate, httpDate } from '../../../shared/lib/http-date.js';
import type { Request } from '../request/request.js';
import { reasonPhrase } from '../request/response-status.js';
import { absoluteLocation } from '../serving/absolute-location.js';
import { METHOD } from '../syntax/method.js';
import { HTTP_11 } from '../syntax/request-line.js';

/**
 * The response head as text, in nginx's order: status line, Server, Date, type, length, modification, redirect,
 * framing, then the list. Also decides the body's framing and whether the connection is kept. nginx: ngx_http_header_filter.
 */
export function http1Head(r: Request): string {
  const out = r.out;
  const settings = r.location.settings;
  const status = out.status;
  if (status !== 101) {
    decideFraming(r);
  }
  let text: string;
  const own = out.server === undefined && !out.omitServer && out.date === undefined && !out.omitDate;
  const usual = out.statusText === undefined || (status === 200 && out.statusText === 'OK');
  if (own && usual && status >= 200) {
    text = usualStart(status, out.contentTypeLine, settings.serverTokens.eval(r), currentHttpDate());
  } else {
    text = statusLine(status, out.statusText);
    if (out.server === undefined && !out.omitServer) {
      text += `Server: ${settings.serverTokens.eval(r)}\r\n`;
    }
    if (out.date === undefined && !out.omitDate) {
      text += `Date: ${currentHttpDate()}\r\n`;
    }
    text += typeLine(out.contentTypeLine);
  }
  if (out.contentLength >= 0) {
    text += `Content-Length: ${out.contentLength}\r\n`;
  }
  if (out.lastModified !== -1 && out.lastModifiedText === undefined) {
    text += `Last-Modified: ${out.lastModifiedDate ?? httpDate(out.lastModified * 1000)}\r\n`;
  }

  const location = out.location;
  const ownRedirect = location?.charCodeAt(0) === 47 && settings.absoluteRedirect;
  if (ownRedirect) {
    text += `Location: ${absoluteLocation(r, location as string)}\r\n`;
  }

  if (status === 101) {
    text += 'Connection: upgrade\r\n';
  } else {
    if (r.chunkedOut) {
      text += 'Transfer-Encoding: chunked\r\n';
    }
    if (r.keepalive) {
      text += 'Connection: keep-alive\r\n';
      if (settings.keepaliveHeader > 0) {
        text += `Keep-Alive: timeout=${settings.keepaliveHeader}\r\n`;
      }
    } else {
      text += 'Connection: close\r\n';
    }
  }
  if (r.gzipVary && settings.gzip.vary) {
    text += 'Vary: Accept-Encoding\r\n';
  }
  const list = out.list;
  for (let i = 0; i < list.length; i++) {
    const header = list[i]!;
    if (header.name === '' || (ownRedirect && header.name.toLowerCase() === 'location')) {
      continue;
    }
    text += `${header.name}: ${header.value}\r\n`;
  }
  return text + '\r\n';
}

function statusLine(status: number, reason: string | undefined): string {
  // A backend may have sent one with less than three digits' worth.
  const code = status < 100 ? String(status).padStart(3, '0') : status;
  return reason === '' ? `HTTP/1.1 ${code}\r\n` : `HTTP/1.1 ${code} ${reason ?? reasonPhrase(status)}\r\n`;
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
  if (r.httpVersion >= HTTP_11 && r.location.settings.chunkedTransferEncoding) {
    out.contentLength = -1;
    r.chunkedOut = true;
  } else if (out.contentLength === -1) {
    r.keepalive = false;
  }
}
