/** The variable that marks the process that becomes the daemon. */
export const DAEMON = 'SLUICE_DAEMON';
