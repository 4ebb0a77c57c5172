import type { Result, Status } from '../../task/codes.js';
import type { Request } from './request.js';

/** Answers with a redirect: sets Location and returns the status. The location may be a path of this server. */
export function sendRedirect(r: Request, status: Status, location: string): Result {
  r.out.location = location;
  return status;
}
