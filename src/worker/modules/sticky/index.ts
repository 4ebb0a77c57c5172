import { In } from '../../../shared/config/context.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { parseSize, parseTime } from '../../../shared/config/language/units.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import { groupScope, type UpstreamInfo } from '../../upstream/group/group-config.js';
import { readCookie } from './cookie.js';
import { StickyBalancer } from './picker.js';
import { Sessions } from './sessions.js';
import type { StickySettings } from './settings.js';
import { type SessionZoneRef, stickyZone } from './zone.js';

/** The smallest zone: eight pages. */
const MIN_BYTES = 8 * 4096;
/** Milliseconds after which a session that is not used is forgotten. */
const TIMEOUT = 600_000;

const NOTHING: StickySettings = { lookup: [], create: [], cookie: undefined, zone: undefined, afterHeader: false };

// nginx: ngx_http_upstream_sticky.
function setSticky(node: DirectiveNode, ctx: Context): void {
  const group = ctx.conf(groupScope);
  if (group.affinity !== undefined) {
    ctx.reject('is duplicate');
  }
  const settings = readSticky(node.args, ctx);
  group.affinity = (inner, env) => {
    const { zone } = settings;
    if (zone === undefined) {
      return new StickyBalancer(inner, settings, undefined);
    }
    const opened = env.zones.open(zone);
    if (zone.data.sync) {
      env.replicas?.add(opened);
    }
    return new StickyBalancer(inner, settings, new Sessions(opened, zone.name, env.log));
  };
}

function readSticky(args: readonly string[], ctx: Context): StickySettings {
  switch (args[0]) {
    case 'cookie': {
      const cookie = readCookie(args, ctx);
      return { ...NOTHING, cookie, lookup: [ctx.variables.slot(`cookie_${cookie.name}`, ctx.node.pos)] };
    }
    case 'route':
      return { ...NOTHING, lookup: args.slice(1).map((text, i) => routeVariable(text, i + 1, ctx)) };
    case 'learn':
      return readLearn(args, ctx);
    default:
      return ctx.fail(`unknown parameter "${args[0]}"`, { arg: 0, hint: 'it is cookie, route or learn' });
  }
}

function routeVariable(text: string, arg: number, ctx: Context): number {
  if (!text.startsWith('$')) {
    ctx.fail(`invalid variable name "${text}"`, { arg, hint: `write \`$${text}\`` });
  }
  return slotOf(text.slice(1), arg, ctx);
}

// nginx: ngx_http_get_variable_index.
function slotOf(name: string, arg: number, ctx: Context): number {
  if (name === '') {
    ctx.fail('invalid variable name "$"', { arg });
  }
  return ctx.variables.slot(name, ctx.node.pos);
}

// nginx: ngx_http_upstream_sticky_learn.
function readLearn(args: readonly string[], ctx: Context): StickySettings {
  const lookup: number[] = [];
  const create: number[] = [];
  let zone: { name: string; bytes: number } | undefined;
  let timeout: number | undefined;
  let afterHeader = false;
  let sync = false;
  for (let arg = 1; arg < args.length; arg++) {
    const text = args[arg]!;
    if (text.startsWith('zone=')) {
      if (zone !== undefined) {
        ctx.reject('duplicate zone', { arg });
      }
      zone = readZone(text.slice('zone='.length), arg, ctx);
    } else if (text.startsWith('timeout=')) {
      if (timeout !== undefined) {
        ctx.reject('duplicate timeout', { arg });
      }
      timeout = parseTime(text.slice('timeout='.length), 'ms') || ctx.reject('invalid timeout', { arg });
    } else if (text.startsWith('create=')) {
      create.push(variableOf(text, 'create', arg, ctx));
    } else if (text.startsWith('lookup=')) {
      lookup.push(variableOf(text, 'lookup', arg, ctx));
    } else if (text === 'header') {
      afterHeader = true;
    } else if (text === 'sync') {
      sync = true;
    } else {
      ctx.fail(`unknown parameter "${text}"`, { arg });
    }
  }
  if (lookup.length === 0) {
    ctx.reject('"lookup" parameter is not specified');
  }
  if (create.length === 0) {
    ctx.reject('"create" parameter is not specified');
  }
  if (zone === undefined) {
    return ctx.reject('"zone" parameter is not specified', { hint: 'a zone is written as in `zone=name:1m`' });
  }
  return { ...NOTHING, lookup, create, afterHeader, zone: defineZone(zone.name, zone.bytes, timeout ?? TIMEOUT, sync, ctx) };
}

function variableOf(text: string, key: 'create' | 'lookup', arg: number, ctx: Context): number {
  const value = text.slice(key.length + 1);
  if (!value.startsWith('$')) {
    ctx.reject(`missing variable in the "${key}" parameter`, { arg });
  }
  return slotOf(value.slice(1), arg, ctx);
}

function readZone(text: string, arg: number, ctx: Context): { name: string; bytes: number } {
  const colon = text.indexOf(':');
  const hint = 'a zone is written as in `zone=name:1m`';
  if (colon === -1) {
    ctx.reject('zone size is not specified', { arg, hint });
  }
  if (colon === 0) {
    ctx.reject('zone name is not specified', { arg, hint });
  }
  const bytes = parseSize(text.slice(colon + 1)) ?? ctx.reject('invalid zone size', { arg, hint });
  if (bytes < MIN_BYTES) {
    ctx.reject('zone is too small', { arg, hint: 'it needs at least 32k' });
  }
  return { name: text.slice(0, colon), bytes };
}

function defineZone(name: string, bytes: number, timeout: number, sync: boolean, ctx: Context): SessionZoneRef {
  const known: { readonly bytes: number; readonly data: SessionZoneRef['data'] | undefined } = ctx.zone(stickyZone, name);
  const { data } = known;
  if (data !== undefined && known.bytes === bytes) {
    ctx.fail(`sticky zone "${name}" is already used in upstream "${data.upstream}"`);
  }
  const { name: upstream } = ctx.block.info as UpstreamInfo;
  return ctx.zone(stickyZone, name, { bytes, data: { upstream, timeout, sync } });
}

/** Keeps the requests of a session at one server. nginx: ngx_http_upstream_sticky_module. */
export const stickyModule = defineModule({
  name: 'sticky',
  main: defineScope<object>({
    fields: {},
    directives: {
      sticky: { in: In.UPSTREAM, args: { min: 2 }, set: (_conf, node, ctx) => setSticky(node, ctx) },
    },
  }),
});
