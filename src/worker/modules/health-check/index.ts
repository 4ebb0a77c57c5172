import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { own } from '../../../shared/config/define.js';
import type { WorkerEnv } from '../../env.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { LocationInfo } from '../../http/request/location-info.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import { backendSlot } from '../../upstream/exchange/location-backend.js';
import { groupChecks } from '../../upstream/health/group-checks.js';
import { matchScope } from '../../upstream/health/match-scope.js';
import { linkChecks, readCheckSettings } from '../../upstream/health/settings.js';
import { HttpCheck } from './http-check.js';
import { Http2Check } from './http2-check.js';
import { Match, usualMatch } from './match.js';
import type { HttpCheckSettings } from './settings.js';

const matches = matchScope(In.HTTP, () => new Match());

const checks = defineScope<{ all: readonly HttpCheckSettings[] }>({
  fields: { all: own<readonly HttpCheckSettings[]>([]) },
  directives: {
    // NGINX Plus. Syntax: health_check [parameters];
    health_check: {
      in: In.LOCATION,
      args: 'any',
      set(conf, _node, ctx) {
        conf.all = append(conf.all, readCheck(ctx));
      },
    },
  },
  link(conf, ctx, { block }) {
    if (conf.all.length > 0) {
      const { backend, grpc = false } = block.info as LocationInfo;
      if (backend !== undefined && conf.all.some((check) => (check.grpc !== undefined) !== grpc)) {
        ctx.fail('"health_check" requires "type=grpc" where there is a "grpc_pass", and only there', block.node?.pos);
      }
      linkChecks(conf.all, ctx, block, backend, (http, match) => ctx.settings(matches, http).all.has(match));
    }
  },
});

function readCheck(ctx: Context): HttpCheckSettings {
  let uri = '/';
  let keepaliveTime = 0;
  let grpc: HttpCheckSettings['grpc'];
  const check = readCheckSettings(ctx, ({ name, value, arg, invalid, count, time }) => {
    switch (name) {
      case 'uri=':
        uri = value.startsWith('/') ? value : invalid();
        break;
      case 'keepalive_time=':
        keepaliveTime = time();
        break;
      case 'type=':
        if (value === 'grpc') {
          if (uri !== '/' || ctx.node.args.slice(0, arg).some((text) => text.startsWith('match='))) {
            ctx.fail('"type=grpc" is not compatible with "uri" and "match"', { arg });
          }
          grpc = { service: '', status: 0 };
        } else if (value !== 'http') {
          ctx.fail(`unsupported type of health checks "${value}"`, { arg });
        }
        break;
      case 'grpc_service=':
        grpc = { ...(grpc ?? invalid()), service: Buffer.byteLength(value) > 127 ? invalid() : value };
        break;
      case 'grpc_status=':
        grpc = { ...(grpc ?? invalid()), status: count() };
        break;
      default:
        return false;
    }
    return true;
  });
  return { ...check, uri, keepaliveTime, grpc };
}

/** Prepares the checks of a location, whose backends are known once the whole configuration is made. */
function install(all: readonly HttpCheckSettings[], location: LocationRuntime, env: WorkerEnv): void {
  const { http } = location.server;
  setImmediate(() => {
    const backend = location.conf(backendSlot)!;
    for (const settings of all) {
      const test = settings.match === '' ? usualMatch : http.mainSettings(matches).all.get(settings.match)!;
      const plan = { settings, location, backend, test };
      const Check = backend.askByHttp2 === undefined ? HttpCheck : Http2Check;
      groupChecks(http, backend.group, settings.zone, backend.group.name, env).add({
        settings,
        check: (peer, verdict, result) => new Check(plan, peer, verdict, result),
      });
    }
  });
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
