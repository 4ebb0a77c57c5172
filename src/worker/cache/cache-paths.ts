import { append } from '../../shared/collection/append.js';
import { In } from '../../shared/config/context.js';
import { type Directive, own } from '../../shared/config/define.js';
import type { Pos } from '../../shared/config/language/ast.js';
import { parseNumber, parseOffset, parseSize, parseTime } from '../../shared/config/language/units.js';
import type { ZoneRef } from '../../shared/zone/kind.js';
import type { WorkerEnv } from '../env.js';
import type { Request } from '../http/request/request.js';
import { type Context, defineScope } from '../module.js';
import type { CacheDef, HelperPace } from './cache-def.js';
import { DiskCache } from './disk-cache.js';
import { FleetPurges } from './fleet-purges.js';
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
/** What a zone has at least; eight pages. */
const SMALLEST_FILE = 8 * 4096;

const milliseconds = (text: string): number | undefined => parseTime(text, 'ms');
const seconds = (text: string): number | undefined => parseTime(text, 's');
const count = parseNumber;

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

/** What the parameters of a line say. */
class Parameters {
  readonly numbers: Record<string, number> = {};
  levels: readonly number[] = [];
  useTempPath = true;
  purger = false;
  sync = false;
  name = '';
  bytes = 0;

  /** Reads `key=value`, argument number `arg`, with nginx's messages. */
  read(ctx: Context, arg: number): void {
    const parameter = ctx.node.args[arg]!;
    const equals = parameter.indexOf('=');
    const key = parameter.slice(0, Math.max(0, equals));
    const value = parameter.slice(equals + 1);
    const number = NUMBERS[key];
    if (parameter === 'sync') {
      this.sync = true;
    } else if (key === 'levels') {
      if (!/^([12](:[12]){0,2})?$/.test(value)) {
        ctx.fail(`invalid "levels" "${parameter}"`, { arg, hint: 'up to three numbers from 1 to 2, as in `levels=1:2`' });
      }
      this.levels = value === '' ? [] : value.split(':').map(Number);
    } else if (key === 'use_temp_path') {
      this.useTempPath = onOff(ctx, arg, key, value);
    } else if (key === 'purger') {
      this.purger = onOff(ctx, arg, key, value);
    } else if (key === 'keys_zone') {
      this.#zone(ctx, arg, value);
    } else if (number !== undefined) {
      this.numbers[key] = number(value) ?? ctx.fail(`invalid ${key} value "${parameter}"`, { arg });
    } else {
      ctx.fail(`invalid parameter "${parameter}"`, { arg });
    }
  }

  #zone(ctx: Context, arg: number, value: string): void {
    const parameter = ctx.node.args[arg]!;
    const colon = value.indexOf(':');
    const size = colon === -1 ? undefined : parseSize(value.slice(colon + 1));
    if (size === undefined) {
      ctx.fail(`invalid keys zone size "${parameter}"`, { arg, hint: 'a zone is written as in `keys_zone=name:10m`' });
    }
    if (size < MIN_BYTES) {
      ctx.fail(`keys zone "${parameter}" is too small`, { arg });
    }
    this.name = value.slice(0, colon);
    this.bytes = size;
  }

  pace(helper: string, files: number, threshold: number): HelperPace {
    const { numbers } = this;
    return {
      files: numbers[`${helper}_files`] ?? files,
      sleep: numbers[`${helper}_sleep`] ?? 50,
      threshold: numbers[`${helper}_threshold`] ?? threshold,
    };
  }
}

function onOff(ctx: Context, arg: number, key: string, value: string): boolean {
  if (value !== 'on' && value !== 'off') {
    ctx.fail(`invalid ${key} value "${ctx.node.args[arg]}", it must be "on" or "off"`, { arg });
  }
  return value === 'on';
}

// nginx: ngx_http_file_cache_set_slot.
function definePath(conf: Partial<Settings>, family: CacheFamily, ctx: Context): void {
  const { args, name: directive, pos } = ctx.node;
  const folder = args[0]!;
  const path = ctx.path(folder.length > 1 && folder.endsWith('/') ? folder.slice(0, -1) : folder);
  const given = new Parameters();
  for (let arg = 1; arg < args.length; arg++) {
    given.read(ctx, arg);
  }
  const { name, bytes, numbers, levels, useTempPath } = given;
  if (name === '' || bytes === 0) {
    ctx.fail(`"${directive}" must have "keys_zone" parameter`);
  }
  const same = conf.paths?.find(({ zone }) => zone.data.path === path);
  if (same !== undefined) {
    ctx.fail(`the same path name "${path}" used in ${same.pos.file}:${same.pos.line} and`);
  }
  const kind = cacheZones[family];
  if ((ctx.zone(kind, name).data as CacheDef | undefined) !== undefined) {
    ctx.fail(`duplicate zone "${name}"`);
  }
  const data: CacheDef = {
    directive,
    path,
    levels,
    useTempPath,
    inactive: numbers.inactive ?? 600,
    maxSize: numbers.max_size ?? Number.POSITIVE_INFINITY,
    minFree: numbers.min_free ?? 0,
    loader: given.pace('loader', 100, 200),
    manager: given.pace('manager', 100, 200),
    purger: given.purger ? given.pace('purger', 10, 50) : undefined,
    sync: given.sync,
  };
  const zone = ctx.zone(kind, name, { bytes: Math.max(bytes, SMALLEST_FILE), data });
  conf.paths = append(conf.paths, { family, zone, pos });
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
    const disk = new DiskCache(index, env.log, env.rehearsing === true);
    index.disk = disk;
    if (zone.data.sync && env.store !== undefined) {
      disk.tellsPurges = true;
      env.replicas?.add(new FleetPurges(disk, zone.data.directive));
    }
    env.onClose(() => disk.close());
  }
  return index.disk;
}
