import { jsKind } from '../../../shared/zone/meter-kinds.js';
import type { WorkerEnv } from '../../env.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import type { Request } from '../../http/request/request.js';
import { openGlobals } from '../../js/handlers/fetch-handler.js';
import { HandlerStats } from '../../js/handlers/handler-stats.js';
import type { Watchdog } from '../../js/handlers/watchdog.js';
import type { WaitLimit } from '../../js/request-object.js';
import { functionMissing, installScripts, type ScriptPlace } from '../../js/script-place.js';
import type { ScriptFunction } from '../../js/scripts.js';
import type { Result } from '../../task/codes.js';
import type { JsSettings } from './settings.js';

/** What scripts are at a location. */
export function placeFor(conf: Readonly<JsSettings>, env: WorkerEnv, location: LocationRuntime): ScriptPlace {
  openGlobals();
  return installScripts(location, conf, env, 'http');
}

/** Says that a function is missing, which costs the request. */
export function missing(r: Request, name: string): Result {
  functionMissing(r, name);
  return 500;
}

/** What ends a worker that a handler holds, where `js_block_timeout` is set. */
export const watchdogs = new WeakMap<WorkerEnv, Watchdog>();

/** The counters of a handler. */
export const statsOf = (env: WorkerEnv, name: string): HandlerStats =>
  new HandlerStats(name, env.zones.counters.meters.meter(jsKind, name), watchdogs.get(env));

/** A function with its runs counted, and how long it may keep its client waiting. */
export function limited(conf: Readonly<JsSettings>, env: WorkerEnv, name: string, found: ScriptFunction): [ScriptFunction, WaitLimit] {
  const stats = statsOf(env, name);
  return [stats.counted(found), { name, timeout: conf.timeout, timedOut: () => stats.timedOut() }];
}
