import type { Block } from '../../../shared/config/block.js';
import { In } from '../../../shared/config/context.js';
import { type LinkContext, own } from '../../../shared/config/define.js';
import { parseTime } from '../../../shared/config/language/units.js';
import type { WorkerEnv } from '../../env.js';
import type { HttpRuntime, LocationRuntime } from '../../http/request/http-runtime.js';
import type { LocationInfo } from '../../http/request/location-info.js';
import type { Request } from '../../http/request/request.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import { backendsOf } from '../../upstream/exchange/location-backend.js';
import type { UpstreamGroup } from '../../upstream/group/group.js';
import { groupScope, type UpstreamInfo } from '../../upstream/group/group-config.js';
import { checksOf, HEALTH_BYTES, HEALTH_ZONE, healthZone } from '../../upstream/group/health-zone.js';
import { GroupChecks } from './group-checks.js';
import { Match, usualMatch } from './match.js';
import type { CheckSettings } from './settings.js';

const matches = defineScope<{ all: ReadonlyMap<string, Match> }>({
  fields: { all: own<ReadonlyMap<string, Match>>(new Map()) },
  directives: {
    // NGINX Plus. Syntax: match name { ... }
    match: {
      in: In.HTTP,
      args: 1,
      block: 'entries',
      set(conf, node, ctx) {
        const name = node.args[0]!;
        if (conf.all?.has(name)) {
          ctx.fail(`duplicate match "${name}"`, { arg: 0 });
        }
        const match = new Match();
        ctx.entries(node, (line, lineCtx) => match.read(line, lineCtx));
        conf.all = new Map([...(conf.all ?? []), [name, match]]);
      },
    },
  },
});

const checks = defineScope<{ all: readonly CheckSettings[] }>({
  fields: { all: own<readonly CheckSettings[]>([]) },
  directives: {
    // NGINX Plus. Syntax: health_check [parameters];
    health_check: {
      in: In.LOCATION,
      args: 'any',
      set(conf, _node, ctx) {
        conf.all = [...(conf.all ?? []), readCheck(ctx)];
      },
    },
  },
  link(conf, ctx, { block }) {
    if (conf.all.length > 0) {
      linkChecks(conf.all, ctx, block);
    }
  },
});

function readCheck(ctx: Context): CheckSettings {
  const check: { -readonly [K in keyof CheckSettings]: CheckSettings[K] } = {
    interval: 5000,
    jitter: 0,
    fails: 1,
    passes: 1,
    uri: '/',
    match: '',
    mandatory: false,
    persistent: false,
    port: 0,
    keepaliveTime: 0,
    zone: ctx.zone(healthZone, HEALTH_ZONE, { bytes: HEALTH_BYTES, data: undefined }),
  };
  ctx.node.args.forEach((text, arg) => {
    const invalid = (): never => ctx.fail(`invalid parameter "${text}"`, { arg });
    const equals = text.indexOf('=');
    const value = text.slice(equals + 1);
    const count = (): number => (/^[1-9]\d{0,8}$/.test(value) ? Number(value) : invalid());
    const time = (): number => parseTime(value, 'ms') ?? invalid();
    switch (equals === -1 ? text : text.slice(0, equals + 1)) {
      case 'interval=':
        check.interval = time() || invalid();
        break;
      case 'jitter=':
        check.jitter = time();
        break;
      case 'fails=':
        check.fails = count();
        break;
      case 'passes=':
        check.passes = count();
        break;
      case 'uri=':
        if (!value.startsWith('/')) {
          invalid();
        }
        check.uri = value;
        break;
      case 'match=':
        check.match = value || invalid();
        break;
      case 'port=':
        check.port = count() > 65535 ? invalid() : count();
        break;
      case 'keepalive_time=':
        check.keepaliveTime = time();
        break;
      case 'type=':
        if (value !== 'http') {
          ctx.fail(`unsupported type of health checks "${value}"`, { arg });
        }
        break;
      case 'mandatory':
        check.mandatory = true;
        break;
      case 'persistent':
        if (ctx.node.args[arg - 1] !== 'mandatory') {
          invalid();
        }
        check.persistent = true;
        break;
      default:
        invalid();
    }
  });
  return check;
}

function linkChecks(all: readonly CheckSettings[], ctx: LinkContext<Request>, block: Block): void {
  const { backend } = block.info as LocationInfo;
  if (backend === undefined) {
    ctx.fail('"health_check" requires a "proxy_pass" without variables in the same location', block.node?.pos);
  }
  let http = block;
  while (http.parent !== undefined && http.context !== In.HTTP) {
    http = http.parent;
  }
  const name = backend.host.toLowerCase();
  const group = http.children.find(({ context, info }) => context === In.UPSTREAM && (info as UpstreamInfo).name.toLowerCase() === name);
  if (group === undefined || ctx.settings(groupScope, group).zone === undefined) {
    ctx.fail(`"health_check" requires upstream "${backend.host}" to be in shared memory`, block.node?.pos);
  }
  for (const { match } of all) {
    if (match !== '' && !ctx.settings(matches, http).all.has(match)) {
      ctx.fail(`match "${match}" is not defined`, block.node?.pos);
    }
  }
}

/** Prepares the checks of a location. They begin once the whole configuration is made, and end when the worker leaves. */
function install(all: readonly CheckSettings[], location: LocationRuntime, env: WorkerEnv): void {
  const { http } = location.server;
  setImmediate(() => {
    const backend = backendsOf(http).get(location)!;
    for (const settings of all) {
      const test = settings.match === '' ? usualMatch : http.mainSettings(matches).all.get(settings.match)!;
      groupChecks(http, backend.group, settings, env).add({ settings, location, backend, test });
    }
  });
}

/** The checks of a group, which several locations may ask for. */
function groupChecks(http: HttpRuntime, group: UpstreamGroup, { zone }: CheckSettings, env: WorkerEnv): GroupChecks {
  const known = checksOf(http).get(group);
  if (known !== undefined) {
    return known as GroupChecks;
  }
  const made = new GroupChecks(group, env.zones.open(zone), env);
  checksOf(http).set(group, made);
  env.onDrain(() => made.stop());
  setImmediate(() => made.start());
  return made;
}

/** Asks backends, of the server's own accord, whether they are well. */
export const healthCheckModule = defineModule({
  name: 'health_check',
  main: matches,
  location: checks,
  installLocation(conf, location, env) {
    if (conf.all.length > 0) {
      install(conf.all, location, env);
    }
  },
});
