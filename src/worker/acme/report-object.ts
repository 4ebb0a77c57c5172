import { nativeText } from '../../shared/text/native-text.js';
import type { OrderReport } from './acme-zone.js';

/** A moment in milliseconds; null for none. */
const moment = (ms: number): string | null => (ms > 0 ? new Date(ms).toISOString() : null);
/** A report in the form that it has in JSON. */
export function reportObject({ issuer, identifiers, state, notAfter, next, fails, error }: OrderReport): object {
  return {
    issuer: nativeText(issuer),
    identifiers: identifiers.split(' '),
    state,
    expires: moment(notAfter),
    next_attempt: moment(next),
    fails,
    error: error === '' ? null : nativeText(error),
  };
}
