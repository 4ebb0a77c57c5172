import { ERROR, INFO, WARN } from '../../../shared/log/level.js';
import { setTimer } from '../../../shared/time/timer.js';
import { LOGIN } from '../../../shared/zone/meter-kinds.js';
import type { Request } from '../../http/request/request.js';
import { waiting } from '../../http/request/waiting.js';
import { AGAIN, OK, type Result } from '../../task/codes.js';
import { tell } from './answer.js';
import { tokenEnd } from './callback.js';
import { loginFor } from './cookies.js';
import { chosenText, ProviderFailure } from './failure.js';
import { askForLogin } from './login.js';
import type { Metadata, Tokens } from './openid-client.js';
import type { Provider } from './provider.js';
import { claimsOf, type LoginData, type LoginSession } from './session.js';

/** How often, and how many milliseconds apart, a request looks for what another worker makes of a session. */
const LOOKS = 100;
const LOOK_MS = 100;
/** How long (milliseconds) nothing is refreshed at a provider that did not answer. */
const REST = 10_000;

/** The session as it is to be used from now on; undefined: it has ended. */
type Done = (session: LoginSession | undefined) => void;

/** The refreshes of a worker that are under way, by the sessions' keys. */
export class Refreshes {
  readonly #waiting = new Map<string, Done[]>();

  /**
   * Makes the tokens of a session fresh, for one request of all workers at a time. Where sessions are in a zone, a request whose tokens
   * have not ended yet does not wait. While the provider does not answer, nobody waits.
   */
  take(r: Request, provider: Provider, session: LoginSession): Result {
    const ended = Date.now() >= session.data.tokenUntil;
    const waits = !provider.silent && (ended || provider.settings.inCookies);
    if (performance.now() < provider.restsUntil || r.http.env.rehearsing) {
      return OK;
    }
    if (!waits) {
      if (!this.#waiting.has(session.key)) {
        this.#begin(provider, session, false, (line) => r.log(INFO, line));
      }
      return OK;
    }
    const known = this.#waiting.get(session.key);
    const resume = waiting(r);
    const done: Done = (fresh) => resume(() => goOn(r, provider, session, fresh));
    if (known !== undefined) {
      known.push(done);
    } else {
      this.#begin(provider, session, ended, (line) => r.log(INFO, line), done);
    }
    return AGAIN;
  }

  #begin(provider: Provider, session: LoginSession, patient: boolean, note: (line: string) => void, first?: Done): void {
    const { sessions } = provider;
    const { key } = session;
    this.#waiting.set(key, first === undefined ? [] : [first]);
    const settle = (fresh: LoginSession | undefined): void => {
      const waiters = this.#waiting.get(key)!;
      this.#waiting.delete(key);
      for (const waiter of waiters) {
        waiter(fresh);
      }
    };
    sessions.lock(session, (outcome) => {
      const now = sessions.look(session);
      const changed = now === undefined || now.data.refreshes !== session.data.refreshes;
      if (outcome === 'theirs') {
        if (changed || !patient) {
          settle(now);
        } else {
          lookFor(provider, session, LOOKS, settle);
        }
      } else if (changed) {
        sessions.unlock(session);
        settle(now);
      } else {
        note(`oidc: the tokens of "${chosenText(session.data.sub)}" are refreshed`);
        refresh(provider, session, settle);
      }
    });
  }
}

/** Another worker refreshes the session: looks for it again and again. */
function lookFor(provider: Provider, session: LoginSession, looks: number, done: Done): void {
  setTimer(() => {
    const now = provider.sessions.look(session);
    if (now === undefined || now.data.refreshes !== session.data.refreshes || looks === 1) {
      done(now);
    } else {
      lookFor(provider, session, looks - 1, done);
    }
  }, LOOK_MS);
}

function refresh(provider: Provider, session: LoginSession, done: Done): void {
  const { sessions } = provider;
  obtain(provider, session).then(
    (data) => {
      provider.silent = false;
      provider.meter.count(LOGIN.refreshes);
      sessions.refresh(session, data, done);
    },
    (failure: ProviderFailure) => {
      provider.meter.count(LOGIN.refreshFailures);
      if (failure.kind === 'refused' && failure.code === 'invalid_grant') {
        provider.log(INFO, `${provider.text(failure)}; the session of "${chosenText(session.data.sub)}" ends`);
        sessions.end(session, () => done(undefined));
        return;
      }
      // Sessions go on without the provider, until their own end.
      provider.silent = true;
      provider.restsUntil = performance.now() + REST;
      provider.log(failure.kind === 'unreachable' ? WARN : ERROR, `${provider.text(failure)}; sessions go on with their old tokens`);
      sessions.unlock(session);
      done(session);
    },
  );
}

async function obtain(provider: Provider, { data }: LoginSession): Promise<LoginData> {
  const { client, settings } = provider;
  const known = await new Promise<Metadata | ProviderFailure>((resolve) => provider.metadata.get(resolve));
  if (known instanceof ProviderFailure) {
    throw known;
  }
  const tokens = await client.refresh(known, data.refreshToken, data.sub, claimsOf(data.idToken).iss);
  let { userinfo } = data;
  if (settings.userinfo) {
    try {
      userinfo = await client.userinfo(known, tokens.accessToken, data.sub);
    } catch (error) {
      provider.log(WARN, `${provider.text(error as ProviderFailure)}; the UserInfo data stays as it was`);
    }
  }
  return refreshed(data, tokens, userinfo, settings.sessionTimeout);
}

function refreshed(data: LoginData, tokens: Tokens, userinfo: string, timeout: number): LoginData {
  const now = Date.now();
  const idToken = tokens.idToken || data.idToken;
  const claims = tokens.idToken === '' ? {} : claimsOf(idToken);
  return {
    ...data,
    idToken,
    accessToken: tokens.accessToken,
    refreshToken: tokens.refreshToken || data.refreshToken,
    userinfo,
    tokenAt: now,
    tokenUntil: tokenEnd(tokens.expiresIn, claims, now),
    refreshes: data.refreshes + 1,
    until: now + timeout,
  };
}

/** A request that has waited goes on with what its session is now. */
function goOn(r: Request, provider: Provider, before: LoginSession, session: LoginSession | undefined): Result {
  if (session === undefined) {
    provider.sessions.forget(r);
    tell(r, 'the session has ended');
    return askForLogin(r, provider);
  }
  if (session !== before) {
    provider.sessions.show(r, session);
    tell(r, 'the tokens were refreshed');
  }
  loginFor(r).session = session;
  return OK;
}
