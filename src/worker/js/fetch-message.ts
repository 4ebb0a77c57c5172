import { EMPTY } from '../bytes/empty.js';
import { TOKEN } from '../http/syntax/token.js';
import { SHOWN } from './dump.js';
import type { FetchAnswer } from './fetch-answer.js';
import { FetchBody, haveOwnMembers } from './fetch-body.js';
import { FetchHeaders, fixHeaders } from './fetch-headers.js';
import { bufferOf, givenInteger } from './text.js';

const TEXT_TYPE = 'text/plain;charset=UTF-8';

/** Bodies that are known as a whole; everything else that the Fetch standard takes as a body is a stream to us. */
export const isPlain = (body: unknown): boolean =>
  typeof body !== 'object' || body === null || body instanceof ArrayBuffer || ArrayBuffer.isView(body) || isSimpleObject(body);

const isSimpleObject = (body: object): boolean =>
  !(
    body instanceof ReadableStream ||
    body instanceof Blob ||
    body instanceof FormData ||
    body instanceof URLSearchParams ||
    Symbol.asyncIterator in body
  );

const CACHE_MODES = ['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'];
const CREDENTIALS = ['same-origin', 'omit', 'include'];
const MODES = ['no-cors', 'cors', 'same-origin', 'navigate', 'websocket'];
const FORBIDDEN = ['CONNECT', 'TRACE', 'TRACK'];
const NORMALIZED = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'];

/** What scripts give beside the URL. */
export interface FetchInit {
  readonly method?: unknown;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly cache?: unknown;
  readonly credentials?: unknown;
  readonly mode?: unknown;
  readonly buffer_size?: unknown;
  readonly max_response_body_size?: unknown;
  readonly verify?: unknown;
}

function flag(init: FetchInit, name: 'cache' | 'credentials' | 'mode', values: readonly string[], other: string | undefined): string {
  const given = init[name];
  if (given === undefined) {
    return other ?? values[0]!;
  }
  const value = String(given);
  if (!values.includes(value)) {
    throw new TypeError(`unknown ${name} type: ${value}`);
  }
  return value;
}

// nginx: ngx_qjs_method_process.
function methodOf(given: unknown): string {
  const method = String(given);
  if (!TOKEN.test(method)) {
    throw new TypeError('invalid Request method');
  }
  const upper = method.toUpperCase();
  if (FORBIDDEN.includes(upper)) {
    throw new TypeError(`forbidden method: ${upper}`);
  }
  return NORMALIZED.includes(upper) ? upper : method;
}

/** The URL without spaces around it. @throws TypeError when it is none of http or https. */
function urlOf(given: string): string {
  const url = given.trim();
  if (!/^https?:\/\/./i.test(url)) {
    throw new TypeError('unsupported URL schema (only http or https are supported)');
  }
  if (!URL.canParse(url)) {
    throw new TypeError('invalid url');
  }
  return url;
}

/** What the Fetch standard takes as a body beside texts and bytes. */
type StreamedBody = NonNullable<ConstructorParameters<typeof Response>[0]>;

/** A request as scripts describe it. */
export interface FetchDescription {
  readonly url: string;
  readonly method: string;
  readonly headers: FetchHeaders;
  /** Bytes, or what the Fetch standard takes as a body beside them. */
  readonly body: Buffer | StreamedBody;
  /** Somebody has read the body of the Request that it is made of. */
  readonly bodyUsed: boolean;
  readonly cache: string;
  readonly credentials: string;
  readonly mode: string;
}

/** Reads the arguments of `ngx.fetch` and `new Request`. @throws TypeError for what is wrong. nginx: ngx_qjs_request_ctor. */
export function describeRequest(input: unknown, given: unknown): FetchDescription {
  if (input === undefined) {
    throw new TypeError('1st argument is required');
  }
  const original = input instanceof FetchRequest || input instanceof globalThis.Request ? input : undefined;
  if (original === undefined && typeof input !== 'string' && !(input instanceof URL)) {
    throw new TypeError('input is not string or a Request object');
  }
  const init: FetchInit = typeof given === 'object' && given !== null ? given : {};
  // A class of the user's may say of a Request what its constructor would not take.
  const url = urlOf(String(original?.url ?? input));
  const method = methodOf(init.method === undefined ? (original?.method ?? 'GET') : init.method);
  if (init.headers !== undefined && (typeof init.headers !== 'object' || init.headers === null)) {
    throw new TypeError('Headers is not an object');
  }
  const own = original instanceof FetchRequest ? original : undefined;
  const cache = flag(init, 'cache', CACHE_MODES, own?.cache);
  const credentials = flag(init, 'credentials', CREDENTIALS, own?.credentials);
  const mode = flag(init, 'mode', MODES, own?.mode);
  const headers = new FetchHeaders(init.headers ?? original?.headers);
  if (typeof init.body === 'string' && !headers.has('Content-Type')) {
    headers.append('Content-Type', TEXT_TYPE);
  }
  const bodyUsed = init.body === undefined && own?.bodyUsed === true;
  return { url, method, headers, body: bodyOf(init.body, original), bodyUsed, cache, credentials, mode };
}

function bodyOf(given: unknown, original: FetchRequest | Request | undefined): Buffer | StreamedBody {
  if (given !== undefined) {
    return isPlain(given) ? bufferOf(given) : (given as StreamedBody);
  }
  return original instanceof FetchRequest ? original.sent : (original?.body ?? EMPTY);
}

/** Makes a class a kind of the web's for whoever asks. Node loads its own when somebody names it. */
function joinWeb(own: { readonly prototype: object }, web: () => { readonly prototype: object }): void {
  if (Object.getPrototypeOf(own.prototype) === Object.prototype) {
    Object.setPrototypeOf(own.prototype, web().prototype);
  }
}

/** A Request that a script of njs's made. Whoever asks for what only Node's class has gets that of Node. nginx: ngx_js_request_t. */
export class FetchRequest extends FetchBody {
  static override readonly name = 'Request';

  readonly #described: FetchDescription & { readonly body: Buffer };

  constructor(described: FetchDescription & { readonly body: Buffer }) {
    super(described.body, described.bodyUsed);
    joinWeb(FetchRequest, () => Request);
    this.#described = described;
  }

  get url(): string {
    return this.#described.url;
  }

  get method(): string {
    return this.#described.method;
  }

  get headers(): FetchHeaders {
    return this.#described.headers;
  }

  get cache(): string {
    return this.#described.cache;
  }

  get credentials(): string {
    return this.#described.credentials;
  }

  get mode(): string {
    return this.#described.mode;
  }

  /** What is sent with it, whether or not somebody has read it. */
  get sent(): Buffer {
    return this.#described.body;
  }

  get #web(): Request {
    const { url, method, body } = this.#described;
    const headers = [...this.headers];
    return new Request(url, { method, headers, ...(body.length === 0 ? {} : { body: Uint8Array.from(body) }) });
  }

  get body(): Request['body'] {
    return this.#web.body;
  }

  get redirect(): string {
    return 'follow';
  }

  get signal(): AbortSignal {
    return this.#web.signal;
  }

  clone(): FetchRequest {
    return new FetchRequest({ ...this.#described, headers: new FetchHeaders(this.headers) });
  }

  toJSON(): object {
    const { bodyUsed, cache, credentials, headers, method, mode, url } = this;
    return { bodyUsed, cache, credentials, headers, method, mode, url };
  }

  [SHOWN](): object {
    const { arrayBuffer, bodyUsed, cache, credentials, json, headers, method, mode, text, url } = this;
    return { arrayBuffer, bodyUsed, cache, credentials, json, headers, method, mode, text, url };
  }

  get [Symbol.toStringTag](): string {
    return 'Request';
  }
}

haveOwnMembers(FetchRequest);

/** A response that a script makes. @throws TypeError or RangeError for what is wrong. nginx: ngx_qjs_response_ctor. */
export function responseOf(body: unknown, given: unknown): FetchResponse {
  const init = (typeof given === 'object' && given !== null ? given : {}) as {
    readonly status?: unknown;
    readonly statusText?: unknown;
    readonly headers?: unknown;
  };
  let status = 200;
  if (init.status !== undefined) {
    status = givenInteger(init.status);
    if (status < 200 || status > 599) {
      throw new RangeError(`status provided (${status}) is outside of [200, 599] range`);
    }
  }
  const statusText = init.statusText === undefined || init.statusText === null ? '' : `${init.statusText as string}`;
  if (/[^\t\x20-\x7e\x80-\uffff]/.test(statusText)) {
    throw new TypeError('invalid Response statusText');
  }
  if (init.headers !== undefined && (typeof init.headers !== 'object' || init.headers === null)) {
    throw new TypeError('Headers is not an object');
  }
  const headers = new FetchHeaders(init.headers as object | undefined);
  if (typeof body === 'string' && !headers.has('Content-Type')) {
    headers.append('Content-Type', TEXT_TYPE);
  }
  return new FetchResponse({ url: '', status, statusText, headers, body: Buffer.from(bufferOf(body)) }, false);
}

/** A response that came over the network, and from where. */
export interface ReceivedAnswer extends FetchAnswer {
  readonly url: string;
}

/**
 * A response that came over the network, or that a script made. Whoever asks for what only Node's class has gets that of Node.
 * nginx: ngx_js_response_t.
 */
export class FetchResponse extends FetchBody {
  static override readonly name = 'Response';

  readonly #received: ReceivedAnswer;

  constructor(received: ReceivedAnswer, fixed = true) {
    super(received.body);
    // It is a Response to whoever asks, without the stream that Node's constructor makes.
    joinWeb(FetchResponse, () => Response);
    if (fixed) {
      fixHeaders(received.headers);
    }
    this.#received = received;
  }

  get headers(): FetchHeaders {
    return this.#received.headers;
  }

  get status(): number {
    return this.#received.status;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get statusText(): string {
    return this.#received.statusText;
  }

  get type(): string {
    return 'basic';
  }

  get url(): string {
    return this.#received.url;
  }

  get body(): Response['body'] {
    return new Response(this.#received.body).body;
  }

  get redirected(): boolean {
    return false;
  }

  clone(): FetchResponse {
    return new FetchResponse({ ...this.#received, headers: new FetchHeaders(this.headers) });
  }

  toJSON(): object {
    const { bodyUsed, headers, ok, redirected, status, statusText, type, url } = this;
    return { bodyUsed, headers, ok, redirected, status, statusText, type, url };
  }

  [SHOWN](): object {
    const { arrayBuffer, bodyUsed, headers, json, ok, redirected, status, statusText, text, type, url } = this;
    return { arrayBuffer, bodyUsed, headers, json, ok, redirected, status, statusText, text, type, url };
  }

  get [Symbol.toStringTag](): string {
    return 'Response';
  }
}

haveOwnMembers(FetchResponse);
