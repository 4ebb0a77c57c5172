import type { ComplexValue } from '../../shared/value/complex.js';
import type { Request } from '../http/request/request.js';
import { httpDate } from '../text/http-date.js';
import type { EntryHeader } from './file-format.js';
import { latestUse } from './use.js';

/** The entry that the request at hand is to refresh, where the backend may be asked whether it has changed. */
function refreshed(r: Request): EntryHeader | undefined {
  const use = latestUse(r);
  if (use?.entry === undefined || use.status !== 'EXPIRED' || !use.revalidates) {
    return undefined;
  }
  return use.entry.header;
}

/** `$upstream_cache_last_modified`. nginx: ngx_http_upstream_cache_last_modified. */
export function cacheLastModified(r: Request): string | undefined {
  const time = refreshed(r)?.lastModified ?? -1;
  return time === -1 ? undefined : httpDate(time * 1000);
}

/** `$upstream_cache_etag`. nginx: ngx_http_upstream_cache_etag. */
export function cacheEtag(r: Request): string | undefined {
  return refreshed(r)?.etag || undefined;
}

/** The two as header values. */
export const lastModifiedValue: ComplexValue<Request> = {
  text: '$upstream_cache_last_modified',
  constant: undefined,
  eval: (r) => cacheLastModified(r) ?? '',
};
export const etagValue: ComplexValue<Request> = { text: '$upstream_cache_etag', constant: undefined, eval: (r) => cacheEtag(r) ?? '' };
