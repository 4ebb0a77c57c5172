import type { Request } from '../http/request.js';
import type { Result } from './codes.js';

/** A step of a phase. Returns one of the codes, or a status. */
export type PhaseHandler = (r: Request) => Result;
