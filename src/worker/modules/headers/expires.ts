import { parseTime } from '../../../shared/config/language/units.js';
import { nowSeconds } from '../../../shared/time/unix-time.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { Request } from '../../http/request/request.js';
import type { Context } from '../../module.js';
import { currentHttpDate, httpDate } from '../../text/http-date.js';

type Kind = 'off' | 'epoch' | 'max' | 'access' | 'modified' | 'daily';

/** A location's `expires`. */
export interface Expires {
  /** Of a value with variables, `access` or `modified` until the value is known. */
  readonly kind: Kind;
  /** After access or modification, or after midnight. */
  readonly seconds: number;
  readonly value: ComplexValue<Request> | undefined;
}

/** Reads `expires [modified] TIME`. nginx: ngx_http_headers_expires. */
export function parseExpiresDirective(ctx: Context): Expires {
  const [first, second] = ctx.node.args as [string, string | undefined];
  if (second !== undefined && first !== 'modified') {
    ctx.reject('invalid value', { arg: 0, hint: 'two words are `modified` and a time' });
  }
  const kind = second === undefined ? 'access' : 'modified';
  const value = ctx.complex(second ?? first);
  if (value.constant === undefined) {
    return { kind, seconds: 0, value };
  }
  const expires = parseExpires(value.constant, kind);
  return typeof expires === 'string' ? ctx.reject(expires, { arg: second === undefined ? 0 : 1 }) : expires;
}

/** Reads the time of `expires`; returns what is wrong with it as text. nginx: ngx_http_parse_expires. */
function parseExpires(text: string, kind: 'access' | 'modified'): Expires | string {
  if (kind !== 'modified' && (text === 'epoch' || text === 'max' || text === 'off')) {
    return { kind: text, seconds: 0, value: undefined };
  }
  const sign = text[0] ?? '';
  const daily = sign === '@';
  if (daily && kind === 'modified') {
    return 'daily time cannot be used with "modified" parameter';
  }
  const seconds = parseTime(daily || sign === '+' || sign === '-' ? text.slice(1) : text, 's');
  if (seconds === undefined) {
    return 'invalid value';
  }
  if (daily && seconds > 24 * 60 * 60) {
    return 'daily time value must be less than 24 hours';
  }
  return { kind: daily ? 'daily' : kind, seconds: sign === '-' ? -seconds : seconds, value: undefined };
}

/** Sets Expires and Cache-Control. nginx: ngx_http_set_expires. */
export function setExpires(r: Request, conf: Expires): void {
  const expires = conf.value === undefined ? conf : parseExpires(conf.value.eval(r), conf.kind as 'access' | 'modified');
  if (typeof expires === 'string' || expires.kind === 'off') {
    return;
  }
  const out = r.out;
  if (expires.kind === 'epoch') {
    out.expires = 'Thu, 01 Jan 1970 00:00:01 GMT';
    setCacheControl(r, 'no-cache');
    return;
  }
  if (expires.kind === 'max') {
    out.expires = 'Thu, 31 Dec 2037 23:55:55 GMT';
    setCacheControl(r, 'max-age=315360000');
    return;
  }
  if (expires.seconds === 0 && expires.kind !== 'daily') {
    out.expires = currentHttpDate();
    setCacheControl(r, 'max-age=0');
    return;
  }
  const now = nowSeconds();
  let at: number;
  if (expires.kind === 'daily') {
    at = nextTimeOfDay(expires.seconds, now);
  } else if (expires.kind === 'access' || out.lastModified === -1) {
    at = now + expires.seconds;
  } else {
    at = out.lastModified + expires.seconds;
  }
  const maxAge = at - now;
  out.expires = httpDate(at * 1000);
  // nginx looks at the configured time here, which of a value with variables is none.
  setCacheControl(r, conf.seconds < 0 || maxAge < 0 ? 'no-cache' : `max-age=${maxAge}`);
}

/** Puts a value in the place of the response's first Cache-Control line, and drops all others. */
function setCacheControl(r: Request, value: string): void {
  const list = r.out.list;
  let found = false;
  for (let i = 0; i < list.length; i++) {
    const header = list[i]!;
    if (header.name.length !== 13 || header.name.toLowerCase() !== 'cache-control') {
      continue;
    }
    if (found) {
      header.name = '';
    } else {
      header.value = value;
    }
    found = true;
  }
  if (!found) {
    r.out.add('Cache-Control', value);
  }
}

/** The next moment at which the local time of day is `seconds` after midnight. nginx: ngx_next_time. */
function nextTimeOfDay(seconds: number, now: number): number {
  const at = new Date(now * 1000);
  at.setHours(0, 0, seconds, 0);
  const today = Math.floor(at.getTime() / 1000);
  if (today > now) {
    return today;
  }
  at.setDate(at.getDate() + 1);
  at.setHours(0, 0, seconds, 0);
  return Math.floor(at.getTime() / 1000);
}
