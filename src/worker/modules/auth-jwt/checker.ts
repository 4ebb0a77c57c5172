import { INFO } from '../../../shared/log/level.js';
import { AUTH } from '../../../shared/zone/meter-kinds.js';
import type { Meter } from '../../../shared/zone/meters.js';
import { bearerToken, challengeBearer } from '../../http/headers/bearer-token.js';
import { unmet } from '../../http/headers/requirement.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import { lineText } from '../../http/request/line-text.js';
import type { Request } from '../../http/request/request.js';
import { NO_KEY } from '../../jose/jws.js';
import type { KeySet } from '../../jose/key-set.js';
import type { TokenVerifier } from '../../jose/token-verifier.js';
import { readUnverified, type TokenText } from '../../jose/unverified-token.js';
import { VerifiedToken } from '../../jose/verified-token.js';
import { lastingSlot } from '../../task/client-task.js';
import { AGAIN, asStatus, DECLINED, OK, type Result, type Status } from '../../task/codes.js';
import type { KeySource } from './key-source.js';
import type { AskedTokens, JwtSettings } from './settings.js';
import { verifierOf, verifies } from './verifiers.js';

/** What is known of a client's token: the token itself once it is verified, or the location that has refused it. */
const OUTCOME = lastingSlot<VerifiedToken | LocationRuntime>();

/** The sets that one request has waited for, by the place of their source. */
type Fetched = (KeySet | undefined)[];

/** Checks the tokens of the requests of a location. NGINX Plus: ngx_http_auth_jwt_module. */
export class JwtChecker {
  readonly #conf: Readonly<JwtSettings>;
  readonly #asked: AskedTokens;
  readonly #sources: readonly KeySource[];
  readonly #meter: Meter;
  /** Used with the latest request. */
  #verifier: TokenVerifier;
  readonly #sets: KeySet[] = [];
  /** The token for which the names of keys are being evaluated, which may depend on what it says. */
  #choosing = '';
  #text: TokenText | undefined = undefined;

  constructor(conf: Readonly<JwtSettings>, asked: AskedTokens, sources: readonly KeySource[], meter: Meter) {
    this.#conf = conf;
    this.#asked = asked;
    this.#sources = sources;
    this.#meter = meter;
    this.#verifier = verifierOf([], conf.type);
  }

  /** The handler of the access phase. */
  check(r: Request): Result {
    const realm = this.#asked.realm.eval(r);
    if (realm === 'off') {
      return DECLINED;
    }
    const token = this.#tokenOf(r);
    if (token === '') {
      return this.#refuse(r, realm, 'no JSON Web Token was provided', '');
    }
    return this.#checkToken(r, realm, token, undefined);
  }

  /** What the token says whose keys are being chosen at this moment; undefined at all other times. */
  unverified(): TokenText | undefined {
    if (this.#choosing === '') {
      return undefined;
    }
    this.#text ??= readUnverified(this.#choosing);
    return this.#text;
  }

  /** What a token says, for a variable that is asked for before the access phase: only what can be verified without waiting. */
  early(r: Request): TokenText | undefined {
    if (this.#asked.realm.eval(r) === 'off') {
      return undefined;
    }
    const token = this.#tokenOf(r);
    if (token === '' || !this.#gather(token, (source) => source.recent(r))) {
      return undefined;
    }
    const verifier = this.#verifierNow();
    const verified = this.#conf.type === 'signed' ? verifier.verify(token) : verifier.recall(token);
    if (verified === undefined) {
      return undefined;
    }
    if (typeof verified === 'string' || verified.refusal(Date.now() / 1000, this.#conf.leeway) !== undefined) {
      OUTCOME.set(r, r.location);
      return undefined;
    }
    OUTCOME.set(r, verified);
    return verified;
  }

  #tokenOf(r: Request): string {
    const { token } = this.#asked;
    return token === undefined ? bearerToken(r) : token.eval(r);
  }

  /** Puts the sets of all sources together, as long as each has one. */
  #gather(token: string, setOf: (source: KeySource) => KeySet | undefined): boolean {
    this.#choosing = token;
    this.#text = undefined;
    let i = 0;
    for (; i < this.#sources.length; i++) {
      const set = setOf(this.#sources[i]!);
      if (set === undefined) {
        break;
      }
      this.#sets[i] = set;
    }
    this.#choosing = '';
    this.#text = undefined;
    return i === this.#sources.length;
  }

  #verifierNow(): TokenVerifier {
    if (!verifies(this.#verifier, this.#sets, this.#conf.type)) {
      this.#verifier = verifierOf(this.#sets, this.#conf.type);
    }
    return this.#verifier;
  }

  #checkToken(r: Request, realm: string, token: string, fetched: Fetched | undefined): Result {
    const keys = this.#keysFor(r, realm, token, fetched);
    if (keys !== undefined) {
      return keys;
    }
    const verifier = this.#verifierNow();
    const known = verifier.recall(token);
    if (known !== undefined) {
      return this.#judge(r, realm, token, verifier, known);
    }
    if (this.#conf.type === 'signed') {
      return this.#settle(r, realm, token, verifier, verifier.verify(token), fetched);
    }
    let gone = false;
    r.onFinish(() => {
      gone = true;
    });
    verifier.open(token, (result) => {
      if (!gone) {
        resume(r, this.#settle(r, realm, token, verifier, result, fetched));
      }
    });
    return AGAIN;
  }

  /** Gets the keys; undefined once they are there. */
  #keysFor(r: Request, realm: string, token: string, fetched: Fetched | undefined): Result | undefined {
    this.#choosing = token;
    this.#text = undefined;
    const result = this.#nextKeys(r, realm, token, fetched);
    this.#choosing = '';
    this.#text = undefined;
    return result;
  }

  #nextKeys(r: Request, realm: string, token: string, fetched: Fetched | undefined): Result | undefined {
    const sources = this.#sources;
    for (let i = 0; i < sources.length; i++) {
      const set = fetched?.[i] ?? sources[i]!.now(r);
      if (typeof set === 'number') {
        return this.#fail(r, set);
      }
      if (set === undefined) {
        return this.#wait(r, realm, token, fetched ?? new Array(sources.length), i);
      }
      this.#sets[i] = set;
    }
    return undefined;
  }

  #wait(r: Request, realm: string, token: string, fetched: Fetched, i: number): Result {
    const failed = this.#sources[i]!.fetch(r, (result) => {
      if (typeof result === 'number') {
        r.resume(this.#fail(r, result));
        return;
      }
      fetched[i] = result;
      resume(r, this.#checkToken(r, realm, token, fetched));
    });
    return failed === undefined ? AGAIN : this.#fail(r, failed);
  }

  #fail(r: Request, status: Status): Status {
    this.#meter.count(AUTH.failed);
    OUTCOME.set(r, r.location);
    r.trace?.add(r, 'access', 'auth_jwt: its keys cannot be had', { in: r.location, directive: 'auth_jwt' }, { status });
    return status;
  }

  /** Judges a result, or gets newer keys first where these do not fit. */
  #settle(
    r: Request,
    realm: string,
    token: string,
    verifier: TokenVerifier,
    result: VerifiedToken | string,
    fetched: Fetched | undefined,
  ): Result {
    if (result === NO_KEY) {
      for (const [i, source] of this.#sources.entries()) {
        const renewing = source.renew?.(r, () => resume(r, this.#checkToken(r, realm, token, fetched?.with(i, undefined))));
        if (renewing === true) {
          return AGAIN;
        }
      }
    }
    return this.#judge(r, realm, token, verifier, result);
  }

  #judge(r: Request, realm: string, token: string, verifier: TokenVerifier, result: VerifiedToken | string): Result {
    const refusal = typeof result === 'string' ? result : result.refusal(Date.now() / 1000, this.#conf.leeway);
    if (typeof result === 'string' || refusal !== undefined) {
      if (typeof result !== 'string') {
        verifier.forget(token);
      }
      return this.#refuse(r, realm, `the JSON Web Token is refused: ${refusal}`, 'invalid_token');
    }
    OUTCOME.set(r, result);
    const { requirements } = this.#conf;
    const no = requirements.length === 0 ? undefined : unmet(r, requirements);
    if (no !== undefined) {
      const text = `the JSON Web Token is refused: the rule "auth_jwt_require ${no.text}" is not met`;
      this.#meter.count(AUTH.refused);
      r.log(INFO, text);
      r.trace?.add(r, 'access', `auth_jwt: ${text}`, { in: r.location, directive: 'auth_jwt_require' });
      return no.status === 401 ? challengeBearer(r, lineText(realm), 'invalid_token') : asStatus(no.status);
    }
    this.#meter.count(AUTH.passed);
    r.trace?.add(r, 'access', 'auth_jwt: the token is right', { in: r.location, directive: 'auth_jwt' });
    return OK;
  }

  #refuse(r: Request, realm: string, text: string, error: string): Status {
    this.#meter.count(AUTH.refused);
    OUTCOME.set(r, r.location);
    r.log(INFO, text);
    r.trace?.add(r, 'access', `auth_jwt: ${text}`, { in: r.location, directive: 'auth_jwt' });
    return challengeBearer(r, lineText(realm), error);
  }
}

function resume(r: Request, code: Result): void {
  if (code !== AGAIN) {
    r.resume(code);
  }
}

/**
 * What the token of a client's request says. Nothing of a token that is not right; asked for before the access phase, the token is
 * verified then. `checkerAt` gives what checks the tokens of a location.
 */
export function tokenText(r: Request, checkerAt: (location: LocationRuntime) => JwtChecker | undefined): TokenText | undefined {
  const { main } = r;
  const checker = checkerAt(main.location);
  const unverified = checker?.unverified();
  if (unverified !== undefined) {
    return unverified;
  }
  const outcome = OUTCOME.get(main);
  if (outcome instanceof VerifiedToken) {
    return outcome;
  }
  return outcome === main.location ? undefined : checker?.early(main);
}
