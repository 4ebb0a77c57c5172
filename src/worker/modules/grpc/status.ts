import type { Request } from '../../http/request/request.js';
import { upstreamOf } from '../../upstream/exchange/upstream-request.js';

/** `$grpc_status`: how a call ended, as the server says in its trailers, or in its head where that is all of the answer. */
export function grpcStatus(r: Request): string | undefined {
  const u = upstreamOf(r);
  if (u === null) {
    return undefined;
  }
  const { trailers } = u.head;
  for (let i = 0; i < trailers.length; i += 3) {
    if (trailers[i + 1] === 'grpc-status') {
      return trailers[i + 2];
    }
  }
  return u.head.joined('grpc-status');
}
