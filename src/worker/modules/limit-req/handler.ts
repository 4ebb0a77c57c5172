import type { WorkerEnv } from '../../env.js';
import type { HttpRuntime } from '../../http/request/http-runtime.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import { AGAIN, DECLINED } from '../../task/codes.js';
import { runtimePart } from '../../task/protocol-runtime.js';
import { Decision, type LimitReqSettings, RequestLimits, STATUS } from './decision.js';
import { FleetDecision, FleetLimits } from './fleet-decision.js';
import { FleetRates } from './fleet-rates.js';

/** Longer keys are not counted. */
const MAX_KEY = 65535;

/** The way of a block's limits to the store; undefined until one needs it. */
const fleetOf = runtimePart<{ rates: FleetRates | undefined }>(() => ({ rates: undefined }));

/** Builds the handler of a location that has limits. nginx: ngx_http_limit_req_handler. */
export function limitRequests(conf: Readonly<LimitReqSettings>, env: WorkerEnv, http: HttpRuntime): PhaseHandler {
  if (env.store !== undefined && conf.limits.some(({ zone }) => zone.data.sync)) {
    const fleet = fleetOf(http);
    fleet.rates ??= new FleetRates(env.store);
    return limitByFleet(new FleetLimits(conf, env, http.meters, fleet.rates));
  }
  const location = new RequestLimits(conf, env, http.meters);
  return (r) => {
    if (STATUS.get(r) !== undefined) {
      return DECLINED;
    }
    const values = location.keysOf(r, MAX_KEY);
    if (values === undefined) {
      return DECLINED;
    }
    location.scope.submit(new Decision(r, location, values));
    return AGAIN;
  };
}

/** The handler of a location where machines count together. */
function limitByFleet(location: FleetLimits): PhaseHandler {
  return (r) => {
    if (STATUS.get(r) !== undefined) {
      return DECLINED;
    }
    const values = location.keysOf(r, MAX_KEY);
    if (values === undefined) {
      return DECLINED;
    }
    new FleetDecision(r, location, values).begin();
    return AGAIN;
  };
}
