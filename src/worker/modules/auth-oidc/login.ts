import { byteText, nativeText } from '../../../shared/text/native-text.js';
import type { Request } from '../../http/request/request.js';
import { waiting } from '../../http/request/waiting.js';
import { AGAIN, type Result } from '../../task/codes.js';
import { leadTo, refuse, refuseFor, tell } from './answer.js';
import { cookieNamed, setCookie } from './cookies.js';
import { ProviderFailure } from './failure.js';
import { newAttempt, secretsOf } from './login-state.js';
import { isNavigation } from './navigation.js';
import type { Metadata } from './openid-client.js';
import { isSecure, ownUrl, returnPath } from './own-address.js';
import type { Provider } from './provider.js';
import { digestText, isRandomText, randomText } from './seal.js';

/** The cookie that says which browser has begun to log in. Over TLS its name keeps other hosts of the domain from setting it. */
export const browserCookie = (r: Request, { settings }: Provider): string =>
  `${isSecure(r, settings) && !settings.cookieName.startsWith('__') ? '__Host-' : ''}${settings.cookieName}_LOGIN`;

/** A request without a session: leads the browser to the login, or refuses what cannot be led there. */
export function askForLogin(r: Request, provider: Provider): Result {
  if (!isNavigation(r)) {
    r.out.wwwAuthenticate = `Bearer realm="${provider.settings.name.replace(/[^\w.-]/g, '_')}"`;
    return refuse(r, 401, 'there is no session, and a request of this kind cannot be led to a login');
  }
  return beginLogin(r, provider, returnPath(r, provider.settings), 0);
}

/** Leads the browser to the provider. `target`: the path to come back to; `attempt`: how many came right before. */
export function beginLogin(r: Request, provider: Provider, target: string, attempt: number): Result {
  if (r.http.env.rehearsing) {
    tell(r, `no session: the browser is led to ${provider.settings.issuer}`);
    return leadTo(r, provider.settings.issuer);
  }
  const { known } = provider.metadata;
  if (known !== undefined) {
    return leadToProvider(r, provider, known, target, attempt);
  }
  const resume = waiting(r);
  provider.metadata.get((found) =>
    resume(() => (found instanceof ProviderFailure ? refuseFor(r, provider, found) : leadToProvider(r, provider, found, target, attempt))),
  );
  return AGAIN;
}

function leadToProvider(r: Request, provider: Provider, metadata: Metadata, target: string, count: number): Result {
  const { settings } = provider;
  const name = browserCookie(r, provider);
  let browser = cookieNamed(r, name);
  if (browser === undefined || !isRandomText(browser)) {
    browser = randomText();
    const secure = isSecure(r, settings);
    setCookie(r, name, browser, secure, settings.responseMode === 'query' ? 'Lax' : secure ? 'None' : undefined);
  }
  const { text, attempt } = newAttempt(provider, target, count, browser);
  const { verifier, nonce } = secretsOf(attempt, browser);
  const url = new URL(metadata.authorization_endpoint!);
  const { searchParams: query } = url;
  query.set('response_type', 'code');
  if (settings.responseMode !== 'query') {
    query.set('response_mode', settings.responseMode);
  }
  query.set('client_id', nativeText(settings.clientId));
  query.set('redirect_uri', nativeText(ownUrl(r, settings, settings.redirectUri)));
  query.set('scope', nativeText(settings.scope));
  query.set('state', text);
  query.set('nonce', nonce);
  if (provider.client.usesPkce(metadata)) {
    query.set('code_challenge', digestText(verifier));
    query.set('code_challenge_method', 'S256');
  }
  tell(r, `no session: the browser is led to ${settings.issuer}`);
  return leadTo(r, byteText(`${url.href}${settings.extraAuthArgs === '' ? '' : `&${settings.extraAuthArgs}`}`));
}
