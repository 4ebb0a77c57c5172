import { nowSeconds } from '../../../shared/time/unix-time.js';
import { type CacheUse, latestUse } from '../../cache/use.js';
import type { HeaderFilter } from '../../http/request/body-stage.js';
import type { Request } from '../../http/request/request.js';
import { OK } from '../../task/codes.js';
import { upstreamOf } from '../../upstream/exchange/upstream-request.js';

/** Adds `Cache-Status` to responses of locations with a cache. RFC 9211. */
export const addCacheStatus: HeaderFilter = (r) => {
  const use = latestUse(r);
  // A purge is no use of the cache.
  const asked = use !== null && (use.status !== '' || use.disk === undefined);
  if (asked && r === r.main) {
    r.out.add('Cache-Status', describe(r, use));
  }
  return OK;
};

function describe(r: Request, use: CacheUse): string {
  const entry = use.entry;
  const ttl = entry === undefined ? '' : `; ttl=${entry.header.validUntil - nowSeconds()}`;
  switch (use.status) {
    case 'HIT':
    case 'STALE':
    case 'UPDATING':
      return `sluice; hit${ttl}${use.status === 'HIT' ? '' : `; detail=${use.status}`}`;
    case 'REVALIDATED':
      return 'sluice; hit; fwd=stale; fwd-status=304';
    case 'EXPIRED':
      return `sluice; fwd=stale${statusOf(r)}${detail(use)}`;
    case 'BYPASS':
      return `sluice; fwd=bypass${statusOf(r)}${detail(use)}`;
    case 'MISS':
      return `sluice; fwd=${use.secondary ? 'vary-miss' : 'uri-miss'}${statusOf(r)}${detail(use)}`;
    default:
      return `sluice; fwd=method${statusOf(r)}`;
  }
}

function statusOf(r: Request): string {
  const status = upstreamOf(r)?.head.status ?? 0;
  return status === 0 ? '' : `; fwd-status=${status}`;
}

const detail = (use: CacheUse): string => (use.reason === '' ? '' : `; detail="${use.reason.replace(/["\\]/g, '\\$&')}"`);
