import { ConfigErrors, type Configuration, type LoadConfiguration, type LoadOptions } from '../../shared/config/configuration.js';
import { ERROR } from '../../shared/log/level.js';
import type { CommandLine } from '../command-line/cli.js';
import type { EarlySignals } from '../processes/early-signals.js';
import type { SpareWorker } from '../processes/spare-worker.js';
import type { MasterLog } from './master-log.js';
import type { MasterZones } from './zones.js';

/** What every part of the master needs to know. */
export interface Context {
  /** `sluice`, or `nginx` when called so. */
  readonly name: string;
  readonly commandLine: CommandLine;
  readonly options: LoadOptions;
  readonly log: MasterLog;
  readonly load: LoadConfiguration;
  readonly zones: MasterZones;
  readonly early: EarlySignals;
  /** A worker that was started ahead. */
  readonly spare: SpareWorker | undefined;
}

/**
 * Loads the configuration and reports what is wrong or odd about it; undefined when it cannot be used. `before`: the configuration in
 * force. `parsed` is called when the text was found right, after the warnings about it and before errors of another kind. `warned`: the
 * process that started this one has told the warnings. `kept`: an earlier configuration is meant, not that of the files.
 */
export async function loadReported(
  { load, options, log }: Context,
  before?: Configuration,
  parsed?: () => void,
  warned = false,
  kept?: Pick<LoadOptions, 'entry' | 'prefix' | 'confPrefix' | 'globals' | 'kept'>,
): Promise<Configuration | undefined> {
  try {
    const configuration = await load({ ...options, ...kept, ...(before === undefined ? {} : { inherited: before.inheritable }) });
    for (const finding of warned ? [] : configuration.warnings) {
      log.report(finding);
    }
    parsed?.();
    return configuration;
  } catch (error) {
    if (!(error instanceof ConfigErrors)) {
      throw error;
    }
    const { findings } = error;
    if (error.parsed) {
      for (const finding of findings) {
        if (finding.level > ERROR) {
          log.report(finding);
        }
      }
      parsed?.();
      for (const finding of findings) {
        if (finding.level <= ERROR) {
          log.report(finding);
        }
      }
    } else {
      for (const finding of findings) {
        log.report(finding);
      }
    }
    return undefined;
  }
}
