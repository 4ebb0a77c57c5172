import type { WorkerEnv } from '../../env.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import { requestObject } from '../../js/request-object.js';
import { DECLINED } from '../../task/codes.js';
import { limited, missing, placeFor } from './location-scripts.js';
import { slot } from './settings.js';

/** What asks a script whether requests come in. nginx: ngx_http_js_access_handler. */
export function accessPhase(env: WorkerEnv, location: LocationRuntime): PhaseHandler | undefined {
  const conf = location.conf(slot);
  if (conf.access === undefined) {
    return undefined;
  }
  const name = conf.access;
  const found = placeFor(conf, env, location).scripts?.find(name);
  if (found === undefined) {
    return (r) => (r === r.main ? missing(r, name) : DECLINED);
  }
  const [run, limit] = limited(conf, env, name, found);
  return (r) => (r === r.main ? requestObject(r).runPhase('access', run, limit) : DECLINED);
}
