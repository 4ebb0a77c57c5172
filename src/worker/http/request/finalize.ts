import { ALERT } from '../../../shared/log/level.js';
import { RingError } from '../../../shared/net/uring/memory.js';
import { lineOf } from '../../../shared/text/error-text.js';
import { EMPTY } from '../../bytes/empty.js';
import { DECLINED, DONE, FAILED, type Result } from '../../task/codes.js';
import { ups } from '../syntax/ups.js';
import { clientSlot } from './client-settings.js';
import { CLIENT_CLOSED_REQUEST, CLOSE } from './codes.js';
import { logFinalize, logUri } from './debug-lines.js';
import { documentSlot } from './document-settings.js';
import { errorPageSlot } from './error-page.js';
import { noteReason } from './error-reason.js';
import { internalRedirect, namedLocation } from './internal-redirect.js';
import { postActionSlot } from './post-action.js';
import type { Request } from './request.js';
import { bufferSource, sendBody } from './respond.js';
import { runContentPhases } from './run-phases.js';
import { specialResponse } from './special-response.js';
import type { UpstreamWork } from './upstream-work.js';

/**
 * Ends a request, or what was tried for it, with a handler's code: OK when the response has gone out, a status to
 * answer with, DECLINED to let other content handlers try. nginx: ngx_http_finalize_request.
 */
export function finalize(r: Request, code: Result): void {
  if (r.debugging) {
    logFinalize(r, code);
  }
  for (;;) {
    if (r.finished || code === DONE) {
      return;
    }
    if (code === DECLINED) {
      runContentPhases(r);
      return;
    }
    const { child } = r;
    if (child !== null && r.main.aborted) {
      terminate(r, FAILED);
      return;
    }
    if (child !== null && child.onCode !== null) {
      code = child.onCode(r, code);
      if (code === DONE) {
        return;
      }
    }
    if (child !== null && child.onDone !== null) {
      const done = child.onDone;
      child.onDone = null;
      if (code < 300 && code !== 201 && code !== 204) {
        finishSubrequest(r);
        done(r, code);
        return;
      }
      // An error page of the subrequest still has to run; its end reports the first code.
      if (!wantsErrorPage(r, code)) {
        finishSubrequest(r);
        done(r, code);
        return;
      }
      child.onDone = done;
    }
    if (code === FAILED || code === 408 || code === CLIENT_CLOSED_REQUEST || code === CLOSE || (r.connection.closed && needsClient(r))) {
      terminate(r, code);
      return;
    }
    if (code >= 300 || code === 201 || code === 204) {
      if (r.headerSent && !r.postAction) {
        // The head is on its way: the answer cannot be changed any more, only broken off.
        terminate(r, code);
        return;
      }
      if (r.headHolder !== null) {
        dropHeld(r);
      }
      code = specialResponse(r, code);
      continue;
    }
    if (r.headHolder !== null) {
      endHeld(r);
      return;
    }
    if (r !== r.main) {
      finishSubrequest(r);
      return;
    }
    if (r.children !== null && r.children.awaited > 0) {
      r.children.awaiting = true;
      return;
    }
    if (startPostAction(r)) {
      return;
    }
    if (r.aborted) {
      terminate(r, FAILED);
      return;
    }
    endRequest(r);
    r.clientExchange.finish(r);
    return;
  }
}

/** Gives up a response whose head did not leave, for another one in its place. */
function dropHeld(r: Request): void {
  const { source } = r;
  r.headHolder = null;
  r.first = null;
  r.source = null;
  source?.abort(r);
}

/** A response is over whose head is held back: it never had a body, which its filter has to be told, or it has lost the rest of it. */
function endHeld(r: Request): void {
  if (r.first === null) {
    sendBody(r, bufferSource(EMPTY));
  } else {
    terminate(r, FAILED);
  }
}

/** Whether the request still has something to send to its client. */
function needsClient(r: Request): boolean {
  if (r.child !== null) {
    return r.child.heedsClient;
  }
  const sent = r.postAction || r.children?.awaiting === true || (r.headerOnly && r.bytesSent > 0);
  return !sent || r.aborted;
}

/** Sends the request, whose response is done with, through the location's `post_action`, if there is one. nginx: ngx_http_post_action. */
function startPostAction(r: Request): boolean {
  const { target } = r.location.conf(postActionSlot);
  if (target === undefined || (r.postAction && r.uriChanges === 0)) {
    return false;
  }
  r.postAction = true;
  r.headerOnly = true;
  if (target.startsWith('/')) {
    internalRedirect(r, target, '', ups(target));
  } else {
    namedLocation(r, target);
  }
  return true;
}

function wantsErrorPage(r: Request, code: number): boolean {
  return !r.errorPage && r.location.conf(errorPageSlot).errorPages.some((page) => page.status === code);
}

function finishSubrequest(r: Request): void {
  if (r.debugging) {
    logUri(r.parent!, 'http wake parent request:');
  }
  if (r.location.conf(documentSlot).logSubrequest) {
    logRequest(r);
  }
  r.finished = true;
  const main = r.main;
  const children = main.children!;
  if (r.parent === main) {
    children.count--;
  }
  children.dependents.delete(r);
  children.queue.goOn();
  runCleanups(r);
  r.child!.onEnd?.(r);
}

/** Ends the subrequests under way, which nobody waits for any more, but not those that the request's end waits for if there are `kept`. */
function abandonSubrequests(main: Request, kept: readonly UpstreamWork[]): void {
  const { children } = main;
  if (children === null) {
    return;
  }
  const dependents = [...children.dependents];
  for (const sr of dependents) {
    if (kept.some((work) => work.r === sr)) {
      continue;
    }
    children.dependents.delete(sr);
    if (!sr.finished) {
      abandonSubrequest(sr);
    }
  }
}

const NONE: readonly UpstreamWork[] = [];

/** The work of backends that goes on for its own sake though the request is given up, as the filling of a cache does. */
function keptWork(main: Request): readonly UpstreamWork[] {
  const { upstream, children } = main;
  const own = upstream?.outlive() ?? false;
  if (children === null || children.works.size === 0) {
    return own ? [upstream!] : NONE;
  }
  const kept = [...children.works].filter((work) => work.outlive());
  if (own) {
    kept.push(upstream!);
  }
  return kept;
}

function abandonSubrequest(sr: Request): void {
  sr.finished = true;
  const source = sr.source;
  sr.source = null;
  source?.abort(sr);
  runCleanups(sr);
}

/**
 * Gives the request up: the response is broken off and the connection closed, once what is kept of the response is complete. nginx:
 * ngx_http_terminate_request, and p->downstream_error.
 */
export function terminate(r: Request, code: Result): void {
  const main = r.main;
  if (r.background && !r.finished) {
    r.source?.abort(r);
    finishSubrequest(r);
    if (main.aborted) {
      terminate(main, FAILED);
    }
    return;
  }
  giveUp(r, code, false);
}

/** Ends the request at once, with all that is done for it. nginx: c->close in ngx_http_request_handler. */
export function kill(r: Request, code: Result): void {
  giveUp(r, code, true);
}

function giveUp(r: Request, code: number, atOnce: boolean): void {
  const main = r.main;
  if (main.finished) {
    return;
  }
  if (code > 0 && (main.out.status === 0 || !main.headerSent)) {
    main.out.status = code;
    if (main.http.explains && code >= 400) {
      noteReason(main, code);
    }
  }
  if (r !== main && !r.finished) {
    r.finished = true;
    r.source?.abort(r);
    runCleanups(r);
  }
  main.aborted = true;
  main.timedOut ||= code === CLOSE || code === 408;
  const kept = atOnce ? NONE : keptWork(main);
  const { source, upstream } = main;
  main.source = null;
  if (upstream === null || !kept.includes(upstream)) {
    source?.abort(main);
  }
  abandonSubrequests(main, kept);
  // Of a connection that is closed without an answer, nobody is told.
  if (main.finished || kept.length > 0 || (!atOnce && code !== CLOSE && startPostAction(main))) {
    return;
  }
  main.bytesSent = Math.max(0, main.bytesSent - main.clientExchange.unsent(main));
  endRequest(main);
  main.clientExchange.terminate(main, main.timedOut && main.location.conf(clientSlot).resetTimedoutConnection);
}

function endRequest(r: Request): void {
  if (r.debugging) {
    logUri(r, 'http close request:');
  }
  r.finished = true;
  logRequest(r);
  abandonSubrequests(r, NONE);
  if (r.children !== null) {
    for (const work of [...r.children.works]) {
      work.cleanup();
    }
  }
  runCleanups(r);
}

/** Runs the log phase, once. nginx: ngx_http_log_request. */
function logRequest(r: Request): void {
  if (r.logged) {
    return;
  }
  r.logged = true;
  const handlers = r.location.logPhase;
  for (let i = 0; i < handlers.length; i++) {
    handlers[i]!(r);
  }
}

/** One that fails keeps neither the others from their turn nor the request from its end. */
function runCleanups(r: Request): void {
  r.upstream?.cleanup();
  const { cleanups } = r;
  if (cleanups === null) {
    return;
  }
  for (let i = cleanups.length - 1; i >= 0; i--) {
    try {
      cleanups[i]!();
    } catch (error) {
      if (error instanceof RingError) {
        throw error;
      }
      r.log(ALERT, `exception at the end of the request: ${lineOf(error)}`);
    }
  }
  r.cleanups = null;
}
