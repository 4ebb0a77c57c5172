import { lowerAscii } from '../../text/ascii-case.js';
import type { Request } from '../request/request.js';

/**
 * The value of a cookie, from the first Cookie header that has it; names are compared without case. nginx:
 * ngx_http_parse_multi_header_lines.
 */
export function cookieValue(r: Request, name: string): string | undefined {
  const { names, headers } = r.head;
  for (let i = names.indexOf('cookie'); i !== -1; i = names.indexOf('cookie', i + 1)) {
    const value = findPair(headers[2 * i + 1]!, name);
    if (value !== undefined) {
      return value;
    }
  }
  return undefined;
}

function findPair(text: string, name: string): string | undefined {
  let start = 0;
  while (start < text.length) {
    let end = text.indexOf(';', start);
    if (end === -1) {
      end = text.length;
    }
    const comma = text.indexOf(',', start);
    if (comma !== -1 && comma < end && !text.slice(start, comma).includes('=')) {
      end = comma;
    }
    while (text[start] === ' ') {
      start++;
    }
    const equals = text.indexOf('=', start);
    if (equals !== -1 && equals < end && equals - start >= name.length) {
      const key = text.slice(start, equals).trimEnd();
      if (key.length === name.length && lowerAscii(key) === name) {
        return text.slice(equals + 1, end).replace(/^ +/, '');
      }
    }
    start = end + 1;
  }
  return undefined;
}
