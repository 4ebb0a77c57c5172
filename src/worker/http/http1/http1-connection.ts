// Longer than most: the states of one client connection and what leads from one to the next, which only make sense together.

import { errnoText } from '../../../shared/lib/errno.js';
import { debugOf, type Logger } from '../../../shared/log/error-log.js';
import { DEBUG, INFO, type Level } from '../../../shared/log/level.js';
import type { LogContext, LogSubject } from '../../../shared/log/log-line.js';
import type { ClientSocket, SocketOwner } from '../../../shared/net/client-socket.js';
import type { ProxyProtocolHeader } from '../../../shared/net/proxy-protocol.js';
import { Deadline, type Expiring } from '../../io/deadline.js';
import { checkClientCertificate } from '../../tls/request-check.js';
import type { ConnectionHost, HeldConnection } from '../connection/connection-host.js';
import type { DebugClients } from '../connection/debug-clients.js';
import type { Idle } from '../connection/idle-queue.js';
import type { Opened } from '../connection/opened.js';
import type { AddressRuntime } from '../request/address-runtime.js';
import type { Chunk } from '../request/body-stage.js';
import type { BodySink, ClientConnection, ClientStream, TlsConnection, Upgraded } from '../request/client-stream.js';
import { CLIENT_CLOSED_REQUEST, TO_HTTPS } from '../request/codes.js';
import { finalize, terminate } from '../request/finalize.js';
import type { ServerRuntime } from '../request/http-runtime.js';
import { Request } from '../request/request.js';
import { startPhases } from '../request/run-phases.js';
import { chooseServer } from '../serving/choose-server.js';
import { takeHead } from '../serving/take-head.js';
import { HEAD_AGAIN, HEAD_DONE, type HeadOwner, type HeadParser } from '../syntax/head-parser.js';
import { CONNECTION_KEEP_ALIVE, CONNECTION_UNSET, type RequestHead } from '../syntax/request-head.js';
import { HTTP_10 } from '../syntax/request-line.js';
import { type BodyFraming, makeFraming } from './body-framing.js';
import { Http1Output } from './http1-output.js';

/** Where a connection stands. */
const State = { WAITING: 0, HEAD: 1, REQUEST: 2, DISCARDING: 3, LINGERING: 4, TUNNEL: 5, CLOSED: 6 } as const;

/** Bytes of a next request that are read ahead while one is being answered. */
const READ_AHEAD = 2 * 1024;
const EMPTY = Buffer.alloc(0);

/**
 * One HTTP/1 client connection: reads heads, runs one request at a time, frames bodies both ways, keeps the connection
 * or closes it gently. nginx: ngx_http_request.c.
 */
export class Http1Connection implements HeldConnection, ClientConnection, ClientStream, HeadOwner, SocketOwner, LogSubject, Expiring, Idle {
  readonly id: number;
  readonly address: AddressRuntime;
  readonly acceptedAt: number;
  readonly tls: TlsConnection | undefined;
  readonly sni: string | undefined;
  remoteAddress: string;
  remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
  readonly proxyProtocol: ProxyProtocolHeader | undefined;
  readonly debugging: boolean;
  requests = 0;
  closed = false;
  idleBefore: Idle | null = null;
  idleAfter: Idle | null = null;
  #action: string | undefined = 'waiting for request';

  readonly #host: ConnectionHost;
  /** Serves requests until they name another. */
  readonly #server: ServerRuntime;
  /** The name that the TLS handshake was for, when a server answers to it. */
  readonly #serverName: string | undefined;
  #socket: ClientSocket;
  readonly #deadline: Deadline;
  /** While a head is being read. */
  #parser: HeadParser | null = null;
  readonly #output: Http1Output;
  #state: number = State.WAITING;
  /** Bytes that were read and not used yet; always memory of our own. */
  #pending: Buffer | null = null;
  /** Log lines say that the head is being read. */
  #readingHead = false;
  #inLoop = false;
  #paused = false;
  #ended = false;
  #request: Request | null = null;
  #draining = false;
  #idleSince = 0;
  /** Takes lines between requests: that of the latest one's location. */
  #log: Logger;

  // request body
  #framing: BodyFraming | null = null;
  #sink: BodySink | null = null;
  #sinkPaused = false;
  #lingerUntil = 0;

  #watcher: (() => void) | null = null;

  constructor(
    host: ConnectionHost,
    socket: ClientSocket,
    address: AddressRuntime,
    id: number,
    debugClients: DebugClients | undefined,
    opened: Opened | undefined,
  ) {
    this.#host = host;
    this.#socket = socket;
    this.address = address;
    this.id = id;
    this.acceptedAt = performance.now();
    this.#idleSince = this.acceptedAt;
    const remote = opened?.remote ?? socket.remote();
    this.remoteAddress = remote.address ?? 'unix:';
    this.remotePort = remote.port ?? 0;
    const local = opened?.local ?? socket.local();
    this.localAddress = local.address ?? (address.address === undefined ? '' : `unix:${address.address}`);
    this.localPort = local.port ?? 0;
    this.tls = opened?.tls?.peer;
    this.sni = this.tls?.sni;
    this.#server = opened?.tls?.server ?? address.defaultServer;
    this.#log = this.#server.root.log;
    this.#serverName = opened?.tls?.serverName;
    this.proxyProtocol = opened?.proxyProtocol;
    this.#plainOnTls = opened?.plainOnTls ?? false;
    this.debugging = debugClients?.match(this.remoteAddress) ?? false;
    this.#deadline = opened?.deadline ?? new Deadline(this);
    this.#deadline.passTo(this);
    this.#output = new Http1Output(socket, this.#deadline, host.env.logFiles);
    host.counters.waiting++;
    host.counters.changed();
  }

  /** Begins to read. */
  start(): void {
    this.#deadline.set(this.acceptedAt, this.#server.settings.clientHeaderTimeout);
    this.#host.idle.add(this);
    this.#socket.start(this);
    if (this.debugging || this.#log.level >= DEBUG) this.#note(DEBUG, `accept: ${this.remoteAddress}:${this.remotePort}`, this);
  }

  get action(): string | undefined {
    if (this.#action !== undefined || !this.#readingHead) return this.#action;
    return this.#parser?.inHeaders ? 'reading client request headers' : 'reading client request line';
  }

  set action(action: string | undefined) {
    this.#action = action;
  }

  get connection(): ClientConnection {
    return this;
  }

  get connectionId(): number {
    return this.id;
  }

  logContext(): LogContext {
    return { action: this.action, client: this.remoteAddress, server: `${this.localAddress}:${this.localPort}` };
  }

  /** Writes a line that belongs to no request. */
  #note(level: Level, message: string, subject: LogSubject): void {
    const log = this.debugging ? debugOf(this.#log) : this.#log;
    if (level <= log.level) log.log(level, message, subject);
  }

  /** Tells that the client went before it sent a request. nginx: ngx_http_wait_request_handler and ngx_http_keepalive_handler. */
  #leftWaiting(why: string): void {
    if (this.requests === 0) this.#note(INFO, why === '' ? 'client closed connection' : `recv() failed (${why})`, this);
    else {
      const line = `client ${this.remoteAddress} closed keepalive connection${why === '' ? '' : ` (${why})`}`;
      this.#note(INFO, line, { connectionId: this.id, logContext: noContext });
    }
  }

  // ---------------------------------------------------------------- reading

  received(bytes: Buffer, length: number, shared: boolean): boolean {
    if (this.#state === State.LINGERING) {
      this.#lingerOn();
      return true;
    }
    if (this.#state === State.TUNNEL) {
      const piece = length === bytes.length ? bytes : bytes.subarray(0, length);
      this.#tunnel!(shared ? Buffer.from(piece) : piece);
      return true;
    }
    if (this.#state === State.CLOSED) return false;
    const pending = this.#pending;
    if (pending === null) this.#run(bytes, length, shared);
    else {
      this.#pending = null;
      const whole = Buffer.allocUnsafeSlow(pending.length + length);
      pending.copy(whole);
      bytes.copy(whole, pending.length, 0, length);
      this.#run(whole, whole.length, false);
    }
    return !this.#paused;
  }

  /** Takes what the client sends once the connection is a tunnel. */
  #tunnel: ((bytes: Buffer) => void) | null = null;
  #bytes: Buffer = EMPTY;
  #at = 0;
  /** Where the bytes at hand end. */
  #end = 0;
  #shared = false;
  /** When the bytes at hand were taken up: what the clock says while the loop runs, without asking it for each request. */
  #now = 0;

  /** Uses bytes for as long as something wants them; keeps the rest. */
  #run(bytes: Buffer, length: number, shared: boolean): void {
    this.#bytes = bytes;
    this.#at = 0;
    this.#end = length;
    this.#shared = shared;
    this.#now = performance.now();
    this.#inLoop = true;
    while (this.#at < this.#end && this.#step());
    this.#inLoop = false;
    if (this.#output.pendingHead) this.#output.flushSoon();
    const left = this.#end - this.#at;
    if (left > 0 && this.#state !== State.CLOSED && this.#state !== State.LINGERING) {
      const rest = this.#bytes.subarray(this.#at, this.#end);
      this.#pending = this.#shared ? Buffer.from(rest) : rest;
      if (left > READ_AHEAD && this.#state !== State.HEAD) this.#pause();
    }
    this.#bytes = EMPTY;
    this.#at = 0;
    this.#end = 0;
    if (this.#ended) this.inputEnded();
  }

  /** One step with the bytes at hand. Returns false when nothing wants them now. */
  #step(): boolean {
    switch (this.#state) {
      case State.WAITING:
        this.#beginHead();
        return true;
      case State.HEAD:
        return this.#readHead();
      case State.REQUEST:
        if (this.#framing === null || this.#framing.done) return false;
        if (this.#sink === null ? !this.#request!.discardingBody : this.#sinkPaused) return false;
        return this.#readBodyBytes();
      case State.DISCARDING:
        return this.#readBodyBytes();
      default:
        return false;
    }
  }

  #beginHead(): void {
    this.#state = State.HEAD;
    this.#readingHead = true;
    this.#action = undefined;
    this.#host.idle.remove(this);
    const counters = this.#host.counters;
    counters.waiting--;
    counters.reading++;
    counters.requests++;
    counters.changed();
    this.requests++;
    const server = this.#server;
    const parser = this.#host.takeParser(server.settings.headLimits, this);
    this.#parser = parser;
    const r = new Request(this, server, parser.head, null, this.#now);
    r.pipelined = this.#pipelined;
    this.#request = r;
    this.#deadline.set(r.startTime, server.settings.clientHeaderTimeout);
  }

  #pipelined = false;
  /** Plain HTTP came where TLS was expected. */
  readonly #plainOnTls: boolean;

  #readHead(): boolean {
    const r = this.#request as Request;
    const parser = this.#parser as HeadParser;
    const code = parser.parse(this.#bytes, this.#at, this.#end);
    if (code === HEAD_AGAIN) {
      this.#at = this.#end;
      return false;
    }
    const head = parser.head;
    this.#at = head.end;
    this.#deadline.clear();
    this.#state = State.REQUEST;
    const counters = this.#host.counters;
    counters.reading--;
    counters.writing++;
    counters.changed();
    takeHead(r, head);
    r.keepalive = head.connection === CONNECTION_UNSET ? head.version > HTTP_10 : head.connection === CONNECTION_KEEP_ALIVE;
    this.#framing = head.contentLength > 0 || head.chunked ? makeFraming(r) : null;
    if (this.#framing !== null) this.#socket.expectMuch(true);
    r.lingeringClose = this.#framing !== null || head.lingeringClose;
    if (code !== HEAD_DONE) {
      if (head.error !== '') r.log(INFO, head.error);
    } else if (this.#plainOnTls) r.log(INFO, 'client sent plain HTTP request to HTTPS port');
    this.#readingHead = false;
    this.#parser = null;
    this.#host.giveParser(parser);
    if (code !== HEAD_DONE || this.#plainOnTls) {
      r.keepalive = false;
      finalize(r, code === HEAD_DONE ? TO_HTTPS : code);
      return true;
    }
    const refusal = this.tls === undefined ? 0 : checkClientCertificate(r);
    if (refusal === 0) startPhases(r);
    else finalize(r, refusal);
    return true;
  }

  // HeadOwner: the host is known, so the right server's settings count from here on.
  selectServer(head: RequestHead): number {
    const r = this.#request as Request;
    const status = chooseServer(r, head.host, this.#serverName);
    if (this.#parser !== null) this.#parser.limits = r.server.settings.headLimits;
    return status;
  }

  ignoredHeader(_head: RequestHead, line: string): void {
    (this.#request as Request).log(INFO, `client sent invalid header line: "${line}"`);
  }

  /** Gives body bytes to the sink, or drops them. */
  #readBodyBytes(): boolean {
    const framing = this.#framing as BodyFraming;
    const r = this.#request;
    const before = this.#at;
    const sink = this.#sink;
    while (this.#at < this.#end && !framing.done) {
      const status = framing.read(this.#bytes, this.#at, this.#end);
      this.#at = framing.next;
      if (status !== 0) {
        this.#bodyFailed(status);
        return false;
      }
      if (sink !== null && framing.end > framing.start) {
        if (!sink.data(this.#bytes, framing.start, framing.end, framing.left)) {
          this.#sinkPaused = true;
          break;
        }
        if (this.#sink !== sink) return true;
      }
    }
    if (r !== null) r.requestLength += this.#at - before;
    if (framing.done) this.#bodyEnded();
    else if (this.#state === State.DISCARDING) this.#lingerOn();
    else if (r !== null && !this.#sinkPaused) this.#deadline.set(performance.now(), r.location.settings.clientBodyTimeout);
    return this.#state !== State.CLOSED;
  }

  #bodyEnded(): void {
    if (this.#state === State.DISCARDING) {
      this.#afterResponse(this.#request as Request);
      return;
    }
    this.#deadline.clear();
    const sink = this.#sink;
    this.#sink = null;
    this.#action = undefined;
    sink?.end();
  }

  #bodyFailed(status: number): void {
    this.#framing!.fail();
    const sink = this.#sink;
    this.#sink = null;
    const r = this.#request;
    if (r !== null) {
      r.keepalive = false;
      r.lingeringClose = false;
    }
    if (sink !== null) sink.fail(status);
    else if (this.#state === State.DISCARDING) this.#close();
  }

  bodyDone(_r: Request): boolean {
    return this.#framing === null || this.#framing.done;
  }

  readBody(r: Request, sink: BodySink): void {
    this.#sink = sink;
    this.#sinkPaused = false;
    if (this.#framing === null || this.#framing.done) {
      this.#sink = null;
      sink.end();
      return;
    }
    this.#action = 'reading client request body';
    this.#deadline.set(performance.now(), r.location.settings.clientBodyTimeout);
    this.#wake();
    if (this.#ended) process.nextTick(inputEnded, this);
  }

  discardBody(r: Request): number {
    const framing = this.#framing;
    if (framing === null || framing.done) return 0;
    const pending = this.#inLoop ? null : this.#pending;
    const bytes = pending ?? this.#bytes;
    const end = pending === null ? this.#end : pending.length;
    let at = pending === null ? this.#at : 0;
    let status = 0;
    while (status === 0 && at < end && !framing.done) {
      status = framing.read(bytes, at, end);
      r.requestLength += framing.next - at;
      at = framing.next;
    }
    if (pending === null) this.#at = at;
    else this.#pending = at < pending.length ? pending.subarray(at) : null;
    if (status !== 0) framing.fail();
    return status;
  }

  resumeBody(r: Request): void {
    if (!this.#sinkPaused) return;
    this.#sinkPaused = false;
    if (this.#framing !== null && !this.#framing.done) this.#deadline.set(performance.now(), r.location.settings.clientBodyTimeout);
    this.#wake();
  }

  /** Goes on with bytes that were kept, unless the loop is running anyway, and with reading. */
  #wake(): void {
    if (this.#inLoop) return;
    const pending = this.#pending;
    if (pending !== null) {
      this.#pending = null;
      this.#run(pending, pending.length, false);
    }
    if (this.#pending === null || this.#pending.length <= READ_AHEAD) this.#unpause();
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#socket.pause();
  }

  #unpause(): void {
    if (!this.#paused || this.closed) return;
    this.#paused = false;
    this.#socket.resume();
  }

  // ---------------------------------------------------------------- sending

  sendContinue(r: Request): void {
    this.#output.sendContinue(r);
  }

  sendInformational(r: Request, status: number, fields: readonly string[]): void {
    if (!this.closed) this.#output.sendInformational(r, status, fields);
  }

  sendHead(r: Request): void {
    if (this.#host.draining) r.keepalive = false;
    this.#action = 'sending response to client';
    this.#output.sendHead(r);
    // While the loop runs, it looks itself whether a body came to take the head along.
    if (!this.#inLoop && this.#output.pendingHead) this.#output.flushSoon();
  }

  flush(_r: Request): void {
    if (!this.closed) this.#output.flush();
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    if (!this.closed) this.#output.send(r, chunk, last);
  }

  offerLimit(r: Request): number {
    return this.#output.offerLimit(r);
  }

  offer(r: Request, bytes: Chunk): number {
    return this.closed ? 0 : this.#output.offer(r, bytes);
  }

  // ---------------------------------------------------------------- the end of a request

  finish(r: Request): void {
    if (r !== this.#request) return;
    this.#output.reset();
    this.#watcher = null;
    this.#sink = null;
    this.#deadline.clear();
    this.#action = undefined;
    const framing = this.#framing;
    if (framing !== null && !framing.done) {
      const settings = r.location.settings;
      // What is left of the body must not be taken for a request.
      if (!r.discardingBody || this.#ended) {
        r.keepalive = false;
        r.lingeringClose = true;
      }
      if (r.keepalive) {
        this.#state = State.DISCARDING;
        this.#lingerUntil = performance.now() + settings.lingeringTime;
        this.#lingerOn();
        this.#wake();
        return;
      }
    }
    this.#afterResponse(r);
  }

  /** Keeps the connection for the next request or closes it. nginx: ngx_http_finalize_connection. */
  #afterResponse(r: Request): void {
    const settings = r.location.settings;
    const counters = this.#host.counters;
    if (this.#framing !== null) this.#socket.expectMuch(false);
    this.#framing = null;
    if (this.#ended && this.#pending === null && this.#at >= this.#end) {
      this.#close();
      return;
    }
    // A worker that leaves keeps what its response said it would, for as long as a next request may be on its way.
    const timeout = this.#host.draining ? settings.keepaliveMinTimeout : Math.max(settings.keepaliveTimeout, settings.keepaliveMinTimeout);
    if (r.keepalive && timeout > 0) {
      counters.writing--;
      counters.waiting++;
      counters.changed();
      this.#request = null;
      this.#state = State.WAITING;
      this.#action = 'keepalive';
      this.#log = r.location.log;
      if (r.debugging) r.log(DEBUG, 'set http keepalive handler');
      const now = this.#inLoop ? this.#now : performance.now();
      this.#idleSince = now;
      this.#pipelined = this.#at < this.#end || this.#pending !== null;
      if (!this.#pipelined) this.#host.idle.add(this);
      this.#keepaliveMin = settings.keepaliveMinTimeout;
      this.#deadline.set(now, timeout);
      this.#host.countStatus(r);
      if (this.#pipelined && !this.#inLoop) setImmediate(wakeLater, this);
      return;
    }
    const lingering =
      settings.lingeringClose === 'always' ||
      (settings.lingeringClose === 'on' && (r.lingeringClose || this.#pending !== null || this.#at < this.#end));
    if (lingering) this.#linger(r);
    else this.#close();
  }

  #keepaliveMin = 0;

  /** For a pipelined request after the response before it. */
  wake(): void {
    if (this.#state === State.WAITING) this.#wake();
  }

  /** Half-closes and reads on for a while, so that the client can read the answer. nginx: ngx_http_set_lingering_close. */
  #linger(r: Request): void {
    this.#state = State.LINGERING;
    this.#pending = null;
    this.#lingerUntil = performance.now() + r.location.settings.lingeringTime;
    this.#lingeringTimeout = r.location.settings.lingeringTimeout;
    this.#host.env.logFiles.flushTick();
    this.#socket.end();
    if (this.#ended) {
      this.#close();
      return;
    }
    this.#host.idle.add(this);
    this.#lingerOn();
    this.#unpause();
  }

  #lingeringTimeout = 5000;

  #lingerOn(): void {
    const now = performance.now();
    const timeout = this.#request?.location.settings.lingeringTimeout ?? this.#lingeringTimeout;
    const left = Math.min(this.#lingerUntil - now, timeout);
    if (left <= 0) this.#close();
    else this.#deadline.set(now, left);
  }

  terminate(r: Request, reset: boolean): void {
    if (r !== this.#request) return;
    if (reset) this.#socket.reset();
    // What the client did not take is of no use without the rest.
    else if (!this.#socket.empty) this.#socket.close();
    this.#close();
  }

  watchClient(_r: Request, callback: (() => void) | null): void {
    this.#watcher = callback;
    if (callback !== null && this.#ended) process.nextTick(callback);
  }

  upgrade(r: Request, received: (bytes: Buffer) => void): Upgraded {
    this.flush(r);
    this.#state = State.TUNNEL;
    this.#tunnel = received;
    this.#deadline.clear();
    this.#watcher = null;
    const { socket, client } = this.#socket.handOver();
    this.#socket = client;
    const pending = this.#at < this.#end ? this.#bytes.subarray(this.#at, this.#end) : this.#pending;
    this.#at = this.#end;
    this.#pending = null;
    this.#unpause();
    return { socket, pending: pending === null ? null : Buffer.from(pending) };
  }

  // ---------------------------------------------------------------- the end of the connection

  flushed(): void {
    this.#output.drained();
  }

  clientEnded(): void {
    this.#ended = true;
    switch (this.#state) {
      case State.WAITING:
        // A pipelined request that is about to be taken up is answered all the same.
        if (this.#pending === null) {
          this.#leftWaiting('');
          this.#close();
        }
        break;
      case State.LINGERING:
      case State.DISCARDING:
        this.#close();
        break;
      case State.HEAD:
        this.#headBroke('client prematurely closed connection');
        break;
      case State.REQUEST:
        this.#clientLeft();
        break;
      default:
        break;
    }
  }

  /** Every byte was used, and no more will come: ends what waits for more. */
  inputEnded(): void {
    if (this.#pending !== null || this.#inLoop) return;
    if (this.#state === State.WAITING || this.#state === State.HEAD) this.clientEnded();
    else if (this.#state === State.REQUEST && this.#sink !== null && !this.#sinkPaused) this.#clientLeft();
  }

  #clientLeft(): void {
    const r = this.#request as Request;
    if (this.#sink !== null && this.#framing !== null && !this.#framing.done) {
      r.log(INFO, 'client prematurely closed connection');
      this.closed = true;
      const sink = this.#sink;
      this.#sink = null;
      sink.fail(400);
    } else if (this.#watcher !== null) {
      const watcher = this.#watcher;
      this.#watcher = null;
      watcher();
    } else if (!r.headerSent) {
      r.log(INFO, 'client prematurely closed connection');
      terminate(r, CLIENT_CLOSED_REQUEST);
    }
  }

  readFailed(errno: number): void {
    if (this.#state === State.WAITING) {
      this.#leftWaiting(errnoText(errno));
      this.#close();
    } else if (this.#state === State.HEAD) this.#headBroke(`recv() failed (${errnoText(errno)})`);
  }

  #headBroke(why: string): void {
    const r = this.#request as Request;
    (this.#parser as HeadParser).abandon();
    takeHead(r, r.head);
    r.log(INFO, why);
    this.closed = true;
    terminate(r, 400);
  }

  socketClosed(): void {
    if (this.#state === State.CLOSED) return;
    if (this.#state === State.WAITING) this.#leftWaiting('');
    this.closed = true;
    const r = this.#request;
    if (r !== null && !r.finished && (this.#state === State.REQUEST || this.#state === State.HEAD)) {
      if (this.#state === State.REQUEST && this.#watcher !== null) {
        const watcher = this.#watcher;
        this.#watcher = null;
        watcher();
      }
      if (!r.finished) terminate(r, r.headerSent ? -1 : CLIENT_CLOSED_REQUEST);
    }
    this.#close();
  }

  expired(): void {
    const r = this.#request;
    switch (this.#state) {
      case State.HEAD:
        (this.#parser as HeadParser).abandon();
        takeHead(r!, r!.head);
        r!.log(INFO, 'client timed out (110: Connection timed out)');
        terminate(r!, 408);
        break;
      case State.REQUEST: {
        const sink = this.#sink;
        if (sink !== null) {
          this.#sink = null;
          sink.fail(408);
        } else {
          r!.log(INFO, 'client timed out (110: Connection timed out)');
          terminate(r!, 408);
        }
        break;
      }
      case State.WAITING:
        this.#closeUnread();
        break;
      default:
        this.#close();
        break;
    }
  }

  /**
   * Closes an idle connection, unless its next request is in the socket already. Whoever asks may stand between the loop's look at the sockets and what it
   * saw there, as a message of the master does; so the loop looks at all of them once more before the close.
   */
  #closeUnread(): void {
    setImmediate(afterNextLook, this, this.requests);
  }

  /** Closes the connection if nothing came since it had served so many requests. */
  closeAfter(requests: number): void {
    if (this.#state !== State.WAITING || this.requests !== requests) return;
    if (requests === 0) this.#note(INFO, 'client timed out (110: Connection timed out)', this);
    this.#close();
  }

  /**
   * The worker is about to leave: an idle connection is closed once it has been idle for `keepalive_min_timeout`, so
   * that a request already on its way is still answered. A new connection is not idle: its first request may already be in
   * the socket. nginx: ngx_close_idle_connections.
   */
  drain(now: number): void {
    if (this.#state === State.LINGERING || this.#draining) return;
    this.#draining = true;
    if (this.#state !== State.WAITING || this.requests === 0) return;
    const left = this.#idleSince + this.#keepaliveMin - now;
    if (this.#keepaliveMin === 0) this.#close();
    else if (left <= 0) this.#closeUnread();
    else {
      this.#deadline.clear();
      this.#deadline.set(now, left);
    }
  }

  /** Closes a connection that waits for a request, or for its client to leave, for a new one. */
  closeIdle(): void {
    this.#close();
  }

  /** Ends the connection whatever it is doing: the worker must go. */
  kill(): void {
    const r = this.#request;
    if (r !== null && !r.finished) terminate(r, r.headerSent ? -1 : CLIENT_CLOSED_REQUEST);
    this.#close();
  }

  #close(): void {
    if (this.#state === State.CLOSED) return;
    const counters = this.#host.counters;
    if (this.#state === State.WAITING) counters.waiting--;
    else if (this.#state === State.HEAD) counters.reading--;
    else counters.writing--;
    this.#state = State.CLOSED;
    this.closed = true;
    this.#host.idle.remove(this);
    this.#deadline.close();
    this.#output.abandon();
    this.#pending = null;
    if (this.#request !== null) {
      this.#host.countStatus(this.#request);
      this.#host.env.logFiles.flushTick();
    }
    this.#request = null;
    this.#host.uncount(this);
    this.#socket.closeSoon();
    this.#host.connectionClosed(this);
  }
}

function noContext(): LogContext {
  return {};
}

function afterNextLook(connection: Http1Connection, requests: number): void {
  setImmediate(closeIdle, connection, requests);
}

function closeIdle(connection: Http1Connection, requests: number): void {
  connection.closeAfter(requests);
}

function inputEnded(connection: Http1Connection): void {
  connection.inputEnded();
}

function wakeLater(connection: Http1Connection): void {
  connection.wake();
}
