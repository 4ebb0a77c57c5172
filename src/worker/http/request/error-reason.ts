import type { Request } from './request.js';
import { reasonPhrase } from './response-status.js';

/**
 * Notes what `$error_reason` says if the request is refused now, where no line of the error log says it. Callers look at
 * `r.http.explains` first, so that nothing is put together for nobody.
 */
export function noteReasonText(r: Request, text: string): void {
  r.main.lastLogged = text;
}

/** The server itself answers with this status: what was said last is why, or what became of the backends. The first error counts. */
export function noteReason(r: Request, status: number): void {
  const { main } = r;
  if (main.reason !== '') {
    return;
  }
  main.reason = r.upstream?.failureText(status) || main.lastLogged || reasonPhrase(status);
}
