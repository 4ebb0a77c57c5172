import { currentHttpDate, httpDate } from '../../text/http-date.js';
import { gzipSlot } from '../headers/accept-gzip.js';
import { documentSlot } from '../request/document-settings.js';
import type { Request } from '../request/request.js';
import { absoluteLocation, redirectSlot } from './absolute-location.js';

/** Puts a response head into the form of one version of HTTP; {@link writeHead} says what stands in it, and calls in that order. */
export interface HeadEncoder {
  /** The head begins, with its status. An empty text stands for a field that is not sent. */
  begin(r: Request, status: number, server: string, date: string, type: string): void;
  contentLength(length: number): void;
  lastModified(date: string): void;
  location(value: string): void;
  /** The place of what this version alone has: how the body is framed, and whether the connection is kept. */
  framing(r: Request, status: number): void;
  vary(value: string): void;
  /** Any other field. The encoder leaves out those that its version must not have. */
  field(name: string, value: string): void;
}

/**
 * Gives an encoder all that a response head has, with a status that may be another one than the response's. This is the one place that
 * decides on it, for clients of all versions. nginx: ngx_http_header_filter, ngx_http_v2_header_filter.
 */
export function writeHead(r: Request, status: number, to: HeadEncoder): void {
  const out = r.out;
  const server = out.server === undefined && !out.omitServer ? r.location.conf(documentSlot).serverTokens.eval(r) : '';
  const date = out.date === undefined && !out.omitDate ? currentHttpDate() : '';
  to.begin(r, status, server, date, out.contentTypeLine);
  if (out.contentLength >= 0 && out.lengthPlace === null) {
    to.contentLength(out.contentLength);
  }
  if (out.lastModified !== -1 && out.lastModifiedText === undefined) {
    to.lastModified(out.lastModifiedDate ?? httpDate(out.lastModified * 1000));
  }
  const redirect = out.locationHeader;
  const completed = redirect !== undefined && redirect.value.charCodeAt(0) === 47 && r.location.conf(redirectSlot).absoluteRedirect;
  if (completed) {
    // Logs show what was sent.
    redirect.value = absoluteLocation(r, redirect.value);
    to.location(redirect.value);
  }
  to.framing(r, status);
  if (r.gzipVary && r.location.conf(gzipSlot).vary) {
    to.vary('Accept-Encoding');
  }
  const { list } = out;
  for (let i = 0; i < list.length; i++) {
    const header = list[i]!;
    if (header.name === '') {
      if (header === out.lengthPlace && out.contentLength >= 0) {
        to.contentLength(out.contentLength);
      }
    } else if (!(completed && header === redirect)) {
      to.field(header.name, header.value);
    }
  }
}
