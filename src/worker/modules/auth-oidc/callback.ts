import { NOTICE } from '../../../shared/log/level.js';
import { LOGIN } from '../../../shared/zone/meter-kinds.js';
import type { Request } from '../../http/request/request.js';
import { readBody } from '../../http/request/request-body.js';
import { waiting } from '../../http/request/waiting.js';
import { AGAIN, type Result } from '../../task/codes.js';
import { leadTo, refuse, refuseFor, tell } from './answer.js';
import { cookieNamed, loginFor } from './cookies.js';
import { ProviderFailure } from './failure.js';
import { beginLogin, browserCookie } from './login.js';
import { isOf, type LoginAttempt, readAttempt, secretsOf } from './login-state.js';
import { noteSid } from './logout.js';
import type { Tokens } from './openid-client.js';
import { ownUrl } from './own-address.js';
import type { Provider } from './provider.js';
import { randomText } from './seal.js';
import type { LoginData } from './session.js';

/** No token lives longer (milliseconds), whatever is said of it. */
const LONGEST = 10 * 365 * 24 * 60 * 60 * 1000;
/** The longest form that a browser brings, in bytes. */
const MAX_BODY = 64 * 1024;
/** After so many attempts in a row the browser seems to keep no cookies. */
const MAX_ATTEMPTS = 3;

/** The browser comes back from one of the providers whose `redirect_uri` this is. */
export function takeCallback(r: Request, providers: readonly Provider[]): Result {
  const mode = r.method === 'GET' ? 'query' : r.method === 'POST' ? 'form_post' : '';
  const able = providers.filter(({ settings }) => settings.responseMode === mode);
  if (able.length === 0) {
    return refuse(r, 405, `the redirect URI does not take ${mode === '' ? 'this method' : r.method}`);
  }
  if (mode === 'query') {
    return takeAnswer(r, able, r.args);
  }
  if (r.contentLength > MAX_BODY) {
    return refuse(r, 413, 'the answer of the provider is too long');
  }
  readBody(r, () => {
    const { body } = r;
    const form = body === null || body.lost || body.length > MAX_BODY ? '' : body.whole().toString('latin1');
    const result = takeAnswer(r, able, form);
    if (result !== AGAIN) {
      r.resume(result);
    }
  });
  return AGAIN;
}

/** Takes the parameters that a browser brings. */
function takeAnswer(r: Request, providers: readonly Provider[], text: string): Result {
  const parameters = new URLSearchParams(text);
  const state = parameters.get('state') ?? '';
  for (const provider of state === '' ? [] : providers) {
    const attempt = readAttempt(provider, state);
    if (attempt !== undefined) {
      return finishLogin(r, provider, attempt, parameters, state);
    }
  }
  return refuse(r, 400, 'the redirect URI was asked for with a state that this server has not given');
}

function finishLogin(r: Request, provider: Provider, attempt: LoginAttempt, parameters: URLSearchParams, state: string): Result {
  const { settings, sessions } = provider;
  const browser = cookieNamed(r, browserCookie(r, provider));
  const known = sessions.find(r);
  if (known !== undefined && known.data.loggedInAt >= attempt.begun) {
    // Another tab was faster, or the same address was asked for again.
    tell(r, 'the login is done already');
    return leadTo(r, ownUrl(r, settings, attempt.target));
  }
  if (!isOf(attempt, browser)) {
    return again(r, provider, attempt);
  }
  if (!provider.enter()) {
    provider.meter.count(LOGIN.failures);
    return refuse(r, 503, 'too many logins at a time');
  }
  const resume = waiting(r);
  obtain(r, provider, parameters, state, secretsOf(attempt, browser)).then(
    (data) => {
      provider.leave();
      keep(r, provider, attempt, data, resume);
    },
    (failure: ProviderFailure) => {
      provider.leave();
      // A code is used up, as when two requests have brought it: another login mostly takes no more than a redirect.
      const used = failure.code === 'invalid_grant' && attempt.attempt + 1 < MAX_ATTEMPTS;
      resume(() => (used ? retry(r, provider, attempt, failure) : refuseFor(r, provider, failure)));
    },
  );
  return AGAIN;
}

function retry(r: Request, provider: Provider, { attempt, target }: LoginAttempt, failure: ProviderFailure): Result {
  r.log(NOTICE, `${provider.text(failure)}; the login is begun again`);
  return beginLogin(r, provider, target, attempt + 1);
}

/** The login was begun in another browser, before this one had its cookie, or long ago: it is begun anew, which mostly nobody sees. */
function again(r: Request, provider: Provider, { attempt, target }: LoginAttempt): Result {
  if (attempt + 1 >= MAX_ATTEMPTS) {
    provider.meter.count(LOGIN.failures);
    return refuse(r, 403, 'the login was begun in another browser, or this one keeps no cookies');
  }
  r.log(NOTICE, 'oidc: the login was begun in another browser or too long ago, it is begun again');
  return beginLogin(r, provider, target, attempt + 1);
}

/** Has the code made into a session's data. */
async function obtain(
  r: Request,
  provider: Provider,
  parameters: URLSearchParams,
  state: string,
  secrets: { readonly verifier: string; readonly nonce: string },
): Promise<LoginData> {
  const { client, settings, metadata } = provider;
  const redirectUri = ownUrl(r, settings, settings.redirectUri);
  const known = await new Promise<Parameters<Parameters<typeof metadata.get>[0]>[0]>((resolve) => metadata.get(resolve));
  if (known instanceof ProviderFailure) {
    throw known;
  }
  const tokens = await client.exchange(known, parameters, state, redirectUri, secrets);
  const sub = String(tokens.claims.sub);
  const userinfo = settings.userinfo ? await client.userinfo(known, tokens.accessToken, sub) : '';
  return sessionOf(tokens, userinfo, settings.sessionTimeout);
}

function sessionOf({ idToken, accessToken, refreshToken, expiresIn, claims }: Tokens, userinfo: string, timeout: number): LoginData {
  const now = Date.now();
  return {
    id: randomText(),
    sub: String(claims.sub),
    sid: typeof claims.sid === 'string' ? claims.sid : '',
    idToken,
    accessToken,
    refreshToken,
    userinfo,
    loggedInAt: now,
    tokenAt: now,
    tokenUntil: tokenEnd(expiresIn, claims, now),
    refreshes: 0,
    until: now + timeout,
  };
}

/** When tokens end: the access token as it is said, or else with the ID token; 0: it is not said. */
export function tokenEnd(expiresIn: number | undefined, { exp }: Readonly<Record<string, unknown>>, now: number): number {
  const end = expiresIn !== undefined ? now + expiresIn * 1000 : typeof exp === 'number' ? exp * 1000 : 0;
  return Math.min(end, now + LONGEST);
}

function keep(r: Request, provider: Provider, { target }: LoginAttempt, data: LoginData, resume: (answer: () => Result) => void): void {
  const { sessions, settings } = provider;
  sessions.create(r, data, (outcome) =>
    resume(() => {
      if (typeof outcome === 'string') {
        provider.meter.count(LOGIN.failures);
        return refuse(r, 500, outcome);
      }
      loginFor(r).session = outcome;
      noteSid(provider, data.sid, data.until);
      provider.meter.count(LOGIN.logins);
      tell(r, `"${data.sub}" has logged in`);
      return leadTo(r, ownUrl(r, settings, target));
    }),
  );
}
