import type { AnyZoneRef } from '../../shared/zone/kind.js';
import { md5Hex } from '../digest/md5.js';
import type { CacheDef } from './cache-def.js';
import type { EntryHeader } from './file-format.js';
import { cacheFilePath, isEntryName } from './path.js';
import { cacheFiles, readHeader, unlinkOurs } from './walk.js';

/** What the shell asks of caches. */
export interface CacheRequest {
  readonly action: 'list' | 'inspect' | 'purge';
  /** Name of one cache; undefined: all of them. */
  readonly zone: string | undefined;
  readonly key: string | undefined;
  readonly prefix: string | undefined;
}

interface Found {
  readonly zone: string;
  readonly path: string;
  readonly header: EntryHeader;
}

/**
 * Looks at caches, or deletes entries, beside a server that may be running: it takes note by itself, since the files
 * are what counts. Returns the exit code: 1 when nothing was found, 2 when the request makes no sense.
 */
export function runCacheRequest(zones: readonly AnyZoneRef[], request: CacheRequest, print: (line: string) => void): number {
  const caches = zones.filter(({ kind, name }) => kind.id.endsWith('_cache') && (request.zone === undefined || name === request.zone));
  if (caches.length === 0) {
    print(request.zone === undefined ? 'the configuration has no cache' : `there is no cache "${request.zone}"`);
    return 2;
  }
  if (request.action !== 'list' && request.key === undefined && request.prefix === undefined) {
    print(`cache ${request.action} needs --key or --prefix`);
    return 2;
  }
  let found = 0;
  for (const { name, data } of caches) {
    for (const entry of entriesOf(name, data as CacheDef, request)) {
      found++;
      if (request.action === 'purge') {
        remove(entry.path);
      } else if (request.action === 'list') {
        print(listLine(entry));
      } else {
        describe(entry, print);
      }
    }
  }
  if (request.action === 'purge') {
    print(`${found} ${found === 1 ? 'entry' : 'entries'} purged`);
  }
  return found === 0 && request.action !== 'list' ? 1 : 0;
}

function* entriesOf(zone: string, def: CacheDef, { key, prefix }: CacheRequest): Generator<Found> {
  // The main entry is found at once; its variants have names of their own.
  if (key !== undefined) {
    const path = cacheFilePath(def.path, def.levels, md5Hex(key));
    const header = readHeader(path);
    if (header !== undefined && header.key === key && header.vary === '') {
      yield { zone, path, header };
      return;
    }
  }
  for (const { path, name } of cacheFiles(def)) {
    if (!isEntryName(name)) {
      continue;
    }
    const header = readHeader(path);
    if (header === undefined) {
      continue;
    }
    if (key !== undefined ? header.key === key : header.key.startsWith(prefix ?? '')) {
      yield { zone, path, header };
    }
  }
}

function remove(path: string): void {
  try {
    unlinkOurs(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw error;
    }
  }
}

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
  print(`body: ${header.bodyLength} bytes`);
  for (let i = 0; i < header.lines.length; i += 2) {
    print(`  ${header.lines[i]}: ${header.lines[i + 1]}`);
  }
  print('');
}
