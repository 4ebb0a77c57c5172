import { ERROR } from '../../../shared/log/level.js';
import { HeaderSlot } from '../../http/syntax/header-names.js';
import { HEAD_INVALID, HEAD_OK } from '../response/head-codes.js';
import type { UpstreamRequest } from './upstream-request.js';

/**
 * The backend's head has status 101. Unless the client asked for another protocol, that is no answer, though nginx passes it on. Returns
 * the code for the head.
 */
export function switchProtocols(u: UpstreamRequest): number {
  u.keepConnection(false);
  if (!u.r.head.has(HeaderSlot.upgrade)) {
    if (u.r.http.env.compatible) {
      return HEAD_OK;
    }
    u.log(ERROR, 'upstream switched protocols without being asked to');
    return HEAD_INVALID;
  }
  u.switchProtocols();
  return HEAD_OK;
}
