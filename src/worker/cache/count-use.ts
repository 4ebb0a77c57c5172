import { CACHE, CACHE_STATUSES, cacheKind } from '../../shared/zone/meter-kinds.js';
import type { Request } from '../http/request/request.js';
import { upstreamOf } from '../upstream/exchange/upstream-request.js';
import { latestUse } from './use.js';

/** Counts what a cache has done for a request that is over. */
export function countUse(r: Request): void {
  const use = latestUse(r);
  const meters = r.http.meters;
  if (use === null || meters === null || use.disk === undefined || use.status === '') {
    return;
  }
  const meter = meters.meter(cacheKind, use.disk.index.name);
  const i = CACHE_STATUSES.indexOf(use.status);
  const { values } = meter;
  const fromBackend = use.status === 'MISS' || use.status === 'EXPIRED' || use.status === 'BYPASS';
  values[CACHE.responses + i]!++;
  values[CACHE.bytes + i]! += fromBackend ? (upstreamOf(r)?.peer.attempt?.responseLength ?? 0) : Math.max(0, r.bytesSent - r.headerSize);
  if (use.stored) {
    values[CACHE.responsesWritten + i]!++;
    values[CACHE.bytesWritten + i]! += use.written;
  }
  meter.touch();
}
