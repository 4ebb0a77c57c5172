import { CRIT, ERROR } from '../../../shared/log/level.js';
import { OK, type Result } from '../../task/codes.js';
import { METHOD } from '../syntax/method.js';
import { ups } from '../syntax/ups.js';
import type { BodyStage } from './body-stage.js';
import { Children } from './child.js';
import { logUri } from './debug-lines.js';
import { extension } from './internal-redirect.js';
import { MAX_COUNT, Request } from './request.js';
import { sharedBody } from './request-body.js';
import { PhaseStep } from './run-phases.js';
import { SubrequestQueue } from './subrequest-queue.js';

/** What a subrequest is for. */
export interface SubrequestOptions {
  readonly uri: string;
  readonly args?: string;
  /** Keeps the parent's method instead of GET. */
  readonly keepMethod?: boolean;
  /** Nobody waits for it; it may outlive the parent's response. nginx: NGX_HTTP_SUBREQUEST_BACKGROUND. */
  readonly background?: boolean;
  /** Of one in the background: the client's next request is taken up once it is over, as nginx does with all of them. */
  readonly awaited?: boolean;
  /** Of one that is not in the background: false if it goes on when the client leaves, as those of nginx's JavaScript do. */
  readonly heedsClient?: boolean;
  /** The body is not wanted: the subrequest sends only its head. */
  readonly headerOnly?: boolean;
  /** The subrequest begins with the parent's own content handler. nginx: NGX_HTTP_SUBREQUEST_CLONE. */
  readonly clone?: boolean;
  /** Where the body goes; without it the body is dropped. The sink must call `r.more()` on the subrequest for the next piece. */
  readonly sink?: BodyStage;
  /** The sink is its place in the parent's response. */
  readonly placed?: boolean;
  /** The directive that asks for it, for traces. */
  readonly trace?: string;
  /** Called with each code that is about to end the subrequest; returns the one to go on with. nginx: ngx_http_post_subrequest_t. */
  readonly code?: (sr: Request, code: Result) => Result;
  /** Called once the subrequest is over, after its error page if it had one. Not called when the main request breaks off. */
  readonly end?: (sr: Request) => void;
  /**
   * Called once with the subrequest's result: OK or a status, for which no page is sent then. Its `out` still holds the
   * response head.
   */
  readonly done?: (sr: Request, code: Result) => void;
}

/**
 * Runs another request of this server inside a request. It begins once the caller has returned, so that it can return AGAIN
 * first; see {@link SubrequestQueue}. Returns undefined when subrequests nest too deep or are too many; that there are too many is
 * said once, since a page that includes itself asks thousands of times. nginx: ngx_http_subrequest.
 */
export function startSubrequest(r: Request, options: SubrequestOptions): Request | undefined {
  if (r.subrequests === 0) {
    r.log(ERROR, `subrequests cycle while processing "${options.uri}"`);
    return undefined;
  }
  const main = r.main;
  main.children ??= new Children(new SubrequestQueue(main));
  const { children } = main;
  if (children.count >= MAX_COUNT) {
    if (children.count !== Number.POSITIVE_INFINITY) {
      r.log(CRIT, `request reference counter overflow while processing "${options.uri}"`);
    }
    // Those that end make no room any more.
    children.count = Number.POSITIVE_INFINITY;
    return undefined;
  }
  children.count++;
  const sr = new Request(r.clientExchange, r.server, r.head, r, performance.now());
  sr.body = sharedBody(r);
  // A body that is passed on as it comes is no other's.
  sr.contentLength = main.requestBodyNoBuffering ? 0 : r.contentLength;
  sr.chunkedIn = r.chunkedIn && !main.requestBodyNoBuffering;
  sr.method = options.keepMethod ? r.method : 'GET';
  sr.methodBit = options.keepMethod ? r.methodBit : METHOD.GET;
  sr.httpVersion = r.httpVersion;
  sr.line = r.line;
  sr.uri = options.uri;
  sr.uriUps = options.clone ? r.uriUps : ups(options.uri);
  sr.args = options.args ?? '';
  sr.unparsedUri = r.unparsedUri;
  sr.validUnparsedUri = false;
  sr.exten = extension(options.uri);
  sr.schema = r.schema;
  sr.internal = true;
  sr.discardingBody = r.discardingBody;
  sr.expectTested = true;
  sr.subrequests = r.subrequests - 1;
  sr.headerOnly = options.headerOnly ?? false;
  sr.child = {
    background: options.background ?? false,
    heedsClient: options.background !== true && options.heedsClient !== false,
    sink: options.sink ?? null,
    placed: options.placed ?? false,
    onCode: options.code ?? null,
    onEnd: options.end ?? null,
    onDone: options.done ?? null,
    queued: false,
  };
  if (sr.trace !== null) {
    sr.trace.add(
      sr,
      'subrequest',
      `subrequest for "${sr.uri}"${sr.args === '' ? '' : ` with "${sr.args}"`}`,
      { in: r.location, directive: options.trace },
      { uri: sr.uri },
    );
  }
  if (sr.debugging) {
    logUri(sr, 'http subrequest');
  }
  if (!sr.background) {
    children.dependents.add(sr);
  }
  if (options.awaited) {
    awaitEnd(sr, children);
  }
  if (options.clone) {
    sr.location = r.location;
    sr.validUnparsedUri = r.validUnparsedUri;
    sr.validLocation = r.validLocation;
    sr.contentHandler = r.contentHandler;
    sr.captures = r.captures;
    sr.exten = r.exten;
    sr.phase = PhaseStep.CONTENT;
  }
  children.queue.add(sr);
  return sr;
}

/** Keeps the main request from its end until this one is over. nginx: ngx_http_finalize_connection with r->main->count. */
function awaitEnd(sr: Request, children: Children): void {
  children.awaited++;
  sr.onFinish(() => {
    children.awaited--;
    // The end of a subrequest goes on after its callbacks.
    if (children.awaiting && children.awaited === 0) {
      process.nextTick(endMain, sr.main);
    }
  });
}

const endMain = (main: Request): void => main.finalize(OK);
