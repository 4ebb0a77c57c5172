import { nowSeconds } from '../../../shared/time/unix-time.js';
import type { RegexValue } from '../../../shared/value/regex-value.js';
import { LocationSlot } from '../../task/settings-slot.js';
import { parseHttpDate } from '../../text/http-date.js';
import { contextSlot, type Request } from '../request/request.js';
import { BROWSER, browserFlags } from '../syntax/browser.js';

/** When a client gets compressed responses. */
export interface GzipRules {
  readonly vary: boolean;
  /** The lowest HTTP version, as in `Request.httpVersion`. */
  readonly httpVersion: number;
  /** Bits of {@link GzipProxied}. */
  readonly proxied: number;
  readonly disable: readonly RegexValue<Request>[];
  readonly disableMsie6: boolean;
}

/** The location's rules, which the module `gzip` reads. */
export const gzipSlot = new LocationSlot<GzipRules>();

/** Which responses to requests from proxies are compressed. */
export const GzipProxied = {
  OFF: 1,
  EXPIRED: 2,
  NO_CACHE: 4,
  NO_STORE: 8,
  PRIVATE: 16,
  NO_LAST_MODIFIED: 32,
  NO_ETAG: 64,
  AUTH: 128,
  ANY: 256,
} as const;

/** Whether a coding is among those the client accepts with a quality above zero. nginx: ngx_http_gzip_accept_encoding. */
export function acceptsCoding(header: string, coding: string): boolean {
  const text = header.toLowerCase();
  for (let at = text.indexOf(coding); at !== -1; at = text.indexOf(coding, at + coding.length)) {
    if (at > 0 && text[at - 1] !== ',' && text[at - 1] !== ' ') {
      continue;
    }
    const found = /^ *(?:,|$|; *(?:$|(q)(?:=([^, ]*))?))/.exec(text.slice(at + coding.length));
    if (found === null) {
      return false;
    }
    if (found[1] === undefined) {
      return true;
    }
    return found[2] !== undefined && quality(found[2]) > 0;
  }
  return false;
}

/** A quality in hundredths; 0 when it is malformed. nginx: ngx_http_gzip_quantity. */
function quality(text: string): number {
  if (!/^[01](?:\.\d{0,3})?$/.test(text)) {
    return 0;
  }
  const value = Number(text);
  return value > 1 ? 0 : value;
}

/** Whether a client named a coding for the response to itself, which a subrequest's is a part of. */
export function takes(r: Request, coding: string): boolean {
  const accept = r === r.main ? r.header('accept-encoding') : undefined;
  return accept !== undefined && acceptsCoding(accept, coding);
}

/** What was found for gzip before there was a response: it holds for the response, too. nginx: r->gzip_tested, r->gzip_ok. */
const foundBefore = contextSlot<boolean>();

/** As {@link mayCompress}, asked before there is a response. */
export function mayCompressFile(r: Request, rules: GzipRules, coding: string): boolean {
  const may = mayCompress(r, rules, coding);
  if (coding === 'gzip' && r === r.main) {
    foundBefore.set(r, may);
  }
  return may;
}

/** Whether the client may get a response in a coding. nginx: ngx_http_gzip_ok. */
export function mayCompress(r: Request, rules: GzipRules, coding: string): boolean {
  if (!takes(r, coding)) {
    return false;
  }
  const before = coding === 'gzip' ? foundBefore.get(r) : undefined;
  return before ?? follows(r, rules);
}

/** Whether the rules let a response to the client be compressed. */
function follows(r: Request, rules: GzipRules): boolean {
  const agent = r.header('user-agent');
  if (agent !== undefined && rules.disableMsie6 && (browserFlags(agent) & BROWSER.MSIE6) !== 0) {
    return false;
  }
  if (r.httpVersion < rules.httpVersion) {
    return false;
  }
  if (r.header('via') !== undefined && !proxiedOk(r, rules.proxied)) {
    return false;
  }
  if (agent !== undefined) {
    for (const regex of rules.disable) {
      if (regex.test(r, agent)) {
        return false;
      }
    }
  }
  return true;
}

function proxiedOk(r: Request, rule: number): boolean {
  if ((rule & GzipProxied.OFF) !== 0) {
    return false;
  }
  if ((rule & GzipProxied.ANY) !== 0) {
    return true;
  }
  if ((rule & GzipProxied.AUTH) !== 0 && r.header('authorization') !== undefined) {
    return true;
  }
  const out = r.out;
  if (out.expires !== undefined) {
    if ((rule & GzipProxied.EXPIRED) === 0) {
      return false;
    }
    const expires = parseHttpDate(out.expires);
    const date = out.date === undefined ? nowSeconds() : parseHttpDate(out.date);
    return expires !== -1 && date !== -1 && expires < date;
  }
  const control = out.list.filter(({ name }) => name.toLowerCase() === 'cache-control');
  if (control.length > 0) {
    // Commas alone part the words, and one that says more, such as private="x", is another one.
    const words = control.flatMap(({ value }) => value.toLowerCase().split(',')).map((word) => word.trim());
    return (
      ((rule & GzipProxied.NO_CACHE) !== 0 && words.includes('no-cache')) ||
      ((rule & GzipProxied.NO_STORE) !== 0 && words.includes('no-store')) ||
      ((rule & GzipProxied.PRIVATE) !== 0 && words.includes('private'))
    );
  }
  // The time of a file is no header yet.
  if ((rule & GzipProxied.NO_LAST_MODIFIED) !== 0 && out.lastModifiedText !== undefined) {
    return false;
  }
  return !((rule & GzipProxied.NO_ETAG) !== 0 && out.etag !== undefined);
}
