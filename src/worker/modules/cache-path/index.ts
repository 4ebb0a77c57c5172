import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { flag } from '../../../shared/config/slots.js';
import { nowSeconds } from '../../../shared/time/unix-time.js';
import { cachePathScope } from '../../cache/cache-paths.js';
import { latestUse } from '../../cache/use.js';
import { cacheEtag, cacheLastModified } from '../../cache/validators.js';
import type { Request } from '../../http/request/request.js';
import { defineModule, defineScope, type Variable } from '../../module.js';
import { upstreamOf } from '../../upstream/exchange/upstream-request.js';
import { addCacheStatus } from './status-header.js';

interface Settings {
  statusHeader: boolean;
}

const scope = defineScope<Settings>({
  fields: { statusHeader: inherit(false) },
  directives: { cache_status_header: { in: In.HTTP | In.SERVER | In.LOCATION, args: 'flag', set: flag('statusHeader') } },
});

/** The key that the request was looked up by. */
const key = (r: Request): string | undefined => latestUse(r)?.key || undefined;

/** Seconds since the entry that was served came from its backend, or was found unchanged there. */
function age(r: Request): string | undefined {
  const use = latestUse(r);
  if (use?.entry === undefined || !upstreamOf(r)!.cached) {
    return undefined;
  }
  return String(Math.max(0, nowSeconds() - use.entry.header.date));
}

/** Why a response did not come from the cache, or did not go into it. */
function reason(r: Request): string | undefined {
  const use = latestUse(r);
  if (use === null || upstreamOf(r)!.cached) {
    return undefined;
  }
  return use.reason || undefined;
}

const variables: readonly Variable[] = [
  { name: 'upstream_cache_status', cacheable: false, get: (r) => latestUse(r)?.status || undefined },
  { name: 'upstream_cache_last_modified', cacheable: false, get: cacheLastModified },
  { name: 'upstream_cache_etag', cacheable: false, get: cacheEtag },
  { name: 'upstream_cache_key', cacheable: false, get: key },
  { name: 'upstream_cache_age', cacheable: false, get: age },
  { name: 'upstream_cache_reason', cacheable: false, get: reason },
  { name: 'proxy_cache_key', cacheable: false, get: key },
  { name: 'fastcgi_cache_key', cacheable: false, get: key },
];

/** The folders of caches and their settings. nginx: the cache part of ngx_http_upstream_module. */
export const cachePathModule = defineModule({
  name: 'cache_path',
  main: cachePathScope,
  location: scope,
  variables,
  headerFilter: (conf) => (conf.statusHeader ? addCacheStatus : undefined),
});
