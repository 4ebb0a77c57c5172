const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** One moment in the four forms that log lines use, all in local time. */
export interface LocalTimes {
  /** "2026/11/20 09:58:27", the error log's. */
  readonly errorLog: string;
  /** "20/Nov/2026:09:58:27 +0100", `$time_local`. */
  readonly common: string;
  /** "2026-11-20T09:58:27+01:00", `$time_iso8601`. */
  readonly iso8601: string;
  /** "Nov 20 09:58:27", a syslog header's. */
  readonly syslog: string;
}

/** A number of at most two digits in two. */
export const twoDigits = (n: number): string => (n < 10 ? `0${n}` : `${n}`);

/**
 * Renders the moment `ms` (milliseconds since 1970) with the zone offset in force at that moment, so that lines on both sides of a change
 * of daylight saving time are right. nginx: ngx_time_update.
 */
export function localTimes(ms: number): LocalTimes {
  const at = new Date(ms);
  const offset = -at.getTimezoneOffset();
  const sign = offset < 0 ? '-' : '+';
  const zoneHours = twoDigits(Math.trunc(Math.abs(offset) / 60));
  const zoneMinutes = twoDigits(Math.abs(offset) % 60);
  const year = `${at.getFullYear()}`.padStart(4, '0');
  const month = twoDigits(at.getMonth() + 1);
  const monthName = MONTHS[at.getMonth()];
  const day = twoDigits(at.getDate());
  const clock = `${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}:${twoDigits(at.getSeconds())}`;
  return {
    errorLog: `${year}/${month}/${day} ${clock}`,
    common: `${day}/${monthName}/${year}:${clock} ${sign}${zoneHours}${zoneMinutes}`,
    iso8601: `${year}-${month}-${day}T${clock}${sign}${zoneHours}:${zoneMinutes}`,
    syslog: `${monthName} ${`${at.getDate()}`.padStart(2)} ${clock}`,
  };
}

let cachedSecond = -1;
let cached: LocalTimes = localTimes(0);

/** The present moment in all four forms; rendered once a second. */
export function nowLocal(): LocalTimes {
  const ms = Date.now();
  const second = Math.floor(ms / 1000);
  if (second !== cachedSecond) {
    cachedSecond = second;
    cached = localTimes(ms);
  }
  return cached;
}

/** `$time_local` now: "20/Nov/2026:09:58:27 +0100". */
export const timeLocal = (): string => nowLocal().common;

/** `$time_iso8601` now: "2026-11-20T09:58:27+01:00". */
export const timeIso8601 = (): string => nowLocal().iso8601;
