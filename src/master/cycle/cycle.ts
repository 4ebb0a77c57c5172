import type { Configuration } from '../../shared/config/configuration.js';
import type { ErrorLog } from '../../shared/log/error-log.js';
import { openErrorLog } from '../../shared/log/error-log-spec.js';
import { EMERG } from '../../shared/log/level.js';
import { LogFiles, openFailure } from '../../shared/log/log-files.js';
import type { ZonePlan } from '../../shared/zone/plan.js';
import { logsToTerminal } from '../processes/terminal.js';
import type { Context } from './context.js';
import { createPaths } from './create-paths.js';
import { type Listeners, openListeners, socketsOf } from './listeners.js';
import { workerUid } from './worker-uid.js';

/** One configuration with what the master holds open for it. nginx: ngx_cycle_t. */
export interface Cycle {
  readonly configuration: Configuration;
  readonly logFiles: LogFiles;
  readonly log: ErrorLog;
  readonly listeners: Listeners;
  /** Where its shared zones are; undefined while a configuration is only tested. */
  readonly zones: ZonePlan | undefined;
}

/** How a cycle is opened. */
export interface CycleOptions {
  /** Sockets that are bound already. */
  readonly held: Listeners;
  readonly previous?: Cycle;
  readonly testing: boolean;
}

/**
 * Opens what a configuration needs: folders, log files, shared state, sockets, in nginx's order. Undefined when something cannot be opened:
 * the log has the reason, and what was opened for it is closed again. nginx: the second half of ngx_init_cycle.
 */
export async function openCycle(configuration: Configuration, { log, zones }: Context, options: CycleOptions): Promise<Cycle | undefined> {
  const logFiles = new LogFiles();
  let plan: ZonePlan | undefined;
  try {
    createPaths([...configuration.tempPaths, ...configuration.cachePaths.map(({ path }) => path)], workerUid(configuration));
    const errorLog = openLogs(configuration, logFiles);
    if (options.previous === undefined) {
      log.use(errorLog, logsToTerminal(configuration));
    }
    if (!options.testing) {
      plan = await zones.prepare(configuration);
    }
    // A socket that is bound only to see whether it can be takes no part in what a running server's get.
    const specs = options.testing ? configuration.listens : socketsOf(configuration);
    const listeners = await openListeners(specs, options.held, log, options.testing);
    if (listeners !== undefined) {
      return { configuration, logFiles, log: errorLog, listeners, zones: plan };
    }
  } catch (error) {
    log.log(EMERG, (error as Error).message);
  }
  logFiles.closeAll();
  zones.retire(plan);
  return undefined;
}

/** Closes the logs of a configuration that is out of use. */
export function closeLogs({ log, logFiles }: Pick<Cycle, 'log' | 'logFiles'>): void {
  for (const target of log.targets) {
    target.close?.();
  }
  logFiles.closeAll();
}

function openLogs(configuration: Configuration, logFiles: LogFiles): ErrorLog {
  const { hosts } = configuration.snapshot;
  const log = openOrExplain('', () => openErrorLog(configuration.errorLogs, logFiles, ({ host }) => hosts[host]?.[0] ?? host));
  logFiles.failures = log;
  for (const path of configuration.logFiles) {
    openOrExplain(path, () => logFiles.open(path));
  }
  return log;
}

function openOrExplain<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw new Error(openFailure((error as { path?: string }).path ?? path, error));
  }
}
