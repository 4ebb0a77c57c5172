import { INFO } from '../../../shared/log/level.js';
import { CONNECTION_FIELDS } from '../../http/fields/connection-fields.js';
import { passEarlyHints } from '../../http/headers/early-hints.js';
import { HeaderKind } from '../response/header-kinds.js';
import type { UpstreamRequest } from './upstream-request.js';

const CONTINUE = 100;
const EARLY_HINTS = 103;

/**
 * Passes an interim head on to the client, if that may be; `length` bytes of such heads were read. A 100 is the server's own business:
 * it tells the client itself when to send the body. nginx: ngx_http_upstream_process_early_hints.
 */
export function passInterim(u: UpstreamRequest, length: number): void {
  const { r, conf, head } = u;
  const { status } = head;
  if (!conf.passInterim || status === CONTINUE) {
    return;
  }
  if (length > conf.settings.bufferSize) {
    u.log(INFO, status === EARLY_HINTS ? 'upstream sent too big early hints' : 'upstream sent too big interim responses');
    return;
  }
  const fields: string[] = [];
  for (const { kind, lower, name, value } of head.headers) {
    if ((kind & HeaderKind.HIDDEN) === 0 && kind !== HeaderKind.CONTENT_LENGTH && !CONNECTION_FIELDS.has(lower)) {
      fields.push(name, value);
    }
  }
  if (status === EARLY_HINTS) {
    passEarlyHints(r, fields);
  } else if (r === r.main && !r.headerSent) {
    r.clientExchange.sendInformational(r, status, fields);
  }
}
