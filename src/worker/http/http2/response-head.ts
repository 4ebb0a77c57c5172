import { currentHttpDate, httpDate } from '../../../shared/lib/http-date.js';
import { DEBUG } from '../../../shared/log/level.js';
import { KEEP, type NameCode, nameCode } from '../http2-frames/hpack/encoder.js';
import { CONNECTION_FIELDS } from '../http2-frames/protocol.js';
import { SectionWriter } from '../http2-frames/section-writer.js';
import type { Request } from '../request/request.js';
import { absoluteLocation } from '../serving/absolute-location.js';

const STATUS = nameCode(':status', KEEP.ALWAYS);
const SERVER = nameCode('server', KEEP.ALWAYS);
const DATE = nameCode('date', KEEP.ALWAYS);
const CONTENT_TYPE = nameCode('content-type', KEEP.ALWAYS);
const CONTENT_LENGTH = nameCode('content-length');
const LAST_MODIFIED = nameCode('last-modified');
const LOCATION = nameCode('location');
const VARY = nameCode('vary', KEEP.ALWAYS);

/** The statuses that have an index of their own. */
const statusIndex: ReadonlyMap<number, number> = new Map([200, 204, 206, 304, 400, 404, 500].map((status, i) => [status, 8 + i]));

/** Writes the header sections of one connection with a client. nginx: ngx_http_v2_header_filter. */
export class HeadWriter extends SectionWriter {
  /** The request whose log has a line for each field, at level debug. */
  #debugged: Request | null = null;

  /** Writes the head of a response with this status; `flags` are those of its frame. Returns how many bytes were added. */
  response(r: Request, status: number, flags: number, id: number): number {
    const out = r.out;
    const settings = r.location.settings;
    this.begin();
    this.#debugged = r.debugging ? r : null;
    this.#status(status);
    if (out.server === undefined && !out.omitServer) {
      this.field(SERVER, settings.serverTokens.eval(r));
    }
    if (out.date === undefined && !out.omitDate) {
      this.field(DATE, currentHttpDate());
    }
    if (out.contentType !== '') {
      this.field(CONTENT_TYPE, out.contentTypeLine);
    }
    if (out.contentLength >= 0) {
      this.field(CONTENT_LENGTH, String(out.contentLength));
    }
    if (out.lastModified !== -1 && out.lastModifiedText === undefined) {
      this.field(LAST_MODIFIED, out.lastModifiedDate ?? httpDate(out.lastModified * 1000));
    }
    const { location } = out;
    if (location !== undefined && location.charCodeAt(0) === 47 && settings.absoluteRedirect) {
      this.field(LOCATION, absoluteLocation(r, location));
    } else if (location !== undefined) {
      this.field(LOCATION, location);
    }
    if (r.gzipVary && settings.gzip.vary) {
      this.field(VARY, 'Accept-Encoding');
    }
    const { list } = out;
    for (let i = 0; i < list.length; i++) {
      const { name, value } = list[i]!;
      if (name === '') {
        continue;
      }
      const code = nameCode(name);
      if (code !== LOCATION && !CONNECTION_FIELDS.has(code.text)) {
        this.field(code, value);
      }
    }
    this.#debugged = null;
    return this.end(flags, id);
  }

  /** Writes a head of which nothing else is known, as of 1xx. */
  bare(status: number, fields: readonly string[], flags: number, id: number): number {
    this.begin();
    this.#status(status);
    this.#fields(fields);
    return this.end(flags, id);
  }

  /** Writes the fields behind a body, names and values by turns. */
  trailers(fields: readonly string[], flags: number, id: number): number {
    this.begin();
    this.#fields(fields);
    return this.end(flags, id);
  }

  #fields(fields: readonly string[]): void {
    for (let i = 0; i < fields.length; i += 2) {
      const code = nameCode(fields[i]!);
      if (!CONNECTION_FIELDS.has(code.text)) {
        this.field(code, fields[i + 1]!);
      }
    }
  }

  override field(code: NameCode, value: string): void {
    this.#debugged?.log(DEBUG, `http2 output header: "${code.text}: ${value}"`);
    super.field(code, value);
  }

  #status(status: number): void {
    const index = statusIndex.get(status);
    if (index === undefined) {
      this.field(STATUS, String(status).padStart(3, '0'));
    } else {
      this.#debugged?.log(DEBUG, `http2 output header: ":status: ${status}"`);
      this.indexed(index);
    }
  }
}
