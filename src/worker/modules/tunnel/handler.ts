import { INFO } from '../../../shared/log/level.js';
import { evaluateBackend } from '../../cgi/backend-pass.js';
import type { WorkerEnv } from '../../env.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import { readBody } from '../../http/request/request-body.js';
import { METHOD } from '../../http/syntax/method.js';
import { DONE, type Result } from '../../task/codes.js';
import { completeSettings } from '../../upstream/directives/directives.js';
import type { UpstreamConf } from '../../upstream/exchange/upstream-conf.js';
import { noBackend, startUpstream, UpstreamRequest } from '../../upstream/exchange/upstream-request.js';
import { groupsOf } from '../../upstream/group/groups.js';
import { HeaderKinds } from '../../upstream/response/header-kinds.js';
import type { UpstreamSettings } from '../../upstream/settings/settings.js';
import { TunnelExchange } from './exchange.js';
import type { TunnelPass } from './pass.js';

/** Before the backend in log lines: there is no scheme. */
const NO_SCHEMA = '';

/** Makes the content handler of a location that opens tunnels. nginx: ngx_http_tunnel_handler. */
export function tunnelHandler(
  settings: Readonly<UpstreamSettings>,
  pass: TunnelPass,
  env: WorkerEnv,
  location: LocationRuntime,
): PhaseHandler {
  const conf: UpstreamConf = {
    module: 'tunnel',
    settings: completeSettings({ ...settings, buffering: false }),
    kinds: new HeaderKinds([], [], []),
    passServer: false,
    passDate: false,
    rewriter: undefined,
    changeBuffering: false,
    passInterim: false,
    intercept404: false,
    noLiveStatus: env.compatible ? 502 : 503,
    tls: undefined,
    cache: undefined,
  };
  const { fixed, dynamic } = pass;
  const group = fixed === undefined ? undefined : groupsOf(location.server.http).find(fixed.host, fixed.port, fixed.noPort);
  return (r: Request): Result => {
    if (r.location !== location) {
      return noBackend(r);
    }
    if (r.methodBit !== METHOD.CONNECT) {
      return 405;
    }
    const u = new UpstreamRequest(r, conf, new TunnelExchange());
    u.attach();
    if (dynamic === undefined) {
      u.passTo(NO_SCHEMA, false, group);
    } else {
      const evaluated = evaluateBackend(r, dynamic.eval(r), [], INFO);
      if (evaluated === undefined) {
        return 500;
      }
      u.passToNamed(NO_SCHEMA, false, evaluated.target);
    }
    readBody(r, startUpstream);
    return DONE;
  };
}
