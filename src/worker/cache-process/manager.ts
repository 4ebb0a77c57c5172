import { statfsSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import type { Server, WorkerProcess } from '../../shared/ipc/serve.js';
import type { Logger } from '../../shared/log/error-log.js';
import { CRIT } from '../../shared/log/level.js';
import { errnoText } from '../../shared/system/errno.js';
import { monotonicMs } from '../../shared/zone/monotonic.js';
import type { CacheDef, HelperPace } from '../cache/cache-def.js';
import type { DiskCache } from '../cache/disk-cache.js';
import { endPurges } from '../cache/purge.js';
import { type Purge, purgeText } from '../cache/purge-text.js';
import { FILE, PurgeWork } from '../cache/purge-work.js';
import { type HelperStep, runHelper } from './helper.js';
import { makeLoader } from './loader.js';

/** The manager looks at a cache at least so often (milliseconds), and no more often when all is well. */
const LONGEST = 10_000;
const SHORTEST = 500;
/** An index that nobody has filled for so long (milliseconds) is filled by the manager: its zone was lost. */
const UNLOADED = 60_000;
/** A purger helps with a purge that its maker has not ended for so long (milliseconds); where nobody asked for one, after longer. */
const HELPS_AFTER = 1000;
const PATIENCE = 5000;
/** What `purger=on` has by default. */
const DEFAULT_PACE: HelperPace = { files: 10, sleep: 50, threshold: 50 };
const isSwept = ({ purger, sync }: CacheDef): boolean => purger !== undefined || sync;

/** The process that keeps caches within their limits. nginx: ngx_cache_manager_process_handler. */
export function serveManager(worker: WorkerProcess): Server {
  return runHelper(
    worker,
    ({ caches, folders }) =>
      caches.flatMap((cache) => [manage(cache, worker.log, folders), ...(isSwept(cache.index.def) ? [sweep(cache)] : [])]),
    () => {},
  );
}

/** Deletes what was not used for long, and the oldest of what is too much. nginx: ngx_http_file_cache_manager. */
function manage(cache: DiskCache, log: Logger, folders: readonly string[]): HelperStep {
  const { index } = cache;
  const { def } = index;
  let loader: HelperStep | undefined;
  let unloadedSince = Date.now();
  return () => {
    if (loader !== undefined) {
      const pause = loader();
      if (pause === undefined) {
        loader = undefined;
      }
      return pause ?? SHORTEST;
    }
    const { loaded, size } = index.state();
    if (loaded) {
      unloadedSince = Date.now();
    } else if (Date.now() - unloadedSince > UNLOADED) {
      unloadedSince = Date.now();
      loader = makeLoader(cache, log, folders);
    }
    const started = Date.now();
    for (let done = 0; done < def.manager.files; ) {
      const taken = takeSome(cache, log, Math.min(16, def.manager.files - done));
      if (taken === 0) {
        return untilNext(cache, size);
      }
      done += taken;
      if (Date.now() - started >= def.manager.threshold) {
        break;
      }
    }
    return def.manager.sleep;
  };
}

/** Deletes a few entries that have to go. Returns how many. */
function takeSome(cache: DiskCache, log: Logger, limit: number): number {
  const { index } = cache;
  const { def } = index;
  let taken: string[] = [];
  const full = isDiskFull(def.path, def.minFree, log);
  index.sql.now(() => {
    taken = index.takeUnused(Date.now() - def.inactive * 1000, limit);
    if (taken.length > 0) {
      return;
    }
    taken = index.takeOldest(full ? 0 : def.maxSize, limit);
  });
  for (const hash of taken) {
    cache.deleteFile(hash);
  }
  return taken.length;
}

function isDiskFull(path: string, minFree: number, log: Logger): boolean {
  if (minFree === 0) {
    return false;
  }
  try {
    const { bavail, bsize } = statfsSync(fsPath(path));
    return bavail * bsize <= minFree;
  } catch (error) {
    log.log(CRIT, `statfs() "${path}" failed (${errnoText(error)})`);
    return false;
  }
}

function untilNext(cache: DiskCache, size: number): number {
  const oldest = cache.index.oldestUse();
  const { def } = cache.index;
  // A cache near its limit is looked at more often.
  if (size > def.maxSize * 0.9 || def.minFree > 0) {
    return SHORTEST;
  }
  if (oldest === undefined) {
    return LONGEST;
  }
  return Math.max(SHORTEST, Math.min(LONGEST, oldest + def.inactive * 1000 - Date.now() + 1));
}

/** Makes what is left of purges whose maker has ended. */
function sweep(cache: DiskCache): HelperStep {
  const { index } = cache;
  const pace = index.def.purger ?? DEFAULT_PACE;
  const patience = index.def.purger === undefined ? PATIENCE : HELPS_AFTER;
  let known: Purge | undefined;
  let since = 0;
  let work: PurgeWork | undefined;
  return () => {
    const purge = index.nextSweep();
    if (purge === undefined) {
      known = work = undefined;
      return SHORTEST;
    }
    if (purge.at !== known?.at || purgeText(purge) !== purgeText(known)) {
      known = purge;
      since = monotonicMs();
      work = undefined;
    }
    if (monotonicMs() - since < patience) {
      return SHORTEST;
    }
    // What came in after the purge stays.
    work ??= new PurgeWork(cache, [purge], true);
    if (work.step(pace.files * FILE, pace.threshold)) {
      const { entries } = work;
      work = undefined;
      cache.submit(() => endPurges(cache, [purge], entries));
    }
    return pace.sleep;
  };
}
