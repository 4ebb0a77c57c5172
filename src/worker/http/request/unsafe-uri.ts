import { ERROR } from '../../../shared/log/level.js';
import { parseUnsafeUri } from '../syntax/uri.js';
import type { Request } from './request.js';

/**
 * Splits a URI that a backend or an included page named into path and arguments, and decodes the path. Returns
 * undefined, with a log line, for one that would leave its root. nginx: ngx_http_parse_unsafe_uri.
 */
export function readUnsafeUri(r: Request, text: string): ReturnType<typeof parseUnsafeUri> {
  const target = parseUnsafeUri(text);
  if (target === undefined) {
    r.log(ERROR, `unsafe URI "${text}" was detected`);
  }
  return target;
}
