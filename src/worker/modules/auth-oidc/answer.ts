import { ERROR, INFO } from '../../../shared/log/level.js';
import { LOGIN } from '../../../shared/zone/meter-kinds.js';
import { noteReasonText } from '../../http/request/error-reason.js';
import type { Request } from '../../http/request/request.js';
import { respondBuffer } from '../../http/request/respond.js';
import { DONE, type Result } from '../../task/codes.js';
import type { ProviderFailure } from './failure.js';
import type { Provider } from './provider.js';

/** Says to `explain` what was decided. */
export function tell(r: Request, text: string): void {
  r.trace?.add(r, 'access', `auth_oidc: ${text}`, { in: r.location, directive: 'auth_oidc' });
}

/** Refuses a request because of what its client did; the reason goes to the log, `$error_reason` and `explain`. */
export function refuse(r: Request, status: Result, reason: string): Result {
  const text = `oidc: ${reason}`;
  if (r.http.explains) {
    noteReasonText(r, text);
  }
  tell(r, reason);
  r.log(status === 401 ? INFO : ERROR, text);
  r.out.add('Cache-Control', 'no-store');
  return status;
}

const REFUSED = new Set(['access_denied', 'consent_required', 'interaction_required', 'login_required', 'account_selection_required']);

/** Refuses a request because of what the provider did: 502 if it did not answer or cannot be trusted, 403 if it refuses the user. */
export function refuseFor(r: Request, provider: Provider, failure: ProviderFailure): Result {
  provider.meter.count(LOGIN.failures);
  const status = failure.kind !== 'refused' ? 502 : REFUSED.has(failure.code) ? 403 : failure.code === 'invalid_grant' ? 400 : 502;
  return refuse(r, status, provider.text(failure).slice('oidc '.length));
}

/** Leads the browser elsewhere. `location` is a whole URL. */
export function leadTo(r: Request, location: string): Result {
  r.out.location = location;
  r.out.add('Cache-Control', 'no-store');
  return r.method === 'GET' || r.method === 'HEAD' ? 302 : 303;
}

/** Answers with a page of our own, inside the access phase. */
export function answerPage(r: Request, status: number, type: string, text: string): Result {
  r.out.contentType = type;
  r.out.add('Cache-Control', 'no-store');
  r.finalize(respondBuffer(r, status, Buffer.from(text)));
  return DONE;
}
