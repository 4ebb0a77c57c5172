import type { Request } from '../http/request/request.js';
import { trimmed } from '../text/trimmed.js';

/** What follows the location's own path in the URI, without slashes at its ends. */
export function apiPath(r: Request): string {
  const { info } = r.location;
  const prefix = info.kind === 'prefix' || info.kind === 'prefix-final' || info.kind === 'exact' ? info.name : '';
  const rest = prefix !== '' && r.uri.startsWith(prefix) ? r.uri.slice(prefix.length) : (/\/(\d+(?:\/.*)?)$/s.exec(r.uri)?.[1] ?? '');
  return trimmed(rest, (code) => code === 0x2f);
}

/** The first value of an argument of the query, decoded; undefined where it is not given. */
export function queryValue(args: string, name: string): string | undefined {
  return new URLSearchParams(args).get(name) ?? undefined;
}
