import { ERROR } from '../../shared/log/level.js';
import { md5Hex } from '../digest/md5.js';
import type { WorkerEnv } from '../env.js';
import { crossSite } from '../http/headers/cross-site.js';
import type { LocationRuntime } from '../http/request/http-runtime.js';
import type { PhaseHandler } from '../http/request/phase-handler.js';
import type { Request } from '../http/request/request.js';
import { discardBody } from '../http/request/request-body.js';
import { respondBuffer } from '../http/request/respond.js';
import { escapeHtml } from '../http/syntax/uri-escape.js';
import { OK, type Result } from '../task/codes.js';
import { cacheChooser } from './cache-chooser.js';
import type { DiskCache } from './disk-cache.js';
import type { CacheFamily } from './index-zone.js';
import type { PurgeTarget } from './purge-rule.js';

/** Deletes an entry and answers as ngx_cache_purge does: a page with the key, or 404 when there was none. */
export function purgeAndAnswer(r: Request, disk: DiskCache, key: string): Result {
  if (!disk.purgeKey(key)) {
    return 404;
  }
  r.out.contentType = 'text/html';
  const page = `<html>
<head><title>Successful purge</title></head>
<body>
<center><h1>Successful purge</h1>
<br>Key : ${escapeHtml(key)}
<br>Path: ${escapeHtml(disk.pathOf(md5Hex(key)))}
</center>
</body>
</html>
`;
  return respondBuffer(r, 200, Buffer.from(page, 'latin1'));
}

/** Makes the content handler of a location with `*_cache_purge ZONE KEY`; undefined for other locations. */
export function purgeHandler(
  family: CacheFamily,
  target: PurgeTarget | undefined,
  env: WorkerEnv,
  location: LocationRuntime,
): PhaseHandler | undefined {
  if (target === undefined) {
    return undefined;
  }
  const disk = cacheChooser(family, target.choice, location.server.http, env);
  return (r) => {
    // A picture in any page on the web would do, where the location is open to the browser's address.
    const foreign = r === r.main ? crossSite(r) : undefined;
    if (foreign !== undefined) {
      r.log(ERROR, `the cache is not purged: ${foreign}`);
      return 403;
    }
    const code = discardBody(r);
    if (code !== OK) {
      return code;
    }
    const chosen = disk(r);
    return chosen === undefined || chosen === null ? 500 : purgeAndAnswer(r, chosen, target.key.eval(r));
  };
}
