// Over 400 lines: one request of `ngx.fetch` with all the ways that its connections take.
import { connect, isIP, type Socket } from 'node:net';
import { type TLSSocket, connect as tlsConnect } from 'node:tls';
import { ERROR, type Level } from '../../shared/log/level.js';
import { errnoText } from '../../shared/system/errno.js';
import { setTimer } from '../../shared/time/timer.js';
import { type BackendUrl, parseBackendUrl } from '../address/backend-url.js';
import { CONNECTION_FIELDS } from '../http/fields/connection-fields.js';
import { opensslText } from '../net/openssl/error-text.js';
import { cipherOf } from '../net/tls-binding.js';
import { resolveErrorText } from '../resolver/resolver.js';
import { verifyFailure } from '../tls/verify.js';
import { type ResponseFault, type ResponseLimits, WholeResponse } from '../upstream/response/whole-response.js';
import { CHUNKED_FACTOR, type FetchAnswer, faultError, fetchAnswer } from './fetch-answer.js';
import { type FetchHeaderLine, headerLines } from './fetch-headers.js';
import type { FetchDescription } from './fetch-message.js';
import type { FetchConnection } from './fetch-pool.js';
import type { FetchPlace, FetchProxy } from './fetch-settings.js';
import { InternalError } from './script-errors.js';
import { bytesOf } from './text.js';

/** What one fetch sets of its own. */
export interface FetchOptions {
  readonly bufferSize: number;
  readonly maxResponse: number;
  readonly verify: boolean;
  readonly proxy: FetchProxy | undefined;
  /** Connections may be kept. */
  readonly keepalive: boolean;
}

/** What is asked of whom. */
type FetchTarget = Pick<FetchDescription, 'url' | 'method' | 'headers'>;

/** How a fetch ends: with one of these. */
export interface FetchOutcome {
  done(answer: FetchAnswer): void;
  failed(error: Error): void;
  log(level: Level, message: string): void;
}

/** So long no host may be. nginx: NGX_JS_HOST_MAX_LEN. */
const HOST_LIMIT = 256;

/** Where a URL leads to. @throws TypeError for one that leads nowhere. */
export function targetOf(url: string): { readonly tls: boolean; readonly parts: BackendUrl } {
  const tls = /^https:/i.test(url);
  const rest = bytesOf(url).slice(tls ? 'https://'.length : 'http://'.length);
  const parts = parseBackendUrl(rest, { defaultPort: tls ? 443 : 80, uriPart: true });
  if (typeof parts === 'string' || parts.family === 'unix' || /[\x00-\x20\x7f]/.test(parts.uri) || !isHostOf(parts.host, url)) {
    throw new TypeError('invalid url');
  }
  if (parts.host.length >= HOST_LIMIT) {
    throw new TypeError('Host name too long');
  }
  return { tls, parts };
}

/** Whether `URL`, by which a script may have checked where it leads, reads the same host out of a URL. */
function isHostOf(host: string, url: string): boolean {
  const { hostname, username, password } = new URL(url);
  return username === '' && password === '' && (host.startsWith('[') ? hostname.startsWith('[') : hostname === host.toLowerCase());
}

/** One request of `ngx.fetch` and its response. nginx: ngx_js_http_t. */
export class FetchExchange {
  readonly #scope: FetchPlace;
  readonly #request: FetchTarget;
  readonly #body: Buffer;
  readonly #options: FetchOptions;
  readonly #outcome: FetchOutcome;
  readonly #tls: boolean;
  readonly #parts: BackendUrl;
  readonly #key: string;
  readonly #limits: ResponseLimits;
  /** The response of the connection at hand. */
  #response: WholeResponse;
  #addresses: readonly string[] = [];
  #connection: FetchConnection | undefined = undefined;
  #socket: Socket | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  #cancelLookup: (() => void) | undefined = undefined;
  /** A byte of the response came. */
  #heard = false;
  #over = false;

  /** @throws TypeError for a URL that leads nowhere. */
  constructor(scope: FetchPlace, request: FetchTarget, body: Buffer, options: FetchOptions, outcome: FetchOutcome) {
    this.#scope = scope;
    this.#request = request;
    this.#body = body;
    this.#options = options;
    this.#outcome = outcome;
    const { tls, parts } = targetOf(request.url);
    this.#tls = tls;
    this.#parts = parts;
    this.#key = `${tls ? 's' : 'p'} ${parts.host.toLowerCase()} ${parts.port}`;
    const headOnly = request.method.toUpperCase() === 'HEAD';
    const { bufferSize, maxResponse } = options;
    this.#limits = { head: bufferSize, body: maxResponse, chunked: maxResponse * CHUNKED_FACTOR, headOnly };
    this.#response = new WholeResponse(this.#limits);
  }

  start(): void {
    const { proxy } = this.#options;
    const host = proxy?.host ?? this.#parts.host;
    const plain = host.startsWith('[') ? host.slice(1, -1) : host;
    if (isIP(plain) !== 0) {
      this.#addresses = [plain];
      this.#connect();
      return;
    }
    const { resolver, resolverTimeout } = this.#scope.lookup;
    if (resolver === undefined) {
      this.#fail(new InternalError('no resolver defined'));
      return;
    }
    let now = true;
    const cancel = resolver.resolve(host, resolverTimeout, (result) => {
      this.#cancelLookup = undefined;
      if (this.#over) {
        return;
      }
      if (result.state !== 0 || result.addresses.length === 0) {
        this.#fail(new Error(`"${host}" could not be resolved (${result.state}: ${resolveErrorText(result.state)})`));
        return;
      }
      this.#addresses = result.addresses;
      now = false;
      this.#connect();
    });
    if (now && !this.#over) {
      this.#cancelLookup = cancel;
    }
  }

  /** Nobody waits for it any more. */
  cancel(): void {
    this.#over = true;
    this.#cancelLookup?.();
    clearTimeout(this.#timer);
    this.#drop();
  }

  #fail(error: Error): void {
    if (!this.#over) {
      this.cancel();
      this.#outcome.failed(error);
    }
  }

  #drop(): void {
    this.#socket?.removeAllListeners().on('error', () => undefined);
    this.#socket?.destroy();
    this.#connection?.socket.removeAllListeners().on('error', () => undefined);
    this.#connection?.socket.destroy();
    this.#socket = undefined;
    this.#connection = undefined;
  }

  /** Goes on with the next address. nginx: ngx_js_http_next. */
  #next(): void {
    this.#drop();
    this.#addresses = this.#addresses.slice(1);
    if (this.#addresses.length === 0) {
      this.#fail(new Error('connect failed'));
    } else {
      this.#connect();
    }
  }

  #rearm(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimer(() => this.#fail(new Error('read timed out')), this.#scope.settings.fetchTimeout);
  }

  #connect(): void {
    this.#rearm();
    const kept = this.#options.keepalive ? this.#scope.pool.take(this.#key) : undefined;
    if (kept === undefined) {
      this.#dial();
    } else {
      this.#useKept(kept);
    }
  }

  /** Uses a kept connection if the server has not ended it: what has come of that by now is told in this turn of the event loop. */
  #useKept(kept: FetchConnection): void {
    const { socket } = kept;
    this.#connection = kept;
    let useless = false;
    const spoil = (): void => void (useless = true);
    socket.on('data', spoil).on('end', spoil).on('error', spoil).on('close', spoil);
    setImmediate(() => {
      if (this.#over) {
        return;
      }
      if (useless) {
        this.#drop();
        this.#connect();
      } else {
        socket.off('data', spoil).off('end', spoil).off('error', spoil).off('close', spoil);
        this.#use(socket);
      }
    });
  }

  #dial(): void {
    const { proxy } = this.#options;
    const socket = connect({ host: this.#addresses[0]!, port: proxy?.port ?? this.#parts.port, noDelay: true });
    this.#socket = socket;
    socket.on('error', (error) => {
      this.#outcome.log(ERROR, `${this.#scope.who} fetch connect() failed (${errnoText(error)})`);
      this.#next();
    });
    socket.on('connect', () => {
      if (!this.#tls) {
        this.#opened(socket);
      } else if (proxy === undefined) {
        this.#handshake(socket);
      } else {
        this.#askProxy(socket, proxy);
      }
    });
  }

  /** Has the proxy make a tunnel. nginx: ngx_js_http_build_connect_request. */
  #askProxy(socket: Socket, proxy: FetchProxy): void {
    const { host, port } = this.#parts;
    const credentials = proxy.authorization === '' ? '' : `Proxy-Authorization: ${proxy.authorization}\r\n`;
    socket.write(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}:${port}\r\n${credentials}\r\n`, 'latin1');
    const response = new WholeResponse({ head: this.#options.bufferSize, body: 0, chunked: 0, headOnly: true });
    const onData = (bytes: Buffer): void => {
      this.#rearm();
      const fault = response.take(bytes);
      if (fault !== undefined) {
        this.#fail(new Error(CONNECT_TEXTS[fault] ?? 'prematurely closed connection'));
        return;
      }
      if (!response.complete) {
        return;
      }
      const { status } = response.head;
      if (status !== 200) {
        this.#fail(new Error(`proxy CONNECT failed with status ${status}`));
        return;
      }
      socket.off('data', onData).off('end', onEnd);
      this.#handshake(socket);
    };
    const onEnd = (): void => this.#fail(new Error('prematurely closed connection'));
    socket.on('data', onData).on('end', onEnd);
  }

  // nginx: ngx_js_http_ssl_init_connection.
  #handshake(socket: Socket): void {
    let tls: TLSSocket;
    const { host } = this.#parts;
    try {
      tls = tlsConnect({
        socket,
        secureContext: this.#scope.tls.context,
        rejectUnauthorized: false,
        ...(isIP(host) === 0 && !host.startsWith('[') ? { servername: host } : {}),
      });
    } catch (error) {
      this.#fail(error as Error);
      return;
    }
    this.#socket = tls;
    socket.removeAllListeners('error').on('error', () => undefined);
    tls.on('error', (error) => {
      const text = opensslText(error.message) ?? error.message.trim();
      this.#outcome.log(ERROR, `${this.#scope.who} fetch SSL_do_handshake() failed (SSL: ${text})`);
      this.#next();
    });
    tls.on('end', () => this.#next());
    tls.on('secureConnect', () => {
      const failure = this.#options.verify ? this.#verify(tls) : undefined;
      if (failure === undefined) {
        this.#opened(tls);
        return;
      }
      this.#outcome.log(ERROR, failure);
      this.#next();
    });
  }

  // nginx: ngx_js_http_ssl_handshake.
  #verify(tls: TLSSocket): string | undefined {
    const { host } = this.#parts;
    const certificate = tls.getPeerX509Certificate();
    if (certificate === undefined) {
      return `${this.#scope.who} http SSL certificate verify error: no certificate`;
    }
    const { base } = this.#scope.tls;
    const failure = verifyFailure(cipherOf(tls), certificate, base.authorities, this.#scope.settings.fetchVerifyDepth);
    if (failure !== null) {
      return `${this.#scope.who} http SSL certificate verify error: (${failure.code}:${failure.text})`;
    }
    const plain = host.startsWith('[') ? host.slice(1, -1) : host;
    const matches = isIP(plain) === 0 ? certificate.checkHost(plain) : certificate.checkIP(plain);
    return matches === undefined ? `${this.#scope.who} http SSL certificate does not match "${host}"` : undefined;
  }

  #opened(socket: Socket): void {
    this.#socket = undefined;
    socket.removeAllListeners('error').removeAllListeners('end');
    this.#connection = { socket, key: this.#key, startedAt: performance.now(), requests: 0 };
    this.#use(socket);
  }

  #use(socket: Socket): void {
    const connection = this.#connection!;
    connection.requests++;
    // What came of another server's response, which broke off, is no part of this one.
    this.#response = new WholeResponse(this.#limits);
    socket.on('error', (error) => {
      if (!this.#askAgain()) {
        this.#outcome.log(ERROR, `${this.#scope.who} fetch recv() failed (${errnoText(error)})`);
        this.#next();
      }
    });
    socket.on('data', (bytes: Buffer) => {
      this.#heard = true;
      this.#rearm();
      this.#read(this.#response.take(bytes));
    });
    socket.on('end', () => {
      if (!this.#askAgain()) {
        this.#read(this.#response.end());
      }
    });
    socket.write(this.#head(), 'latin1');
    if (this.#body.length > 0) {
      socket.write(this.#body);
    }
  }

  /** Asks by another connection where the server has ended a kept one just before it was used, and being asked twice does no harm. */
  #askAgain(): boolean {
    const again = !this.#over && !this.#heard && this.#connection!.requests > 1 && IDEMPOTENT.has(this.#request.method.toUpperCase());
    if (again) {
      this.#drop();
      this.#dial();
    }
    return again;
  }

  #read(fault: ResponseFault | undefined): void {
    if (this.#over) {
      return;
    }
    if (fault !== undefined) {
      if (this.#response.why !== '') {
        this.#outcome.log(ERROR, `js fetch: ${this.#response.why}`);
      }
      this.#fail(faultError(this.#response, fault));
    } else if (this.#response.complete) {
      this.#finish();
    }
  }

  #finish(): void {
    let answer: FetchAnswer;
    try {
      answer = fetchAnswer(this.#response);
    } catch (error) {
      this.#fail(error as Error);
      return;
    }
    this.#over = true;
    clearTimeout(this.#timer);
    const connection = this.#connection!;
    this.#connection = undefined;
    connection.socket.removeAllListeners('data').removeAllListeners('end').removeAllListeners('error');
    if (this.#options.keepalive && this.#response.keepalive) {
      this.#scope.pool.give(connection);
    } else {
      connection.socket.on('error', () => undefined).destroy();
    }
    this.#outcome.done(answer);
  }

  // nginx: ngx_js_fetch_build_request.
  #head(): string {
    const { method, headers } = this.#request;
    const { host, portText, uri } = this.#parts;
    const { proxy } = this.#options;
    const throughProxy = proxy !== undefined && !this.#tls;
    const port = portText === '' ? '' : `:${portText}`;
    const shownPort = this.#parts.port === 80 ? '' : port;
    let text = `${method} ${throughProxy ? `http://${host}${shownPort}` : ''}${uri.startsWith('/') ? '' : '/'}${uri} HTTP/1.1\r\n`;
    const lines = headerLines(headers);
    text += `Host: ${first(lines, 'host') ?? `${host}${port}`}\r\nUser-Agent: ${first(lines, 'user-agent') ?? 'nginx-js'}\r\n`;
    if (throughProxy && proxy.authorization !== '') {
      text += `Proxy-Authorization: ${proxy.authorization}\r\n`;
    }
    for (const { name, lower, value } of lines) {
      if (!OWN.has(lower) && !(throughProxy && lower === 'proxy-authorization')) {
        text += `${name}: ${bytesOf(value)}\r\n`;
      }
    }
    if (!this.#options.keepalive) {
      text += 'Connection: close\r\n';
    }
    const upper = method.toUpperCase();
    const length = this.#body.length > 0 || upper === 'POST' || upper === 'PUT' ? `Content-Length: ${this.#body.length}\r\n` : '';
    return `${text}${length}\r\n`;
  }
}

/** What scripts are told of a proxy's answer that is none, in njs's words. */
const CONNECT_TEXTS: { readonly [fault in ResponseFault]?: string } = {
  'no head': 'proxy CONNECT: invalid status line',
  'bad head': 'proxy CONNECT: invalid headers',
};

const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/**
 * Headers that scripts have no say in, since they belong to the connection or say where the request ends. What a client sent would
 * otherwise frame the request a second time once a script passes its headers on. Host and User-Agent have their line already.
 */
const OWN = new Set([...CONNECTION_FIELDS, 'content-length', 'expect', 'host', 'http2-settings', 'te', 'trailer', 'user-agent']);

/** The first value of a header: there is one line of it. */
function first(lines: readonly FetchHeaderLine[], name: string): string | undefined {
  const value = lines.find(({ lower }) => lower === name)?.value;
  return value === undefined ? undefined : bytesOf(value);
}
