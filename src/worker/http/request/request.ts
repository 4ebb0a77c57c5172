import { debugOf } from '../../../shared/log/error-log.js';
import { ALERT, DEBUG, INFO, type Level, levelNames } from '../../../shared/log/level.js';
import type { LogContext } from '../../../shared/log/log-line.js';
import { requestSteps } from '../../../shared/regex/compile.js';
import type { Meter } from '../../../shared/zone/meters.js';
import { enter, leave } from '../../task/at-work.js';
import type { ClientTask } from '../../task/client-task.js';
import { FAILED, type Result } from '../../task/codes.js';
import type { RequestHead } from '../syntax/request-head.js';
import type { BodyFilter, BodyStage, Postponed, Source } from './body-stage.js';
import type { Child, Children } from './child.js';
import type { ClientConnection, ClientExchange, ClientWatcher } from './client-exchange.js';
import { HeadersOut } from './headers-out.js';
import type { HttpRuntime, LocationRuntime, ServerRuntime } from './http-runtime.js';
import type { PhaseHandler } from './phase-handler.js';
import type { RequestBody } from './request-body.js';
import type { RequestTrace } from './request-trace.js';
import { nameSlot } from './server-names.js';
import type { Trace } from './trace.js';
import type { UpstreamWork } from './upstream-work.js';

/** How often a request may change its URI inside the server. nginx: NGX_HTTP_MAX_URI_CHANGES. */
const MAX_URI_CHANGES = 10;
/** How deep subrequests may nest. nginx: NGX_HTTP_MAX_SUBREQUESTS. */
export const MAX_SUBREQUESTS = 50;
/** How many subrequests a client's request may have. nginx: the bound on r->main->count, of which it keeps 1000 back. */
export const MAX_COUNT = 65535 - 1000;

/**
 * One request, or a subrequest of it. All fields are set in the constructor, so that every request has one shape.
 * nginx: ngx_http_request_t.
 */
export class Request implements ClientTask {
  // --- where it came from
  readonly clientExchange: ClientExchange;
  readonly connection: ClientConnection;
  /** The client's own request; itself unless this is a subrequest. */
  readonly main: Request;
  readonly parent: Request | null;
  readonly http: HttpRuntime;
  server: ServerRuntime;
  location: LocationRuntime;

  // --- the head
  method = '';
  methodBit = 0;
  /** Major * 1000 + minor; see HTTP_11. */
  httpVersion = 1001;
  /** The request line as sent. */
  line = '';
  /** Decoded, normalised path. */
  uri = '';
  /** How many `..` of the URI stand in the text of the configuration: what clients add may not lead out of a root. */
  uriUps = 0;
  /** What follows `?`, as sent. */
  args = '';
  /** The target as sent. nginx: r->unparsed_uri. */
  unparsedUri = '';
  /** What follows the last dot of the last path segment. */
  exten = '';
  /** All of the head as it was sent: header lines, host, framing. */
  head: RequestHead;
  /** Announced body length, -1 when none was; a chunked body that was read has its length here. */
  contentLength = -1;
  /** The body comes with Transfer-Encoding: chunked. */
  chunkedIn = false;
  /** Scheme of an absolute target, empty when it had none. */
  schema = '';
  /** `unparsedUri` still says where the request goes: nothing changed the URI since. nginx: r->valid_unparsed_uri. */
  validUnparsedUri = true;
  /** Bytes of request line, headers and body read so far. */
  requestLength = 0;
  pipelined = false;

  // --- Subject
  vars: (string | null | undefined)[];
  captures: readonly (string | undefined)[] | null = null;
  evaluating = 0;
  matchSteps = requestSteps;
  /** State of modules, by the number each got from {@link contextSlot}. */
  ctx: unknown[] | null = null;
  /** State of modules that is kept over internal redirects; see lastingSlot. */
  lasting: unknown[] | null = null;

  // --- phases
  phase = 0;
  step = 0;
  contentHandler: PhaseHandler | undefined = undefined;
  /** Result of an access handler that `satisfy any` keeps until another one lets the request in. */
  accessCode: Result = 0;
  uriChanges = MAX_URI_CHANGES + 1;
  uriChanged = false;
  subrequests = MAX_SUBREQUESTS + 1;
  internal = false;
  /** `error_page` led here. */
  errorPage = false;
  /** The request has purged a cache: what answers it is no purge, though the condition may still hold. */
  purged = false;
  /** The response is over and `post_action` runs: nothing is sent any more. */
  postAction = false;
  /** Status that `error_page` answers with instead of the handler's own. nginx: r->err_status. */
  errStatus = 0;
  /** URI was set by `rewrite` in this location, so that proxy_pass must not map it again. nginx: r->valid_location. */
  validLocation = true;
  addUriToAlias = false;

  // --- the body that came in
  body: RequestBody | null = null;
  /** Nobody wants the body; it is read and dropped. */
  discardingBody = false;
  expectTested = false;
  requestBodyInFileOnly = false;
  requestBodyNoBuffering = false;

  // --- the head of the response
  readonly out = new HeadersOut();
  headerSent = false;
  headerOnly = false;
  /** The filter whose stage sends the head once it knows the body; null where nothing holds the head back. */
  headHolder: BodyFilter | null = null;
  /** How many header filters a head that is held back has been through. */
  headFilters = 0;
  /** The body goes out in chunks. */
  chunkedOut = false;

  // --- the body that goes out
  source: Source | null = null;
  /** First stage of the body chain. */
  first: BodyStage | null = null;
  pumping = false;
  wantMore = false;

  // --- how it ends
  finished = false;
  keepalive = false;
  lingeringClose = false;
  /** The error code of HTTP/2 for a response that breaks off, as a backend gave it; 0 for our own. */
  resetCode = 0;

  // --- what filters know of the response
  /** Trailers may be added once the body is over. nginx: r->expect_trailers. */
  expectTrailers = false;
  /** Names the exact bytes of the body (a file with its time and size), for filters that remember what they made of it. */
  bodyIdentity: string | undefined = undefined;
  /** Length of the body as its source gives it, -1 when unknown; filters may clear `out.contentLength`. */
  bodyLength = -1;
  /** What is sent must leave at once: filters must not hold it back. */
  flushBody = false;
  /** The response depends on Accept-Encoding; `gzip_vary` says so to caches. */
  gzipVary = false;
  disableNotModified = false;
  singleRange = false;
  /** Ranges are cut out of this response even if it is a subrequest's. nginx: r->subrequest_ranges. */
  subrequestRanges = false;
  /** The range that was asked for is on its way to the client whole, though more of the body may come that nobody gets. */
  rangeSent = false;

  // --- what leaves
  headerSize = 0;
  /** Bytes put on the connection for this request. */
  bytesSent = 0;
  limitRate = 0;
  limitRateAfter = 0;
  limitRateSet = false;

  // --- a client that is lost
  /** Nothing more of the response leaves; what is kept of it may still be on its way. */
  aborted = false;
  /** The request was given up for a client that was too slow, or by `return 444`. */
  timedOut = false;
  /** On a main request: who is told that the client has gone; see client-gone.ts. */
  watcher: ClientWatcher | null = null;

  // --- what is told of it
  /** Counts the request as being processed. */
  zone: Meter | null = null;
  /** On a main request that is traced: what is told of it and of its subrequests. */
  spans: RequestTrace | null = null;
  /** What the error log was told last, and why the server itself answered with an error; kept only for `$error_reason`. */
  lastLogged = '';
  reason = '';

  // --- backends
  /** The latest work of backends for this request. */
  upstream: UpstreamWork | null = null;

  // --- times
  /** The moment when the head's first byte was read, in milliseconds of the monotonic clock. */
  readonly startTime: number;

  // --- what is undone
  /** Undone in reverse order when the request ends. */
  cleanups: (() => void)[] | null = null;

  // --- subrequests
  /** A header filter says that bodies of subrequests will be put into this one. */
  postpones = false;
  /** What puts them there; it holds pieces that come before those the source still has. */
  postponed: Postponed | null = null;
  /** What it is to its parent; null unless this is a subrequest. */
  child: Child | null = null;
  /** On a main request: its subrequests, once there has been one. */
  children: Children | null = null;

  // --- what it is asked about itself
  logged = false;
  /** What the engine decides is noted here for whoever asked for it; null for all other requests. */
  trace: Trace | null;

  /** `now`: the present moment on the monotonic clock. */
  constructor(stream: ClientExchange, server: ServerRuntime, head: RequestHead, parent: Request | null, now: number) {
    this.clientExchange = stream;
    this.connection = stream.connection;
    this.parent = parent;
    this.main = parent === null ? this : parent.main;
    this.http = server.http;
    this.server = server;
    this.location = server.root;
    this.vars = parent === null ? [] : parent.main.vars;
    this.head = head;
    this.startTime = now;
    this.trace = parent === null ? null : parent.main.trace;
  }

  get connectionId(): number {
    return this.connection.id;
  }

  get status(): number {
    return this.out.status;
  }

  /** The head has left, or only waits for what a filter finds in the body. */
  get headGiven(): boolean {
    return this.headerSent || this.headHolder !== null;
  }

  /** The request is a subrequest that nobody waits for. */
  get background(): boolean {
    return this.child?.background === true;
  }

  /** A request header by lower-case name; the first one when there are several. */
  header(name: string): string | undefined {
    return this.head.header(name);
  }

  /** Writes a line to the error log of the request's location. */
  log(level: Level, message: string): void {
    if (this.http.explains && level <= INFO) {
      this.main.lastLogged = message;
    }
    if (this.trace !== null && level <= INFO) {
      this.trace.add(this, 'error', message, undefined, { level: levelNames[level] });
    }
    const log = this.connection.debugging ? debugOf(this.location.log) : this.location.log;
    if (level <= log.level) {
      log.log(level, message, this);
    }
  }

  /** Whether lines of level debug are written: asked by callers whose lines take work to build. */
  get debugging(): boolean {
    return this.http.debugs && (this.connection.debugging || this.location.log.level >= DEBUG);
  }

  /** What an error log line says about the request. nginx: ngx_http_log_error. */
  logContext(): LogContext {
    const main = this.main;
    return {
      action: main.logged ? 'logging request' : main.clientExchange.action,
      client: this.connection.remoteAddress || undefined,
      server: this.server.conf(nameSlot).serverName,
      request: main.line === '' ? undefined : main.line,
      subrequest: this === main ? undefined : this.uri,
      upstream: this.upstream?.logText(),
      host: main.header('host'),
      referrer: main.header('referer'),
    };
  }

  /**
   * Counts a change of the URI. Returns false where there have been too many, by which the request fails. `post_action` has more after
   * that: nginx's counter has four bits, too.
   */
  mayChangeUri(): boolean {
    this.uriChanges = (this.uriChanges - 1) & 15;
    return this.uriChanges !== 0;
  }

  /** Goes on after a handler returned AGAIN, with the code it would have returned. */
  resume(code: Result): void {
    this.http.life.resume(this, code);
  }

  /**
   * Ends the request, or what was tried for it, with a handler's code: OK when the response has gone out, a status to answer with, DECLINED
   * to let other content handlers try. nginx: ngx_http_finalize_request.
   */
  finalize(code: Result): void {
    const before = enter(this);
    this.http.life.finalize(this, code);
    leave(before);
  }

  /** Gives the request up: the response is broken off and the connection closed. nginx: ngx_http_terminate_request. */
  terminate(code: Result): void {
    const before = enter(this);
    this.http.life.terminate(this, code);
    leave(before);
  }

  /** Ends the request at once, with all that is done for it: the worker must go, or nobody knows what state the request is in. */
  kill(code: Result): void {
    const before = enter(this);
    this.http.life.kill(this, code);
    leave(before);
  }

  get protocol(): HttpRuntime {
    return this.http;
  }

  /** Ends the request after an exception that nobody caught. */
  giveUp(reason: string): void {
    this.log(ALERT, `the request is given up after an exception: ${reason}`);
    this.kill(this.headerSent ? FAILED : 500);
  }

  breakOff(): void {
    if (!this.finished) {
      this.terminate(this.headerSent ? FAILED : 500);
    }
  }

  /** Runs a callback when the request ends, however it ends. The latest added runs first. */
  onFinish(callback: () => void): void {
    if (this.cleanups === null) {
      this.cleanups = [callback];
    } else {
      this.cleanups.push(callback);
    }
  }

  /** Takes a callback of {@link onFinish} back. */
  forget(callback: () => void): void {
    const i = this.cleanups?.lastIndexOf(callback) ?? -1;
    if (i !== -1) {
      this.cleanups!.splice(i, 1);
    }
  }

  /**
   * Tells the source that the body chain can take another piece. Stages call it when they pass nothing on; the end of
   * the chain calls it when the connection has room.
   */
  more(): void {
    if (this.pumping) {
      this.wantMore = true;
      return;
    }
    this.pumping = true;
    const before = enter(this);
    do {
      this.wantMore = false;
      if (this.postponed !== null) {
        this.postponed.pull();
      } else {
        this.source?.pull(this);
      }
    } while (this.wantMore);
    leave(before);
    this.pumping = false;
  }
}

let slots = 0;
/**
 * A slot, the index under which a module keeps its state in {@link Request.ctx}. A module that keeps state calls this once, at load.
 * Others have no slot, so that the arrays stay short.
 */
export function contextSlot<T>(): { get(r: Request): T | undefined; set(r: Request, value: T | undefined): void } {
  let slot = -1;
  return {
    get: (r) => (slot === -1 || r.ctx === null ? undefined : (r.ctx[slot] as T | undefined)),
    set: (r, value) => {
      if (slot === -1) {
        slot = slots++;
      }
      // Room for the few that most requests have: an empty array reserves four times as much with its first element.
      r.ctx ??= [undefined, undefined, undefined, undefined];
      r.ctx[slot] = value;
    },
  };
}
