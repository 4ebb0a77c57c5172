import { ERROR } from '../../shared/log/level.js';
import type { WorkerEnv } from '../env.js';
import type { HttpRuntime } from '../http/request/http-runtime.js';
import type { Request } from '../http/request/request.js';
import type { CacheChoice } from './cache-choice.js';
import { cachePathScope, openCache } from './cache-paths.js';
import type { DiskCache } from './disk-cache.js';
import type { CacheFamily } from './index-zone.js';

/** Gives the cache to use for a request; undefined: none, `null`: there is none of that name. nginx: ngx_http_upstream_cache_get. */
export type CacheChooser = (r: Request) => DiskCache | undefined | null;

/** Opens the cache of a location, or all those of its protocol that a value may name. */
export function cacheChooser(family: CacheFamily, choice: CacheChoice, http: HttpRuntime, env: WorkerEnv): CacheChooser {
  if ('zone' in choice) {
    const disk = openCache(env, choice.zone);
    return () => disk;
  }
  const caches = new Map<string, DiskCache>();
  for (const path of http.mainSettings(cachePathScope).paths) {
    if (path.family === family) {
      caches.set(path.zone.name, openCache(env, path.zone));
    }
  }
  return (r) => {
    const name = choice.name.eval(r);
    if (name === '' || name === 'off') {
      return undefined;
    }
    const disk = caches.get(name);
    if (disk === undefined) {
      r.log(ERROR, `cache "${name}" not found`);
    }
    return disk ?? null;
  };
}
