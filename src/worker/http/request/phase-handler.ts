import type { Result } from '../../task/codes.js';
import type { Request } from './request.js';

/** A step of a phase. Returns one of the codes, or a status. */
export type PhaseHandler = (r: Request) => Result;
