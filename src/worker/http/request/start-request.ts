import { DEBUG, ERROR } from '../../../shared/log/level.js';
import type { Status } from '../../task/codes.js';
import { clientSlot, headSlot } from './client-settings.js';
import { firstTrue } from './predicates.js';
import type { Request } from './request.js';
import { discardBody, readBody } from './request-body.js';
import { startPhases } from './run-phases.js';

/**
 * Begins with a request whose head is complete: with its phases, or where `client_body_early_read` asks for it, with its body. nginx:
 * ngx_http_process_request.
 */
export function startRequest(r: Request): void {
  const { tracer } = r.http;
  if (tracer !== null) {
    tracer.begin(r);
  }
  const { bodyEarlyRead } = r.server.conf(headSlot);
  if (bodyEarlyRead.length === 0 || firstTrue(r, bodyEarlyRead) === undefined) {
    startPhases(r);
  } else {
    readEarly(r);
  }
}

/** Answers a request that cannot begin: its head is malformed, or its client may not ask. */
export function refuseRequest(r: Request, status: Status): void {
  r.http.tracer?.begin(r);
  r.finalize(status);
}

// nginx: ngx_http_read_early_body.
function readEarly(r: Request): void {
  if (r.debugging) {
    r.log(DEBUG, 'http client request body early read');
  }
  const max = r.location.conf(clientSlot).clientMaxBodySize;
  if (max !== 0 && max < r.contentLength) {
    r.log(ERROR, `client intended to send too large body: ${r.contentLength} bytes`);
    r.expectTested = true;
    discardBody(r);
    r.finalize(413);
    return;
  }
  readBody(r, startPhases);
}
