import { parseTime } from '../../../shared/config/language/units.js';
import { lineValue } from '../../http/request/line-text.js';
import type { Request } from '../../http/request/request.js';
import type { Context } from '../../module.js';
import { cookieTime, LATEST_COOKIE_TIME } from '../../text/cookie-time.js';
import type { StickyCookie } from './settings.js';

const SAMESITE = ['strict', 'lax', 'none'];
/** The max-age of `expires=max`, in seconds. */
const MAX_AGE = 315_360_000;

/** Reads the arguments of `sticky cookie`. nginx: ngx_http_upstream_sticky_cookie. */
export function readCookie(args: readonly string[], ctx: Context): StickyCookie {
  const name = args[1]!;
  if (name === '') {
    ctx.reject('empty cookie name', { arg: 1 });
  }
  const cookie: StickyCookie = {
    name,
    domain: undefined,
    path: '',
    expires: undefined,
    httponly: false,
    secure: false,
    samesite: undefined,
  };
  for (let arg = 2; arg < args.length; arg++) {
    readAttribute(args[arg]!, arg, cookie, ctx);
  }
  return cookie;
}

function readAttribute(text: string, arg: number, cookie: StickyCookie, ctx: Context): void {
  const equals = text.indexOf('=');
  const key = equals === -1 ? text : text.slice(0, equals);
  const value = text.slice(equals + 1);
  const once = (given: boolean): void => {
    if (given) {
      ctx.reject(`parameter "${key}" is duplicate`, { arg });
    }
  };
  const needed = (): void => {
    if (value === '') {
      ctx.reject(`no value for "${key}"`, { arg });
    }
  };
  if (equals === -1 && (key === 'httponly' || key === 'secure')) {
    once(cookie[key]);
    cookie[key] = true;
  } else if (equals !== -1 && key === 'domain') {
    once(cookie.domain !== undefined);
    needed();
    cookie.domain = lineValue(ctx.complex(value));
  } else if (equals !== -1 && key === 'path') {
    once(cookie.path !== '');
    needed();
    cookie.path = `; path=${value}`;
  } else if (equals !== -1 && key === 'expires') {
    once(cookie.expires !== undefined);
    cookie.expires =
      value === 'max'
        ? Number.POSITIVE_INFINITY
        : (parseTime(value, 's') ?? ctx.reject('invalid "expires" parameter value', { arg, hint: 'it is a time or max' }));
  } else if (equals !== -1 && key === 'samesite') {
    once(cookie.samesite !== undefined);
    cookie.samesite = ctx.complex(value);
    if (cookie.samesite.constant !== undefined && !isSamesite(value)) {
      ctx.reject('invalid "samesite" parameter value', { arg, hint: 'it is strict, lax, none or a text with variables' });
    }
  } else {
    ctx.fail(`unknown parameter "${text}"`, { arg });
  }
}

const isSamesite = (value: string): boolean => SAMESITE.includes(value.toLowerCase());

/** The value of the Set-Cookie header that binds a client to a server. nginx: ngx_http_upstream_sticky_cookie_insert. */
export function stickyCookieText(r: Request, cookie: StickyCookie, sid: string): string {
  const { expires, domain, samesite } = cookie;
  let text = `${cookie.name}=${sid}`;
  if (expires !== undefined) {
    const max = expires === Number.POSITIVE_INFINITY;
    text += `; expires=${max ? LATEST_COOKIE_TIME : cookieTime(expires)}; max-age=${max ? MAX_AGE : expires}`;
  }
  const host = domain === undefined ? '' : domain.eval(r);
  if (host !== '') {
    text += `; domain=${host}`;
  }
  if (cookie.httponly) {
    text += '; httponly';
  }
  if (cookie.secure) {
    text += '; secure';
  }
  let site = samesite === undefined ? '' : samesite.eval(r);
  // What a variable has to say may be anything; the safest value stands for nonsense.
  if (site !== '' && !isSamesite(site)) {
    site = 'strict';
  }
  if (site !== '') {
    text += `; samesite=${site}`;
  }
  return text + cookie.path;
}
