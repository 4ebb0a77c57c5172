/** The latest moment that every client's cookies know. */
export const LATEST_COOKIE_TIME = 'Thu, 31-Dec-37 23:55:55 GMT';

/** The moment in so many seconds from now, as cookies write it: "Sun, 06-Nov-94 08:49:37 GMT". nginx: ngx_http_cookie_time. */
export function cookieTime(seconds: number): string {
  const at = new Date(Date.now() + seconds * 1000);
  const [weekday, day, month, year, clock] = at.toUTCString().split(' ') as [string, string, string, string, string];
  return `${weekday} ${day}-${month}-${Number(year) > 2037 ? year : year.slice(-2)} ${clock} GMT`;
}
