import { ALERT, ERROR } from '../../../shared/log/level.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { Result } from '../../task/codes.js';
import { climbs, ups } from '../syntax/ups.js';
import { documentSlot } from './document-settings.js';
import type { Request } from './request.js';

/** The `root` or `alias` of the request's location as a full path. */
export function documentRoot(r: Request): string {
  const root = r.location.conf(documentSlot).root;
  if (root.constant !== undefined) {
    return root.constant;
  }
  const path = root.eval(r);
  return path.charCodeAt(0) === 47 ? path : r.http.env.prefix + path;
}

/** True when the value of a variable has a `..` that leads the path out of the folder that the configuration names. nginx follows it. */
export const climbsByVariables = (value: ComplexValue<Request>, path: string): boolean =>
  value.constant === undefined && path.includes('..') && ups(path) > ups(value.text);

/** What of the URI follows the `root` or `alias`. */
function tail(r: Request): string {
  const { alias } = r.location.conf(documentSlot);
  if (alias === 0) {
    return r.uri;
  }
  if (alias === -1) {
    return r.addUriToAlias ? r.uri : '';
  }
  return r.uri.slice(alias);
}

function refuse(r: Request): undefined {
  const { alias } = r.location.conf(documentSlot);
  r.log(ERROR, `"${r.uri}" leads out of the ${alias === 0 ? 'root' : 'alias'} of location "${r.location.info.name}"`);
}

/** As {@link documentRoot}, for what is about to map a URI; undefined, with a log line, where that cannot be done. */
export function rootPath(r: Request): string | undefined {
  const settings = r.location.conf(documentSlot);
  if (settings.alias !== 0 && !r.validLocation) {
    r.log(ALERT, `"alias" cannot be used in location "${r.location.info.name}" where URI was rewritten`);
    return undefined;
  }
  const root = documentRoot(r);
  return climbsByVariables(settings.root, root) ? refuse(r) : root;
}

/**
 * The file that a request's URI stands for; undefined as in {@link rootPath}, and for a URI that leads beside the root or alias:
 * "/img../x" in `location /img` with `alias /data/img/`, or what `rewrite ^/dl(.*)$ /$1` makes of "/dl../x". nginx serves that file.
 * nginx: ngx_http_map_uri_to_path.
 */
export function mapPath(r: Request): string | undefined {
  const root = rootPath(r);
  if (root === undefined) {
    return undefined;
  }
  const path = tail(r);
  return climbs(path, r.uriUps) ? refuse(r) : root + path;
}

/** The status for a request that has no path, as {@link mapPath} and {@link rootPath} say. */
export function noPath(r: Request): Result {
  return r.location.conf(documentSlot).alias !== 0 && !r.validLocation ? 500 : 404;
}

/** Tells, with a log line, that a request's file would lie beside the root or alias, to those who have others open it. */
export function leavesRoot(r: Request): boolean {
  const { root } = r.location.conf(documentSlot);
  if (!climbs(tail(r), r.uriUps) && (root.constant !== undefined || !climbsByVariables(root, root.eval(r)))) {
    return false;
  }
  refuse(r);
  return true;
}
