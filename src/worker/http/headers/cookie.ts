import { lowerAscii } from '../../text/ascii-case.js';
import type { Request } from '../request/request.js';

const SPACE = 32;
const SEMICOLON = 59;
const EQUALS = 61;

/** Where a cookie stands: which of the request's headers has it, and its value there. */
export interface FoundCookie {
  readonly line: string;
  readonly value: string;
}

/**
 * The first cookie of a name (in lower case), from the first Cookie header that has it; names are compared without case. nginx:
 * ngx_http_parse_cookie_lines.
 */
export function findCookie(r: Request, name: string): FoundCookie | undefined {
  const { names, headers } = r.head;
  for (let i = names.indexOf('cookie'); i !== -1; i = names.indexOf('cookie', i + 1)) {
    const line = headers[2 * i + 1]!;
    const value = valueIn(line, name);
    if (value !== undefined) {
      return { line, value };
    }
  }
  return undefined;
}

/** The value of a cookie; undefined where the client sent none. */
export const cookieValue = (r: Request, name: string): string | undefined => findCookie(r, name)?.value;

/** As in nginx, semicolons alone part cookies; where a name has no value, the pair behind it is lost with it. */
function valueIn(text: string, name: string): string | undefined {
  let at = 0;
  while (at < text.length) {
    if (lowerAscii(text.slice(at, at + name.length)) === name) {
      at = behindSpaces(text, at + name.length);
      if (at < text.length && text.charCodeAt(at++) === EQUALS) {
        const start = behindSpaces(text, at);
        const end = text.indexOf(';', start);
        return text.slice(start, end === -1 ? text.length : end);
      }
    }
    while (at < text.length && text.charCodeAt(at++) !== SEMICOLON) {
      // What stands up to the next semicolon is another cookie.
    }
    at = behindSpaces(text, at);
  }
  return undefined;
}

function behindSpaces(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === SPACE) {
    at++;
  }
  return at;
}
