import { ERROR } from '../../../shared/log/level.js';
import type { Result } from '../../task/codes.js';
import { BROWSER, browserFlags } from '../syntax/browser.js';
import { METHOD } from '../syntax/method.js';
import { escapeUri } from '../syntax/uri-escape.js';
import { clientSlot } from './client-settings.js';
import { logLocation, logTest } from './debug-lines.js';
import { documentSlot } from './document-settings.js';
import { noteReasonText } from './error-reason.js';
import type { LocationRuntime } from './http-runtime.js';
import type { LocationTree } from './location-tree.js';
import { sendRedirect } from './redirect.js';
import type { Request } from './request.js';
import { discardBody } from './request-body.js';
import { traceLocation } from './trace-location.js';

/** Enters a location: from here its settings and handlers count. nginx: ngx_http_update_location_config. */
export function enterLocation(r: Request, location: LocationRuntime): void {
  const except = location.limitExcept;
  const inside = except !== undefined && (r.methodBit & except.allowed) === 0 ? except.inside : location;
  r.location = inside;
  if (r === r.main) {
    const settings = inside.conf(clientSlot);
    if (r.keepalive) {
      if (settings.keepaliveTimeout === 0 || r.connection.requests >= settings.keepaliveRequests) {
        r.keepalive = false;
      } else if (r.startTime - r.connection.acceptedAt > settings.keepaliveTime) {
        r.keepalive = false;
      } else if (settings.keepaliveDisable !== 0 && distrusted(r, settings.keepaliveDisable)) {
        r.keepalive = false;
      }
    }
  }
  if (inside.handler !== undefined) {
    r.contentHandler = inside.handler;
  }
}

/** Whether the browser is one whose connections must not be kept: bit 1 is old MSIE after a POST, bit 2 Safari. */
function distrusted(r: Request, browsers: number): boolean {
  const safari = (browsers & 2) !== 0;
  if (!safari && r.methodBit !== METHOD.POST) {
    return false;
  }
  const agent = r.header('user-agent');
  if (agent === undefined) {
    return false;
  }
  const flags = browserFlags(agent);
  return (
    ((browsers & 1) !== 0 && (flags & BROWSER.MSIE6) !== 0 && r.methodBit === METHOD.POST) || (safari && (flags & BROWSER.SAFARI) !== 0)
  );
}

/** Chooses the location of a request's URI. Returns false when the request was answered here. nginx: ngx_http_core_find_config_phase. */
export function findConfig(r: Request): boolean {
  r.contentHandler = undefined;
  r.uriChanged = false;
  const found = match(r, r.server.locations);
  if (found === FAILED) {
    r.finalize(500);
    return false;
  }
  const location = r.location;
  if (r.debugging) {
    logLocation(r);
  }
  if (r.trace !== null && found !== REDIRECT) {
    traceLocation(r);
  }
  if (!r.internal && location.conf(documentSlot).internal) {
    if (r.http.explains) {
      noteReasonText(r, `location "${location.info.name}" is internal`);
    }
    r.trace?.add(r, 'access', 'refused with 404: the location is internal', { in: location, directive: 'internal' });
    r.finalize(404);
    return false;
  }
  enterLocation(r, location);
  const max = r.location.conf(clientSlot).clientMaxBodySize;
  if (r.contentLength !== -1 && !r.discardingBody && max !== 0 && max < r.contentLength) {
    r.log(ERROR, `client intended to send too large body: ${r.contentLength} bytes`);
    if (r.trace !== null) {
      const where = { in: r.location, directive: 'client_max_body_size' };
      r.trace.add(r, 'access', `refused with 413: a body of ${r.contentLength} bytes, of at most ${max}`, where);
    }
    r.expectTested = true;
    discardBody(r);
    r.finalize(413);
    return false;
  }
  if (found === REDIRECT) {
    if (r.trace !== null) {
      r.trace.add(
        r,
        'location',
        `"${r.uri}" lacks the slash of location ${location.info.name}`,
        { in: location },
        { location: location.info.name },
      );
    }
    r.finalize(autoRedirect(r, location));
    return false;
  }
  return true;
}

const NOT_FOUND = 0;
const FOUND = 1;
const REDIRECT = 2;
const FAILED = 3;

/** Sets `r.location`. nginx: ngx_http_core_find_location. */
function match(r: Request, tree: LocationTree | undefined): number {
  if (tree === undefined) {
    return NOT_FOUND;
  }
  const uri = r.uri;
  const exact = tree.exact(uri);
  if (exact !== undefined) {
    if (r.debugging) {
      logTest(r, 'exact', exact.info.name);
    }
    r.location = exact;
    return FOUND;
  }
  const prefix = tree.prefix(uri);
  let final = false;
  if (prefix !== undefined) {
    if (r.debugging) {
      logTest(r, 'prefix', prefix.info.name);
    }
    if (prefix.info.autoRedirect && prefix.info.name.length === uri.length + 1) {
      r.location = prefix;
      return REDIRECT;
    }
    r.location = prefix;
    final = prefix.info.kind === 'prefix-final';
    const nested = match(r, prefix.children);
    if (nested !== NOT_FOUND) {
      return nested;
    }
  }
  const regexes = tree.regexes;
  if (!final) {
    for (let i = 0; i < regexes.length; i++) {
      const location = regexes[i]!;
      const regex = location.info.regex!;
      if (r.debugging) {
        logTest(r, 'regex', regex.pattern);
      }
      if (regex.exec(r, uri)) {
        r.location = location;
        const nested = match(r, location.children);
        return nested === FAILED ? FAILED : FOUND;
      }
      if (regex.failed) {
        return FAILED;
      }
    }
  }
  // As nginx's NGX_AGAIN: a prefix was found, and outer regular expressions are still to be tried by the caller.
  return NOT_FOUND;
}

// nginx: the NGX_DONE branch of ngx_http_core_find_config_phase.
function autoRedirect(r: Request, location: LocationRuntime): Result {
  const path = escapeUri(location.info.name, 'uri');
  const target = r.args === '' ? path : `${path}?${r.args}`;
  return sendRedirect(r, 301, target);
}
