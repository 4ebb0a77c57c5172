import { ALERT, ERROR as ERR } from '../../../shared/log/level.js';
import type { Request } from './request.js';

/** The `root` or `alias` of the request's location as a full path. */
export function documentRoot(r: Request): string {
  const root = r.location.settings.root;
  if (root.constant !== undefined) return root.constant;
  const path = root.eval(r);
  return path.charCodeAt(0) === 47 ? path : r.http.env.prefix + path;
}

/**
 * Tells that a URI which begins with the location's name would lead out of its `alias`: "/img../x" in `location /img` with `alias /data/img/`.
 * nginx serves that file.
 */
export function leavesAlias(r: Request, uri: string): boolean {
  const alias = r.location.settings.alias;
  return alias > 0 && uri.startsWith('..', alias) && (uri.length === alias + 2 || uri.charCodeAt(alias + 2) === 47);
}

/** As {@link documentRoot}, for what is about to map a URI; undefined, with a log line, where an alias cannot do that. */
export function rootPath(r: Request): string | undefined {
  const settings = r.location.settings;
  if (settings.alias !== 0 && !r.validLocation) {
    r.log(ALERT, `"alias" cannot be used in location "${r.location.info.name}" where URI was rewritten`);
    return undefined;
  }
  const root = documentRoot(r);
  if (settings.alias === -1 && settings.root.constant === undefined && ups(root) > ups(settings.root.text)) {
    r.log(ERR, `"${r.uri}" leads out of the alias of location "${r.location.info.name}"`);
    return undefined;
  }
  return root;
}

/** How often a path goes up. */
const ups = (path: string): number => (path.includes('/..') ? path.split(/\/\.\.(?![^/])/).length : 1);

/** The file that a request's URI stands for; undefined as in {@link rootPath}. nginx: ngx_http_map_uri_to_path. */
export function mapPath(r: Request): string | undefined {
  const root = rootPath(r);
  const alias = r.location.settings.alias;
  if (root === undefined || alias === 0) return root === undefined ? undefined : root + r.uri;
  if (alias === -1) return r.addUriToAlias ? root + r.uri : root;
  return root + r.uri.slice(alias);
}
