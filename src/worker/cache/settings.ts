import type { ComplexValue } from '../../shared/value/complex.js';
import type { Request } from '../http/request/request.js';
import type { CacheChoice } from './cache-choice.js';
import type { PurgeRule, PurgeTarget } from './purge-rule.js';

/** One status (0: any) of `*_cache_valid` and its seconds. */
export interface CacheValid {
  readonly status: number;
  readonly seconds: number;
}

/** The settings of the cache that all protocols to backends share. nginx: the cache part of ngx_http_upstream_conf_t. */
export interface CacheSettings {
  /** null: `off`. */
  cache: CacheChoice | null;
  cacheKey: ComplexValue<Request> | undefined;
  cacheValid: readonly CacheValid[];
  cacheMinUses: number;
  /** Bits of METHOD. */
  cacheMethods: number;
  cacheBypass: readonly ComplexValue<Request>[];
  noCache: readonly ComplexValue<Request>[];
  cacheLock: boolean;
  /** Milliseconds. */
  cacheLockTimeout: number;
  cacheLockAge: number;
  /** Bits of `FT`. */
  cacheUseStale: number;
  cacheBackgroundUpdate: boolean;
  cacheRevalidate: boolean;
  /** Texts with the tags of what is stored. */
  cacheTag: readonly ComplexValue<Request>[];
  cachePurge: PurgeRule;
  /** A location that only purges. */
  cachePurgeTarget: PurgeTarget | undefined;
  cacheConvertHead: boolean;
  /** Bytes; Infinity: no limit. */
  cacheMaxRangeOffset: number;
}

/** The seconds that a status is valid by `*_cache_valid`; 0 for none. nginx: ngx_http_file_cache_valid. */
export function validSeconds(rules: readonly CacheValid[], status: number): number {
  for (let i = 0; i < rules.length; i++) {
    if (rules[i]!.status === 0 || rules[i]!.status === status) {
      return rules[i]!.seconds;
    }
  }
  return 0;
}
