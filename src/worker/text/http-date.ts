import { setTimer } from '../../shared/time/timer.js';

/** A moment, in milliseconds since 1970, as HTTP writes it: "Sun, 06 Nov 1994 08:49:37 GMT". nginx: ngx_http_time. */
export const httpDate = (ms: number): string => new Date(ms).toUTCString();

/** The present second's date; empty until somebody asks. */
let cached = '';

/** The present moment as HTTP writes it; the clock is asked once a second, if at all. nginx: ngx_cached_http_time. */
export function currentHttpDate(): string {
  if (cached === '') {
    const ms = Date.now();
    cached = httpDate(ms);
    // A timer that is early finds the second that is about to end.
    setTimer(forget, 1000 - (ms % 1000)).unref();
  }
  return cached;
}

function forget(): void {
  cached = '';
}

// After the name of the day. What follows the seconds (the zone) is not looked at.
const rfc822 = /^(\d\d) (.{3}) (\d{4}) (\d\d):(\d\d):(\d\d)/;
const rfc850 = /^(\d\d)-(.{3})-(\d\d) (\d\d):(\d\d):(\d\d)/;
const asctime = /^(.{3}).( ?\d\d?) (\d\d):(\d\d):(\d\d) (\d{4})/;

const DAYS_OF_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Reads a date in one of HTTP's three forms. Returns seconds since 1970, or -1 for a text that is none of them.
 * nginx: ngx_parse_http_time.
 */
export function parseHttpDate(text: string): number {
  const separator = text.search(/[ ,]/);
  if (separator === -1) {
    return -1;
  }
  const rest = text.slice(separator + 1).replace(/^ +/, '');
  if (rest.length < 18) {
    return -1;
  }
  if (text[separator] === ' ') {
    const found = asctime.exec(rest);
    return found === null ? -1 : seconds(found[6]!, found[1]!, found[2]!, found[3]!, found[4]!, found[5]!);
  }
  let found = rfc822.exec(rest);
  if (found !== null) {
    return seconds(found[3]!, found[2]!, found[1]!, found[4]!, found[5]!, found[6]!);
  }
  found = rfc850.exec(rest);
  if (found === null) {
    return -1;
  }
  const year = found[3]! < '70' ? `20${found[3]}` : `19${found[3]}`;
  return seconds(year, found[2]!, found[1]!, found[4]!, found[5]!, found[6]!);
}

function seconds(yearText: string, monthText: string, dayText: string, hour: string, minute: string, second: string): number {
  const year = Number(yearText);
  const month = monthOf(monthText);
  const day = Number(dayText);
  if (month === -1 || hour > '23' || minute > '59' || second > '59') {
    return -1;
  }
  if (day === 29 && month === 1) {
    if (year % 4 !== 0 || (year % 100 === 0 && year % 400 !== 0)) {
      return -1;
    }
  } else if (day > DAYS_OF_MONTH[month]!) {
    return -1;
  }
  const moment = new Date(0);
  moment.setUTCFullYear(year, month, day);
  return Math.floor(moment.getTime() / 1000) + Number(hour) * 3600 + Number(minute) * 60 + Number(second);
}

/** Tells a month by as many letters as it takes, which is what nginx looks at. */
function monthOf(name: string): number {
  switch (name[0]) {
    case 'J':
      return name[1] === 'a' ? 0 : name[2] === 'n' ? 5 : 6;
    case 'F':
      return 1;
    case 'M':
      return name[2] === 'r' ? 2 : 4;
    case 'A':
      return name[1] === 'p' ? 3 : 7;
    case 'S':
      return 8;
    case 'O':
      return 9;
    case 'N':
      return 10;
    case 'D':
      return 11;
    default:
      return -1;
  }
}
