import { INFO } from '../../../shared/log/level.js';
import { byteText, nativeText } from '../../../shared/text/native-text.js';
import { LOGIN } from '../../../shared/zone/meter-kinds.js';
import type { Request } from '../../http/request/request.js';
import { readBody } from '../../http/request/request-body.js';
import { waiting } from '../../http/request/waiting.js';
import { AGAIN, type Result } from '../../task/codes.js';
import { answerPage, leadTo, refuse, tell } from './answer.js';
import { chosenText, ProviderFailure } from './failure.js';
import type { LogoutRequest, Metadata } from './openid-client.js';
import { ownUrl } from './own-address.js';
import type { Provider } from './provider.js';
import { mayBeIssuer } from './provider-tokens.js';
import { digestText } from './seal.js';
import { type LoginSession, logoutName } from './session.js';
import { LOCK_MS } from './session-store.js';

const LOGGED_OUT =
  '<!DOCTYPE html>\n<html lang="en"><head><title>Logged out</title></head><body><p>You have been logged out.</p></body></html>\n';
const HTML = 'text/html';
const TEXT = 'text/plain';
/** The longest body of a back-channel logout, in bytes. */
const MAX_BODY = 64 * 1024;
/** How long (milliseconds) a logout token's name is remembered. */
const REPLAY_MS = 15 * 60_000;

/** The user asks to log out: the session ends here, and the browser is led to where the provider ends its own. */
export function logOut(r: Request, provider: Provider): Result {
  if (r.method !== 'GET' && r.method !== 'POST') {
    return refuse(r, 405, 'the logout URI takes GET and POST alone');
  }
  const session = provider.sessions.find(r);
  provider.sessions.forget(r);
  const resume = waiting(r);
  const lead = (found: Metadata | ProviderFailure): void => resume(() => afterLogout(r, provider, session, found));
  const next = (): void => provider.metadata.get(lead);
  if (session === undefined) {
    next();
  } else {
    tell(r, `"${chosenText(session.data.sub)}" logs out`);
    provider.meter.count(LOGIN.logouts);
    r.log(INFO, `oidc: "${chosenText(session.data.sub)}" logs out`);
    provider.sessions.end(session, next);
  }
  return AGAIN;
}

function afterLogout(r: Request, { settings }: Provider, session: LoginSession | undefined, found: Metadata | ProviderFailure): Result {
  const after = settings.postLogoutUri === undefined ? undefined : ownUrl(r, settings, settings.postLogoutUri);
  const endpoint = found instanceof ProviderFailure ? undefined : found.end_session_endpoint;
  if (endpoint !== undefined && /^https:/i.test(endpoint) && URL.canParse(endpoint)) {
    const url = new URL(endpoint);
    url.searchParams.set('client_id', nativeText(settings.clientId));
    if (settings.logoutTokenHint && session !== undefined) {
      url.searchParams.set('id_token_hint', session.data.idToken);
    }
    if (after !== undefined) {
      url.searchParams.set('post_logout_redirect_uri', nativeText(after));
    }
    return leadTo(r, byteText(url.href));
  }
  return after === undefined ? answerPage(r, 200, HTML, LOGGED_OUT) : leadTo(r, after);
}

/** The name of the pair that says that there are sessions with such a name at the provider. */
const sidName = ({ purpose }: Provider, sid: string): string => `sid:${digestText(`${purpose} ${sid}`)}`;

/** Notes that a front-channel logout may name this session. */
export function noteSid(provider: Provider, sid: string, until: number): void {
  const { zone, settings } = provider;
  if (settings.frontchannelLogoutUri !== undefined && sid !== '') {
    zone.later((changes) => changes.put(sidName(provider, sid), { value: '1', expires: until + settings.sessionTimeout }));
  }
}

/** The provider has the browser load this page when it ends its session. */
export function frontChannelLogout(r: Request, provider: Provider): Result {
  if (r.method !== 'GET') {
    return refuse(r, 405, 'the front-channel logout URI takes GET alone');
  }
  const parameters = new URLSearchParams(r.args);
  const [iss, sid] = [parameters.get('iss'), parameters.get('sid') ?? ''];
  if (iss !== null && !mayBeIssuer(iss, provider.settings.issuer)) {
    return refuse(r, 400, 'a front-channel logout of another issuer');
  }
  const session = provider.sessions.find(r);
  const named = iss !== null && sid !== '';
  if (session !== undefined && (!named || session.data.sid === sid)) {
    const resume = waiting(r);
    provider.meter.count(LOGIN.logouts);
    r.log(INFO, `oidc: "${chosenText(session.data.sub)}" is logged out by the provider`);
    provider.sessions.forget(r);
    provider.sessions.end(session, () => {
      if (named) {
        endAll(provider, [logoutName(provider.purpose, 'sid', sid)], () => resume(() => answerPage(r, 200, HTML, LOGGED_OUT)));
      } else {
        resume(() => answerPage(r, 200, HTML, LOGGED_OUT));
      }
    });
    return AGAIN;
  }
  // Anybody may ask: what names no session must not take room.
  if (named && provider.zone.find(sidName(provider, sid)) !== undefined) {
    const resume = waiting(r);
    provider.meter.count(LOGIN.logouts);
    r.log(INFO, 'oidc: a session is logged out by the provider');
    endAll(provider, [logoutName(provider.purpose, 'sid', sid)], () => resume(() => answerPage(r, 200, HTML, LOGGED_OUT)));
    return AGAIN;
  }
  return answerPage(r, 200, HTML, LOGGED_OUT);
}

/** The provider tells by itself that a user has logged out. OpenID Connect Back-Channel Logout 1.0. */
export function backChannelLogout(r: Request, provider: Provider): Result {
  if (r.method !== 'POST') {
    return refuse(r, 405, 'the back-channel logout URI takes POST alone');
  }
  if (r.contentLength > MAX_BODY) {
    return refuse(r, 413, 'the body of a back-channel logout is too long');
  }
  readBody(r, () => r.resume(takeLogoutToken(r, provider)));
  return AGAIN;
}

function takeLogoutToken(r: Request, provider: Provider): Result {
  const { body } = r;
  const text = body === null || body.lost || body.length > MAX_BODY ? '' : body.whole().toString('latin1');
  const token = new URLSearchParams(text).get('logout_token') ?? '';
  if (token === '' || !provider.enter()) {
    return token === '' ? refuse(r, 400, 'a back-channel logout without a token') : refuse(r, 503, 'too many logouts at a time');
  }
  const resume = waiting(r);
  check(provider, token).then(
    (asked) => {
      provider.leave();
      endAsked(r, provider, asked, resume);
    },
    (failure: ProviderFailure) => {
      provider.leave();
      resume(() => refuse(r, failure.kind === 'unreachable' ? 502 : 400, provider.text(failure).slice('oidc '.length)));
    },
  );
  return AGAIN;
}

async function check(provider: Provider, token: string): Promise<LogoutRequest> {
  const known = await new Promise<Metadata | ProviderFailure>((resolve) => provider.metadata.get(resolve));
  if (known instanceof ProviderFailure) {
    throw known;
  }
  return provider.client.logoutToken(known, token);
}

function endAsked(r: Request, provider: Provider, { sub, sid, jti }: LogoutRequest, resume: (answer: () => Result) => void): void {
  const used = `jti:${digestText(`${provider.purpose} ${jti}`)}`;
  const names = [sid !== '' ? logoutName(provider.purpose, 'sid', sid) : logoutName(provider.purpose, 'sub', sub)];
  endAll(
    provider,
    names,
    (outcome) =>
      resume(() => {
        if (outcome === 'used') {
          return refuse(r, 400, 'a logout token came a second time');
        }
        provider.meter.count(LOGIN.logouts);
        r.log(INFO, `oidc: ${sid !== '' ? 'a session' : `"${chosenText(sub)}"`} is logged out by the provider`);
        return outcome === 'full' ? refuse(r, 503, 'there is no room to note a logout') : answerPage(r, 200, TEXT, '');
      }),
    used,
  );
}

/** Ends all sessions up to now that have a name at the provider. `once`: the name of a pair that must not be there yet. */
function endAll(provider: Provider, names: readonly string[], done: (outcome: 'done' | 'used' | 'full') => void, once?: string): void {
  const now = Date.now();
  const expires = now + provider.settings.sessionTimeout + LOCK_MS;
  provider.zone.later((changes) => {
    if (once !== undefined && changes.get(once) !== undefined) {
      return 'used';
    }
    const stored = names.every((name) => changes.put(name, { value: String(now), expires }));
    if (once !== undefined) {
      changes.put(once, { value: '1', expires: now + REPLAY_MS });
    }
    return stored ? 'done' : 'full';
  }, done);
}
