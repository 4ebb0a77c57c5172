import { INFO } from '../../../shared/log/level.js';
import { passEarlyHints } from '../../http/message/early-hints.js';
import { HeaderKind } from '../response/header-kinds.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Passes a 103 head on to the client; with it, `length` bytes of them were read. nginx: ngx_http_upstream_process_early_hints. */
export function sendEarlyHints(u: UpstreamRequest, length: number): void {
  const { r, conf, head } = u;
  if (!conf.passEarlyHints) {
    return;
  }
  if (length > conf.settings.bufferSize) {
    u.log(INFO, 'upstream sent too big early hints');
    return;
  }
  const fields: string[] = [];
  for (const { kind, name, value } of head.headers) {
    if ((kind & HeaderKind.HIDDEN) === 0) {
      fields.push(name, value);
    }
  }
  passEarlyHints(r, fields);
}
