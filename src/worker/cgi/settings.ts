import { append } from '../../shared/collection/append.js';
import { In } from '../../shared/config/context.js';
import { type Directive, inherit, type LinkContext, type MergeContext, own, type SettingField } from '../../shared/config/define.js';
import { mergeErrorPos } from '../../shared/config/errors.js';
import { bits } from '../../shared/config/slots.js';
import { cacheDirectives, cacheFields, finishCache, linkCache } from '../cache/directives.js';
import type { CacheSettings } from '../cache/settings.js';
import type { Request } from '../http/request/request.js';
import { finishUpstream, linkUpstream, upstreamDirectives, upstreamFields } from '../upstream/directives/directives.js';
import { cgiNextUpstreamWords } from '../upstream/settings/failure.js';
import type { UpstreamSettings } from '../upstream/settings/settings.js';
import { type BackendPass, type BackendScheme, readBackendPass } from './backend-pass.js';
import { nameDefaultVariables, type ParamSource, readParam } from './params.js';

/** The protocols of application servers. */
export type CgiFamily = 'fastcgi' | 'uwsgi' | 'scgi';

/** The settings that they share. */
export interface CgiSettings extends UpstreamSettings, CacheSettings {
  pass: BackendPass | undefined;
  params: readonly ParamSource[];
}

type Row = Directive<CgiSettings, Request>;

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

/** The defaults of the shared settings, and how inner blocks take them over. */
export const cgiFields: { readonly [K in keyof CgiSettings]: SettingField<CgiSettings[K]> } = {
  ...upstreamFields,
  ...cacheFields,
  pass: own<BackendPass | undefined>(undefined),
  params: inherit<readonly ParamSource[]>([]),
};

/** The directives they share, under one protocol's prefix. One of `schemes` may stand before an address. */
export function cgiDirectives(family: CgiFamily, schemes: readonly BackendScheme[] = []): { readonly [name: string]: Row } {
  return {
    ...upstreamDirectives(family),
    ...cacheDirectives(family),
    [`${family}_next_upstream`]: { in: ANYWHERE, args: { min: 1 }, set: bits('nextUpstream', cgiNextUpstreamWords) },
    [`${family}_cache_use_stale`]: { in: ANYWHERE, args: { min: 1 }, set: bits('cacheUseStale', cgiNextUpstreamWords) },
    [`${family}_pass`]: {
      in: In.LOCATION | In.LOCATION_IF,
      args: 1,
      set(conf, _node, ctx) {
        if (conf.pass !== undefined) {
          ctx.reject('is duplicate');
        }
        nameDefaultVariables(ctx.variables);
        conf.pass = readBackendPass(ctx, family, schemes);
      },
    },
    [`${family}_param`]: {
      in: ANYWHERE,
      args: [2, 3],
      set(conf, _node, ctx) {
        conf.params = append(conf.params, readParam(ctx));
      },
    },
  };
}

/** Completes the settings of a block; for `finish`. */
export function finishCgi(family: CgiFamily, conf: CgiSettings, parent: Readonly<CgiSettings> | undefined, place: MergeContext): void {
  finishUpstream(family, conf, place);
  finishCache(conf, parent, place);
  // `if` goes on with its location's backend. nginx: the noname part of ngx_http_fastcgi_merge_loc_conf.
  if (place.nameless && conf.pass === undefined && parent !== undefined) {
    conf.pass = parent.pass;
  }
}

/** Checks the settings of a block; for `link`. */
export function linkCgi(family: CgiFamily, conf: Readonly<CgiSettings>, ctx: LinkContext<Request>, place: MergeContext): void {
  linkUpstream(family, conf, ctx, place);
  linkCache(family, conf, ctx, place);
  for (const { value } of conf.params) {
    value.compile(ctx, place);
  }
  if (place.context !== In.HTTP && conf.cache !== null && conf.cacheKey === undefined) {
    ctx.warn(`no "${family}_cache_key" for "${family}_cache"`, mergeErrorPos(place.block));
  }
}
