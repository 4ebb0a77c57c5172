import type { Configuration } from '../../shared/config/configuration.js';
import { EMERG, NOTICE } from '../../shared/log/level.js';
import { type Context, loadReported } from '../cycle/context.js';
import type { AskedReload, History } from '../history/history.js';

/**
 * Loads what a reload is asked for: the operator's files, or a configuration that served before. Undefined when it cannot be used; the log
 * has the reason. `before`: the configuration in force.
 */
export async function loadAsked(
  context: Context,
  before: Configuration,
  history: History,
  { rollback, by }: AskedReload,
): Promise<Configuration | undefined> {
  if (rollback === undefined) {
    return loadReported(context, before);
  }
  const { log } = context;
  const origin = history.origin(rollback);
  if (origin === undefined) {
    log.log(EMERG, `configuration ${rollback} is not kept in "${history.path}"`);
    return undefined;
  }
  log.log(NOTICE, `going back to configuration ${rollback} as kept in "${history.path}", asked for by ${by}`);
  return loadReported(context, before, undefined, false, origin);
}
