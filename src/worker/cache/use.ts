import type { Request } from '../http/request/request.js';
import { type UpstreamRequest, upstreamOf } from '../upstream/exchange/upstream-request.js';
import type { DiskCache } from './disk-cache.js';
import type { CacheEntry } from './entry.js';
import type { CacheWriter } from './writer.js';

/** What the cache had for a request; empty: it was not asked. nginx: ngx_http_cache_status. */
export type CacheStatus = '' | 'MISS' | 'BYPASS' | 'EXPIRED' | 'STALE' | 'UPDATING' | 'REVALIDATED' | 'HIT';

/** One request's use of a cache. nginx: ngx_http_cache_t. */
export class CacheUse {
  /** undefined: no cache was asked. */
  readonly disk: DiskCache | undefined;
  readonly key: string;
  status: CacheStatus = '';
  /** Why the response does not come from the cache, or is not stored. */
  reason = '';
  /** Digest of the key, and of the variant where the file has its name; made when they are needed. */
  main = '';
  hash = '';
  /** The entry asked for is a variant. */
  secondary = false;
  entry: CacheEntry | undefined = undefined;
  /** Seconds since 1970, 0 while unknown. */
  validUntil = 0;
  updating = 0;
  onError = 0;
  staleUpdating = false;
  staleOnError = false;
  vary = '';
  // What the head at hand says. nginx: headers_in.no_cache, expired, x_accel_expires.
  noCache = false;
  expired = false;
  accelExpires = false;
  /** The backend may be asked whether the entry has changed. */
  revalidates = false;
  /** This use has been counted. */
  counted = false;
  /** Number of the lock that this request holds; 0: none. */
  lockId = 0;
  lockHash = '';
  /** Milliseconds that it may still wait for a lock; 0: not at all. */
  lockTimeout = 0;
  /** Monotonic milliseconds at which the wait is over; 0: it has not begun. */
  lockDeadline = 0;
  /** The file was looked at after the lock was had, or is known to be of no use. */
  looked = false;
  /** When the backend was asked, on the monotonic clock (milliseconds). */
  askedAt = 0;
  /** The tags of what is stored. */
  tags: readonly string[] = [];
  writer: CacheWriter | null = null;
  /** The response is stored, or will not be. */
  settled = false;
  stored = false;
  /** A rehearsed response would be stored. */
  foreseen = false;
  /** Bytes of the body that were stored. */
  written = 0;

  constructor(disk: DiskCache | undefined, key: string) {
    this.disk = disk;
    this.key = key;
  }

  /** Gives up whatever is being written, and the lock. nginx: ngx_http_file_cache_free. */
  free(): void {
    this.settled = true;
    this.writer?.abort();
    this.writer = null;
    this.unlock();
  }

  unlock(): void {
    if (this.lockId === 0) {
      return;
    }
    this.disk!.unlock(this.lockHash, this.lockId);
    this.lockId = 0;
  }
}

/** What the cache keeps for a request to backends; null where it was not asked. Nothing else is ever put there. */
export const useOf = (u: UpstreamRequest): CacheUse | null => u.cacheUse as CacheUse | null;

/** The use of the cache by the latest work of backends for a request. */
export function latestUse(r: Request): CacheUse | null {
  const u = upstreamOf(r);
  return u === null ? null : useOf(u);
}
