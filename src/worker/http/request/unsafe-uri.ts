import { ERROR } from '../../../shared/log/level.js';
import { unescapeUri } from '../syntax/uri-escape.js';
import type { Request } from './request.js';

/** `..` as a whole segment, also at the very start. */
const PARENT = /(?:^|\/)\.\.(?:\/|$)/;

/**
 * Splits a URI that a backend or an included page named into path and arguments, and decodes the path. Returns
 * undefined, with a log line, for one that would leave its root. nginx: ngx_http_parse_unsafe_uri.
 */
export function parseUnsafeUri(r: Request, text: string): { readonly uri: string; readonly args: string } | undefined {
  const mark = text.indexOf('?');
  const raw = mark === -1 ? text : text.slice(0, mark);
  const uri = raw.includes('%') ? unescapeUri(raw, 'all') : raw;
  if (raw === '' || raw.includes('\0') || PARENT.test(raw) || uri.includes('\0') || PARENT.test(uri)) {
    r.log(ERROR, `unsafe URI "${text}" was detected`);
    return undefined;
  }
  return { uri, args: mark === -1 ? '' : text.slice(mark + 1) };
}
