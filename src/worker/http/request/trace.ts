import type { Pos } from '../../../shared/config/language/ast.js';
import type { LocationRuntime } from './http-runtime.js';
import type { Request } from './request.js';

/** What a step of a trace is about. Whoever shows a trace chooses by it. */
export type TraceKind =
  | 'server'
  | 'location'
  | 'rewrite'
  | 'variable'
  | 'access'
  | 'limit'
  | 'file'
  | 'redirect'
  | 'subrequest'
  | 'cache'
  | 'upstream'
  | 'backend-request'
  | 'backend-response'
  | 'answer'
  | 'header'
  | 'lost-header'
  | 'log'
  | 'error'
  | 'end';

/** Where a step's reason is written: a place, or the directive that is in force in a location. */
export type TraceWhere = Pos | TraceDirective | undefined;

/** The last directive of a name in a location's block, or in the next block around it that has one. */
export interface TraceDirective {
  readonly in: LocationRuntime;
  /** Undefined: the line that opens the block. */
  readonly directive?: string | undefined;
  /** Chooses among several of that name by the first argument. */
  readonly first?: string | undefined;
}

/** One decision of the engine. */
export interface TraceStep {
  readonly kind: TraceKind;
  /** A sentence, latin1. */
  readonly text: string;
  /** Milliseconds since the request began. */
  readonly ms: number;
  /** How deep the subrequest is whose step this is; 0: the client's own request. */
  readonly depth: number;
  readonly where: TraceWhere;
  /** The step for programs. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Decides which requests are traced, and takes the traces. */
export interface Tracer {
  /** A request's head is complete: sets its {@link Request.trace} where one is wanted. */
  begin(r: Request): void;
}

/** A request that loops adds steps until it is stopped; what comes after so many is only counted. */
const MOST_STEPS = 2000;
const NO_DATA = {};

/**
 * What the engine decided for one request and its subrequests. Nearly all requests have none, so that a caller asks `r.trace !== null`
 * before it puts a text together.
 */
export class Trace {
  readonly steps: TraceStep[] = [];
  /** Steps that there was no room for. */
  dropped = 0;

  add(r: Request, kind: TraceKind, text: string, where?: TraceWhere, data: TraceStep['data'] = NO_DATA): void {
    if (this.steps.length >= MOST_STEPS) {
      this.dropped++;
      return;
    }
    let depth = 0;
    for (let at = r.parent; at !== null; at = at.parent) {
      depth++;
    }
    this.steps.push({ kind, text, ms: performance.now() - r.main.startTime, depth, where, data });
  }
}

/** A text for a trace: bytes that are not printable, as those of `$binary_remote_addr`, in hexadecimal. */
export const printable = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text) ? text : `0x${Buffer.from(text, 'latin1').toString('hex')}`;
