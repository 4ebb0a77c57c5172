import { TOKEN } from '../../http/syntax/token.js';
/** Node's own class, which does what the light one is not made for. Not looked at before {@link openResponse}: Node loads it then. */
export let NodeResponse: typeof globalThis.Response;

type BodyInit = NonNullable<ConstructorParameters<typeof Response>[0]>;
type Init = ResponseInit | undefined;
type HeadersInit = NonNullable<ResponseInit['headers']>;

const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Bodies that are kept as they are until somebody wants them as a stream. */
type PlainBody = string | Uint8Array | ReadableStream<Uint8Array> | null;

/**
 * A Response that a handler makes to be answered with: text or bytes, a status and a list of headers. Node's class makes a stream, a list
 * and a lock of each, which takes longer than all the rest of a small answer. Whoever asks for what only that class has gets one, made
 * then.
 */
export class LightResponse {
  static readonly name = 'Response';

  #body: PlainBody;
  #status: number;
  #statusText: string;
  /** Names in lower case and values by turns; of no use once {@link #headers} is there. */
  #list: string[];
  #headers: Headers | undefined = undefined;
  #node: Response | undefined = undefined;

  constructor(body?: BodyInit | null, init?: ResponseInit) {
    this.#body = null;
    this.#status = 200;
    this.#statusText = '';
    this.#list = [];
    if (!this.#takeLightly(body, init)) {
      const node = new NodeResponse(body, init);
      this.#node = node;
      this.#status = node.status;
      this.#statusText = node.statusText;
      this.#headers = node.headers;
    }
  }

  static error(): Response {
    return NodeResponse.error();
  }

  static json(data: unknown, init?: ResponseInit): LightResponse {
    const text = JSON.stringify(data) as string | undefined;
    if (text === undefined) {
      throw new TypeError('Value is not JSON serializable');
    }
    const made = new LightResponse(text, init);
    if (init?.headers === undefined || !new Headers(init.headers).has('content-type')) {
      made.#name('content-type', 'application/json');
    }
    return made;
  }

  static redirect(url: string | URL, status = 302): LightResponse {
    const node = NodeResponse.redirect(url, status as 302);
    return new LightResponse(null, { status: node.status, headers: node.headers });
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    return isMadeBy(NodeResponse, value);
  }

  /** What the answer is made of, for the server; undefined where it has to be read as a stream of Node's class. */
  static plain(response: LightResponse): PlainBody | undefined {
    return response.#node === undefined ? response.#body : undefined;
  }

  /** The headers as names in lower case and values by turns. */
  static list(response: LightResponse): readonly string[] {
    return response.#headers === undefined ? response.#list : flat(response.#headers);
  }

  /** Whether it is one of these; `instanceof` is true for those of Node's class, too. */
  static is(value: object): boolean {
    return #list in value;
  }

  /** Takes what the usual calls give. False: Node's class decides what it means, or what is wrong with it. */
  #takeLightly(body: BodyInit | null | undefined, init: Init): boolean {
    const status = init?.status ?? 200;
    if (status !== 200 && (!Number.isInteger(status) || status < 200 || status > 599)) {
      return false;
    }
    const isText = typeof body === 'string';
    const empty = body === null || body === undefined;
    if (!isText && !empty && !(body instanceof Uint8Array) && !isFreshStream(body)) {
      return false;
    }
    if (!empty && (status === 204 || status === 205 || status === 304)) {
      return false;
    }
    const text = init?.statusText ?? '';
    if (text !== '' && !VALUE.test(text)) {
      return false;
    }
    const headers = init?.headers;
    const list = this.#list;
    if (headers !== undefined && !takeHeaders(headers, list)) {
      list.length = 0;
      return false;
    }
    if (isText && !has(list, 'content-type')) {
      list.push('content-type', 'text/plain;charset=UTF-8');
    }
    // What the handler does with its bytes afterwards is its own business.
    this.#body = empty ? null : body instanceof Uint8Array ? new Uint8Array(body) : (body as PlainBody);
    this.#status = status;
    this.#statusText = text;
    return true;
  }

  /** Changes a header that there is. */
  #name(name: string, value: string): void {
    const at = this.#headers === undefined ? this.#list.indexOf(name) : -1;
    if (at === -1) {
      this.headers.set(name, value);
    } else {
      this.#list[at + 1] = value;
    }
  }

  /** The response as Node's class has it. */
  static node(response: LightResponse): Response {
    return response.#asNode();
  }

  #asNode(): Response {
    this.#node ??= new NodeResponse(this.#body as BodyInit | null, {
      status: this.#status,
      statusText: this.#statusText,
      headers: this.headers,
    });
    return this.#node;
  }

  get headers(): Headers {
    if (this.#headers === undefined) {
      const headers = new Headers();
      const list = this.#list;
      for (let i = 0; i < list.length; i += 2) {
        headers.append(list[i]!, list[i + 1]!);
      }
      this.#headers = headers;
    }
    return this.#headers;
  }

  get status(): number {
    return this.#status;
  }

  get statusText(): string {
    return this.#statusText;
  }

  get ok(): boolean {
    return this.#status >= 200 && this.#status < 300;
  }

  get redirected(): boolean {
    return false;
  }

  get type(): string {
    return this.#node?.type ?? 'default';
  }

  get url(): string {
    return '';
  }

  get body(): ReadableStream<Uint8Array> | null {
    if (this.#node === undefined && this.#body === null) {
      return null;
    }
    return this.#asNode().body as ReadableStream<Uint8Array> | null;
  }

  get bodyUsed(): boolean {
    return this.#node?.bodyUsed ?? false;
  }

  clone(): LightResponse {
    const copy = this.#asNode().clone();
    return new LightResponse(copy.body as BodyInit | null, { status: this.#status, statusText: this.#statusText, headers: this.headers });
  }
}

/** Headers as handlers give them, checked. False: Node's class says what is wrong. */
function takeHeaders(headers: HeadersInit, list: string[]): boolean {
  if (headers instanceof Headers) {
    for (const [name, value] of headers) {
      list.push(name, value);
    }
    return true;
  }
  if (Array.isArray(headers)) {
    return headers.every((pair) => Array.isArray(pair) && pair.length === 2 && takeHeader(String(pair[0]), pair[1], list));
  }
  if (typeof (headers as { [Symbol.iterator]?: unknown })[Symbol.iterator] === 'function') {
    return false;
  }
  for (const name in headers) {
    if (!takeHeader(name, (headers as Record<string, unknown>)[name], list)) {
      return false;
    }
  }
  return true;
}

function takeHeader(name: string, value: unknown, list: string[]): boolean {
  const text = typeof value === 'string' ? value : String(value);
  if (!TOKEN.test(name) || !VALUE.test(text)) {
    return false;
  }
  list.push(name.toLowerCase(), text.trim());
  return true;
}

function has(list: readonly string[], name: string): boolean {
  for (let i = 0; i < list.length; i += 2) {
    if (list[i] === name) {
      return true;
    }
  }
  return false;
}

function flat(headers: Headers): string[] {
  const list: string[] = [];
  for (const [name, value] of headers) {
    list.push(name, value);
  }
  return list;
}

/** Whether a value is an object of a class, whatever its `instanceof` says. */
export const isMadeBy = (made: { readonly prototype: object }, value: unknown): boolean =>
  Function.prototype[Symbol.hasInstance].call(made, value);

const isFreshStream = (body: unknown): boolean => body instanceof ReadableStream && !body.locked;

/** Gives a class the members of Node's that it has none of its own of, which are asked of an object of Node's class. */
export function forwardRest(light: object, node: object, asNode: (self: never) => object): void {
  for (const name of Object.getOwnPropertyNames(node)) {
    const property = Object.getOwnPropertyDescriptor(node, name)!;
    if (Object.hasOwn(light, name) || name === 'constructor') {
      continue;
    }
    const { get, value } = property;
    if (get !== undefined) {
      Object.defineProperty(light, name, {
        configurable: true,
        get(this: never) {
          return get.call(asNode(this));
        },
      });
    } else if (typeof value === 'function') {
      Object.defineProperty(light, name, {
        configurable: true,
        writable: true,
        value(this: never, ...args: unknown[]) {
          return value.apply(asNode(this), args);
        },
      });
    }
  }
}

/** Puts the light class over Node's. Once for a process that has handlers. */
export function openResponse(): typeof LightResponse {
  if (NodeResponse === undefined) {
    NodeResponse = globalThis.Response;
    forwardRest(LightResponse.prototype, NodeResponse.prototype, LightResponse.node as (self: never) => object);
    Object.setPrototypeOf(LightResponse, NodeResponse);
    Object.setPrototypeOf(LightResponse.prototype, NodeResponse.prototype);
  }
  return LightResponse;
}
