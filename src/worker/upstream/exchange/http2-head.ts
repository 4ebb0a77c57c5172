import type { ComplexValue } from '../../../shared/value/complex.js';
import { CONNECTION_FIELDS } from '../../http/fields/connection-fields.js';
import { foreignNameCode, type HpackName, hpackName, KEEP } from '../../http/http2-frames/hpack/encoder.js';
import { staticIndexOf } from '../../http/http2-frames/hpack/static-table.js';
import type { HpackSectionWriter } from '../../http/http2-frames/section-writer.js';
import { lineValue } from '../../http/request/line-text.js';
import type { Request } from '../../http/request/request.js';
import { lowerAscii } from '../../text/ascii-case.js';

const METHOD = hpackName(':method', KEEP.ALWAYS);
const PROTOCOL = hpackName(':protocol', KEEP.ALWAYS);
const PATH = hpackName(':path');
const AUTHORITY = hpackName(':authority', KEEP.ALWAYS);
// The second of two that have the same name follows it.
const GET = staticIndexOf.get(':method')!;
const POST = GET + 1;
const HTTP = staticIndexOf.get(':scheme')!;
const HTTPS = HTTP + 1;
const ROOT = staticIndexOf.get(':path')!;

// Names of clients whose values are worth remembering: most requests on a connection have them, with the same values.
for (const name of ['accept', 'accept-encoding', 'accept-language', 'content-length', 'content-type', 'te', 'user-agent']) {
  hpackName(name);
}
for (const name of ['grpc-accept-encoding', 'grpc-encoding', 'grpc-timeout', 'x-forwarded-for', 'x-forwarded-proto', 'x-real-ip']) {
  hpackName(name);
}

/** Names and values longer than this cannot be sent. nginx: NGX_HTTP_V2_MAX_FIELD. */
const MAX_FIELD = 127 + (1 << 21) - 1;

/** A header with the value that requests to backends get; the length of the body is known request by request. */
export interface Http2HeaderSource {
  readonly name: string;
  readonly value: ComplexValue<Request> | 'body-length';
}

/** The headers of requests to backends. nginx: ngx_http_grpc_headers_t. */
export interface Http2Headers {
  /** The value of `*_set_header Host`; undefined: the backend's own name. */
  readonly host: ComplexValue<Request> | undefined;
  readonly lines: readonly { readonly code: HpackName; readonly value: Http2HeaderSource['value'] }[];
  /** Names (in lower case) of the client's headers that are not passed on. */
  readonly replaced: ReadonlySet<string>;
  /** The value of `*_set_header Upgrade`: the protocol that a tunnel is asked for. */
  readonly upgrade: ComplexValue<Request> | undefined;
}

/**
 * Compiles the lines of `*_set_header` with the defaults behind them; of these, one without a value is only not passed on. nginx:
 * ngx_http_grpc_init_headers.
 */
export function compileHttp2Headers(
  sources: readonly Http2HeaderSource[],
  defaults: readonly { readonly name: string; readonly value?: Http2HeaderSource['value'] | undefined }[],
): Http2Headers {
  let host: ComplexValue<Request> | undefined;
  let upgrade: ComplexValue<Request> | undefined;
  const lines: { code: HpackName; value: Http2HeaderSource['value'] }[] = [];
  const replaced = new Set<string>(CONNECTION_FIELDS);
  const set = new Set<string>();
  const add = (lower: string, value: Http2HeaderSource['value']): void => {
    replaced.add(lower);
    if (CONNECTION_FIELDS.has(lower) || (typeof value !== 'string' && value.constant === '')) {
      return;
    }
    lines.push({ code: hpackName(lower), value: typeof value === 'string' ? value : lineValue(value) });
  };
  for (const { name, value } of sources) {
    const lower = lowerAscii(name);
    set.add(lower);
    if (lower === 'host' && typeof value !== 'string') {
      host = lineValue(value);
    } else if (lower === 'upgrade' && typeof value !== 'string') {
      upgrade = lineValue(value);
    } else {
      add(lower, value);
    }
  }
  for (const { name, value } of defaults) {
    const lower = lowerAscii(name);
    if (set.has(lower) && lower !== 'host') {
      continue;
    }
    replaced.add(lower);
    if (value !== undefined) {
      add(lower, value);
    }
  }
  return { host, lines, replaced, upgrade };
}

/** The head of one request: it is written when the request's stream is opened, perhaps for another backend again. */
export class Http2Head {
  #method = '';
  #protocol = '';
  #https = false;
  #path = '';
  #authority = '';
  readonly #codes: HpackName[] = [];
  readonly #values: string[] = [];

  /** What is too long to be sent; empty when all can be. */
  tooLong = '';

  /** Begins, and says whom and what the request asks; `protocol`: what the tunnel is for that it opens, or empty (RFC 8441, 4). */
  begin(method: string, https: boolean, path: string, authority: string, protocol = ''): void {
    this.#method = method;
    this.#protocol = protocol;
    this.#https = https;
    this.#path = path;
    this.#authority = authority;
    this.#codes.length = this.#values.length = 0;
    if (method.length > MAX_FIELD) {
      this.tooLong = `method: "${method}"`;
    } else if (path.length > MAX_FIELD) {
      this.tooLong = 'URI';
    } else if (authority.length > MAX_FIELD) {
      this.tooLong = `host: "${authority}"`;
    }
  }

  /** Adds the headers of the configuration. */
  addLines(r: Request, lines: Http2Headers['lines'], bodyLength: number): void {
    for (let i = 0; i < lines.length; i++) {
      const { code, value } = lines[i]!;
      if (value !== 'body-length') {
        const text = value.eval(r);
        if (text !== '') {
          this.#add(code, text);
        }
      } else if (bodyLength >= 0) {
        this.#add(code, String(bodyLength));
      }
    }
  }

  /** Adds the client's headers that go on as they came, but for those of the names given. */
  addClient(r: Request, replaced: ReadonlySet<string>, also = ''): void {
    const { headers, names } = r.head;
    for (let i = 0; i < names.length; i++) {
      // A colon would make it one of the fields that only we may set.
      if (!replaced.has(names[i]!) && names[i]! !== also && names[i]!.charCodeAt(0) !== 0x3a) {
        this.#add(foreignNameCode(names[i]!), headers[i * 2 + 1]!);
      }
    }
  }

  #add(code: HpackName, value: string): void {
    if (value.length > MAX_FIELD) {
      this.tooLong = 'header value';
    }
    this.#codes.push(code);
    this.#values.push(value);
  }

  write(section: HpackSectionWriter): void {
    if (this.#method === 'GET') {
      section.indexed(GET);
    } else if (this.#method === 'POST') {
      section.indexed(POST);
    } else {
      section.field(METHOD, this.#method);
    }
    if (this.#protocol !== '') {
      section.field(PROTOCOL, this.#protocol);
    }
    section.indexed(this.#https ? HTTPS : HTTP);
    if (this.#path === '/') {
      section.indexed(ROOT);
    } else {
      section.field(PATH, this.#path);
    }
    section.field(AUTHORITY, this.#authority);
    const codes = this.#codes;
    for (let i = 0; i < codes.length; i++) {
      section.field(codes[i]!, this.#values[i]!);
    }
  }
}
