import type { Request } from '../http/request/request.js';

const made = new WeakSet<Request>();

/** Says that a script has begun a subrequest. */
export const markScriptSubrequest = (sr: Request): void => void made.add(sr);

/** Whether a script's `r.subrequest()` has begun it: such a script wants to know what a client would get there. */
export const isScriptSubrequest = (r: Request): boolean => made.has(r);
