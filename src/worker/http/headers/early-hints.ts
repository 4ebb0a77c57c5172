import type { ComplexValue } from '../../../shared/value/complex.js';
import { LocationSlot } from '../../task/settings-slot.js';
import { firstTrue } from '../request/predicates.js';
import type { Request } from '../request/request.js';

/** When 103 responses of backends are passed on: where one of these is true. */
export const earlyHintsSlot = new LocationSlot<{ readonly earlyHints: readonly ComplexValue<Request>[] }>();

/** Sends a 103 head with the fields given, name and value by turns, where `early_hints` says so. nginx: ngx_http_send_early_hints. */
export function passEarlyHints(r: Request, fields: readonly string[]): void {
  const conditions = r.location.conf(earlyHintsSlot).earlyHints;
  if (r !== r.main || conditions.length === 0 || fields.length === 0 || r.headerSent) {
    return;
  }
  if (firstTrue(r, conditions) !== undefined) {
    r.clientExchange.sendInformational(r, 103, fields);
  }
}
