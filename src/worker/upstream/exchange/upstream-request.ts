import { ALERT, DEBUG, type Level } from '../../../shared/log/level.js';
import type { ClientWatcher } from '../../http/request/client-exchange.js';
import { CLIENT_CLOSED_REQUEST } from '../../http/request/codes.js';
import type { Request } from '../../http/request/request.js';
import type { UpstreamWork } from '../../http/request/upstream-work.js';
import { now } from '../../task/at-work.js';
import { AGAIN, DECLINED, DONE, FAILED, OK, type Result } from '../../task/codes.js';
import type { Channel } from '../connection/channel.js';
import type { UpstreamGroup } from '../group/group.js';
import type { ResolvedTarget } from '../group/resolve-target.js';
import { UpstreamHead } from '../response/upstream-head.js';
import type { BodyRelay } from './body-relay.js';
import type { Exchange } from './exchange.js';
import { PeerConnection } from './peer-connection.js';
import type { ResponsePipe } from './pipe.js';
import { copyTrailers } from './process-head.js';
import { RequestOutput } from './request-output.js';
import { StoreFile } from './store-file.js';
import type { BodyTee, UpstreamConf } from './upstream-conf.js';
import { beginWork, endWithoutClient, endWork } from './watch-client.js';

/** Passes a response on once its head was sent. */
export interface Passing {
  /** Null where both sides send. */
  readonly pipe: ResponsePipe | null;
  /** The response is over. */
  stop(): void;
}

/**
 * One request's business with its backends, from its beginning to its end, and the state that its parts share:
 * {@link PeerConnection} chooses and connects, {@link RequestOutput} sends the request, `HeadReader` and `BodyReader` read
 * the response, {@link ResponsePipe} passes it on. The fields are theirs to read; whoever wants something calls a method.
 * nginx: ngx_http_upstream_t.
 */
export class UpstreamRequest implements UpstreamWork, ClientWatcher {
  readonly r: Request;
  readonly conf: UpstreamConf;
  readonly exchange: Exchange;
  readonly peer: PeerConnection;
  /** `http://`, `https://` and the like. */
  schema = '';
  /** The URI as the backend gets it, for logs. */
  uri = '';
  /** TLS to the backend. */
  tls = false;
  #group: UpstreamGroup | undefined = undefined;
  /** Set when the backend is named at request time. */
  #target: ResolvedTarget | null = null;
  /** Sends the request of the attempt at hand; null until a connection is ready. */
  output: RequestOutput | null = null;
  headerSent = false;
  buffering: boolean;
  /** The connection may serve another request. */
  #reusable = false;
  /** The backend switches protocols. */
  upgrade = false;
  /** The response goes to the cache. */
  cacheable = false;
  /** The response comes from the cache. */
  cached = false;
  /** What the cache keeps for this request, which only the cache understands and sets; null where none was asked. */
  cacheUse: object | null = null;
  /** Where a copy of the body goes. */
  tee: BodyTee | null = null;
  store: StoreFile | null = null;
  /** The method that the backend is asked with; empty for the client's. */
  method = '';
  /** Passes the client's body on as it comes. */
  relay: BodyRelay | null = null;
  #done = false;
  #toldGone = false;
  #head: UpstreamHead | null = null;
  #passing: Passing | null = null;

  constructor(r: Request, conf: UpstreamConf, exchange: Exchange) {
    this.r = r;
    this.conf = conf;
    this.exchange = exchange;
    this.peer = new PeerConnection(this);
    this.buffering = conf.settings.buffering;
  }

  /** Becomes the request's work of backends. What it had before is given up, but its attempts stay on record. */
  attach(): void {
    const { r } = this;
    const before = upstreamOf(r);
    if (before !== null) {
      before.cleanup();
      this.peer.continueFrom(before.peer);
    }
    r.upstream = this;
  }

  // ---------------------------------------------------------------- what to ask, and whom

  /** Says that the request goes to a group; `schema` is `http://` or the like. */
  passTo(schema: string, tls: boolean, group: UpstreamGroup | undefined): void {
    this.schema = schema;
    this.tls = tls;
    this.#group = group;
  }

  /** Says that the request goes to a backend that was named at request time. */
  passToNamed(schema: string, tls: boolean, target: ResolvedTarget): void {
    this.schema = schema;
    this.tls = tls;
    this.#target = target;
  }

  /** Says what URI the backend is asked for. */
  askFor(uri: string): void {
    this.uri = uri;
  }

  /** Has the backend asked with another method than the client's. */
  askWith(method: string): void {
    this.method = method;
  }

  /** Has the client's body passed on as it comes; null: it is here. */
  relayBody(relay: BodyRelay | null): void {
    this.relay = relay;
  }

  // ---------------------------------------------------------------- what the protocol and the head say of the response

  /** Says whether the connection may serve another request. */
  keepConnection(reusable: boolean): void {
    this.#reusable = reusable;
  }

  /** The backend switches protocols, as the client asked. */
  switchProtocols(): void {
    // What is left of a body that nobody takes is no part of another protocol.
    this.upgrade = this.r.main.body?.lost !== true;
  }

  /** Turns buffering of the response on or off. */
  useBuffering(buffering: boolean): void {
    this.buffering = buffering;
  }

  // ---------------------------------------------------------------- what the cache and the store say of it

  /** Says whether the response may go to the cache. */
  allowCaching(allowed: boolean): void {
    this.cacheable = allowed;
  }

  /** Has a response of the cache sent, whose head this is. */
  useCached(head: UpstreamHead): void {
    this.cached = true;
    this.#head = head;
  }

  /** Has the body given to whoever keeps a copy, too. */
  copyBodyTo(tee: BodyTee): void {
    this.tee = tee;
  }

  // ---------------------------------------------------------------- what is known

  get done(): boolean {
    return this.#done;
  }

  /** The request at hand has begun to leave. */
  get requestSent(): boolean {
    return this.output !== null;
  }

  /** The response head of the backend, or of the cache; empty until one was read. */
  get head(): UpstreamHead {
    this.#head ??= new UpstreamHead();
    return this.#head;
  }

  /** Scheme, peer and URI of the backend at hand. As in nginx, of a request by HTTP/2 the URI is known where a key for a cache was made. */
  logText(): string | undefined {
    const { name, unix } = this.peer;
    if (name === undefined) {
      return undefined;
    }
    const uri = this.exchange.http2User === undefined || this.conf.cache !== undefined ? this.uri : '';
    return `${this.schema}${name}${unix ? ':' : ''}${uri}`;
  }

  failureText(status: number): string {
    let text = '';
    for (const attempt of this.peer.attempts ?? []) {
      if (attempt.peer === undefined) {
        continue;
      }
      const reason = attempt.reason !== '' ? attempt.reason : attempt.status === status ? `status ${status}` : '';
      if (reason !== '') {
        text += `${text === '' ? '' : ', '}${attempt.peer}: ${reason}`;
      }
    }
    return text;
  }

  log(level: Level, message: string): void {
    this.r.log(level, message);
  }

  set action(action: string) {
    this.r.main.clientExchange.action = action;
  }

  // ---------------------------------------------------------------- from the beginning to the end

  /** Begins, once the request's body is at hand. nginx: ngx_http_upstream_init_request. */
  start(): void {
    const { r, conf } = this;
    if (r.debugging) {
      this.log(DEBUG, 'http init upstream, client timer: 0');
    }
    if (conf.cache !== undefined) {
      const code = conf.cache.lookup(this);
      if (code !== DONE && r.debugging) {
        this.log(DEBUG, `http upstream cache: ${code}`);
      }
      if (code === AGAIN) {
        return;
      }
      if (code !== DECLINED) {
        if (code !== DONE) {
          if (r.trace !== null) {
            conf.cache.trace(this, r.trace);
          }
          r.finalize(code === FAILED ? 500 : code);
        }
        return;
      }
    }
    this.proceed();
  }

  /** Asks a backend, after the cache had nothing. */
  proceed(): void {
    if (this.r.trace !== null) {
      this.conf.cache?.trace(this, this.r.trace);
    }
    this.#head = null;
    if (this.conf.cache !== undefined && this.r.main.spans !== null) {
      this.conf.cache.traceStatus(this);
    }
    if (this.conf.settings.store !== null && this.r.http.env.rehearsing === undefined) {
      this.store = new StoreFile(this);
    }
    beginWork(this);
    if (!this.exchange.createRequest(this)) {
      this.finalize(500);
      return;
    }
    this.peer.start(this.#group, this.#target);
  }

  /** Forgets what a request that was sent before has left. nginx: ngx_http_upstream_reinit. */
  reinit(): void {
    if (this.output === null) {
      return;
    }
    this.output = null;
    this.exchange.reset(this);
    this.#reusable = false;
    this.upgrade = false;
    this.head.reset();
  }

  /** Sends the request to the backend. nginx: ngx_http_upstream_send_request. */
  sendRequest(c: Channel, now: number): void {
    const output = new RequestOutput(this);
    this.output = output;
    output.start(c, now);
  }

  /** The response head has gone to the client. */
  headerWasSent(): void {
    this.headerSent = true;
  }

  /** Says what passes the rest of the response on. */
  passOn(passing: Passing): void {
    this.#passing = passing;
  }

  /** Where the body goes; null while there is none. */
  get pipe(): ResponsePipe | null {
    return this.#passing === null ? null : this.#passing.pipe;
  }

  /** The client's side gave the response up. */
  downstreamAborted(): void {
    this.cleanup();
  }

  clientGone(_r: Request, reason: string | null): void {
    if (this.#toldGone) {
      return;
    }
    this.#toldGone = true;
    endWithoutClient(this, reason);
  }

  outlive(): boolean {
    const { pipe } = this;
    if (this.#done || this.tee === null || pipe === null) {
      return false;
    }
    pipe.abandon();
    return true;
  }

  /** The request is over, whatever this is doing. nginx: ngx_http_upstream_cleanup. */
  cleanup(): void {
    if (this.#done) {
      return;
    }
    if (this.peer.attempt !== null || !this.cached) {
      this.#release(DONE);
      return;
    }
    // All of it came from the cache: there is nothing else to give back.
    this.#done = true;
    this.conf.cache!.finish(this, DONE);
  }

  /** Ends the business with backends and, unless `code` is DECLINED, answers. nginx: ngx_http_upstream_finalize_request. */
  finalize(code: Result): void {
    const { r } = this;
    if (this.#done) {
      return;
    }
    this.#release(code);
    if (code === DECLINED) {
      return;
    }
    this.action = 'sending to client';
    if (!this.headerSent || code === 408 || code === CLIENT_CLOSED_REQUEST) {
      r.finalize(code);
      return;
    }
    const pipe = this.pipe;
    if (code === OK) {
      if (r.headerOnly || pipe === null || pipe.abandoned) {
        r.finalize(OK);
        return;
      }
      if (this.conf.settings.passTrailers) {
        copyTrailers(this);
      }
      pipe.finish(true);
      return;
    }
    if (code >= 300 && pipe !== null && !pipe.abandoned && !r.headerOnly) {
      r.keepalive = false;
      pipe.finish(false);
      return;
    }
    r.finalize(FAILED);
  }

  #release(code: number): void {
    const { r, output } = this;
    if (r.debugging) {
      this.log(DEBUG, `finalize http upstream request: ${code}`);
    }
    this.#done = true;
    this.#passing?.stop();
    output?.stop();
    this.relay?.leave();
    endWork(this);
    // To a backend that waits for a body the next request would be that body.
    this.peer.release(now(), this.#reusable && this.exchange.owesBody !== true && (output?.complete ?? false));
    this.store?.drop();
    this.conf.cache?.finish(this, code);
  }
}

/** The work of backends for a request; null where it has none. Nothing else is ever put there. */
export const upstreamOf = (r: Request): UpstreamRequest | null => r.upstream as UpstreamRequest | null;

/**
 * Tells, with nginx's alert, that a request has come to a location without a backend: an `if` brought it here after another
 * one had set the handler. Returns the status to answer with. nginx: the end of ngx_http_upstream_init_request.
 */
export function noBackend(r: Request): Result {
  r.log(ALERT, 'no upstream configuration');
  return 500;
}

/** Starts a request's business with backends; given to {@link readBody}. */
export function startUpstream(r: Request): void {
  upstreamOf(r)!.start();
}
