import { statfsSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import type { Server, WorkerProcess } from '../../shared/ipc/serve.js';
import type { Logger } from '../../shared/log/error-log.js';
import { CRIT } from '../../shared/log/level.js';
import { errnoText } from '../../shared/system/errno.js';
import type { Pace } from '../cache/cache-def.js';
import type { DiskCache } from '../cache/disk-cache.js';
import { readHeader } from '../cache/walk.js';
import { runHelper, type Step } from './helper.js';
import { makeLoader } from './loader.js';

/** The manager looks at a cache at least so often (milliseconds), and no more often when all is well. */
const LONGEST = 10_000;
const SHORTEST = 500;
/** An index that nobody has filled for so long (milliseconds) is filled by the manager: its zone was lost. */
const UNLOADED = 60_000;

/** The process that keeps caches within their limits. nginx: ngx_cache_manager_process_handler. */
export function serveManager(worker: WorkerProcess): Server {
  return runHelper(
    worker,
    ({ caches, folders }) =>
      caches.flatMap((cache) => [manage(cache, worker.log, folders), ...(cache.index.def.purger === undefined ? [] : [sweep(cache)])]),
    () => {},
  );
}

/** Deletes what was not used for long, and the oldest of what is too much. nginx: ngx_http_file_cache_manager. */
function manage(cache: DiskCache, log: Logger, folders: readonly string[]): Step {
  const { index } = cache;
  const { def } = index;
  let loader: Step | undefined;
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
    return bavail * bsize < minFree;
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

/** Deletes what wildcard purges left. */
function sweep(cache: DiskCache): Step {
  const { index } = cache;
  const pace = index.def.purger as Pace;
  let queue: string[] = [];
  let current: [prefix: string, before: number] | undefined;
  return () => {
    if (current === undefined) {
      current = index.nextSweep();
      if (current === undefined) {
        return SHORTEST;
      }
      queue = index.withPrefix(current[0]);
    }
    const started = Date.now();
    const gone: string[] = [];
    while (gone.length < pace.files && queue.length > 0 && Date.now() - started < pace.threshold) {
      const hash = queue.pop()!;
      gone.push(hash);
      // What came in after the purge stays.
      const header = readHeader(cache.pathOf(hash));
      if (header !== undefined && header.date > current[1]) {
        gone.pop();
      } else {
        cache.deleteFile(hash);
      }
    }
    const finished = queue.length === 0 ? current : undefined;
    if (finished !== undefined) {
      current = undefined;
    }
    cache.submit(() => {
      for (const hash of gone) {
        index.remove(hash);
      }
      if (finished !== undefined) {
        index.endSweep(finished[0], finished[1]);
      }
    });
    return pace.sleep;
  };
}
