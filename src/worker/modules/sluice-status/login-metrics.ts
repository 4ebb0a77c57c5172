import { nativeText } from '../../../shared/text/native-text.js';
import { AUTH, authKind, LOGIN, loginKind } from '../../../shared/zone/meter-kinds.js';
import { readings, type StatusSource } from '../../status/source.js';
import type { Labels, MetricsText } from './prometheus.js';

const OUTCOMES = Object.entries(AUTH);

/** What was decided about who may come in. */
export function loginMetrics(text: MetricsText, source: StatusSource): void {
  text.counter(
    'auth_requests_total',
    'Requests by what was decided about their token, key or signature.',
    readings(source, authKind).flatMap(({ name, values }) =>
      OUTCOMES.map(([result, at]): [Labels, number] => [{ method: name, result }, values[at]!]),
    ),
  );
  const providers = readings(source, loginKind);
  const samples = (at: number): [Labels, number][] => providers.map(({ name, values }) => [{ provider: nativeText(name) }, values[at]!]);
  text.counter('oidc_requests_total', 'Requests with a session of an OpenID Provider.', samples(LOGIN.requests));
  text.counter('oidc_logins_total', 'Logins that succeeded.', samples(LOGIN.logins));
  text.counter('oidc_login_failures_total', 'Logins that failed; the error log says why.', samples(LOGIN.failures));
  text.counter('oidc_refreshes_total', 'Refreshes of tokens that succeeded.', samples(LOGIN.refreshes));
  text.counter('oidc_refresh_failures_total', 'Refreshes of tokens that failed.', samples(LOGIN.refreshFailures));
  text.counter('oidc_logouts_total', 'Sessions that were ended by their users or by the provider.', samples(LOGIN.logouts));
}
