import type { Request as ServerRequest } from '../../http/request/request.js';
import { HandlerInput, inputStream, wholeInput } from './handler-input.js';
import { forwardRest, isMadeBy } from './light-response.js';
import { handlerHeaders, handlerUrl } from './request-url.js';

/** Node's own class, which does what the light one is not made for. */
let NodeRequest: typeof globalThis.Request;

type RequestInfo = ConstructorParameters<typeof Request>[0];

/** A client's request as a handler sees it. What takes long to make is made when it is asked for. */
export class LightRequest {
  readonly #r: ServerRequest;
  readonly #input: HandlerInput;
  #url: string | undefined = undefined;
  #headers: Headers | undefined = undefined;
  #controller: AbortController | undefined = undefined;
  #node: Request | undefined = undefined;
  /** The text or the bytes were asked for. */
  #used = false;
  #over = false;

  constructor(r: ServerRequest) {
    this.#r = r;
    this.#input = new HandlerInput(r);
  }

  static input(request: LightRequest): HandlerInput {
    return request.#input;
  }

  /** The request is over: whoever listens to its signal is told. `complete`: it was answered to the end. */
  static close(request: LightRequest, complete: boolean): void {
    if (request.#over) {
      return;
    }
    request.#over = true;
    request.#input.close();
    if (!complete) {
      request.#controller?.abort(new DOMException('the client has left', 'AbortError'));
    }
  }

  /** The request as Node's class has it. */
  static node(request: LightRequest): Request {
    return request.#asNode();
  }

  static is(value: unknown): value is LightRequest {
    return typeof value === 'object' && value !== null && #r in value;
  }

  #asNode(): Request {
    if (this.#node === undefined) {
      const body = this.#hasNoBody || this.#used ? null : inputStream(this.#input);
      this.#node = new NodeRequest(this.url, {
        method: this.method,
        headers: this.headers,
        signal: this.signal,
        body,
        ...(body === null ? {} : { duplex: 'half' }),
      } as RequestInit);
    }
    return this.#node;
  }

  get #hasNoBody(): boolean {
    return this.#r.method === 'GET' || this.#r.method === 'HEAD' || this.#input.none;
  }

  get method(): string {
    return this.#r.method;
  }

  get url(): string {
    this.#url ??= handlerUrl(this.#r);
    return this.#url;
  }

  get headers(): Headers {
    this.#headers ??= headersOf(this.#r);
    return this.#headers;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#over) {
        this.#controller.abort(new DOMException('the client has left', 'AbortError'));
      }
    }
    return this.#controller.signal;
  }

  get body(): ReadableStream<Uint8Array> | null {
    return this.#hasNoBody ? null : (this.#asNode().body as ReadableStream<Uint8Array> | null);
  }

  get bodyUsed(): boolean {
    return this.#used || (this.#node?.bodyUsed ?? false);
  }

  get duplex(): string {
    return 'half';
  }

  text(): Promise<string> {
    return this.#node === undefined ? this.#whole().then(utf8Of) : this.#node.text();
  }

  json(): Promise<unknown> {
    return this.#node === undefined ? this.#whole().then(jsonOf) : this.#node.json();
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#node === undefined ? this.#whole().then(arrayBufferOf) : this.#node.arrayBuffer();
  }

  bytes(): Promise<Uint8Array> {
    return this.arrayBuffer().then((bytes) => new Uint8Array(bytes));
  }

  #whole(): Promise<Buffer> {
    if (this.#used) {
      return Promise.reject(new TypeError('Body is unusable: Body has already been read'));
    }
    if (this.#hasNoBody) {
      return Promise.resolve(Buffer.alloc(0));
    }
    this.#used = true;
    return wholeInput(this.#input);
  }
}

const decoder = new TextDecoder();
const utf8Of = (body: Buffer): string => decoder.decode(body);
const jsonOf = (body: Buffer): unknown => JSON.parse(decoder.decode(body)) as unknown;
const arrayBufferOf = (body: Buffer): ArrayBuffer => body.buffer.slice(body.byteOffset, body.byteOffset + body.length) as ArrayBuffer;

function headersOf(r: ServerRequest): Headers {
  const headers = new Headers();
  const list = handlerHeaders(r);
  for (let i = 0; i < list.length; i += 2) {
    try {
      headers.append(list[i]!, list[i + 1]!);
    } catch {
      // The server lets names through that the class has no place for.
    }
  }
  return headers;
}

/**
 * Makes what takes the place of Node's globals, so that handlers can give the light request to them: a class that can be made from one, and
 * a `fetch` that sends one. Once for a process that has handlers.
 */
export function openToLight(): { readonly Request: typeof Request; readonly fetch: typeof fetch } {
  const nodeFetch = globalThis.fetch;
  const Node = globalThis.Request;
  NodeRequest = Node;
  forwardRest(LightRequest.prototype, Node.prototype, LightRequest.node as (self: never) => object);
  Object.setPrototypeOf(LightRequest.prototype, Node.prototype);
  class OpenRequest extends Node {
    static override readonly name = 'Request';

    constructor(input: RequestInfo, init?: RequestInit) {
      super(LightRequest.is(input) ? LightRequest.node(input) : input, init);
    }

    static override [Symbol.hasInstance](value: unknown): boolean {
      return isMadeBy(Node, value);
    }
  }
  return {
    Request: OpenRequest,
    fetch: (input, init) => nodeFetch(LightRequest.is(input) ? LightRequest.node(input) : input, init),
  };
}
