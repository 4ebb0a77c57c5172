import { fstatSync } from 'node:fs';
import type { ErrorLogSpec } from './error-log-spec.js';
import type { LogFiles } from './log-files.js';

/** The log that gets what a crash prints: the first that is a file. Undefined when standard error is itself a log, or no log is a file. */
export function crashLog(errorLogs: readonly ErrorLogSpec[]): string | undefined {
  if (errorLogs.some(({ to }) => to.kind === 'stderr')) {
    return undefined;
  }
  for (const { to } of errorLogs) {
    if (to.kind === 'file') {
      return to.path;
    }
  }
  return undefined;
}

/** True when descriptor 2 leads to that log, as it does in a daemon. */
export function isStandardError(errorLogs: readonly ErrorLogSpec[], files: LogFiles): boolean {
  const path = crashLog(errorLogs);
  return path !== undefined && files.open(path).leadsTo(fstatSync(2));
}

/**
 * Opens that log as descriptor 2, unless it is that already. After a rotation or a reload, what a crash prints then goes to the new file,
 * and the system can free the old one. nginx: ngx_log_redirect_stderr.
 */
export function redirectStandardError(errorLogs: readonly ErrorLogSpec[], files: LogFiles): void {
  const path = crashLog(errorLogs);
  if (path !== undefined && !files.open(path).leadsTo(fstatSync(2))) {
    files.replaceStandardError(path);
  }
}
