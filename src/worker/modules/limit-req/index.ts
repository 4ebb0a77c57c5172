import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { flag } from '../../../shared/config/slots.js';
import { parseZone } from '../../../shared/config/zone-parameter.js';
import type { ZoneRef } from '../../../shared/zone/kind.js';
import { limitDirectives, limitFields } from '../../http/limits/limit-settings.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import { type LimitReqSettings, RETRY_AFTER, STATUS } from './decision.js';
import { limitRequests } from './handler.js';
import { type RateData, type RateZone, rateZone } from './zone.js';

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
/** More than any bucket holds: nothing is delayed. */
const NO_DELAY = Number.MAX_SAFE_INTEGER;

const scope = defineScope<LimitReqSettings>({
  fields: {
    limits: inherit<LimitReqSettings['limits']>([]),
    ...limitFields,
    retryAfter: inherit(false),
  },
  directives: {
    limit_req_zone: { in: In.HTTP, args: [3, 4], set: (_conf, node, ctx) => defineZone(node, ctx) },
    limit_req: {
      in: ANYWHERE,
      args: [1, 2, 3],
      set(conf, node, ctx) {
        const limit = parseLimit(node, ctx);
        if (conf.limits?.some(({ zone }) => zone === limit.zone)) {
          ctx.reject('is duplicate');
        }
        conf.limits = append(conf.limits, limit);
      },
    },
    ...limitDirectives('limit_req'),
    // Ours: a refused request's response says with Retry-After when the next one would be admitted.
    limit_req_retry_after: { in: ANYWHERE, args: 'flag', set: flag('retryAfter') },
  },
});

// nginx: ngx_http_limit_req_zone.
function defineZone(node: DirectiveNode, ctx: Context): void {
  // The fourth one is ours.
  if (node.args.length === 4 && !node.args.includes('sync', 1)) {
    ctx.fail('invalid number of arguments in "limit_req_zone" directive');
  }
  const key = ctx.complex(node.args[0]!);
  let zone: { name: string; bytes: number } | undefined;
  let rate = 1;
  let scale = 1;
  let sync = false;
  for (let i = 1; i < node.args.length; i++) {
    const value = node.args[i]!;
    if (value.startsWith('zone=')) {
      zone = parseZone(ctx, i);
    } else if (value.startsWith('rate=')) {
      const match = /^rate=(\d+)(r\/s|r\/m)?$/.exec(value);
      rate =
        positive(match?.[1]) ??
        ctx.fail(`invalid rate "${value}"`, { arg: i, hint: 'a rate is written as in `rate=10r/s` or `rate=30r/m`' });
      scale = match![2] === 'r/m' ? 60 : 1;
    } else if (value === 'sync' && node.args.length === 4) {
      sync = true;
    } else {
      ctx.fail(`invalid parameter "${value}"`, { arg: i });
    }
  }
  zone = zone?.name === '' ? undefined : zone;
  zone ??= ctx.fail('"limit_req_zone" must have "zone" parameter');
  const known = ctx.zone(rateZone, zone.name);
  const { data } = known as { data: RateData | undefined };
  if (data === undefined || known.bytes !== zone.bytes) {
    ctx.zone(rateZone, zone.name, { bytes: zone.bytes, data: { key, rate: Math.floor((rate * 1000) / scale), sync } });
  } else {
    ctx.fail(`limit_req_zone "${zone.name}" is already bound to key "${data.key.text}"`);
  }
}

// nginx: ngx_http_limit_req.
function parseLimit(node: DirectiveNode, ctx: Context): LimitReqSettings['limits'][number] {
  let zone: ZoneRef<RateZone, RateData> | undefined;
  let burst = 0;
  let delay = 0;
  for (let i = 0; i < node.args.length; i++) {
    const value = node.args[i]!;
    if (value.startsWith('zone=')) {
      zone = ctx.zone(rateZone, value.slice(5));
    } else if (value.startsWith('burst=')) {
      burst = 1000 * (positive(value.slice(6)) ?? ctx.fail(`invalid burst value "${value}"`, { arg: i }));
    } else if (value.startsWith('delay=')) {
      delay = 1000 * (positive(value.slice(6)) ?? ctx.fail(`invalid delay value "${value}"`, { arg: i }));
    } else if (value === 'nodelay') {
      delay = NO_DELAY;
    } else {
      ctx.fail(`invalid parameter "${value}"`, { arg: i });
    }
  }
  return { zone: zone ?? ctx.fail('"limit_req" must have "zone" parameter'), burst, delay };
}

function positive(digits: string | undefined): number | undefined {
  if (digits === undefined || !/^\d+$/.test(digits)) {
    return undefined;
  }
  const n = Number(digits);
  return n > 0 && n <= Number.MAX_SAFE_INTEGER / 1000 ? n : undefined;
}

/** Limits how many requests a second are admitted for each key. nginx: ngx_http_limit_req_module. */
export const limitReqModule = defineModule({
  name: 'limit_req',
  location: scope,
  variables: [
    { name: 'limit_req_status', cacheable: false, get: (r) => STATUS.get(r) },
    { name: 'limit_req_retry_after', cacheable: false, get: (r) => RETRY_AFTER.get(r)?.toString() },
  ],
  phases: { preaccess: (conf, env, { server }) => (conf.limits.length === 0 ? undefined : limitRequests(conf, env, server.http)) },
});
