import { In } from '../../shared/config/context.js';
import { type Directive, inherit, type LinkContext, type MergeContext, own, type SettingField } from '../../shared/config/define.js';
import { mergeErrorPos } from '../../shared/config/errors.js';
import { parseNumber, parseTime } from '../../shared/config/language/units.js';
import { bits, flag, int, msec, offset, predicates } from '../../shared/config/slots.js';
import type { ComplexValue } from '../../shared/value/complex.js';
import type { ZoneRef } from '../../shared/zone/kind.js';
import type { Request } from '../http/request/request.js';
import { METHOD } from '../http/syntax/method.js';
import { claimContent } from '../module.js';
import { FailureType, nextUpstreamWords } from '../upstream/settings/failure.js';
import type { ResponseFileSettings } from '../upstream/settings/settings.js';
import type { CacheChoice } from './cache-choice.js';
import { type CacheFamily, cacheZones } from './index-zone.js';
import { type PurgeRule, type PurgeTarget, readPurge } from './purge-rule.js';
import type { CacheSettings, CacheValid } from './settings.js';

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

/** The rows may look at `*_store`, which excludes a cache. */
type Settings = CacheSettings & { store: ResponseFileSettings | null };
type CacheLinkSettings = CacheSettings & { pass: unknown };
type Row = Directive<Settings, Request>;

/** The defaults, and how inner blocks take settings over. */
export const cacheFields: { readonly [K in keyof CacheSettings]: SettingField<CacheSettings[K]> } = {
  cache: inherit<CacheChoice | null>(null),
  cacheKey: inherit<ComplexValue<Request> | undefined>(undefined),
  cacheValid: inherit<readonly CacheValid[]>([]),
  cacheMinUses: inherit(1),
  cacheMethods: inherit<number>(METHOD.GET | METHOD.HEAD),
  cacheBypass: inherit<readonly ComplexValue<Request>[]>([]),
  noCache: inherit<readonly ComplexValue<Request>[]>([]),
  cacheLock: inherit(false),
  cacheLockTimeout: inherit(5000),
  cacheLockAge: inherit(5000),
  cacheUseStale: inherit<number>(FailureType.OFF),
  cacheBackgroundUpdate: inherit(false),
  cacheRevalidate: inherit(false),
  cacheTag: inherit<readonly ComplexValue<Request>[]>([]),
  cachePurge: inherit<PurgeRule>(null),
  cachePurgeTarget: own<PurgeTarget | undefined>(undefined),
  cacheConvertHead: inherit(true),
  cacheMaxRangeOffset: inherit(Number.POSITIVE_INFINITY),
};

/** nginx: ngx_http_upstream_cache_method_mask. */
const methodWords = { GET: METHOD.GET, HEAD: METHOD.HEAD, POST: METHOD.POST } as const;

// nginx: ngx_http_proxy_cache.
const cache =
  (family: CacheFamily): Row['set'] =>
  (conf, node, ctx) => {
    if (conf.cache !== undefined) {
      ctx.reject('is duplicate');
    }
    const word = node.args[0]!;
    if (word === 'off') {
      conf.cache = null;
      return;
    }
    if (conf.store !== undefined && conf.store !== null) {
      ctx.reject(`is incompatible with "${family}_store"`);
    }
    const name = ctx.complex(word);
    conf.cache = name.constant === undefined ? { name } : { zone: ctx.zone(cacheZones[family], word) };
  };

const key: Row['set'] = (conf, node, ctx) => {
  if (conf.cacheKey !== undefined) {
    ctx.reject('is duplicate');
  }
  conf.cacheKey = ctx.complex(node.args[0]!);
};

// nginx: ngx_http_file_cache_valid_set_slot.
const valid: Row['set'] = (conf, node, ctx) => {
  const last = node.args.length - 1;
  const seconds = parseTime(node.args[last]!, 's');
  if (seconds === undefined) {
    return ctx.fail(`invalid time value "${node.args[last]}"`, { arg: last });
  }
  const statuses =
    last === 0
      ? [200, 301, 302]
      : node.args.slice(0, last).map((text, i) => {
          if (text === 'any') {
            return 0;
          }
          const status = parseNumber(text) ?? -1;
          if (status < 100 || status > 599) {
            ctx.fail(`invalid status "${text}"`, { arg: i });
          }
          return status;
        });
  conf.cacheValid = [...(conf.cacheValid ?? []), ...statuses.map((status) => ({ status, seconds }))];
};

const tag: Row['set'] = (conf, node, ctx) => {
  const { args } = node;
  const off = args.length === 1 && args[0] === 'off';
  if (conf.cacheTag !== undefined && (off || conf.cacheTag.length === 0)) {
    ctx.reject('is duplicate');
  }
  conf.cacheTag = off ? [] : [...(conf.cacheTag ?? []), ...args.map((text) => ctx.complex(text))];
};

// Conditions as nginx sells it, or one of the two forms of ngx_cache_purge.
const purge =
  (family: CacheFamily): Row['set'] =>
  (conf, _node, ctx) => {
    const read = readPurge(ctx, family, conf.cachePurge);
    if (read === null || !('key' in read)) {
      conf.cachePurge = read;
      return;
    }
    if ((ctx.block.context & In.LOCATION) === 0) {
      ctx.reject('(separate location syntax) is not allowed here');
    }
    if (conf.cachePurgeTarget !== undefined) {
      ctx.reject('is duplicate');
    }
    claimContent(ctx, family);
    conf.cachePurgeTarget = read;
  };

const methods: Row['set'] = (conf, node, ctx) => {
  let set = conf.cacheMethods ?? 0;
  for (const [i, word] of node.args.entries()) {
    const bit = (methodWords as Record<string, number>)[word.toUpperCase()];
    if (bit === undefined) {
      return ctx.fail(`invalid value "${word}"`, { arg: i, hint: 'it is one of GET, HEAD, POST' });
    }
    if ((set & bit) !== 0) {
      ctx.warn(`duplicate value "${word}"`, { arg: i });
    }
    set |= bit;
  }
  conf.cacheMethods = set;
};

/** The directives of the cache, under one protocol's prefix. */
export function cacheDirectives(family: CacheFamily): { readonly [name: string]: Row } {
  return {
    [`${family}_cache`]: { in: ANYWHERE, args: 1, set: cache(family) },
    [`${family}_cache_key`]: { in: ANYWHERE, args: 1, set: key },
    [`${family}_cache_valid`]: { in: ANYWHERE, args: { min: 1 }, set: valid },
    [`${family}_cache_min_uses`]: { in: ANYWHERE, args: 1, set: int('cacheMinUses') },
    [`${family}_cache_methods`]: { in: ANYWHERE, args: { min: 1 }, set: methods },
    [`${family}_cache_bypass`]: { in: ANYWHERE, args: { min: 1 }, set: predicates('cacheBypass') },
    [`${family}_no_cache`]: { in: ANYWHERE, args: { min: 1 }, set: predicates('noCache') },
    [`${family}_cache_lock`]: { in: ANYWHERE, args: 'flag', set: flag('cacheLock') },
    [`${family}_cache_lock_timeout`]: { in: ANYWHERE, args: 1, set: msec('cacheLockTimeout') },
    [`${family}_cache_lock_age`]: { in: ANYWHERE, args: 1, set: msec('cacheLockAge') },
    [`${family}_cache_use_stale`]: { in: ANYWHERE, args: { min: 1 }, set: bits('cacheUseStale', nextUpstreamWords) },
    [`${family}_cache_background_update`]: { in: ANYWHERE, args: 'flag', set: flag('cacheBackgroundUpdate') },
    [`${family}_cache_revalidate`]: { in: ANYWHERE, args: 'flag', set: flag('cacheRevalidate') },
    [`${family}_cache_purge`]: { in: ANYWHERE, args: { min: 1 }, set: purge(family) },
    [`${family}_cache_tag`]: { in: ANYWHERE, args: { min: 1 }, set: tag },
    [`${family}_cache_convert_head`]: { in: ANYWHERE, args: 'flag', set: flag('cacheConvertHead') },
    [`${family}_cache_max_range_offset`]: { in: ANYWHERE, args: 1, set: offset('cacheMaxRangeOffset') },
  };
}

/** Fills in what follows from other settings; for `finish`. nginx: the cache part of ngx_http_proxy_merge_loc_conf. */
export function finishCache(conf: Settings, parent: Readonly<Settings> | undefined, place: MergeContext): void {
  // Of a cache and a store, the one said last, which is the inner one, is in force.
  if (conf.cache !== null && conf.store !== null) {
    if (conf.cache === parent?.cache) {
      conf.cache = null;
    } else {
      conf.store = null;
    }
  }
  if ((conf.cacheUseStale & FailureType.OFF) !== 0) {
    conf.cacheUseStale = FailureType.OFF;
  }
  if ((conf.cacheUseStale & FailureType.ERROR) !== 0) {
    conf.cacheUseStale |= FailureType.NOLIVE;
  }
  conf.cacheMethods |= METHOD.GET | METHOD.HEAD;
  // An `if` goes on with what its location does.
  if (place.nameless) {
    conf.cachePurgeTarget ??= parent?.cachePurgeTarget;
  }
}

/** Checks that the cache exists, and that there is a key; for `link`. */
export function linkCache(family: CacheFamily, conf: Readonly<CacheLinkSettings>, ctx: LinkContext<Request>, place: MergeContext): void {
  const target = conf.cachePurgeTarget;
  const choice = target?.choice ?? conf.cache;
  // What stands in `http` counts where a server takes it over.
  if (choice === null || place.context === In.HTTP) {
    return;
  }
  const pos = mergeErrorPos(place.block);
  if ('zone' in choice && (choice.zone.data as unknown) === undefined) {
    ctx.unknownZone(`"${family}_cache" zone "${choice.zone.name}" is unknown`, choice.zone as ZoneRef<unknown, unknown>, pos);
  }
  if (target !== undefined && conf.pass !== undefined) {
    ctx.fail(`"${family}_cache_purge" directive is incompatible with "${family}_pass"`);
  }
  const keyless = conf.cacheKey === undefined && family !== 'proxy' && target === undefined;
  if (keyless) {
    ctx.warn(`no "${family}_cache_key" for "${family}_cache"`, pos);
  }
}
