import { DEBUG, ERROR, INFO } from '../../../shared/log/level.js';
import { setTimer } from '../../../shared/time/timer.js';
import { enter, leave } from '../../task/at-work.js';
import { AGAIN, DECLINED, DONE, OK, type Result } from '../../task/codes.js';
import { endsWithClient, unwatchClient, watchClient } from './client-gone.js';
import { logHead, logPhase } from './debug-lines.js';
import { documentSlot } from './document-settings.js';
import { findConfig } from './find-config.js';
import { mapPath } from './map-path.js';
import type { PhaseHandler } from './phase-handler.js';
import type { Request } from './request.js';

/** The phases in the order they run; find-config, post-rewrite and post-access stand between them in {@link runPhases}. */
export const PhaseStep = {
  POST_READ: 0,
  SERVER_REWRITE: 1,
  FIND_CONFIG: 2,
  REWRITE: 3,
  POST_REWRITE: 4,
  PREACCESS: 5,
  ACCESS: 6,
  POST_ACCESS: 7,
  PRECONTENT: 8,
  CONTENT: 9,
} as const;

const NONE: readonly PhaseHandler[] = [];

function handlersOf(r: Request): readonly PhaseHandler[] {
  switch (r.phase) {
    case PhaseStep.POST_READ:
      return r.server.root.postRead;
    case PhaseStep.SERVER_REWRITE:
      return r.server.root.serverRewrite;
    case PhaseStep.REWRITE:
      return r.location.rewrite;
    case PhaseStep.PREACCESS:
      return r.location.preaccess;
    case PhaseStep.ACCESS:
      // Subrequests were let in with their parent.
      return r === r.main ? r.location.access : NONE;
    case PhaseStep.PRECONTENT:
      return r.location.precontent;
    case PhaseStep.CONTENT:
      return r.location.content;
    default:
      return NONE;
  }
}

/** Starts a request at its first phase, or an internal one at the server's rewrite phase. nginx: ngx_http_handler. */
export function startPhases(r: Request): void {
  r.phase = r.internal ? PhaseStep.SERVER_REWRITE : PhaseStep.POST_READ;
  r.step = 0;
  r.validLocation = true;
  r.gzipVary = false;
  // What was done before is not what goes wrong from now on.
  r.main.clientExchange.action = undefined;
  if (r.debugging && !r.internal) {
    logHead(r);
  }
  runPhases(r);
}

/** Runs handlers until one must wait or the request is answered. nginx: ngx_http_core_run_phases. */
export function runPhases(r: Request): void {
  const before = enter(r);
  run(r);
  leave(before);
}

function run(r: Request): void {
  for (;;) {
    if (r.phase === PhaseStep.FIND_CONFIG) {
      if (!findConfig(r)) {
        return;
      }
      r.phase = PhaseStep.REWRITE;
      r.step = 0;
      continue;
    }
    if (r.phase === PhaseStep.POST_REWRITE) {
      if (!afterRewrite(r)) {
        return;
      }
      continue;
    }
    if (r.phase === PhaseStep.POST_ACCESS) {
      if (!afterAccess(r)) {
        return;
      }
      continue;
    }
    if (r.phase === PhaseStep.CONTENT && r.contentHandler !== undefined) {
      const handler = r.contentHandler;
      const code = handler(r);
      if (code !== AGAIN && code !== DONE) {
        r.finalize(code);
      }
      return;
    }
    const handlers = handlersOf(r);
    if (r.step >= handlers.length) {
      if (r.phase === PhaseStep.CONTENT) {
        noHandler(r);
        return;
      }
      r.phase++;
      r.step = 0;
      continue;
    }
    if (r.debugging) {
      logPhase(r);
    }
    const code = handlers[r.step]!(r);
    if (!advance(r, code)) {
      return;
    }
  }
}

/** Goes on after AGAIN. The code is taken as if the waiting handler had returned it. */
export function resumePhases(r: Request, code: Result): void {
  const before = enter(r);
  resume(r, code);
  leave(before);
}

function resume(r: Request, code: Result): void {
  if (r.phase === PhaseStep.CONTENT && r.contentHandler !== undefined) {
    if (code === DECLINED) {
      r.contentHandler = undefined;
      r.step = 0;
      run(r);
    } else {
      r.finalize(code);
    }
    return;
  }
  if (advance(r, code)) {
    run(r);
  }
}

/** Runs the request's phases from content on, after a handler declined it late. nginx: finalize with NGX_DECLINED. */
export function runContentPhases(r: Request): void {
  r.contentHandler = undefined;
  r.phase = PhaseStep.CONTENT;
  r.step = 0;
  runPhases(r);
}

/** Goes one step on by a handler's code. Returns false when the engine must stop. nginx: the phase checkers. */
function advance(r: Request, code: Result): boolean {
  if (code === AGAIN || code === DONE) {
    return false;
  }
  if (code === DECLINED) {
    r.step++;
    return true;
  }
  switch (r.phase) {
    case PhaseStep.POST_READ:
    case PhaseStep.PREACCESS:
    case PhaseStep.PRECONTENT:
      if (code === OK) {
        r.phase++;
        r.step = 0;
        return true;
      }
      break;
    case PhaseStep.ACCESS:
      if (r.location.conf(documentSlot).satisfy === 'all') {
        if (code === OK) {
          r.step++;
          return true;
        }
      } else {
        if (code === OK) {
          r.accessCode = 0;
          // A refusal may have asked for credentials; nobody needs them any more.
          r.out.clearChallenges();
          r.phase = PhaseStep.POST_ACCESS;
          r.step = 0;
          return true;
        }
        if (code === 403 || wantsCredentials(code)) {
          if (!wantsCredentials(r.accessCode)) {
            r.accessCode = code;
          }
          r.step++;
          return true;
        }
      }
      if (wantsCredentials(code)) {
        refuse(r, code);
        return false;
      }
      break;
    default:
      break;
  }
  r.finalize(code);
  return false;
}

/** The statuses that ask for credentials: for the resource, or for the use of a proxy. */
const wantsCredentials = (code: number): boolean => code === 401 || code === 407;

/** Answers 401 or 407, after `auth_delay`, which makes guessing passwords slow. nginx: ngx_http_core_auth_delay. */
function refuse(r: Request, code: Result): void {
  r.accessCode = 0;
  const delay = r.location.conf(documentSlot).authDelay;
  if (delay === 0) {
    r.finalize(code);
    return;
  }
  r.log(INFO, 'delaying unauthorized request');
  r.trace?.add(r, 'access', `the refusal waits for ${delay} ms`, { in: r.location, directive: 'auth_delay' });
  const timer = setTimer(answerLate, delay, r, code);
  r.onFinish(() => clearTimeout(timer));
  watchClient(r, endsWithClient);
}

function answerLate(r: Request, status: Result): void {
  unwatchClient(r, endsWithClient);
  r.finalize(status);
}

// nginx: ngx_http_core_post_rewrite_phase.
function afterRewrite(r: Request): boolean {
  if (r.debugging) {
    r.log(DEBUG, `post rewrite phase: ${PhaseStep.POST_REWRITE}`);
  }
  if (!r.uriChanged) {
    r.phase = PhaseStep.PREACCESS;
    r.step = 0;
    return true;
  }
  if (r.debugging) {
    r.log(DEBUG, `uri changes: ${r.uriChanges}`);
  }
  if (!r.mayChangeUri()) {
    r.log(ERROR, `rewrite or internal redirection cycle while processing "${r.uri}"`);
    r.finalize(500);
    return false;
  }
  r.phase = PhaseStep.FIND_CONFIG;
  r.location = r.server.root;
  r.uriChanged = false;
  return true;
}

// nginx: ngx_http_core_post_access_phase.
function afterAccess(r: Request): boolean {
  if (r.debugging) {
    r.log(DEBUG, `post access phase: ${PhaseStep.POST_ACCESS}`);
  }
  const code = r.accessCode;
  if (code !== 0) {
    r.accessCode = 0;
    if (code === 403) {
      r.log(ERROR, 'access forbidden by rule');
    }
    if (wantsCredentials(code)) {
      refuse(r, code);
    } else {
      r.finalize(code);
    }
    return false;
  }
  r.phase = PhaseStep.PRECONTENT;
  r.step = 0;
  return true;
}

// nginx: the end of ngx_http_core_content_phase.
function noHandler(r: Request): void {
  if (r.uri.endsWith('/')) {
    const path = mapPath(r);
    if (path !== undefined) {
      r.log(ERROR, `directory index of "${path}" is forbidden`);
    }
    r.finalize(403);
    return;
  }
  r.log(ERROR, 'no handler found');
  r.finalize(404);
}
