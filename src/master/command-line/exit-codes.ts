/** Exit codes of the commands that nginx does not have; `-t`, `-s` and a start have nginx's, 0 and 1. The manual page lists them. */
export const EXIT = {
  OK: 0,
  /** The answer is no: not accepted, nothing found. */
  NO: 1,
  /** The command line makes no sense. */
  USAGE: 2,
  /** No server runs (`sluice status`), as scripts of services have it. */
  NOT_RUNNING: 3,
  /** The configuration cannot be used. sysexits.h: EX_CONFIG. */
  CONFIGURATION: 78,
} as const;
