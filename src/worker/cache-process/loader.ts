import { readdirSync, statSync, unlinkSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import type { Server, WorkerProcess } from '../../shared/ipc/serve.js';
import type { Logger } from '../../shared/log/error-log.js';
import { CRIT, NOTICE, WARN } from '../../shared/log/level.js';
import { beganAt, processStat } from '../../shared/system/process-stat.js';
import { setTimer } from '../../shared/time/timer.js';
import { type DiskCache, diskSize } from '../cache/disk-cache.js';
import { fileLength } from '../cache/file-format.js';
import type { IndexRow } from '../cache/index-zone.js';
import { isEntryName, tempOwner } from '../cache/path.js';
import { splitTags } from '../cache/tags.js';
import { cacheFiles, lookAt } from '../cache/walk.js';
import { md5Hex } from '../digest/md5.js';
import { type HelperStep, runHelper } from './helper.js';

const LINGER_MS = 500;
/** How far a file's time and a process's may lie apart though they are of one moment. */
const CLOCK_MS = 1000;

/** The process that tells the index, after a start, which files there are; then it ends. nginx: ngx_cache_loader_process_handler. */
export function serveLoader(worker: WorkerProcess): Server {
  return runHelper(
    worker,
    ({ caches, folders }) => caches.filter(({ index }) => !index.state().loaded).map((cache) => makeLoader(cache, worker.log, folders)),
    () => {
      // The master first has to hear that the process has started.
      setTimer(() => {
        worker.log.log(NOTICE, 'exit');
        process.exit(0);
      }, LINGER_MS);
    },
  );
}

/**
 * Reads a cache's folder a few files at a time, removing what a dead process left behind and entries that are damaged.
 * What no cache of ours wrote stays as it is. nginx: ngx_http_file_cache_loader.
 */
export function makeLoader(cache: DiskCache, log: Logger, folders: readonly string[]): HelperStep {
  const { index } = cache;
  const { def } = index;
  const files = cacheFiles(def);
  let cleaned = false;
  const foreign: string[] = [];
  return () => {
    if (!cleaned) {
      cleaned = true;
      removeLeftovers(folders);
    }
    const started = Date.now();
    const rows: IndexRow[] = [];
    let finished = false;
    for (let n = 0; n < def.loader.files; n++) {
      const next = files.next();
      if (next.done) {
        finished = true;
        break;
      }
      const row = readFile(next.value.path, next.value.name, log, foreign);
      if (row !== undefined) {
        rows.push(row);
      }
      if (Date.now() - started >= def.loader.threshold) {
        break;
      }
    }
    let victims: string[] = [];
    cache.submit(
      () => {
        victims = [];
        for (const row of rows) {
          index.load(row, Date.now(), victims);
        }
        if (finished) {
          index.markLoaded();
        }
      },
      () => {
        for (const hash of victims) {
          cache.deleteFile(hash);
        }
      },
    );
    if (!finished) {
      return def.loader.sleep;
    }
    if (foreign.length > 0) {
      log.log(WARN, `"${def.path}" has files of others, which are left alone: ${foreign.length}, such as "${foreign[0]}"`);
    }
    log.log(NOTICE, `http file cache: ${def.path} ${(index.state().size / 1048576).toFixed(3)}M, bsize: 4096`);
    return undefined;
  };
}

function readFile(path: string, name: string, log: Logger, foreign: string[]): IndexRow | undefined {
  if (!isEntryName(name)) {
    if (isLeftover(path, name)) {
      remove(path);
    }
    return undefined;
  }
  const found = lookAt(path);
  if (found === undefined) {
    return undefined;
  }
  if (found === 'foreign') {
    foreign.push(path);
    return undefined;
  }
  if (found === 'damaged') {
    log.log(CRIT, `cache file "${path}" is damaged, removed`);
    remove(path);
    return undefined;
  }
  const { key, tags } = found.entry;
  const main = md5Hex(key);
  return { hash: name, key, main: main === name ? null : main, size: diskSize(fileLength(found)), tags: splitTags(tags) };
}

/** Temporary files of dead processes in the folders of `*_temp_path`. */
function removeLeftovers(folders: readonly string[]): void {
  for (const folder of folders) {
    let names: string[];
    try {
      names = readdirSync(fsPath(folder));
    } catch {
      continue;
    }
    for (const name of names) {
      const path = `${folder}/${name}`;
      if (isLeftover(path, name)) {
        remove(path);
      }
    }
  }
}

/** Whether nobody will finish a temporary file: its writer has gone, or another process has got the writer's number since. */
function isLeftover(path: string, name: string): boolean {
  const owner = tempOwner(name);
  if (owner === undefined) {
    return false;
  }
  const stat = processStat(owner);
  if (stat === undefined || stat.ended) {
    return true;
  }
  try {
    return statSync(fsPath(path)).mtimeMs < beganAt(stat) - CLOCK_MS;
  } catch {
    return false;
  }
}

function remove(path: string): void {
  try {
    unlinkSync(fsPath(path));
  } catch {
    // Somebody else was faster, or it stays as it is.
  }
}
