import { DEBUG } from '../../../shared/log/level.js';
import { CONNECTION_FIELDS } from '../fields/connection-fields.js';
import { type QpackName, qpackName } from '../http3-frames/qpack/name-code.js';
import { QpackSectionWriter } from '../http3-frames/qpack/section-writer.js';
import type { Request } from '../request/request.js';
import { type HeadEncoder, writeHead } from '../serving/write-head.js';

const STATUS = qpackName(':status');
const SERVER = qpackName('server');
const DATE = qpackName('date');
const CONTENT_TYPE = qpackName('content-type');
const CONTENT_LENGTH = qpackName('content-length');
const LAST_MODIFIED = qpackName('last-modified');
const LOCATION = qpackName('location');
const VARY = qpackName('vary');

/** Puts what a response head has into a section. nginx: ngx_http_v3_header_filter. */
class Http3Encoder implements HeadEncoder {
  readonly section = new QpackSectionWriter();
  /** The request whose log has a line for each field, at level debug. */
  debugged: Request | null = null;

  begin(_r: Request, status: number, server: string, date: string, type: string): void {
    this.#put(STATUS, statusText(status));
    if (server !== '') {
      this.#put(SERVER, server);
    }
    if (date !== '') {
      this.#put(DATE, date);
    }
    if (type !== '') {
      this.#put(CONTENT_TYPE, type);
    }
  }

  contentLength(length: number): void {
    this.#put(CONTENT_LENGTH, String(length));
  }

  lastModified(date: string): void {
    this.#put(LAST_MODIFIED, date);
  }

  location(value: string): void {
    this.#put(LOCATION, value);
  }

  // Frames and streams say it.
  framing(): void {}

  vary(value: string): void {
    this.#put(VARY, value);
  }

  /** Writes a field that may come from anywhere, unless it means something in HTTP/1 alone. */
  field(name: string, value: string): void {
    const code = qpackName(name);
    if (!CONNECTION_FIELDS.has(code.text)) {
      this.#put(code, value);
    }
  }

  fields(fields: readonly string[]): void {
    for (let i = 0; i < fields.length; i += 2) {
      this.field(fields[i]!, fields[i + 1]!);
    }
  }

  status(status: number): void {
    this.#put(STATUS, statusText(status));
  }

  #put(code: QpackName, value: string): void {
    this.debugged?.log(DEBUG, `http3 output header: "${code.text}: ${value}"`);
    this.section.field(code, value);
  }
}

/** The texts of statuses, made once. */
const statusTexts: readonly string[] = Array.from({ length: 600 }, (_, status) => String(status).padStart(3, '0'));
const statusText = (status: number): string => statusTexts[status] ?? String(status);

// One for all connections: a section is written without a pause.
const encoder = new Http3Encoder();

/** The head of a response with this status, as a frame. */
export function responseHead(r: Request, status: number): Buffer {
  encoder.debugged = r.debugging ? r : null;
  encoder.section.begin();
  writeHead(r, status, encoder);
  encoder.debugged = null;
  return encoder.section.end();
}

/** A head of which only a status and some fields are known, as of 1xx. */
export function bareHead(status: number, fields: readonly string[]): Buffer {
  encoder.section.begin();
  encoder.status(status);
  encoder.fields(fields);
  return encoder.section.end();
}

/** The fields behind a body, names and values by turns. */
export function trailerSection(fields: readonly string[]): Buffer {
  encoder.section.begin();
  encoder.fields(fields);
  return encoder.section.end();
}
