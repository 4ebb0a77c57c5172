import { twoDigits } from '../../shared/time/time-format.js';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const DAY_MS = 86_400_000;

const spaced = (n: number): string => String(n).padStart(2);

/** Formats that stand for others. */
const COMPOUND: { readonly [conversion: string]: string } = {
  c: '%a %b %e %H:%M:%S %Y',
  D: '%m/%d/%y',
  F: '%Y-%m-%d',
  r: '%I:%M:%S %p',
  R: '%H:%M',
  T: '%H:%M:%S',
  x: '%m/%d/%y',
  X: '%H:%M:%S',
};

/**
 * Writes a moment (milliseconds since 1970) as C's strftime() does in the C locale. `utc` takes it as UTC, whose zone is
 * called GMT; else it is local time. An unknown conversion stays as it is.
 */
export function strftime(format: string, ms: number, utc: boolean): string {
  const offset = utc ? 0 : -new Date(ms).getTimezoneOffset();
  return render(format, { ms, at: new Date(ms + offset * 60_000), offset, utc });
}

interface Moment {
  readonly ms: number;
  /** The time whose UTC fields are written. */
  readonly at: Date;
  /** Minutes east of UTC. */
  readonly offset: number;
  readonly utc: boolean;
}

function render(format: string, moment: Moment): string {
  return format.replace(/%[EO_^#-]?([A-Za-z%])/g, (text, conversion: string) => {
    const compound = COMPOUND[conversion];
    return compound === undefined ? (field(conversion, moment) ?? text) : render(compound, moment);
  });
}

function field(conversion: string, { ms, at, offset, utc }: Moment): string | undefined {
  const hour = at.getUTCHours();
  const year = at.getUTCFullYear();
  const day = at.getUTCDay();
  switch (conversion) {
    case 'a':
      return DAYS[day]!.slice(0, 3);
    case 'A':
      return DAYS[day]!;
    case 'b':
    case 'h':
      return MONTHS[at.getUTCMonth()]!.slice(0, 3);
    case 'B':
      return MONTHS[at.getUTCMonth()]!;
    case 'C':
      return twoDigits(Math.floor(year / 100));
    case 'd':
      return twoDigits(at.getUTCDate());
    case 'e':
      return spaced(at.getUTCDate());
    case 'g':
      return twoDigits(isoWeek(at).year % 100);
    case 'G':
      return String(isoWeek(at).year);
    case 'H':
      return twoDigits(hour);
    case 'I':
      return twoDigits(hour % 12 || 12);
    case 'j':
      return String(yearDay(at) + 1).padStart(3, '0');
    case 'k':
      return spaced(hour);
    case 'l':
      return spaced(hour % 12 || 12);
    case 'm':
      return twoDigits(at.getUTCMonth() + 1);
    case 'M':
      return twoDigits(at.getUTCMinutes());
    case 'n':
      return '\n';
    case 'p':
      return hour < 12 ? 'AM' : 'PM';
    case 'P':
      return hour < 12 ? 'am' : 'pm';
    case 's':
      return String(Math.floor(ms / 1000));
    case 'S':
      return twoDigits(at.getUTCSeconds());
    case 't':
      return '\t';
    case 'u':
      return String(day || 7);
    case 'U':
      return twoDigits(Math.floor((yearDay(at) + 7 - day) / 7));
    case 'V':
      return twoDigits(isoWeek(at).week);
    case 'w':
      return String(day);
    case 'W':
      return twoDigits(Math.floor((yearDay(at) + 7 - ((day + 6) % 7)) / 7));
    case 'y':
      return twoDigits(year % 100);
    case 'Y':
      return String(year);
    case 'z':
      return `${offset < 0 ? '-' : '+'}${twoDigits(Math.trunc(Math.abs(offset) / 60))}${twoDigits(Math.abs(offset) % 60)}`;
    case 'Z':
      return utc ? 'GMT' : zoneName(ms);
    case '%':
      return '%';
    default:
      return undefined;
  }
}

/** Days since the first of January. */
const yearDay = (at: Date): number => Math.floor((at.getTime() - Date.UTC(at.getUTCFullYear(), 0, 1)) / DAY_MS);

/** ISO 8601's week: it belongs to the year that its Thursday is in. */
function isoWeek(at: Date): { readonly year: number; readonly week: number } {
  const thursday = new Date(at.getTime() + (4 - (at.getUTCDay() || 7)) * DAY_MS);
  return { year: thursday.getUTCFullYear(), week: Math.floor(yearDay(thursday) / 7) + 1 };
}

/** The local zone's abbreviation. Each English locale knows those of its own part of the world. */
function zoneName(ms: number): string {
  let name = '';
  for (const locale of ['en-US', 'en-GB', 'en-AU']) {
    const parts = new Intl.DateTimeFormat(locale, { timeZoneName: 'short' }).formatToParts(ms);
    name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
    if (!/^(GMT|UTC)[+-]/.test(name)) {
      return name;
    }
  }
  return name;
}
