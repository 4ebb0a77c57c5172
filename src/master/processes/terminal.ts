import type { Configuration } from '../../shared/config/configuration.js';

/** True when lines of the error log reach the terminal as they are. */
export function logsToTerminal({ errorLogs }: Configuration): boolean {
  return errorLogs.some(({ to }) => to.kind === 'stderr');
}
