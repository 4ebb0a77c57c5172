// Longer than most: one exchange with a backend from its first attempt to its end, whose steps all work on the same state.

import { ALERT, DEBUG, ERROR as ERR, INFO, type Level } from '../../../shared/log/level.js';
import { AGAIN, CLIENT_CLOSED_REQUEST, DECLINED, DONE, ERROR, OK } from '../../http/request/codes.js';
import { finalize } from '../../http/request/finalize.js';
import type { Request } from '../../http/request/request.js';
import { sendBody, sendHeader } from '../../http/request/respond.js';
import type { UpstreamWork } from '../../http/request/upstream-work.js';
import { Attempt } from '../balancing/attempt.js';
import { PICKING, type Picker, type PickerOwner } from '../balancing/balancer.js';
import { PEER_FAILED, PEER_NEXT, PEER_OK, type Peer } from '../balancing/peer.js';
import type { ConnectionOwner, UpstreamConnection } from '../connection/connection.js';
import { connectPeer } from '../connection/connector.js';
import type { UpstreamGroup } from '../group/group.js';
import { HEAD_AGAIN, HEAD_EARLY_HINTS, HEAD_ERROR, HEAD_INVALID, HEAD_NONE } from '../response/head-codes.js';
import { K } from '../response/header-kinds.js';
import { UpstreamHead } from '../response/upstream-head.js';
import { FT, failureStatus, statusFailure } from '../settings/failure.js';
import type { BodyRelay } from './body-relay.js';
import { makeBodySender, type RequestSender } from './body-sender.js';
import type { BodyTee, ResolvedTarget, UpstreamConf } from './conf.js';
import { processHead } from './copy-head.js';
import { sendEarlyHints } from './early-hints.js';
import { interceptError } from './intercept.js';
import { localAddress } from './local-address.js';
import { logUpstreamHead } from './log-exchange.js';
import { mayTryNext } from './next-upstream.js';
import { ResponsePipe } from './pipe.js';
import type { Exchange } from './protocol.js';
import { ReadPacer } from './read-pacer.js';
import { startResolving } from './resolve-target.js';
import { StoreFile } from './store-file.js';
import { Tunnel } from './tunnel.js';
import { connectFailure, handshakeFailure, transferFailure } from './wire-errors.js';

/** What a request to a backend is doing. */
const P = { IDLE: 0, CONNECTING: 1, HANDSHAKE: 2, HEAD: 3, BODY: 4, TUNNEL: 5, DONE: 6 } as const;

/**
 * One request's business with its backends: choose, connect, send, read, try another one, pass the response on.
 * nginx: ngx_http_upstream_t and ngx_http_upstream.c.
 */
export class UpstreamRequest implements ConnectionOwner, PickerOwner, UpstreamWork {
  readonly r: Request;
  readonly conf: UpstreamConf;
  readonly exchange: Exchange;
  /** `http://`, `https://` and the like. */
  schema = '';
  /** The URI as the backend gets it, for logs. */
  uri = '';
  /** TLS to the backend. */
  tls = false;
  /** The name for SNI and verification, unless `*_ssl_name` gives another. */
  tlsName = '';
  /** Set when the backend is named at request time. */
  resolved: ResolvedTarget | null = null;
  group: UpstreamGroup | undefined = undefined;
  picker: Picker | null = null;
  peer: Peer | null = null;
  /** Name of the latest peer, for logs. */
  peerName: string | undefined = undefined;
  unixPeer = false;
  /** The local address of the latest connection, for logs. */
  boundTo = '';
  connection: UpstreamConnection | null = null;
  attempt: Attempt | null = null;
  /** What `$upstream_*` tell, attempt by attempt; an entry without a peer stands between two rounds. */
  attempts: Attempt[] | null = null;
  /** The connection at hand served another request before. */
  reused = false;
  /** Monotonic milliseconds when the first peer was chosen. */
  startTime = 0;
  requestSent = false;
  /** All of the request has left. */
  requestBodySent = false;
  responseReceived = false;
  headerSent = false;
  buffering: boolean;
  /** The connection may serve another request. */
  keepalive = false;
  upgrade = false;
  /** The response goes to the cache; its owner keeps this up to date. */
  cacheable = false;
  /** The response comes from the cache. */
  cached = false;
  /** What the cache keeps for this request, which only the cache understands; null where none was asked. */
  cacheUse: object | null = null;
  /** Where a copy of the body goes. */
  tee: BodyTee | null = null;
  store: StoreFile | null = null;
  pipe: ResponsePipe | null = null;
  /** HEAD is sent as GET, so that the cache gets a body. */
  method = '';
  /** Passes the client's body on as it comes. */
  relay: BodyRelay | null = null;
  earlyHintsLength = 0;
  cancelResolve: (() => void) | null = null;

  #head: UpstreamHead | null = null;
  #phase: number = P.IDLE;
  #done = false;
  #attemptStart = 0;
  /** When the bytes at hand came, while they are being used; 0 at any other time. */
  #now = 0;
  /** An unfinished head, and how much of it has been read. */
  #held: Buffer | null = null;
  #heldAt = 0;
  #sender: RequestSender | null = null;
  #tunnel: Tunnel | null = null;
  #pacer: ReadPacer | null = null;

  constructor(r: Request, conf: UpstreamConf, exchange: Exchange) {
    this.r = r;
    this.conf = conf;
    this.exchange = exchange;
    this.buffering = conf.settings.buffering;
  }

  /** Becomes the request's work of backends. What it had before is given up, but its attempts stay on record. */
  attach(): void {
    const { r } = this;
    const before = upstreamOf(r);
    if (before !== null) {
      before.cleanup();
      this.attempts = before.attempts;
    }
    r.upstream = this;
  }

  /** Scheme, peer and URI of the backend at hand. */
  logText(): string | undefined {
    if (this.peerName === undefined) return undefined;
    return `${this.schema}${this.peerName}${this.unixPeer ? ':' : ''}${this.uri}`;
  }

  failureText(status: number): string {
    let text = '';
    for (const attempt of this.attempts ?? []) {
      if (attempt.peer === undefined) continue;
      const reason = attempt.reason !== '' ? attempt.reason : attempt.status === status ? `status ${status}` : '';
      if (reason !== '') text += `${text === '' ? '' : ', '}${attempt.peer}: ${reason}`;
    }
    return text;
  }

  get done(): boolean {
    return this.#done;
  }

  /** The response head of the backend, or of the cache; empty until one was read. */
  get head(): UpstreamHead {
    this.#head ??= new UpstreamHead();
    return this.#head;
  }

  set head(head: UpstreamHead) {
    this.#head = head;
  }

  /** Milliseconds of the monotonic clock: what is done with the same bytes is done at one moment, as in nginx. */
  #clock(): number {
    return this.#now === 0 ? performance.now() : this.#now;
  }

  log(level: Level, message: string): void {
    this.r.log(level, message);
  }

  set action(action: string) {
    this.r.main.stream.action = action;
  }

  // ---------------------------------------------------------------- the way to a backend

  /** Begins, once the request's body is at hand. nginx: ngx_http_upstream_init_request. */
  start(): void {
    const { r, conf } = this;
    if (r.debugging) this.log(DEBUG, 'http init upstream, client timer: 0');
    if (conf.cache !== undefined) {
      const code = conf.cache.lookup(this);
      if (code !== DONE && r.debugging) this.log(DEBUG, `http upstream cache: ${code}`);
      if (code === AGAIN) return;
      if (code !== DECLINED) {
        if (code !== DONE) finalize(r, code === ERROR ? 500 : code);
        return;
      }
    }
    this.proceed();
  }

  /** Asks a backend, after the cache had nothing. */
  proceed(): void {
    const { conf } = this;
    this.#head = null;
    if (conf.settings.store !== null) this.store = new StoreFile(this);
    this.#watchClient();
    if (!this.exchange.createRequest(this)) {
      this.finalize(500);
      return;
    }
    if (this.attempts === null) this.attempts = [];
    else this.attempts.push(new Attempt());
    if (this.resolved !== null) {
      startResolving(this, this.resolved);
      return;
    }
    this.useGroup(this.group as UpstreamGroup);
  }

  /** Chooses among a group's peers from now on. */
  useGroup(group: UpstreamGroup): void {
    this.group = group;
    if (this.tlsName === '') this.tlsName = group.name;
    this.usePicker(group.balancer.begin(this.r));
  }

  usePicker(picker: Picker): void {
    this.picker = picker;
    const now = performance.now();
    this.startTime = now;
    const tries = this.conf.settings.nextUpstreamTries;
    if (tries !== 0 && picker.tries > tries) picker.tries = tries;
    this.#connect(now);
  }

  #watchClient(): void {
    const { r } = this;
    if (r !== r.main) {
      const cleanup = (): void => this.cleanup();
      r.main.onFinish(cleanup);
      r.onFinish(() => r.main.forget(cleanup));
      if (this.conf.settings.ignoreClientAbort && !r.main.headerSent) r.stream.watchClient(r, ignoreClient);
      return;
    }
    const watched = this.store === null && !this.conf.settings.ignoreClientAbort;
    r.stream.watchClient(r, watched ? () => this.#clientGone() : ignoreClient);
  }

  // nginx: ngx_http_upstream_check_broken_connection.
  #clientGone(): void {
    if (this.#done) return;
    const asking = this.connection !== null;
    const closing = !this.cacheable && asking;
    const closed = closing ? ', so upstream connection is closed too' : '';
    this.log(INFO, `epoll_wait() reported that client prematurely closed connection${closed}`);
    if (closing || !asking) this.finalize(CLIENT_CLOSED_REQUEST);
  }

  // nginx: ngx_http_upstream_connect.
  #connect(now: number): void {
    this.action = 'connecting to upstream';
    this.#endAttempt(now);
    const attempt = new Attempt();
    attempt.connectTime = -1;
    attempt.headerTime = -1;
    attempt.responseTime = -1;
    this.attempt = attempt;
    this.attempts!.push(attempt);
    this.#attemptStart = now;
    if (this.r.debugging) this.log(DEBUG, `get rr peer, try: ${this.picker!.tries}`);
    const peer = this.picker!.next(this);
    if (peer !== PICKING) this.#usePeer(peer, now);
  }

  picked(peer: Peer | null): void {
    this.#usePeer(peer, performance.now());
  }

  /** Asks the peer that was chosen; null: none can be asked. */
  #usePeer(peer: Peer | null, now: number): void {
    const picker = this.picker!;
    if (this.#done) {
      if (peer !== null) picker.done(peer, PEER_OK, null);
      return;
    }
    const attempt = this.attempt!;
    if (peer === null) {
      attempt.peer = picker.groupName;
      attempt.reason = 'no live upstreams';
      this.peerName = picker.groupName;
      this.unixPeer = false;
      this.log(ERR, 'no live upstreams');
      this.next(FT.NOLIVE);
      return;
    }
    this.peer = peer;
    this.peerName = peer.name;
    this.unixPeer = peer.port === 0;
    attempt.peer = peer.name;
    if (this.requestSent || this.responseReceived) this.#reinit();
    this.requestSent = false;
    this.requestBodySent = false;
    this.responseReceived = false;
    const c = this.group?.idle?.take(peer.name, this.tls, this.conf);
    if (c !== undefined) {
      this.reused = true;
      if (this.r.debugging) this.log(DEBUG, `get keepalive peer: using connection to ${peer.name}`);
      c.owner = this;
      c.requests++;
      this.connection = c;
      this.#sendRequest(c, now);
      return;
    }
    this.reused = false;
    if (this.r.debugging) this.log(DEBUG, `connect to ${peer.name}`);
    const local = localAddress(this);
    const tls = this.tls ? this.conf.tls!.options(this, peer) : undefined;
    if (tls === null) {
      this.finalize(500);
      return;
    }
    const connection = connectPeer(peer, this, local, tls);
    if (tls !== undefined) this.conf.tls!.opened(connection, peer, tls);
    connection.requests = 1;
    this.connection = connection;
    this.#phase = P.CONNECTING;
    connection.deadline.set(this.#attemptStart, this.conf.settings.connectTimeout);
  }

  // nginx: ngx_http_upstream_reinit.
  #reinit(): void {
    this.exchange.reset(this);
    this.earlyHintsLength = 0;
    this.keepalive = false;
    this.upgrade = false;
    this.head.reset();
    this.#held = null;
    this.#sender = null;
  }

  connected(c: UpstreamConnection): void {
    if (!c.tls) return;
    this.#phase = P.HANDSHAKE;
    this.action = 'SSL handshaking to upstream';
    c.deadline.set(performance.now(), this.conf.settings.connectTimeout);
  }

  ready(c: UpstreamConnection): void {
    if (c.tls) {
      const failure = this.conf.tls!.check(this, c);
      if (failure !== undefined) {
        this.log(ERR, failure);
        this.attempt!.reason = failure;
        this.next(FT.ERROR);
        return;
      }
    }
    this.#sendRequest(c, performance.now());
  }

  // ---------------------------------------------------------------- the request

  // nginx: ngx_http_upstream_send_request.
  #sendRequest(c: UpstreamConnection, now: number): void {
    const attempt = this.attempt!;
    if (attempt.connectTime === -1) attempt.connectTime = now - this.#attemptStart;
    this.action = 'sending request to upstream';
    if (this.r.debugging) this.log(DEBUG, 'http upstream send request');
    this.#phase = P.HEAD;
    this.requestSent = true;
    const sender = makeBodySender(this, c);
    if (sender !== null) {
      this.#sender = sender;
      c.deadline.set(now, this.conf.settings.sendTimeout);
      sender.start();
      return;
    }
    const flowing = c.writeText(this.exchange.requestText);
    if (c.flushed) {
      this.requestBodySent = true;
      c.deadline.set(now, this.conf.settings.readTimeout);
      return;
    }
    c.deadline.set(now, this.conf.settings.sendTimeout);
    if (flowing) c.awaitFlush();
  }

  /** The sender has given everything to the connection, and it has left. */
  requestComplete(): void {
    if (this.requestBodySent || this.#done) return;
    this.requestBodySent = true;
    if (this.headerSent) return;
    this.connection?.deadline.set(performance.now(), this.conf.settings.readTimeout);
  }

  /** The backend is slow to take the request. */
  awaitSend(): void {
    if (!this.headerSent) this.connection?.deadline.set(performance.now(), this.conf.settings.sendTimeout);
  }

  /** The backend has taken all there is so far; the client is at it. */
  awaitClient(): void {
    if (!this.headerSent) this.connection?.deadline.clear();
  }

  drained(c: UpstreamConnection): void {
    if (this.#phase === P.TUNNEL) this.#tunnel!.upstreamDrained();
    else if (this.requestBodySent || (this.#phase !== P.HEAD && this.#phase !== P.BODY)) return;
    else if (this.#sender !== null) this.#sender.drained();
    else if (c.flushed) this.requestComplete();
  }

  // ---------------------------------------------------------------- the response

  received(c: UpstreamConnection, bytes: Buffer, end: number): void {
    this.#now = performance.now();
    this.#take(c, bytes, end);
    this.#now = 0;
  }

  #take(c: UpstreamConnection, bytes: Buffer, end: number): void {
    switch (this.#phase) {
      case P.HEAD:
        this.#readHead(bytes, end);
        break;
      case P.BODY:
        this.action = 'reading upstream';
        this.attempt!.bytesReceived += end;
        if (this.#pacer === null) this.#readBody(bytes, 0, end);
        else this.#pacer.take(bytes, 0, end);
        break;
      case P.TUNNEL:
        this.attempt!.bytesReceived += end;
        this.#tunnel!.fromUpstream(bytes, end);
        break;
      default:
        c.close();
        break;
    }
  }

  // nginx: ngx_http_upstream_process_header.
  #readHead(given: Buffer, size: number): void {
    const { exchange, conf } = this;
    const attempt = this.attempt!;
    this.action = 'reading response header from upstream';
    if (this.r.debugging) this.log(DEBUG, 'http upstream process header');
    attempt.bytesReceived += size;
    this.responseReceived = true;
    let bytes = given;
    let start = 0;
    let end = size;
    if (this.#held !== null) {
      bytes = Buffer.concat([this.#held, given.subarray(0, size)]);
      end = bytes.length;
      start = this.#heldAt;
      this.#held = null;
    }
    let base = 0;
    for (;;) {
      const limit = Math.min(end, base + conf.settings.bufferSize);
      const code = exchange.readHead(this, bytes, start, limit);
      start = exchange.next;
      if (code === HEAD_AGAIN && exchange.keepsHead) {
        if (start >= end) return;
        base = start;
        continue;
      }
      if (code === HEAD_AGAIN) {
        if (limit - base === conf.settings.bufferSize) {
          this.log(ERR, 'upstream sent too big header');
          attempt.reason = 'upstream sent too big header';
          this.next(FT.INVALID_HEADER);
          return;
        }
        this.#held = Buffer.from(bytes.subarray(base, end));
        this.#heldAt = start - base;
        return;
      }
      if (code === HEAD_EARLY_HINTS) {
        sendEarlyHints(this, start - base);
        this.head.reset();
        if (this.#done) return;
        base = start;
        continue;
      }
      if (code === HEAD_INVALID) {
        attempt.reason = 'upstream sent invalid header';
        this.next(FT.INVALID_HEADER);
        return;
      }
      if (code === HEAD_ERROR) {
        this.finalize(500);
        return;
      }
      if (code === HEAD_NONE) {
        if (conf.cache === undefined) this.log(ERR, 'upstream sent no valid HTTP/1.0 header');
        this.r.httpVersion = 9;
        attempt.status = 200;
      } else if (attempt.status === 0) attempt.status = this.head.status;
      break;
    }
    // A response that is its head alone may end here, unread by anybody else; whatever follows would answer the next request.
    if (start < end) this.keepalive = false;
    attempt.headerTime = this.#clock() - this.#attemptStart;
    if (this.r.debugging) logUpstreamHead(this);
    conf.cache?.headRead(this);
    const status = this.head.status;
    if (status >= 300) {
      if (this.#tryNext(status)) return;
      if (interceptError(this, status)) return;
    }
    this.picker!.headerReceived?.(this.peer!, attempt);
    conf.cache?.headAccepted(this);
    if (!processHead(this)) return;
    this.#sendResponse(bytes, start, end);
  }

  // nginx: ngx_http_upstream_test_next.
  #tryNext(status: number): boolean {
    const failure = statusFailure(status);
    if (failure !== 0) {
      const tries = this.picker!.tries;
      if (tries > 1 && mayTryNext(this, failure)) {
        this.next(failure);
        return true;
      }
      if (this.conf.cache?.failed(this, failure, true)) return true;
    }
    return status === 304 && this.conf.cache !== undefined && this.conf.cache.notModified(this);
  }

  // nginx: ngx_http_upstream_send_response.
  #sendResponse(bytes: Buffer, start: number, end: number): void {
    const { r } = this;
    const code = sendHeader(r);
    if (this.#done) return;
    if (code === ERROR || code > OK) {
      this.finalize(code);
      return;
    }
    this.headerSent = true;
    if (!r.requestBodyNoBuffering) this.#sender?.stop();
    if (this.upgrade) {
      this.conf.cache?.passing(this);
      this.#beginTunnel(bytes, start, end);
      return;
    }
    if (this.buffering) {
      this.conf.cache?.begin(this);
      if (this.store !== null) this.tee = this.store;
    } else this.conf.cache?.passing(this);
    if (r.headerOnly && (!this.buffering || this.tee === null)) {
      this.finalize(code);
      return;
    }
    if (!this.buffering) {
      r.limitRate = 0;
      r.limitRateSet = true;
      r.flushBody = true;
    } else this.#pacer = ReadPacer.begin(this);
    this.exchange.beginBody(this);
    this.#phase = P.BODY;
    this.action = 'reading upstream';
    this.pipe = new ResponsePipe(this, this.buffering);
    // The client's side begins first, so that a large first piece goes to it and not to a temporary file.
    if (r.headerOnly) this.pipe.abandon();
    else if (!r.finished) sendBody(r, this.pipe);
    if (this.#done) return;
    if (this.exchange.complete) {
      if (start < end) this.exchange.readBody(this, bytes, start, end);
      this.#bodyComplete();
      return;
    }
    this.connection!.deadline.set(this.#clock(), this.conf.settings.readTimeout);
    if (start === end) return;
    if (this.#pacer === null) this.#readBody(bytes, start, end);
    else this.#pacer.take(bytes, start, end);
  }

  /** Reads a piece of the body; what it yields goes to the pipe. */
  #readBody(bytes: Buffer, start: number, end: number): void {
    const exchange = this.exchange;
    this.attempt!.responseLength += end - start;
    if (!exchange.readBody(this, bytes, start, end)) {
      this.attempt!.reason = 'upstream sent invalid response';
      this.finalize(ERROR);
      return;
    }
    if (exchange.complete) {
      this.#bodyComplete();
      return;
    }
    if (!this.pipe!.settle(end - start)) {
      this.finalize(ERROR);
      return;
    }
    const c = this.connection;
    if (c !== null && !c.paused) c.deadline.set(this.#clock(), this.conf.settings.readTimeout);
  }

  /** Bytes that the rate limit has let through. */
  paced(bytes: Buffer, start: number, end: number): void {
    if (this.#phase === P.BODY) this.#readBody(bytes, start, end);
  }

  #bodyComplete(): void {
    if (this.cacheable) this.conf.cache!.commit(this);
    this.store?.commit();
    this.finalize(OK);
  }

  pauseReading(): void {
    const c = this.connection;
    if (c === null || c.paused) return;
    c.pause();
    c.deadline.clear();
  }

  resumeReading(): void {
    const c = this.connection;
    if (c === null || !c.paused || this.#phase !== P.BODY || this.#pacer?.holding) return;
    c.resume();
    c.deadline.set(performance.now(), this.conf.settings.readTimeout);
  }

  #beginTunnel(bytes: Buffer, start: number, end: number): void {
    const { r } = this;
    if (r !== r.main) {
      this.log(ERR, 'connection upgrade in subrequest');
      this.finalize(ERROR);
      return;
    }
    r.keepalive = false;
    this.action = 'proxying upgraded connection';
    this.#phase = P.TUNNEL;
    this.#tunnel = new Tunnel(this, this.connection!);
    this.#tunnel.start(bytes.subarray(start, end));
  }

  // ---------------------------------------------------------------- what can go wrong

  ended(_c: UpstreamConnection): void {
    switch (this.#phase) {
      case P.CONNECTING:
      case P.HANDSHAKE:
        this.log(ERR, 'peer closed connection in SSL handshake');
        this.attempt!.reason = 'peer closed connection in SSL handshake';
        this.next(FT.ERROR);
        break;
      case P.HEAD:
        this.action = 'reading response header from upstream';
        this.log(ERR, 'upstream prematurely closed connection');
        this.attempt!.reason = 'upstream prematurely closed connection';
        this.next(FT.ERROR);
        break;
      case P.BODY:
        if (this.#pacer === null || !this.#pacer.endAfterHeld()) this.bodyEnded();
        break;
      case P.TUNNEL:
        this.#tunnel!.upstreamEnded();
        break;
      default:
        break;
    }
  }

  /** The backend has closed its side in the body. */
  bodyEnded(): void {
    if (this.#phase !== P.BODY) return;
    if (this.exchange.endsWithConnection) {
      this.keepalive = false;
      this.#bodyComplete();
      return;
    }
    this.action = 'reading upstream';
    this.log(ERR, 'upstream prematurely closed connection');
    this.attempt!.reason = 'upstream prematurely closed connection';
    this.finalize(502);
  }

  failed(c: UpstreamConnection, error: Error): void {
    switch (this.#phase) {
      case P.CONNECTING: {
        const { level, message, fatal } = connectFailure(this, error);
        this.log(level, message);
        this.attempt!.reason = message;
        if (fatal) this.finalize(500);
        else this.next(FT.ERROR);
        break;
      }
      case P.HANDSHAKE: {
        const { level, message } = handshakeFailure(error);
        this.log(level, message);
        this.attempt!.reason = message;
        this.next(FT.ERROR);
        break;
      }
      case P.HEAD:
        this.action = this.requestBodySent ? 'reading response header from upstream' : 'sending request to upstream';
        this.#transferFailed(error, 'recv');
        this.next(FT.ERROR);
        break;
      case P.BODY:
        this.action = 'reading upstream';
        this.#transferFailed(error, this.buffering ? 'readv' : 'recv');
        this.finalize(502);
        break;
      case P.TUNNEL:
        this.#tunnel!.upstreamFailed(error);
        break;
      default:
        c.close();
        break;
    }
  }

  #transferFailed(error: Error, reading: 'recv' | 'readv'): void {
    const { level, message } = transferFailure(error, reading);
    this.log(level, message);
    this.attempt!.reason = message;
  }

  timedOut(_c: UpstreamConnection): void {
    switch (this.#phase) {
      case P.CONNECTING:
      case P.HANDSHAKE:
        this.next(FT.TIMEOUT);
        break;
      case P.HEAD:
        if (this.requestBodySent) this.action = 'reading response header from upstream';
        this.next(FT.TIMEOUT);
        break;
      case P.BODY:
        this.action = 'reading upstream';
        this.log(ERR, 'upstream timed out (110: Connection timed out)');
        this.attempt!.reason = 'upstream timed out';
        if (this.buffering) this.pipe!.forget();
        this.finalize(this.buffering ? 502 : 504);
        break;
      case P.TUNNEL:
        this.#tunnel!.upstreamTimedOut();
        break;
      default:
        break;
    }
  }

  /** An attempt failed: another peer is asked, or the client is told. nginx: ngx_http_upstream_next. */
  next(failure: number): void {
    const { r, conf } = this;
    const picker = this.picker!;
    const attempt = this.attempt!;
    if (r.debugging) this.log(DEBUG, `http next upstream, ${failure.toString(16)}`);
    if (this.peer !== null) {
      if (this.connection !== null) attempt.bytesSent = this.connection.sent;
      picker.done(this.peer, failure === FT.HTTP_403 || failure === FT.HTTP_404 ? PEER_NEXT : PEER_FAILED, attempt);
      this.peer = null;
    }
    if (failure === FT.TIMEOUT) {
      this.log(ERR, 'upstream timed out (110: Connection timed out)');
      attempt.reason = 'upstream timed out';
    }
    if (this.reused && failure === FT.ERROR) picker.tries++;
    const status = failure === FT.NOLIVE ? noLiveStatus(this) : failureStatus(failure);
    if (r.connection.closed) {
      this.finalize(CLIENT_CLOSED_REQUEST);
      return;
    }
    attempt.status = status;
    if (picker.tries === 0 || !mayTryNext(this, failure)) {
      if (conf.cache?.failed(this, failure, false)) return;
      this.finalize(status);
      return;
    }
    this.#closeConnection();
    this.#connect(this.#clock());
  }

  #closeConnection(): void {
    const c = this.connection;
    if (c === null) return;
    this.connection = null;
    this.#sender?.stop();
    c.close();
  }

  // ---------------------------------------------------------------- the end

  #endAttempt(now: number): void {
    const attempt = this.attempt;
    if (attempt === null || attempt.responseTime !== -1) return;
    attempt.responseTime = now - this.#attemptStart;
    if (this.connection !== null) attempt.bytesSent = this.connection.sent;
  }

  /** The client's side gave the response up. */
  downstreamAborted(): void {
    this.cleanup();
  }

  /** The request is over, whatever this is doing. nginx: ngx_http_upstream_cleanup. */
  cleanup(): void {
    if (this.#done) return;
    if (this.attempt !== null || !this.cached) {
      this.#release(DONE);
      return;
    }
    // All of it came from the cache: there is nothing else to give back.
    this.#done = true;
    this.#phase = P.DONE;
    this.conf.cache!.finish(this, DONE);
  }

  /** Ends the business with backends and, unless `code` is DECLINED, answers. nginx: ngx_http_upstream_finalize_request. */
  finalize(code: number): void {
    const { r } = this;
    if (this.#done) return;
    this.#release(code);
    if (code === DECLINED) return;
    this.action = 'sending to client';
    if (!this.headerSent || code === 408 || code === CLIENT_CLOSED_REQUEST) {
      finalize(r, code);
      return;
    }
    const pipe = this.pipe;
    if (code === OK) {
      if (r.headerOnly || pipe === null || pipe.abandoned) {
        finalize(r, OK);
        return;
      }
      if (this.conf.settings.passTrailers) this.#copyTrailers();
      pipe.finish(true);
      return;
    }
    if (code >= 300 && pipe !== null && !pipe.abandoned && !r.headerOnly) {
      r.keepalive = false;
      pipe.finish(false);
      return;
    }
    finalize(r, ERROR);
  }

  #copyTrailers(): void {
    const { head, conf, r } = this;
    for (let i = 0; i < head.trailers.length; i += 3) {
      if ((conf.kinds.of(head.trailers[i + 1]!) & K.HIDDEN) !== 0) continue;
      r.out.trailers.push(head.trailers[i]!, head.trailers[i + 2]!);
    }
  }

  #release(code: number): void {
    const { debugging } = this.r;
    if (debugging) this.log(DEBUG, `finalize http upstream request: ${code}`);
    this.#done = true;
    this.#phase = P.DONE;
    const { r, connection: c, peer } = this;
    if (this.cancelResolve !== null) {
      this.cancelResolve();
      this.cancelResolve = null;
    }
    const now = this.#clock();
    this.#endAttempt(now);
    if (this.#pacer?.leftOver) this.keepalive = false;
    this.#pacer?.stop();
    this.#sender?.stop();
    this.#tunnel?.stop();
    if (r === r.main && !r.finished) r.stream.watchClient(r, null);
    this.connection = null;
    if (peer !== null) {
      this.peer = null;
      this.picker!.done(peer, PEER_OK, this.attempt);
    }
    if (c !== null) {
      const idle = this.group?.idle;
      const kept = idle !== undefined && this.keepalive && this.requestBodySent && idle.put(c, peer?.name ?? '', this.conf, now);
      if (kept && debugging) this.log(DEBUG, `free keepalive peer: saving connection to ${peer?.name}`);
      if (!kept) c.close();
    }
    this.store?.drop();
    this.conf.cache?.finish(this, code);
    this.#held = null;
  }
}

/** The status when there is no peer to ask; a group that waits for its first addresses is not there yet. */
function noLiveStatus({ group, conf }: UpstreamRequest): number {
  const waiting = group?.lazySet;
  return waiting !== undefined && waiting.peers.length === 0 ? 503 : conf.noLiveStatus;
}

function ignoreClient(): void {}

/** The work of backends for a request; null where it has none. Nothing else is ever put there. */
export const upstreamOf = (r: Request): UpstreamRequest | null => r.upstream as UpstreamRequest | null;

/**
 * Tells, with nginx's alert, that a request has come to a location without a backend: an `if` brought it here after another
 * one had set the handler. Returns the status to answer with. nginx: the end of ngx_http_upstream_init_request.
 */
export function noBackend(r: Request): number {
  r.log(ALERT, 'no upstream configuration');
  return 500;
}

/** Starts a request's business with backends; given to {@link readBody}. */
export function startUpstream(r: Request): void {
  upstreamOf(r)!.start();
}
