import type { Attempt } from '../../upstream/balancing/attempt.js';
import type { Request } from './request.js';
import { reasonPhrase } from './response-status.js';

/**
 * Notes what `$error_reason` says if the request is refused now, where no line of the error log says it. Callers look at
 * `r.http.explains` first, so that nothing is put together for nobody.
 */
export function explain(r: Request, text: string): void {
  r.main.said = text;
}

/** The server itself answers with this status: what was said last is why, or what became of the backends. The first error counts. */
export function noteReason(r: Request, status: number): void {
  const { main } = r;
  if (main.reason !== '') return;
  const attempts = r.upstream === null ? '' : attemptsText(r.upstreamStates ?? [], status);
  main.reason = attempts || main.said || reasonPhrase(status);
}

/** What every backend that was asked did wrong. */
function attemptsText(attempts: readonly Attempt[], status: number): string {
  let text = '';
  for (const attempt of attempts) {
    if (attempt.peer === undefined) continue;
    const reason = attempt.reason !== '' ? attempt.reason : attempt.status === status ? `status ${status}` : '';
    if (reason !== '') text += `${text === '' ? '' : ', '}${attempt.peer}: ${reason}`;
  }
  return text;
}
