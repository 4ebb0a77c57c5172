import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Origin, OriginRequest } from './origin.js';
import { http, httpGet, requestText } from './raw-client.js';
import { httpConf, type Server, startServer } from './server.js';

/** The body that {@link answer} gives for a target. */
export const bodyOf = (target: string): string => `${target}|`.repeat(100).slice(0, 600);
/** A script for origins: each target has a body of its own, which may be kept. */
export const answer = (request: OriginRequest): { headers: Record<string, string>; body: string } => ({
  headers: { 'Cache-Control': 'max-age=600' },
  body: bodyOf(request.target),
});

/** A server with a cache in front of the origin; `more` are further locations. */
export function startCache(
  t: Test,
  origin: Origin,
  options: { location?: string; path?: string; workers?: number; more?: string; alerts?: RegExp } = {},
): Promise<Server> {
  const pass = `proxy_pass http://127.0.0.1:${origin.port}; proxy_cache Z; proxy_cache_key $uri$is_args$args;
    add_header X-Status $upstream_cache_status; add_header X-Reason $upstream_cache_reason; add_header X-Key $proxy_cache_key;`;
  return startServer(t, {
    conf: httpConf(
      `proxy_temp_path %%DIR%%/temp;
       proxy_cache_path %%DIR%%/cache levels=1:2 keys_zone=Z:1m ${options.path ?? ''};
       map $request_method $purge { default 0; PURGE 1; }
       server { listen 127.0.0.1:%%PORT_0%%;
         location / { ${pass} proxy_cache_purge $purge; ${options.location ?? ''} }
         ${(options.more ?? '').replaceAll('PASS', pass)} }`,
      `worker_processes ${options.workers ?? 1};`,
    ),
    ...(options.alerts === undefined ? {} : { expectAlerts: options.alerts }),
  });
}

/** `$upstream_cache_status` of a request. */
export const status = async (server: Server, path: string, headers: Record<string, string> = {}): Promise<string | undefined> =>
  (await httpGet(server, path, headers)).header('x-status');
/** The status of a PURGE request. */
export const purge = async (server: Server, path: string): Promise<number> =>
  (await http(server, requestText('PURGE', path, { Connection: 'close' }))).status;

/** The files of the cache. */
export function files(server: Server): string[] {
  return (readdirSync(join(server.dir, 'cache'), { recursive: true }) as string[])
    .map((name) => join(server.dir, 'cache', name))
    .filter((path) => statSync(path).isFile());
}
