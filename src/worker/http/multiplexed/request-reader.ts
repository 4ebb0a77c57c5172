import { INFO } from '../../../shared/log/level.js';
import { FIELD, type Field, NAME } from '../fields/field.js';
import type { FieldSink } from '../fields/field-sink.js';
import { headSlot } from '../request/client-settings.js';
import type { Request } from '../request/request.js';
import { chooseServer } from '../serving/choose-server.js';
import { duplicateText } from '../syntax/duplicate-text.js';
import { REQUEST_HEADER_TOO_LARGE } from '../syntax/head-parser.js';
import { HeaderSlot } from '../syntax/header-names.js';
import { type HostParts, validateHost } from '../syntax/host.js';
import { METHOD, methodBit } from '../syntax/method.js';
import { parseContentLength } from '../syntax/request-checks.js';
import type { RequestHead } from '../syntax/request-head.js';
import { normalizeUri } from '../syntax/uri.js';
import { newKey } from './websocket.js';

/**
 * Makes a request's head of the fields of a header section, of HTTP/2 or of HTTP/3. nginx: ngx_http_v2_state_process_header,
 * ngx_http_v2_run_request, ngx_http_v3_process_header and what follows them.
 */
export class RequestReader implements FieldSink, HostParts {
  /** The parts of the host that was checked last. */
  host = '';
  port = 0;
  /** Major * 1000 + minor. */
  readonly #version: number;
  readonly #versionText: string;
  #request!: Request;
  #head!: RequestHead;
  #negotiated: string | undefined = undefined;
  /** The status to refuse the request with; the rest of its fields is not looked at. */
  #status = 0;
  #authority: string | undefined = undefined;
  #protocol: string | undefined = undefined;
  #cookie: string | undefined = undefined;
  #count = 0;
  /** What is wrong is wrong with the message itself, not with what it asks for: the stream ends with an error, too. */
  malformed = false;
  /** The request is for a WebSocket: the key that its backend is sent. Otherwise empty. */
  upgradeKey = '';
  /** What the request says of its urgency. */
  priority: string | undefined = undefined;
  #proxyConnection = false;

  /** `version`: 2 or 3. */
  constructor(version: number) {
    this.#version = version * 1000;
    this.#versionText = `HTTP/${version}.0`;
  }

  /**
   * The fields that follow are those of this request. `negotiated`: the name that the TLS handshake was for, when a server answers
   * to it.
   */
  begin(r: Request, negotiated: string | undefined): void {
    this.#request = r;
    this.#head = r.head;
    this.#head.version = this.#version;
    this.#head.protocol = this.#versionText;
    this.#negotiated = negotiated;
    this.#status = 0;
    this.#authority = this.#protocol = this.#cookie = undefined;
    this.#count = 0;
    this.malformed = false;
    this.upgradeKey = '';
    this.priority = undefined;
    this.#proxyConnection = false;
  }

  field(field: Field): void {
    if (this.#status === 0) {
      this.#status = field.name.kind >= FIELD.METHOD ? this.#pseudo(field) : this.#regular(field);
    }
  }

  /** Every field was read; `ended`: no body follows. Returns 0, or the status to refuse the request with. */
  finish(ended: boolean): number {
    return this.#status === 0 ? this.#check(ended) : this.#status;
  }

  #malformed(message: string): number {
    this.malformed = true;
    return this.#refuse(400, message);
  }

  #refuse(status: number, message: string): number {
    this.#request.log(INFO, message);
    return status;
  }

  /** Whether name and value may stand in a message at all: 0, or the status. nginx: ngx_http_v2_validate_header. */
  #valid(field: Field): number {
    const { name } = field;
    if (name.state === NAME.REFUSED) {
      return this.#malformed(`client sent invalid header name: "${visible(name.text)}"`);
    }
    if (field.broken) {
      return this.#malformed(`client sent header "${name.text}" with invalid value: "${visible(field.value)}"`);
    }
    return 0;
  }

  #pseudo(field: Field): number {
    const head = this.#head;
    const status = this.#valid(field);
    if (status !== 0) {
      return status;
    }
    if (head.line !== '') {
      return this.#malformed('client sent out of order pseudo-headers');
    }
    const { value } = field;
    switch (field.name.kind) {
      case FIELD.METHOD:
        if (head.method !== '') {
          return this.#malformed('client sent duplicate :method header');
        }
        if (value === '') {
          return this.#malformed('client sent empty :method header');
        }
        head.methodBit = methodBit(value);
        if (head.methodBit === METHOD.UNKNOWN && !/^[A-Z_-]+$/.test(value)) {
          return this.#malformed(`client sent invalid method: "${visible(value)}"`);
        }
        head.method = value;
        return 0;
      case FIELD.SCHEME:
        if (head.schema !== '') {
          return this.#malformed('client sent duplicate :scheme header');
        }
        if (value === '') {
          return this.#malformed('client sent empty :scheme header');
        }
        if (value !== 'https' && value !== 'http' && !/^[A-Za-z][A-Za-z0-9+.-]*$/.test(value)) {
          return this.#malformed(`client sent invalid :scheme header: "${visible(value)}"`);
        }
        head.schema = value;
        return 0;
      case FIELD.PATH:
        return this.#path(value);
      case FIELD.AUTHORITY:
        if (this.#authority !== undefined) {
          return this.#malformed('client sent duplicate ":authority" header');
        }
        this.#authority = value;
        if (!validateHost(value, this)) {
          return this.#malformed('client sent invalid ":authority" header');
        }
        return this.#setHost();
      case FIELD.PROTOCOL:
        if (this.#protocol !== undefined) {
          return this.#malformed('client sent duplicate :protocol header');
        }
        this.#protocol = value;
        return 0;
      default:
        return this.#malformed(`client sent unknown pseudo-header "${field.name.text}"`);
    }
  }

  #path(value: string): number {
    const head = this.#head;
    if (head.unparsedUri !== '') {
      return this.#malformed('client sent duplicate :path header');
    }
    if (value === '') {
      return this.#malformed('client sent empty :path header');
    }
    if (value.charCodeAt(0) !== 0x2f || hasControl(value)) {
      return this.#malformed(`client sent invalid :path header: "${visible(value)}"`);
    }
    head.unparsedUri = value;
    head.validUnparsedUri = true;
    if (normalizeUri(value, this.#request.server.conf(headSlot).headLimits.mergeSlashes, head)) {
      return 0;
    }
    head.uri = head.args = head.exten = head.unparsedUri = '';
    return this.#refuse(400, 'client sent invalid request');
  }

  #setHost(): number {
    const head = this.#head;
    head.host = this.host;
    head.port = this.port;
    return chooseServer(this.#request, head.host, this.#negotiated);
  }

  #regular(field: Field): number {
    const { name, value } = field;
    const status = this.#valid(field);
    if (status !== 0) {
      return status;
    }
    if (this.#head.line === '') {
      const missing = this.#makeLine();
      if (missing !== 0) {
        return missing;
      }
    }
    const limits = this.#request.server.conf(headSlot).headLimits;
    if (name.state !== NAME.GOOD && (name.state === NAME.DOUBTFUL || !limits.underscoresInHeaders) && limits.ignoreInvalidHeaders) {
      this.#request.log(INFO, `client sent invalid header: "${name.text}"`);
      return 0;
    }
    if (name.kind === FIELD.COOKIE) {
      this.#cookie = this.#cookie === undefined ? value : `${this.#cookie}; ${value}`;
      return 0;
    }
    if (this.#count++ >= limits.maxHeaders) {
      return this.#refuse(REQUEST_HEADER_TOO_LARGE, 'client sent too many header lines');
    }
    return this.#add(field);
  }

  #add(field: Field): number {
    const head = this.#head;
    const { name, value } = field;
    head.headers.push(name.text, value);
    head.names.push(name.text);
    const { known } = name;
    if (known === undefined || known.slot === -1) {
      this.#noteKind(name.kind, value);
      return 0;
    }
    if (!head.has(known.slot)) {
      head.note(known.slot);
    } else if (known.unique) {
      return this.#refuse(400, duplicateText(head, known, value));
    } else if (known.slot === HeaderSlot.te) {
      return this.#malformed('client sent invalid "TE" header');
    }
    if (known.slot !== HeaderSlot.host) {
      return 0;
    }
    if (!validateHost(value, this)) {
      return this.#refuse(400, 'client sent invalid host header');
    }
    return head.host === '' ? this.#setHost() : 0;
  }

  /** Notes what is asked of every request, so that nobody looks for it among the others. */
  #noteKind(kind: number, value: string): void {
    if (kind === FIELD.PRIORITY) {
      this.priority ??= value;
    } else if (kind === FIELD.PROXY_CONNECTION) {
      this.#proxyConnection = true;
    }
  }

  // nginx: ngx_http_v2_construct_request_line.
  #makeLine(): number {
    const head = this.#head;
    if (head.method === '') {
      return this.#malformed('client sent no :method header');
    }
    if (head.schema === '') {
      return this.#malformed('client sent no :scheme header');
    }
    if (head.unparsedUri === '') {
      return this.#malformed('client sent no :path header');
    }
    head.line = `${head.method} ${head.unparsedUri} ${this.#versionText}`;
    return 0;
  }

  // nginx: ngx_http_v2_run_request.
  #check(ended: boolean): number {
    const head = this.#head;
    if (head.line === '') {
      const missing = this.#makeLine();
      if (missing !== 0) {
        return missing;
      }
    }
    if (this.#cookie !== undefined) {
      this.#construct('cookie', HeaderSlot.cookie, this.#cookie);
    }
    if (head.has(HeaderSlot.connection)) {
      return this.#malformed('client sent "Connection" header');
    }
    if (head.has(HeaderSlot.keepAlive)) {
      return this.#malformed('client sent "Keep-Alive" header');
    }
    if (head.has(HeaderSlot.transferEncoding)) {
      return this.#malformed('client sent "Transfer-Encoding" header');
    }
    if (head.has(HeaderSlot.upgrade)) {
      return this.#malformed('client sent "Upgrade" header');
    }
    if (this.#proxyConnection) {
      return this.#malformed('client sent "Proxy-Connection" header');
    }
    const te = head.known(HeaderSlot.te);
    if (te !== undefined && te.toLowerCase() !== 'trailers') {
      return this.#malformed('client sent invalid "TE" header');
    }
    if (head.host === '') {
      return this.#refuse(400, 'client sent neither ":authority" nor "Host" header');
    }
    if (this.#authority !== undefined) {
      const host = head.known(HeaderSlot.host);
      if (host === undefined) {
        this.#construct('host', HeaderSlot.host, this.#authority);
      } else if (host !== this.#authority) {
        return this.#refuse(400, 'client sent ":authority" and "Host" headers with different values');
      }
    }
    const length = head.known(HeaderSlot.contentLength);
    if (length !== undefined) {
      head.contentLength = parseContentLength(length);
      if (head.contentLength === -1) {
        return this.#refuse(400, 'client sent invalid "Content-Length" header');
      }
      if (head.contentLength > 0 && ended) {
        return this.#malformed('client prematurely closed stream');
      }
    } else {
      head.chunked = !ended;
    }
    if (this.#protocol !== undefined) {
      return this.#extendedConnect(this.#protocol, ended);
    }
    if (head.methodBit === METHOD.CONNECT) {
      return this.#refuse(405, 'client sent CONNECT method');
    }
    return head.methodBit === METHOD.TRACE ? this.#refuse(405, 'client sent TRACE method') : 0;
  }

  /**
   * A request for a WebSocket becomes the one that HTTP/1.1 has for it, so that a configuration sees the same of both (RFC 8441, 4 and 5;
   * RFC 9220).
   */
  #extendedConnect(protocol: string, ended: boolean): number {
    const head = this.#head;
    if (head.methodBit !== METHOD.CONNECT || ended || head.contentLength !== -1) {
      return this.#malformed('client sent invalid extended CONNECT request');
    }
    if (protocol.toLowerCase() !== 'websocket') {
      return this.#refuse(501, `client sent CONNECT with unsupported :protocol: "${visible(protocol)}"`);
    }
    head.method = 'GET';
    head.methodBit = METHOD.GET;
    head.line = `GET ${head.unparsedUri} ${this.#versionText}`;
    head.chunked = false;
    this.upgradeKey = newKey();
    const given = head.names.indexOf('sec-websocket-key');
    if (given === -1) {
      this.#put('sec-websocket-key', this.upgradeKey);
    } else if (head.names.includes('sec-websocket-key', given + 1)) {
      return this.#malformed('client sent duplicate "Sec-WebSocket-Key" header');
    } else {
      head.headers[given * 2 + 1] = this.upgradeKey;
    }
    this.#construct('upgrade', HeaderSlot.upgrade, 'websocket');
    this.#construct('connection', HeaderSlot.connection, 'upgrade');
    return 0;
  }

  /** Adds a header line that HTTP/1 would have. */
  #construct(name: string, slot: number, value: string): void {
    this.#put(name, value);
    this.#head.note(slot);
  }

  #put(name: string, value: string): void {
    this.#head.headers.push(name, value);
    this.#head.names.push(name);
  }
}

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c <= 0x20 || c === 0x7f) {
      return true;
    }
  }
  return false;
}

/** A text for a log line: control bytes as `\x0A`. */
function visible(text: string): string {
  return text.replace(/[\0-\x1f\x7f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}
