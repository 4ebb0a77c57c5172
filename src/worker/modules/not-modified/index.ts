import { documentSlot } from '../../http/request/document-settings.js';
import type { Request } from '../../http/request/request.js';
import { HeaderSlot } from '../../http/syntax/header-names.js';
import { defineModule } from '../../module.js';
import { OK, type Result } from '../../task/codes.js';
import { parseHttpDate } from '../../text/http-date.js';

/**
 * Answers 304 or 412 to conditional requests. `if_modified_since` and `etag` belong to the documents. nginx:
 * ngx_http_not_modified_filter_module.
 */
export const notModifiedModule = defineModule({
  name: 'not_modified',
  headerFilter: () => checkConditions,
});

// nginx: ngx_http_not_modified_header_filter.
function checkConditions(r: Request): Result {
  const out = r.out;
  if (out.status !== 200 || r !== r.main || r.disableNotModified) {
    return OK;
  }
  const { head } = r;
  const unmodifiedSince = head.known(HeaderSlot.ifUnmodifiedSince);
  if (unmodifiedSince !== undefined && !isUnmodified(r, unmodifiedSince)) {
    return preconditionFailed(r);
  }
  const match = head.known(HeaderSlot.ifMatch);
  if (match !== undefined && !matches(match, out.etag, false)) {
    return preconditionFailed(r);
  }
  const modifiedSince = head.known(HeaderSlot.ifModifiedSince);
  const noneMatch = head.known(HeaderSlot.ifNoneMatch);
  if (modifiedSince === undefined && noneMatch === undefined) {
    return OK;
  }
  if (modifiedSince !== undefined && isModified(r, modifiedSince)) {
    return OK;
  }
  if (noneMatch !== undefined && !matches(noneMatch, out.etag, true)) {
    return OK;
  }
  out.status = 304;
  out.statusText = undefined;
  out.contentType = '';
  out.clearContentLength();
  out.clearAcceptRanges();
  out.contentEncoding = undefined;
  return OK;
}

/** Nothing of the answer that was under way may be left. nginx: ngx_http_filter_finalize_request. */
function preconditionFailed(r: Request): Result {
  r.out.clear();
  r.ctx = null;
  return 412;
}

function isUnmodified(r: Request, since: string): boolean {
  return r.out.lastModified !== -1 && secondsOf(r, since) >= r.out.lastModified;
}

/** Clients send back the date they were given, which need not be read again. */
const secondsOf = (r: Request, date: string): number => (date === r.out.lastModifiedDate ? r.out.lastModified : parseHttpDate(date));

// nginx: ngx_http_test_if_modified.
function isModified(r: Request, since: string): boolean {
  const rule = r.location.conf(documentSlot).ifModifiedSince;
  const { lastModified } = r.out;
  if (lastModified === -1 || rule === 'off') {
    return true;
  }
  const time = secondsOf(r, since);
  if (time === lastModified) {
    return false;
  }
  return rule === 'exact' || time < lastModified;
}

const isBlank = (code: number): boolean => code === 32 || code === 9;

/**
 * Looks for an entity tag in the list that If-Match or If-None-Match sent. `weak` compares without regard to the mark of
 * weak tags. nginx: ngx_http_test_if_match.
 */
function matches(list: string, etag: string | undefined, weak: boolean): boolean {
  if (list === '*') {
    return true;
  }
  if (etag === undefined) {
    return false;
  }
  const tag = weak && etag.length > 2 && etag.startsWith('W/') ? etag.slice(2) : etag;
  let at = 0;
  while (at < list.length) {
    if (weak && list.startsWith('W/', at) && list.length - at > 2) {
      at += 2;
    }
    if (list.startsWith(tag, at)) {
      let end = at + tag.length;
      while (isBlank(list.charCodeAt(end))) {
        end++;
      }
      if (end === list.length || list[end] === ',') {
        return true;
      }
    }
    const comma = list.indexOf(',', at);
    if (comma === -1) {
      return false;
    }
    at = comma;
    while (list[at] === ',' || isBlank(list.charCodeAt(at))) {
      at++;
    }
  }
  return false;
}
