import type { Logger } from '../../shared/log/error-log.js';
import { EMERG } from '../../shared/log/level.js';
import type { AnyZoneRef, ZoneRef } from '../../shared/zone/kind.js';
import { nowPatiently, CHANGE_TRIES as TRIES } from '../../shared/zone/patience.js';
import { md5Hex } from '../digest/md5.js';
import type { CacheDef } from './cache-def.js';
import { DiskCache } from './disk-cache.js';
import type { EntryHeader } from './file-format.js';
import type { CacheIndex } from './index-zone.js';
import { cacheFilePath, isEntryName } from './path.js';
import { endPurges, notePurges, type Wish } from './purge.js';
import { purgeFile } from './purge-file.js';
import type { Purge } from './purge-text.js';
import { PurgeWork } from './purge-work.js';
import { hasTag, readTags } from './tags.js';
import { cacheFiles, readEntryHeader } from './walk.js';

const QUIET: Logger = { level: EMERG, log: () => {} };

/** What the shell asks of caches. */
export interface CacheRequest {
  readonly action: 'list' | 'inspect' | 'purge';
  /** Name of one cache; undefined: all of them. */
  readonly zone: string | undefined;
  readonly key: string | undefined;
  readonly prefix: string | undefined;
  readonly tag: string | undefined;
  /** What is purged stays, and is stale. */
  readonly soft: boolean;
}

/** The index of a cache, for work with the server that runs; undefined without one. */
export type RunningIndex = <T>(zone: ZoneRef<CacheIndex, CacheDef>, work: (index: CacheIndex) => T) => T | undefined;

interface Found {
  readonly zone: string;
  readonly path: string;
  readonly header: EntryHeader;
}

/**
 * Looks at caches, or purges entries, beside a server that may be running. Returns the exit code: 1 when nothing was found, 2 when the
 * request makes no sense.
 */
export function runCacheRequest(
  zones: readonly AnyZoneRef[],
  request: CacheRequest,
  running: RunningIndex,
  print: (line: string) => void,
): number {
  const caches = zones.filter(({ kind, name }) => kind.id.endsWith('_cache') && (request.zone === undefined || name === request.zone));
  if (caches.length === 0) {
    print(request.zone === undefined ? 'the configuration has no cache' : `there is no cache "${request.zone}"`);
    return 2;
  }
  const wishes = wishesOf(request);
  if (typeof wishes === 'string') {
    print(wishes);
    return 2;
  }
  const found = request.action === 'purge' ? purgeAll(caches, wishes, running, print) : showAll(caches, request, print);
  return found === 0 && request.action !== 'list' ? 1 : 0;
}

/** What is asked for; a string says what is wrong. */
function wishesOf({ action, key, prefix, tag, soft }: CacheRequest): readonly Wish[] | string {
  const given = [key, prefix, tag].filter((text) => text !== undefined);
  if (given.length > 1) {
    return `cache ${action} takes one of --key, --prefix and --tag`;
  }
  if (soft && action !== 'purge') {
    return `cache ${action} takes no --soft`;
  }
  if (tag !== undefined) {
    const { tags, dropped } = readTags([tag]);
    return dropped > 0 || tags.length === 0
      ? 'the tags are too many or too long, or there are none'
      : tags.map((text) => ({ what: 'tag', text, soft }));
  }
  if (key !== undefined) {
    return [{ what: 'key', text: key, soft }];
  }
  if (prefix !== undefined) {
    return [{ what: 'prefix', text: prefix, soft }];
  }
  return action === 'list' ? [] : `cache ${action} needs --key, --prefix or --tag`;
}

function showAll(caches: readonly AnyZoneRef[], request: CacheRequest, print: (line: string) => void): number {
  let found = 0;
  for (const { name, data } of caches) {
    for (const entry of entriesOf(name, data as CacheDef, request)) {
      found++;
      if (request.action === 'list') {
        print(listLine(entry));
      } else {
        describe(entry, print);
      }
    }
  }
  return found;
}

/** Purges as a worker does where there is a server, so that responses on their way and the fleet hear of it; else the files alone. */
function purgeAll(caches: readonly AnyZoneRef[], wishes: readonly Wish[], running: RunningIndex, print: (line: string) => void): number {
  let found = 0;
  for (const zone of caches) {
    found += running(zone, (index) => purgeRunning(index, wishes)) ?? purgeFiles(zone.data as CacheDef, wishes);
  }
  print(`${found} ${found === 1 ? 'entry' : 'entries'} ${wishes[0]!.soft ? 'made stale' : 'purged'}`);
  return found;
}

function purgeRunning(index: CacheIndex, wishes: readonly Wish[]): number {
  const disk = new DiskCache(index, QUIET, false);
  disk.tellsPurges = index.def.sync;
  let purges: readonly Purge[] = [];
  const note = (): void => {
    purges = notePurges(disk, wishes);
  };
  if (!nowPatiently(index.sql, note, TRIES)) {
    throw new Error(`the zone of the cache "${index.name}" is held by another process`);
  }
  const work = new PurgeWork(disk, purges, false);
  while (!work.step(Number.POSITIVE_INFINITY)) {}
  nowPatiently(index.sql, () => endPurges(disk, purges, work.entries), TRIES);
  disk.close();
  return work.entries;
}

function purgeFiles(def: CacheDef, wishes: readonly Wish[]): number {
  const at = Date.now();
  const purges = wishes.map((wish) => ({ ...wish, at }));
  let found = 0;
  for (const { path, name } of cacheFiles(def)) {
    if (isEntryName(name) && purgeFile(path, purges, false, false) !== 'none') {
      found++;
    }
  }
  return found;
}

function* entriesOf(zone: string, def: CacheDef, { key, prefix = '', tag }: CacheRequest): Generator<Found> {
  // The main entry is found at once; its variants have names of their own.
  if (key !== undefined) {
    const path = cacheFilePath(def.path, def.levels, md5Hex(key));
    const header = readEntryHeader(path);
    if (header !== undefined && header.key === key && header.vary === '') {
      yield { zone, path, header };
      return;
    }
  }
  for (const { path, name } of cacheFiles(def)) {
    if (!isEntryName(name)) {
      continue;
    }
    const header = readEntryHeader(path);
    if (header === undefined) {
      continue;
    }
    if (key !== undefined ? header.key === key : header.key.startsWith(prefix) && isTagged(header.tags, tag)) {
      yield { zone, path, header };
    }
  }
}

/** Whether an entry has one of the tags that are asked for. */
const isTagged = (tags: string, asked: string | undefined): boolean =>
  asked === undefined || readTags([asked]).tags.some((tag) => hasTag(tags, tag));

const ttl = (header: EntryHeader): number => Math.round(header.validUntil - Date.now() / 1000);

function listLine({ zone, header }: Found): string {
  const left = ttl(header);
  const state = header.error !== 0 ? 'error' : left < 0 ? 'stale' : 'fresh';
  return [zone, header.status, state, `${left}s`, header.bodyLength, header.key].join('\t');
}

function describe({ zone, path, header }: Found, print: (line: string) => void): void {
  print(`zone: ${zone}`);
  print(`key: ${header.key}`);
  print(`file: ${path}`);
  print(`status: ${header.status}${header.error === 0 ? '' : ' (a remembered error)'}`);
  print(`stored: ${new Date(header.date * 1000).toISOString()}`);
  print(`valid until: ${new Date(header.validUntil * 1000).toISOString()} (${ttl(header)}s)`);
  if (header.updating > 0) {
    print(`stale-while-revalidate: ${header.updating}s`);
  }
  if (header.onError > 0) {
    print(`stale-if-error: ${header.onError}s`);
  }
  if (header.vary !== '') {
    print(`vary: ${header.vary}`);
  }
  if (header.tags !== '') {
    print(`tags: ${header.tags}`);
  }
  print(`body: ${header.bodyLength} bytes`);
  for (let i = 0; i < header.lines.length; i += 2) {
    print(`  ${header.lines[i]}: ${header.lines[i + 1]}`);
  }
  print('');
}
