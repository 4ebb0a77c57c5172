import { RingError } from '../../shared/net/uring/memory.js';
import { lineOf } from '../../shared/text/error-text.js';

/** Something that code runs on behalf of. */
export interface Work {
  /** Ends the work after an exception that nobody caught; `reason` is for the log. */
  giveUp(reason: string): void;
  /** Ends the work, however far it has come; the log says why already. */
  breakOff(): void;
}

let current: Work | null = null;
/** When the event at hand came, in milliseconds of the monotonic clock; 0 until somebody asks. */
let moment = 0;

/** Notes that code runs on behalf of a request or session; returns whom to name again to {@link leave}. */
export function enter(work: Work | null): Work | null {
  const before = current;
  current = work;
  return before;
}

/** The request or session that the server works on at the moment. */
export const atWork = (): Work | null => current;

/** The code has returned. After an exception it has not, which is how {@link endFailedWork} knows whose fault it was. */
export function leave(before: Work | null): void {
  current = before;
  if (before === null) {
    moment = 0;
  }
}

/**
 * Milliseconds of the monotonic clock: what code does on behalf of a request or session before it returns is done at one moment, as in
 * nginx, and the clock is asked once.
 */
export function now(): number {
  if (moment !== 0) {
    return moment;
  }
  const time = performance.now();
  if (current !== null) {
    moment = time;
  }
  return time;
}

/** An event begins, whose moment counts until {@link endEvent} or until the work for its first request is done. */
export function beginEvent(): number {
  moment = performance.now();
  return moment;
}

export function endEvent(): void {
  moment = 0;
}

/**
 * Ends the request or session during whose handling an exception was thrown that nobody caught, and that one alone. Returns false
 * when none was being handled, or when the exception says that the process cannot go on.
 */
export function endFailedWork(error: unknown): boolean {
  const work = current;
  current = null;
  moment = 0;
  if (work === null || error instanceof RingError) {
    return false;
  }
  work.giveUp(lineOf(error));
  return true;
}
