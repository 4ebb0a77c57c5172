import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { cacheFilePath } from '../../src/worker/cache/path.js';
import { md5Hex } from '../../src/worker/digest/md5.js';
import { againstNginx } from './binary.js';
import type { Origin, OriginRequest } from './origin.js';
import type { Files } from './prefix.js';
import { http, httpGet, requestText } from './raw-client.js';
import { httpConf, type Server, startServer } from './server.js';

/** The body that {@link answer} gives for a target. */
export const bodyOf = (target: string): string => `${target}|`.repeat(100).slice(0, 600);
/** A script for origins: each target has a body of its own, which may be kept. */
export const answer = (request: OriginRequest): { headers: Record<string, string>; body: string } => ({
  headers: { 'Cache-Control': 'max-age=600' },
  body: bodyOf(request.target),
});

/** What a test's cache has beside the usual. */
export interface CacheOptions {
  /** Holds the cache and its temporary files; the server's own folder unless told. */
  readonly folder?: string;
  /** Directives of the location. */
  readonly location?: string;
  /** Parameters of `proxy_cache_path`. */
  readonly path?: string;
  /** Megabytes or, as in `32k`, kilobytes of the zone; 1m unless told. */
  readonly zone?: string;
  readonly workers?: number;
  /** What stands outside of the http block. */
  readonly main?: string;
  /** What stands in the http block beside the server. */
  readonly http?: string;
  /** Further locations; PASS stands for the usual directives. */
  readonly more?: string;
  readonly alerts?: RegExp;
  readonly files?: Files;
  /** Workers keep root's rights when root runs the tests. */
  readonly asRoot?: boolean;
}

/** A folder for a cache that outlives its server; it goes with the test. Workers of any user may write in it. */
export function ownFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cache-'));
  chmodSync(folder, 0o777);
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A server with a cache in front of the origin. */
export function startCache(t: Test, origin: Origin, options: CacheOptions = {}): Promise<Server> {
  const folder = options.folder ?? '%%DIR%%';
  const pass = `proxy_pass http://127.0.0.1:${origin.port}; 
    add_header X-Status $upstream_cache_status always;${againstNginx ? '' : ' add_header X-Reason $upstream_cache_reason; add_header X-Key $proxy_cache_key;'}`;
  return startServer(t, {
    conf: httpConf(
      `proxy_cache Z; proxy_cache_key $uri$is_args$args;
       proxy_temp_path ${folder}/temp;
       proxy_cache_path ${folder}/cache levels=1:2 keys_zone=Z:${options.zone ?? '1m'} ${options.path ?? ''};
       ${options.http ?? ''}
       map $request_method $purge { default 0; PURGE 1; }
       server { listen 127.0.0.1:%%PORT_0%%;
         location / { ${pass} ${againstNginx ? '' : 'proxy_cache_purge $purge;'} ${options.location ?? ''} }
         ${(options.more ?? '').replaceAll('PASS', pass)} }`,
      `worker_processes ${options.workers ?? 1}; ${options.main ?? ''}`,
    ),
    ...(options.files === undefined ? {} : { files: options.files }),
    ...(options.asRoot ? { asRoot: true } : {}),
    ...(options.alerts === undefined ? {} : { expectAlerts: options.alerts }),
  });
}

/** `$upstream_cache_status` of a request. */
export const status = async (server: Server, path: string, headers: Record<string, string> = {}): Promise<string | undefined> =>
  (await httpGet(server, path, headers)).header('x-status');
/** The status of a PURGE request. */
export const purge = async (server: Server, path: string): Promise<number> =>
  (await http(server, requestText('PURGE', path, { Connection: 'close' }))).status;

/** Where the cache keeps a key. */
export const fileOf = (dir: string, key: string): string => cacheFilePath(join(dir, 'cache'), [1, 2], md5Hex(key));

/** The files of the cache. */
export function files(server: Server): string[] {
  return (readdirSync(join(server.dir, 'cache'), { recursive: true }) as string[])
    .map((name) => join(server.dir, 'cache', name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}
