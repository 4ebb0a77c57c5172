import { ALERT } from '../../../shared/log/level.js';
import { ERROR } from './codes.js';
import type { Request } from './request.js';

let current: Request | null = null;

/** Notes that code runs on behalf of a request; returns whom to name again to {@link leave}. */
export function enter(r: Request | null): Request | null {
  const before = current;
  current = r;
  return before;
}

/** The code has returned. After an exception it has not, which is how {@link endFailedRequest} knows whose fault it was. */
export function leave(before: Request | null): void {
  current = before;
}

/**
 * Ends the request during whose handling an exception was thrown that nobody caught, and that one alone. Returns false
 * when no request was being handled.
 */
export function endFailedRequest(error: unknown): boolean {
  const r = current;
  current = null;
  if (r === null) {
    return false;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  r.log(ALERT, `the request is given up after an exception: ${text.replaceAll(/\s*\n\s*/g, ' ')}`);
  r.terminate(r.headerSent ? ERROR : 500);
  return true;
}
