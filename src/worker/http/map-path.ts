import { ALERT } from '../../shared/log/level.js';
import type { Request } from './request.js';

/** The `root` or `alias` of the request's location as a full path. */
export function documentRoot(r: Request): string {
  const root = r.location.settings.root;
  if (root.constant !== undefined) return root.constant;
  const path = root.eval(r);
  return path.charCodeAt(0) === 47 ? path : r.http.env.prefix + path;
}

/** As {@link documentRoot}, for what is about to map a URI; undefined, with a log line, where an alias cannot do that. */
export function rootPath(r: Request): string | undefined {
  const settings = r.location.settings;
  if (settings.alias !== 0 && !r.validLocation) {
    r.log(ALERT, `"alias" cannot be used in location "${r.location.info.name}" where URI was rewritten`);
    return undefined;
  }
  return documentRoot(r);
}

/** The file that a request's URI stands for; undefined as in {@link rootPath}. nginx: ngx_http_map_uri_to_path. */
export function mapPath(r: Request): string | undefined {
  const root = rootPath(r);
  const alias = r.location.settings.alias;
  if (root === undefined || alias === 0) return root === undefined ? undefined : root + r.uri;
  if (alias === -1) return r.addUriToAlias ? root + r.uri : root;
  return root + r.uri.slice(alias);
}
