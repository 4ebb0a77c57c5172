import { extension } from '../http/request/internal-redirect.js';
import type { Request } from '../http/request/request.js';
import { bytesOf } from './text.js';

/** How `r.rewrite()` changes a request. */
export interface RewriteOptions {
  /** The query, without its question mark; that of before where nothing is given. */
  readonly args?: unknown;
  /** No location is chosen anew, as with `rewrite ... break`. */
  readonly break?: unknown;
}

/** A whole segment of dots that leads out of a folder. */
const PARENT = /\/\.\.(?:\/|$)/;

/** What would end the line of a request to a backend, or its target. Latin1. */
const isSpaceOrControl = (text: string): boolean => /[\0-\x20\x7f]/.test(text);

/**
 * Gives a request another URI, as `rewrite` does: a path, decoded, as `r.uri` is. @throws TypeError for one that is no path of a request's.
 * nginx: ngx_http_script_regex_end_code.
 */
export function rewriteUri(r: Request, path: string, options: RewriteOptions | undefined): void {
  if (!path.startsWith('/') || path.includes('\0') || PARENT.test(path)) {
    throw new TypeError('path is unsafe');
  }
  const before = r.trace === null ? '' : shownUri(r);
  const given = options?.args;
  if (given !== undefined) {
    const args = bytesOf(given);
    if (isSpaceOrControl(args)) {
      throw new TypeError('args are unsafe');
    }
    r.args = args;
  }
  r.internal = true;
  r.validUnparsedUri = false;
  if (options?.break) {
    r.validLocation = false;
    r.uriChanged = false;
  } else {
    r.uriChanged = true;
  }
  if (path !== r.uri) {
    r.uriUps = 0;
    r.uri = path;
    r.exten = extension(path);
  }
  if (r.trace !== null) {
    r.trace.add(r, 'rewrite', `js_rewrite changes "${before}" to "${shownUri(r)}"`, undefined, { uri: before, to: shownUri(r) });
  }
}

/** A request's URI with its arguments, for traces. */
export const shownUri = ({ uri, args }: Request): string => (args === '' ? uri : `${uri}?${args}`);
