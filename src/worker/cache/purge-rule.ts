import { type Address, parseWritten } from '../../shared/address/address.js';
import type { ComplexValue } from '../../shared/value/complex.js';
import { CidrSet, parseCidr } from '../address/cidr.js';
import { noteReasonText } from '../http/request/error-reason.js';
import { firstTrue } from '../http/request/predicates.js';
import type { Request } from '../http/request/request.js';
import type { Context } from '../module.js';
import type { CacheChoice } from './cache-choice.js';
import { type CacheFamily, cacheZones } from './index-zone.js';

/**
 * Which requests of a cached location purge the entry instead of reading it: nginx's conditions, or the form of FRiCKLE's
 * ngx_cache_purge.
 */
export type PurgeRule = { readonly values: readonly ComplexValue<Request>[] } | MethodRule | null;

/** `*_cache_purge METHOD from ADDRESS ...` of ngx_cache_purge. */
interface MethodRule {
  readonly method: string;
  /** Clients that may; undefined: all. */
  readonly from: CidrSet | undefined;
  /** The line, for `$error_reason`. */
  readonly reason: string;
}

/** `*_cache_purge ZONE KEY` of ngx_cache_purge: a location whose requests do nothing but purge. */
export interface PurgeTarget {
  readonly choice: CacheChoice;
  readonly key: ComplexValue<Request>;
}

/** What {@link testPurge} finds: not a purge, one by nginx's conditions, one of ngx_cache_purge, or one that this client may not make. */
export type PurgeKind = 'no' | 'conditions' | 'method' | 'forbidden';

/**
 * Reads the arguments of `*_cache_purge`. Conditions hold variables, or are the numbers 0 and 1; a first word of another kind is a
 * method, a zone or a switch, as Debian's package of ngx_cache_purge reads it.
 */
export function readPurge(ctx: Context, family: CacheFamily, earlier: PurgeRule | undefined): PurgeRule | PurgeTarget {
  const { args } = ctx.node;
  const [first = '', second] = args;
  if (first === '' || first.includes('$') || /^\d+$/.test(first)) {
    if (earlier !== undefined && (earlier === null || 'method' in earlier)) {
      ctx.reject('is duplicate');
    }
    return { values: [...(earlier?.values ?? []), ...args.map((text) => ctx.complex(text))] };
  }
  if (earlier !== undefined) {
    ctx.reject('is duplicate');
  }
  if (args.length === 2) {
    return { choice: { zone: ctx.zone(cacheZones[family], first) }, key: ctx.complex(second!) };
  }
  if (second !== undefined && second !== 'from') {
    ctx.fail(`invalid parameter "${second}", expected "from" keyword`, { arg: 1 });
  }
  if (first === 'off') {
    return null;
  }
  const reason = `not purged by rule "${ctx.node.name} ${args.join(' ')}" in ${ctx.node.pos.file}:${ctx.node.endLine}`;
  return { method: first === 'on' ? 'PURGE' : first, from: second === undefined ? undefined : readClients(ctx), reason };
}

function readClients(ctx: Context): CidrSet | undefined {
  const clients = ctx.node.args.slice(2);
  if (clients[0] === 'all') {
    return undefined;
  }
  return new CidrSet(
    clients.map((text, i) => {
      const network = parseCidr(text) ?? ctx.fail(`invalid parameter "${text}"`, { arg: i + 2 });
      if (network.lowBits) {
        ctx.warn(`low address bits of ${text} are meaningless`, { arg: i + 2 });
      }
      return network;
    }),
  );
}

/** Whether a request purges. */
export function testPurge(r: Request, rule: PurgeRule): PurgeKind {
  if (rule === null) {
    return 'no';
  }
  if (!('method' in rule)) {
    return rule.values.length > 0 && firstTrue(r, rule.values) !== undefined ? 'conditions' : 'no';
  }
  if (r.method !== rule.method) {
    return 'no';
  }
  if (rule.from === undefined || has(rule.from, parseWritten(r.connection.remoteAddress))) {
    return 'method';
  }
  if (r.http.explains) {
    noteReasonText(r, rule.reason);
  }
  return 'forbidden';
}

const has = (clients: CidrSet, address: Address | undefined): boolean => address !== undefined && clients.has(address);
