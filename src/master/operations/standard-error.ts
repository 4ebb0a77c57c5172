import { redirectStandardError } from '../../shared/log/standard-error.js';
import type { Master } from './master.js';

/** Puts the error log of the configuration in force onto the master's descriptor 2, where that belongs to the log. */
export function followErrorLog({ standardError, cycle }: Master): void {
  if (standardError) {
    redirectStandardError(cycle.configuration.errorLogs, cycle.logFiles);
  }
}
