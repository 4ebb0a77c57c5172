import type { TaskTrace } from '../../task/task-trace.js';
import type { Request } from './request.js';

/** What a trace tells of one attempt at a backend; the fields are those of what `$upstream_*` tell. Times are milliseconds, -1: never. */
export interface TracedAttempt {
  readonly peer: string | undefined;
  readonly status: number;
  readonly connectTime: number;
  readonly headerTime: number;
  readonly bytesReceived: number;
  readonly bytesSent: number;
  readonly reason: string;
}

/** What is told of a request that is traced, and of its subrequests; see {@link Request.spans}. */
export interface RequestTrace extends TaskTrace {
  /** An attempt of the request or of a subrequest is over; `start` and `end` are monotonic milliseconds. */
  attempt(r: Request, attempt: TracedAttempt, start: number, end: number): void;
}
