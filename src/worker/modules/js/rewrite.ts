import type { WorkerEnv } from '../../env.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import { requestObject } from '../../js/request-object.js';
import { shownUri } from '../../js/rewrite-uri.js';
import { limited, missing, placeFor } from './location-scripts.js';
import { slot } from './settings.js';

/** The function of a block; an `if` or `limit_except` has that of its location unless it has its own. */
function nameFor(location: LocationRuntime): string | undefined {
  const own = location.conf(slot).rewrite;
  return own === undefined && location.info.kind === 'nameless' && location.parent !== undefined ? nameFor(location.parent) : own;
}

/** What lets a script change where requests go. */
export function rewritePhase(env: WorkerEnv, location: LocationRuntime): PhaseHandler | undefined {
  const name = nameFor(location);
  if (name === undefined) {
    return undefined;
  }
  const conf = location.conf(slot);
  const found = placeFor(conf, env, location).scripts?.find(name);
  if (found === undefined) {
    return (r) => missing(r, name);
  }
  const [run, limit] = limited(conf, env, name, found);
  const where = { in: location, directive: 'js_rewrite' };
  return (r) => {
    if (r.trace !== null) {
      r.trace.add(r, 'rewrite', `js_rewrite calls ${name}`, where, { uri: shownUri(r) });
    }
    return requestObject(r).runPhase('rewrite', run, limit);
  };
}
