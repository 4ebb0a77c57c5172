// Types of what JavaScript in sluice finds: `import type { HttpRequest } from 'sluice/types'`. The import also declares the globals.

/** A request header or response header by its name, in any case. */
export type HeadersIn = Readonly<Record<string, string | undefined>>;
export type HeadersOut = Record<string, string | readonly string[] | undefined>;

/** What a handler sends: bytes as they are, everything else as text in UTF-8. */
export type Sendable = string | Uint8Array | ArrayBuffer | number | boolean | null | undefined;

export interface FormFile {
  readonly name: string;
  readonly type: string;
  readonly size: number;
  text(): Promise<string>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

export interface Form {
  get(name: string): string | FormFile | null;
  getAll(name: string): (string | FormFile)[];
  has(name: string): boolean;
  hasFiles(): boolean;
  forEach(callback: (value: string | FormFile, name: string) => void): void;
}

export interface SubrequestOptions {
  readonly args?: string;
  readonly body?: Sendable;
  readonly method?: string;
  readonly detached?: boolean;
}

/** The answer of a subrequest. */
export interface SubrequestReply extends HttpRequest {
  readonly responseText: string | undefined;
  readonly responseBuffer: Buffer | undefined;
}

/** `r` of njs's handlers. */
export interface HttpRequest {
  readonly args: Readonly<Record<string, string | string[] | undefined>>;
  readonly headersIn: HeadersIn;
  readonly rawHeadersIn: readonly (readonly [string, string])[];
  readonly headersOut: HeadersOut;
  readonly rawHeadersOut: readonly (readonly [string, string])[];
  readonly httpVersion: string;
  readonly internal: boolean;
  readonly method: string;
  /** The first line of the request as it came; of HTTP/2, as it would have been. */
  readonly requestLine: string;
  readonly uri: string;
  readonly remoteAddress: string;
  readonly parent: HttpRequest | undefined;
  status: number;
  /** Variables as text; those that can be assigned take what is assigned. */
  readonly variables: Record<string, string | undefined>;
  readonly rawVariables: Record<string, Buffer | undefined>;
  readonly requestText: string | undefined;
  readonly requestBuffer: Buffer | undefined;
  readonly responseText: string | undefined;
  readonly responseBuffer: Buffer | undefined;
  jsVarNames(prefix?: string): string[];
  readRequestText(): Promise<string>;
  readRequestArrayBuffer(): Promise<ArrayBuffer>;
  readRequestJSON(): Promise<unknown>;
  readRequestForm(options?: { readonly maxKeys?: number }): Promise<Form>;
  /** Answers. A code from 400 on without a body has the server's page; for a redirect, the body is where to. */
  return(status: number, body?: Sendable): void;
  sendHeader(): void;
  send(...pieces: Sendable[]): void;
  finish(): void;
  internalRedirect(uri: string): void;
  /** In `js_rewrite`: another path, not encoded, and another query where `args` is given. */
  rewrite(path: string, options?: { readonly args?: string; readonly break?: boolean }): void;
  /** In `js_access`: others decide. */
  decline(): void;
  setReturnValue(value: Sendable): void;
  subrequest(uri: string, options: SubrequestOptions & { readonly detached: true }): undefined;
  subrequest(uri: string, options?: SubrequestOptions | string): Promise<SubrequestReply>;
  subrequest(uri: string, options: SubrequestOptions | string, callback: (reply: SubrequestReply) => void): undefined;
  subrequest(uri: string, callback: (reply: SubrequestReply) => void): undefined;
  /** In `js_body_filter`: passes a piece on. */
  sendBuffer(data: Sendable, flags?: { readonly last?: boolean; readonly flush?: boolean }): void;
  done(): void;
  log(...messages: unknown[]): void;
  warn(...messages: unknown[]): void;
  error(...messages: unknown[]): void;
}

/** `s` of the handlers of `stream`, as njs documents it. */
export interface StreamSession {
  readonly remoteAddress: string;
  readonly status: number;
  readonly variables: Record<string, string | undefined>;
  readonly rawVariables: Record<string, Buffer | undefined>;
  allow(): void;
  decline(): void;
  deny(): void;
  done(code?: number): void;
  on(event: 'upload' | 'download', callback: (data: string, flags: SessionFlags) => void): void;
  on(event: 'upstream' | 'downstream', callback: (data: Buffer, flags: SessionFlags) => void): void;
  off(event: 'upload' | 'download' | 'upstream' | 'downstream'): void;
  send(data: Sendable, flags?: { readonly last?: boolean; readonly flush?: boolean }): void;
  sendUpstream(data: Sendable, flags?: { readonly last?: boolean; readonly flush?: boolean }): void;
  sendDownstream(data: Sendable, flags?: { readonly last?: boolean; readonly flush?: boolean }): void;
  setReturnValue(value: Sendable): void;
  log(...messages: unknown[]): void;
  warn(...messages: unknown[]): void;
  error(...messages: unknown[]): void;
}

/** `s` of a function of `js_content` in `stream`. */
export interface StreamContent extends AsyncIterable<Buffer> {
  readonly remoteAddress: string;
  readonly variables: Record<string, string | undefined>;
  readonly rawVariables: Record<string, Buffer | undefined>;
  jsVarNames(prefix?: string): string[];
  /** What has come, or so many bytes; fewer where the client ends, and null once nothing is left. Of UDP, a datagram. */
  read(length?: number): Promise<Buffer | null>;
  /** A line without its end, of at most so many bytes (64k). */
  readLine(most?: number): Promise<string | null>;
  /** Waits while the client does not take what is sent. */
  write(data: Sendable): Promise<void>;
  /** Sends no more; reading goes on. */
  end(data?: Sendable): Promise<void>;
  log(...messages: unknown[]): void;
  warn(...messages: unknown[]): void;
  error(...messages: unknown[]): void;
}

/** A function of `js_content` in `stream`. */
export type StreamHandler = (s: StreamContent) => void | Promise<void>;

export interface SessionFlags {
  readonly last: boolean;
}

/** A dictionary of `js_shared_dict_zone`. */
export interface SharedDict<V extends string | number = string | number> {
  readonly name: string;
  readonly type: 'string' | 'number';
  readonly capacity: number;
  add(key: string, value: V, timeout?: number): boolean;
  clear(): void;
  delete(key: string): boolean;
  freeSpace(): number;
  get(key: string): V | undefined;
  has(key: string): boolean;
  incr(key: string, delta: number, init?: number, timeout?: number): number;
  items(most?: number): [string, V][];
  keys(most?: number): string[];
  pop(key: string): V | undefined;
  replace(key: string, value: V): boolean;
  set(key: string, value: V, timeout?: number): this;
  size(): number;
  ttl(key: string): number | undefined;
}

/** What `ngx.fetch` takes beside what Node's `fetch` does. */
export interface NgxFetchOptions extends RequestInit {
  /** Whether the certificate is checked; as `js_fetch_verify` says unless given. */
  readonly verify?: boolean;
  readonly buffer_size?: number;
  readonly max_response_body_size?: number;
}

/** `ngx`. */
export interface Ngx {
  readonly INFO: number;
  readonly WARN: number;
  readonly ERR: number;
  readonly build: string;
  readonly engine_id: number;
  readonly conf_file_path: string;
  readonly conf_prefix: string;
  readonly error_log_path: string;
  readonly prefix: string;
  readonly version: string;
  readonly version_number: number;
  readonly worker_id: number;
  /** Certificates from the issuers with `on_demand`; not there with `js_isolation`. */
  readonly acme: {
    /** Finds the certificate of a name, or orders it: what a function of `js_ssl_certificate` returns. */
    certificate(issuer: string, name: string): Promise<{ readonly certificate: string; readonly key: string }>;
  };
  readonly shared: Readonly<Record<string, SharedDict | undefined>>;
  fetch(resource: string | Request, options?: NgxFetchOptions): Promise<Response>;
  log(level: number, ...messages: unknown[]): void;
}

/** The second argument of a fetch handler. With `js_isolation thread` it has `remoteAddress` alone. */
export interface FetchEnv {
  readonly r: HttpRequest;
  readonly remoteAddress: string;
}

/** The third argument of a fetch handler. */
export interface FetchContext {
  /** Looks after work that goes on behind the answer: what it rejects with is logged. */
  waitUntil(work: Promise<unknown>): void;
  passThroughOnException(): void;
}

/** A handler of `js_content NAME fetch`. */
export type FetchHandler = (request: Request, env: FetchEnv, context: FetchContext) => Response | Promise<Response>;

/** An application that `js_content` takes without the word `fetch`. */
export interface FetchApplication {
  fetch: FetchHandler;
}

/** A handler of `js_content`, `js_access` and `js_rewrite`. */
export type HttpHandler = (r: HttpRequest) => void | Promise<void>;
/** A function of `js_init`, which each worker calls before it serves. */
export type WorkerInit = () => void | Promise<void>;
/** A client's hello. Ciphers, groups and algorithms are the numbers of TLS. */
export interface ClientHello {
  readonly serverName: string | undefined;
  readonly protocols: readonly string[];
  readonly ciphers: readonly number[];
  readonly groups: readonly number[];
  readonly signatureAlgorithms: readonly number[];
  readonly tls13: boolean;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
}

/** A function of `js_client_hello`: false, or the number of an alert, refuses the handshake. */
export type HelloHandler = (hello: ClientHello) => boolean | number | void | Promise<boolean | number | void>;

/** A certificate with its chain, and its key, in PEM. */
export interface CertificatePair {
  readonly certificate: string | Uint8Array;
  readonly key: string | Uint8Array;
}

/** A function of `js_ssl_certificate`; nothing: the server's own certificate. */
export type CertificateHandler = (
  name: string,
  hello: ClientHello,
) => CertificatePair | null | undefined | Promise<CertificatePair | null | undefined>;

/** A server of a group, as far as the worker knows. */
export interface UpstreamPeer {
  readonly index: number;
  readonly name: string;
  readonly server: string;
  readonly weight: number;
  readonly conns: number;
  readonly maxConns: number;
  readonly fails: number;
  readonly state: 'up' | 'down' | 'draining' | 'unhealthy' | 'checking' | 'unavail' | 'busy';
  readonly available: boolean;
}

/** What a function of `js_balancer` chooses among. */
export interface PeerChoice {
  readonly name: string;
  readonly peers: readonly UpstreamPeer[];
  readonly failures: readonly { readonly name: string; readonly status: number }[];
  /** With the one that is being made. */
  tries: number;
}

/** A function of `js_balancer`: gives a peer, its index, its name or another address; nothing: the group's method chooses. */
export type HttpBalancer = (r: HttpRequest, choice: PeerChoice) => UpstreamPeer | number | string | undefined | void;
/** The same in `stream`. */
export type StreamBalancer = (s: StreamSession, choice: PeerChoice) => UpstreamPeer | number | string | undefined | void;
/** A function of `js_set`. */
export type HttpValue = (r: HttpRequest) => string | number | undefined;
/** A function of `js_body_filter`; `D` is Buffer with `buffer_type=buffer`. */
export type BodyFilter<D extends string | Buffer = string> = (r: HttpRequest, data: D, flags: { readonly last: boolean }) => void;

declare global {
  const ngx: Ngx;
  const njs: {
    readonly version: string;
    readonly version_number: number;
    readonly engine: string;
    dump(value: unknown): string;
    /** The function is called when the request or the session is over. */
    on(event: 'exit', callback: () => void): void;
  };
}
