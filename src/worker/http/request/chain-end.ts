import { OK } from '../../task/codes.js';
import type { BodyStage } from './body-stage.js';
import type { Request } from './request.js';

/** The end of a client request's chain: the connection. */
const wire: BodyStage = {
  send(r, chunk, last) {
    if (last) {
      r.source = null;
    }
    r.clientExchange.send(r, chunk, last);
  },
  sendLent(r, bytes, start, end, last) {
    if (last) {
      r.source = null;
    }
    r.clientExchange.sendLent(r, bytes, start, end, last);
  },
};

/** The end of a subrequest whose body nobody wants. */
const drop: BodyStage = {
  send(r, _chunk, last) {
    if (!last) {
      r.more();
      return;
    }
    r.source = null;
    r.finalize(OK);
  },
};

/** Where the body of a request ends up. */
export function chainEnd(r: Request): BodyStage {
  if (r === r.main) {
    return wire;
  }
  return r.child!.sink ?? drop;
}
