/** Severity of an error log line, from 1 (emerg) to 8 (debug): the lower, the graver. nginx: NGX_LOG_EMERG ... NGX_LOG_DEBUG. */
export type Level = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

export const EMERG = 1;
export const ALERT = 2;
export const CRIT = 3;
export const ERROR = 4;
export const WARN = 5;
export const NOTICE = 6;
export const INFO = 7;
export const DEBUG = 8;

/** Names by level, as the configuration and the log lines spell them; index 0 is unused. */
export const levelNames = ['', 'emerg', 'alert', 'crit', 'error', 'warn', 'notice', 'info', 'debug'] as const;

/** The level that a configuration names, or undefined when there is none of that name. */
export function levelByName(name: string): Level | undefined {
  const level = levelNames.indexOf(name as (typeof levelNames)[number]);
  return level > 0 ? (level as Level) : undefined;
}
