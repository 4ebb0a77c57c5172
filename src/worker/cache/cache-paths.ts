import type { Pos } from '../../shared/config/ast.js';
import { In } from '../../shared/config/context.js';
import { type Directive, own } from '../../shared/config/define.js';
import { parseOffset, parseSize, parseTime } from '../../shared/config/units.js';
import type { ZoneRef } from '../../shared/zone/kind.js';
import type { Request } from '../http/request.js';
import { type Context, defineScope, type WorkerEnv } from '../module.js';
import type { CacheDef, Pace } from './cache-def.js';
import { DiskCache } from './disk-cache.js';
import { type CacheFamily, type CacheIndex, cacheZones } from './index-zone.js';

/** One `*_cache_path` line. */
export interface CachePath {
  readonly family: CacheFamily;
  readonly zone: ZoneRef<CacheIndex, CacheDef>;
  readonly pos: Pos;
}

interface Settings {
  paths: readonly CachePath[];
}

/** Two pages. */
const MIN_BYTES = 8192;

const milliseconds = (text: string): number | undefined => parseTime(text, 'ms');
const seconds = (text: string): number | undefined => parseTime(text, 's');
const count = (text: string): number | undefined => (/^\d+$/.test(text) ? Number(text) : undefined);

/** The numeric parameters, with how each is read. */
const NUMBERS: { readonly [name: string]: (text: string) => number | undefined } = {
  inactive: seconds,
  max_size: parseOffset,
  min_free: parseOffset,
  loader_files: count,
  loader_sleep: milliseconds,
  loader_threshold: milliseconds,
  manager_files: count,
  manager_sleep: milliseconds,
  manager_threshold: milliseconds,
  purger_files: count,
  purger_sleep: milliseconds,
  purger_threshold: milliseconds,
};

const onOff = (text: string): boolean | undefined => (text === 'on' ? true : text === 'off' ? false : undefined);

// nginx: ngx_http_file_cache_set_slot.
function definePath(conf: Partial<Settings>, family: CacheFamily, ctx: Context): void {
  const [folder, ...parameters] = ctx.node.args as [string, ...string[]];
  const path = ctx.path(folder.length > 1 && folder.endsWith('/') ? folder.slice(0, -1) : folder);
  const numbers: Record<string, number> = {};
  let levels: readonly number[] = [];
  let useTempPath = true;
  let purger = false;
  let name = '';
  let bytes = 0;
  parameters.forEach((parameter, i) => {
    const equals = parameter.indexOf('=');
    const key = equals === -1 ? parameter : parameter.slice(0, equals);
    const value = parameter.slice(equals + 1);
    const arg = i + 1;
    if (equals === -1) return ctx.fail(`invalid parameter "${parameter}"`, { arg });
    if (key === 'levels') {
      if (!/^[12](:[12]){0,2}$/.test(value)) ctx.fail(`invalid "levels" "${parameter}"`, { arg, hint: 'up to three numbers from 1 to 2, as in `levels=1:2`' });
      levels = value.split(':').map(Number);
    } else if (key === 'use_temp_path' || key === 'purger') {
      const on = onOff(value);
      if (on === undefined) return ctx.fail(`invalid ${key} value "${parameter}", it must be "on" or "off"`, { arg });
      if (key === 'purger') purger = on;
      else useTempPath = on;
    } else if (key === 'keys_zone') {
      const colon = value.indexOf(':');
      const size = colon === -1 ? undefined : parseSize(value.slice(colon + 1));
      if (size === undefined) return ctx.fail(`invalid keys zone size "${parameter}"`, { arg, hint: 'a zone is written as in `keys_zone=name:10m`' });
      if (size < MIN_BYTES) ctx.fail(`keys zone "${parameter}" is too small`, { arg });
      name = value.slice(0, colon);
      bytes = size;
    } else if (NUMBERS[key] !== undefined) {
      const number = NUMBERS[key](value);
      if (number === undefined) return ctx.fail(`invalid ${key} value "${parameter}"`, { arg });
      numbers[key] = number;
    } else ctx.fail(`invalid parameter "${parameter}"`, { arg });
  });
  if (name === '' || bytes === 0) ctx.fail(`"${ctx.node.name}" must have "keys_zone" parameter`);
  const same = conf.paths?.find(({ zone }) => zone.data.path === path);
  if (same !== undefined) ctx.fail(`the same path name "${path}" used in ${same.pos.file}:${same.pos.line} and`);
  const kind = cacheZones[family];
  const known = ctx.zone(kind, name);
  if ((known.data as CacheDef | undefined) !== undefined) ctx.fail(`duplicate zone "${name}"`);
  const pace = (helper: string): Pace => ({
    files: numbers[`${helper}_files`] ?? (helper === 'purger' ? 10 : 100),
    sleep: numbers[`${helper}_sleep`] ?? 50,
    threshold: numbers[`${helper}_threshold`] ?? (helper === 'purger' ? 50 : 200),
  });
  const data: CacheDef = {
    directive: ctx.node.name,
    path,
    levels,
    useTempPath,
    inactive: numbers.inactive ?? 600,
    maxSize: numbers.max_size ?? Number.POSITIVE_INFINITY,
    minFree: numbers.min_free ?? 0,
    loader: pace('loader'),
    manager: pace('manager'),
    purger: purger ? pace('purger') : undefined,
  };
  const zone = ctx.zone(kind, name, { bytes: Math.max(bytes, 8 * 4096), data });
  conf.paths = [...(conf.paths ?? []), { family, zone, pos: ctx.node.pos }];
}

const row = (family: CacheFamily): Directive<Settings, Request> => ({
  in: In.HTTP,
  args: { min: 2 },
  set: (conf, _node, ctx) => definePath(conf, family, ctx),
});

/** The caches of a configuration. */
export const cachePathScope = defineScope<Settings>({
  fields: { paths: own<readonly CachePath[]>([]) },
  directives: {
    proxy_cache_path: row('proxy'),
    fastcgi_cache_path: row('fastcgi'),
    uwsgi_cache_path: row('uwsgi'),
    scgi_cache_path: row('scgi'),
  },
});

/** This process's access to a cache; always the same object for one zone. */
export function openCache(env: WorkerEnv, zone: ZoneRef<CacheIndex, CacheDef>): DiskCache {
  const index = env.zones.open(zone);
  if (index.disk === undefined) {
    const disk = new DiskCache(index, env.log);
    index.disk = disk;
    env.onClose(() => disk.close());
  }
  return index.disk;
}
