import { HeaderSlot, type KnownHeader } from './header-names.js';
import type { RequestHead } from './request-head.js';

/** What the error log says of a header line that may stand once, and came again: the head's latest. */
export function duplicateText({ headers, names }: RequestHead, known: KnownHeader, value: string): string {
  const first = names.indexOf(known.lower) * 2;
  const what = known.slot === HeaderSlot.host ? 'host header' : 'header line';
  const name = headers[headers.length - 2];
  return `client sent duplicate ${what}: "${name}: ${value}", previous value: "${headers[first]}: ${headers[first + 1]}"`;
}
