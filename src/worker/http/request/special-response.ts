import { DEBUG } from '../../../shared/log/level.js';
import { OK, type Result } from '../../task/codes.js';
import { BROWSER, browserFlags } from '../syntax/browser.js';
import { METHOD } from '../syntax/method.js';
import { ups } from '../syntax/ups.js';
import { escapeUri } from '../syntax/uri-escape.js';
import type { ErrorPage } from './error-page.js';
import { errorPageSlot } from './error-page.js';
import { noteReason } from './error-reason.js';
import { internalRedirect, namedLocation, splitArgs } from './internal-redirect.js';
import { locationText } from './line-text.js';
import type { Request } from './request.js';
import { discardBody } from './request-body.js';
import { respondBuffer } from './respond.js';
import { errorPageBody } from './response-status.js';

/** Statuses after which the connection is not kept. nginx: ngx_http_special_response_handler. */
const CLOSING = new Set([400, 413, 414, 495, 496, 497, 500, 501]);
/** Statuses after which what the client still sends is not waited for. */
const NOT_LINGERING = new Set([400, 495, 496, 497]);

/** Answers with an error page of the configuration, or the built-in one. nginx: ngx_http_special_response_handler. */
export function specialResponse(r: Request, status: number): Result {
  if (r.debugging) {
    r.log(DEBUG, `http special response: ${status}, "${r.uri}?${r.args}"`);
  }
  r.errStatus = status;
  if (r.http.explains && status >= 400) {
    noteReason(r, status);
  }
  if (r.keepalive && CLOSING.has(status)) {
    r.keepalive = false;
  }
  if (r.lingeringClose && NOT_LINGERING.has(status)) {
    r.lingeringClose = false;
  }
  r.out.contentType = '';
  const settings = r.location.conf(errorPageSlot);
  if (!r.errorPage && settings.errorPages.length > 0 && r.uriChanges !== 0) {
    if (!settings.recursiveErrorPages) {
      r.errorPage = true;
    }
    for (const page of settings.errorPages) {
      if (page.status === status) {
        if (r.trace !== null) {
          const where = { in: r.location, directive: 'error_page' };
          r.trace.add(r, 'redirect', `error_page for ${status}: ${page.target.text}`, where, { status, target: page.target.text });
        }
        return sendErrorPage(r, page);
      }
    }
  }
  r.expectTested = true;
  if (discardBody(r) !== OK) {
    r.keepalive = false;
  }
  if ((status === 301 || status === 302) && wantsRefresh(r)) {
    return sendRefresh(r);
  }
  return sendBuiltIn(r, status);
}

/** Answers as `error_page` says. nginx: ngx_http_send_error_page. */
function sendErrorPage(r: Request, page: ErrorPage): Result {
  // Whoever answers with another status has no use for a body that was not sent yet.
  if (page.overwrite !== 0 && page.overwrite !== 200) {
    r.expectTested = true;
  }
  if (page.overwrite >= 0) {
    r.errStatus = page.overwrite;
  }
  const target = page.target.eval(r);
  if (target.startsWith('/')) {
    const { uri, args } = splitArgs(target);
    if (r.methodBit !== METHOD.HEAD) {
      r.methodBit = METHOD.GET;
      r.method = 'GET';
    }
    return internalRedirect(r, uri, args, ups(splitArgs(page.target.text).uri));
  }
  if (target.startsWith('@')) {
    return namedLocation(r, target);
  }
  r.expectTested = true;
  if (discardBody(r) !== OK) {
    r.keepalive = false;
  }
  if (![301, 302, 303, 307, 308].includes(page.overwrite)) {
    r.errStatus = 302;
  }
  r.out.location = locationText(target);
  if (wantsRefresh(r)) {
    return sendRefresh(r);
  }
  return sendBuiltIn(r, r.errStatus);
}

function wantsRefresh(r: Request): boolean {
  const agent = r.location.conf(errorPageSlot).msieRefresh ? r.header('user-agent') : undefined;
  return agent !== undefined && (browserFlags(agent) & BROWSER.MSIE) !== 0;
}

/** A page that leads on, in place of a redirect. nginx: ngx_http_send_refresh. */
function sendRefresh(r: Request): Result {
  const target = escapeUri(r.out.location ?? '', 'refresh');
  r.out.location = undefined;
  r.errStatus = 200;
  return sendPage(
    r,
    200,
    Buffer.from(`<html><head><meta http-equiv="Refresh" content="0; URL=${target}"></head><body></body></html>\r\n`, 'latin1'),
  );
}

// nginx: ngx_http_send_special_response.
function sendBuiltIn(r: Request, status: number): Result {
  // Statuses of nginx's own stand for a 400 with another text.
  if (status >= 494 && status <= 497) {
    r.errStatus = 400;
  }
  return sendPage(r, r.errStatus, errorPageBody(status, r));
}

function sendPage(r: Request, status: number, body: Buffer): Result {
  if (body.length > 0) {
    r.out.contentType = 'text/html';
  }
  const out = r.out;
  out.clearAcceptRanges();
  out.clearLastModified();
  out.etag = undefined;
  const code = respondBuffer(r, status, body);
  if (code > OK && !r.headerSent) {
    // A filter wants another page, which begins anew. nginx: ngx_http_filter_finalize_request.
    out.clear();
  }
  return code;
}
