import { DEBUG } from '../../../shared/log/level.js';
import { CONNECTION_FIELDS } from '../fields/connection-fields.js';
import { type HpackName, hpackName, KEEP } from '../http2-frames/hpack/encoder.js';
import { HpackSectionWriter } from '../http2-frames/section-writer.js';
import type { Request } from '../request/request.js';
import { type HeadEncoder, writeHead } from '../serving/write-head.js';

const STATUS = hpackName(':status', KEEP.ALWAYS);
const SERVER = hpackName('server', KEEP.ALWAYS);
const DATE = hpackName('date', KEEP.ALWAYS);
const CONTENT_TYPE = hpackName('content-type', KEEP.ALWAYS);
const CONTENT_LENGTH = hpackName('content-length');
const LAST_MODIFIED = hpackName('last-modified');
const LOCATION = hpackName('location');
const VARY = hpackName('vary', KEEP.ALWAYS);

/** The statuses that have an index of their own. */
const statusIndex: ReadonlyMap<number, number> = new Map([200, 204, 206, 304, 400, 404, 500].map((status, i) => [status, 8 + i]));

/** Writes the header sections of one connection with a client. nginx: ngx_http_v2_header_filter. */
export class HeadWriter extends HpackSectionWriter {
  /** The request whose log has a line for each field, at level debug. */
  #debugged: Request | null = null;
  readonly #encoder: HeadEncoder = new Http2Encoder(this);

  /** Writes the head of a response with this status; `flags` are those of its frame. Returns how many bytes were added. */
  response(r: Request, status: number, flags: number, id: number): number {
    this.#debugged = r.debugging ? r : null;
    this.begin();
    writeHead(r, status, this.#encoder);
    this.#debugged = null;
    return this.end(flags, id);
  }

  /** Writes a head of which nothing else is known, as of 1xx. */
  bare(status: number, fields: readonly string[], flags: number, id: number): number {
    this.begin();
    this.status(status);
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
      this.foreign(fields[i]!, fields[i + 1]!);
    }
  }

  /** Writes a field that may come from anywhere, unless it means something in HTTP/1 alone. */
  foreign(name: string, value: string): void {
    const code = hpackName(name);
    if (!CONNECTION_FIELDS.has(code.text)) {
      this.field(code, value);
    }
  }

  override field(code: HpackName, value: string): void {
    this.#debugged?.log(DEBUG, `http2 output header: "${code.text}: ${value}"`);
    super.field(code, value);
  }

  status(status: number): void {
    const index = statusIndex.get(status);
    if (index === undefined) {
      this.field(STATUS, String(status).padStart(3, '0'));
    } else {
      this.#debugged?.log(DEBUG, `http2 output header: ":status: ${status}"`);
      this.indexed(index);
    }
  }
}

/** Puts what a response head has into a section. */
class Http2Encoder implements HeadEncoder {
  readonly #to: HeadWriter;

  constructor(writer: HeadWriter) {
    this.#to = writer;
  }

  begin(_r: Request, status: number, server: string, date: string, type: string): void {
    const to = this.#to;
    to.status(status);
    if (server !== '') {
      to.field(SERVER, server);
    }
    if (date !== '') {
      to.field(DATE, date);
    }
    if (type !== '') {
      to.field(CONTENT_TYPE, type);
    }
  }

  contentLength(length: number): void {
    this.#to.field(CONTENT_LENGTH, String(length));
  }

  lastModified(date: string): void {
    this.#to.field(LAST_MODIFIED, date);
  }

  location(value: string): void {
    this.#to.field(LOCATION, value);
  }

  // Frames and streams say it.
  framing(): void {}

  vary(value: string): void {
    this.#to.field(VARY, value);
  }

  field(name: string, value: string): void {
    this.#to.foreign(name, value);
  }
}
