import { createPrivateKey } from 'node:crypto';
import { nativeText } from '../../../shared/text/native-text.js';
import { ProviderFailure } from './failure.js';
import { importParameters } from './key-algorithm.js';
import { type AuthorizationServer, type Client, type ClientAuth, oauthPackage, type TokenEndpointResponse } from './oauth-package.js';
import type { ProviderFetch } from './provider-fetch.js';
import { checkKeyIssuer, isIssuerOf, isShared, issuerFor, ProviderTokens, tokenAlgorithm } from './provider-tokens.js';
import { claimsOf } from './session.js';
import type { ProviderSettings } from './settings.js';

/** What a provider says of itself. */
export type Metadata = AuthorizationServer;

/** What a provider gives for a code or a refresh token, after all checks. */
export interface Tokens {
  /** Empty: a refresh that gave none. */
  readonly idToken: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Seconds that the access token lives; undefined: it is not said. */
  readonly expiresIn: number | undefined;
  /** The claims of the ID token. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** What a logout token asks for. */
export interface LogoutRequest {
  readonly sub: string;
  readonly sid: string;
  readonly jti: string;
}

/** Seconds by which the provider's clock may be off. */
const TOLERANCE = 90;
/** Seconds that a logout token may be old. */
const LOGOUT_AGE = 600;
/** Milliseconds after which the keys of a provider may be asked for again because none fits. */
const KEYS_REST = 5000;
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Talks to one provider as its Relying Party. What fails rejects with {@link ProviderFailure}. */
export class OpenIdClient {
  readonly #settings: ProviderSettings;
  readonly #clientId: string;
  readonly #fetch: ProviderFetch;
  readonly #tokens: ProviderTokens;
  #made: ReturnType<typeof howOf> | undefined;
  readonly #idKeys = new KeyHolder((metadata) => ({ ...metadata }));
  // Signature, issuer, audience and time of a logout token are those of any JWT that a provider signs for a client.
  readonly #logoutKeys = new KeyHolder((metadata) => ({
    ...metadata,
    authorization_signing_alg_values_supported: metadata.id_token_signing_alg_values_supported ?? ['RS256'],
  }));

  constructor(settings: ProviderSettings, fetch: ProviderFetch) {
    this.#settings = settings;
    this.#clientId = nativeText(settings.clientId);
    this.#fetch = fetch;
    this.#tokens = new ProviderTokens(settings);
  }

  /** The package, and what its requests and checks are told. */
  get #how() {
    this.#made ??= howOf(this.#clientId, this.#settings.idTokenAlgorithm, this.#fetch);
    return this.#made;
  }

  /** Asks for the provider's metadata. */
  async discover(): Promise<Metadata> {
    const { issuer, configUrl } = this.#settings;
    const { oauth } = this.#how;
    try {
      const response = await this.#fetch(configUrl, { method: 'GET', headers: { accept: 'application/json' } });
      // The library compares URLs; whose issuer it is, is decided here, letter by letter.
      const said = (
        (await response
          .clone()
          .json()
          .catch(() => null)) as { issuer?: unknown } | null
      )?.issuer;
      const expected = typeof said === 'string' && isIssuerOf(said, issuer) ? said : issuer;
      const found = await oauth.processDiscoveryResponse(new URL(expected), response);
      if (!isIssuerOf(found.issuer, issuer)) {
        throw new ProviderFailure('invalid', `the metadata has the issuer "${found.issuer}" instead of "${issuer}"`);
      }
      for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
        const url = found[name];
        if (typeof url !== 'string' || !url.startsWith('https://') || !URL.canParse(url)) {
          throw new ProviderFailure('invalid', `the metadata has no https URL as "${name}"`);
        }
      }
      return found;
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** Whether PKCE is used. */
  usesPkce(metadata: Metadata): boolean {
    return this.#settings.pkce ?? metadata.code_challenge_methods_supported?.includes('S256') === true;
  }

  /** Gives a code back for tokens; `parameters` are those that the browser brought. */
  async exchange(
    metadata: Metadata,
    parameters: URLSearchParams,
    state: string,
    redirectUri: string,
    { verifier, nonce }: { readonly verifier: string; readonly nonce: string },
  ): Promise<Tokens> {
    const { oauth, client, options } = this.#how;
    try {
      const checked = oauth.validateAuthResponse(metadata, client, parameters, state);
      const came = await oauth.authorizationCodeGrantRequest(
        metadata,
        client,
        await this.#authentication(metadata),
        checked,
        redirectUri,
        this.usesPkce(metadata) ? verifier : oauth.nopkce,
        options,
      );
      const { response, idToken } = await this.#tokens.openAnswer(came);
      const answer = await oauth.processAuthorizationCodeResponse(ofToken(metadata, idToken), client, response, {
        expectedNonce: nonce,
        requireIdToken: true,
      });
      await this.#checkSignature(metadata, response, idToken);
      return tokensOf(answer);
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** Gives a refresh token back for fresh tokens of the same user; `sub` and `iss` are what the ID token has said. */
  async refresh(metadata: Metadata, refreshToken: string, sub: string, iss: unknown): Promise<Tokens> {
    const { oauth, client, options } = this.#how;
    try {
      const authentication = await this.#authentication(metadata);
      const came = await oauth.refreshTokenGrantRequest(metadata, client, authentication, refreshToken, options);
      const { response, idToken } = await this.#tokens.openAnswer(came);
      const answer = await oauth.processRefreshTokenResponse(ofToken(metadata, idToken), client, response);
      const tokens = tokensOf(answer);
      if (tokens.idToken !== '') {
        await this.#checkSignature(metadata, response, idToken);
        if (tokens.claims.sub !== sub || tokens.claims.iss !== iss) {
          throw new ProviderFailure('invalid', 'the refreshed ID token is of another user');
        }
      }
      return tokens;
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** Asks who the user is; the answer is the text of a JSON object. */
  async userinfo(metadata: Metadata, accessToken: string, sub: string): Promise<string> {
    const { oauth, client, options } = this.#how;
    try {
      const came = await oauth.userInfoRequest(metadata, client, accessToken, options);
      if (came.headers.get('content-type')?.split(';')[0] !== 'application/jwt' || came.status !== 200) {
        return JSON.stringify(await oauth.processUserInfoResponse(metadata, client, sub, came));
      }
      // It may be signed, or signed and then encrypted.
      const sent = await came.text();
      const token = sent.split('.').length === 5 ? await this.#tokens.open(sent, 'UserInfo data') : sent;
      const response = new Response(token, { headers: { 'content-type': 'application/jwt' } });
      const claims = await oauth.processUserInfoResponse(ofToken(metadata, token), this.#forUserinfo(metadata, token), sub, response);
      await this.#checkSignature(metadata, response, token);
      return JSON.stringify(claims);
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** Checks a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.6), but not whether it was used before. */
  async logoutToken(metadata: Metadata, text: string): Promise<LogoutRequest> {
    const { oauth, client } = this.#how;
    try {
      const token = text.split('.').length === 5 ? await this.#tokens.open(text, 'logout token') : text;
      let wrong: string | undefined;
      if (isShared(this.#settings.idTokenAlgorithm)) {
        this.#tokens.checkShared(token, 'logout token');
        wrong = usualFaultOf(claimsOf(token), metadata.issuer, this.#clientId);
      } else {
        const parameters = new URLSearchParams({ response: token });
        await this.#withKeys(this.#logoutKeys, metadata, token, (keys, options) =>
          oauth.validateJwtAuthResponse(ofToken(keys, token), client, parameters, oauth.skipStateCheck, options),
        );
      }
      const claims = claimsOf(token);
      wrong ??= faultOf(claims);
      if (wrong !== undefined) {
        throw new ProviderFailure('invalid', `the logout token ${wrong}`);
      }
      const { sub = '', sid = '', jti } = claims;
      return { sub: sub as string, sid: sid as string, jti: jti as string };
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** What the provider signs UserInfo data with is what it signs ID tokens with, unless its metadata says more. */
  #forUserinfo({ userinfo_signing_alg_values_supported: said }: Metadata, token: string): Client {
    const { client } = this.#how;
    const { idTokenAlgorithm } = this.#settings;
    const algorithm = isShared(idTokenAlgorithm) ? idTokenAlgorithm : said === undefined ? tokenAlgorithm(token) : undefined;
    return algorithm === undefined ? client : { ...client, userinfo_signed_response_alg: algorithm };
  }

  #checkSignature(metadata: Metadata, response: Response, token: string): Promise<void> {
    const { oauth } = this.#how;
    if (isShared(this.#settings.idTokenAlgorithm)) {
      this.#tokens.checkShared(token, 'ID token');
      return Promise.resolve();
    }
    return this.#withKeys(this.#idKeys, metadata, token, (keys, options) =>
      oauth.validateApplicationLevelSignature(keys, response, options),
    );
  }

  /** Checks with the keys at hand, and once more with those that the provider has now: it may have changed them. */
  async #withKeys(
    holder: KeyHolder,
    metadata: Metadata,
    token: string,
    check: (keys: Metadata, options: object) => Promise<unknown>,
  ): Promise<void> {
    const { oauth, options } = this.#how;
    const attempt = async (): Promise<void> => {
      const keys = holder.of(metadata);
      const { cache } = holder;
      await check(keys, { ...options, [oauth.jwksCache]: cache });
      checkKeyIssuer(metadata.issuer, token, cache.jwks?.keys ?? []);
    };
    try {
      await attempt();
    } catch (error) {
      if (!needsKeys(error) || !holder.renew(performance.now())) {
        throw error;
      }
      await attempt();
    }
  }

  /** How the server shows at the token endpoint who it is. */
  async #authentication(metadata: Metadata): Promise<ClientAuth> {
    const { clientSecret, clientKey } = this.#settings;
    const { oauth } = this.#how;
    if (clientKey !== undefined) {
      const { pem, kid, algorithm } = clientKey;
      const key = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
      const imported = await crypto.subtle.importKey('pkcs8', key, importParameters(algorithm), false, ['sign']);
      return oauth.PrivateKeyJwt(kid === undefined ? imported : { key: imported, kid: nativeText(kid) });
    }
    if (clientSecret === undefined) {
      return oauth.None();
    }
    const methods = metadata.token_endpoint_auth_methods_supported;
    const basic = methods === undefined || methods.includes('client_secret_basic') || !methods.includes('client_secret_post');
    return basic ? oauth.ClientSecretBasic(nativeText(clientSecret)) : oauth.ClientSecretPost(nativeText(clientSecret));
  }
}

function howOf(clientId: string, algorithm: string | undefined, fetch: ProviderFetch) {
  const oauth = oauthPackage();
  const algorithms =
    algorithm === undefined ? {} : { id_token_signed_response_alg: algorithm, authorization_signed_response_alg: algorithm };
  const client: Client = { client_id: clientId, ...algorithms, [oauth.clockTolerance]: TOLERANCE };
  return { oauth, client, options: { [oauth.customFetch]: fetch } };
}

/** The metadata as it holds for a token, where the issuer depends on the tenant. */
function ofToken(metadata: Metadata, token: string): Metadata {
  const issuer = issuerFor(metadata.issuer, token);
  return issuer === metadata.issuer ? metadata : { ...metadata, issuer };
}

/** What is wrong with the claims that any token has. */
function usualFaultOf({ iss, aud, exp }: Readonly<Record<string, unknown>>, issuer: string, clientId: string): string | undefined {
  if (iss !== issuer) {
    return 'is of another issuer';
  }
  if (aud !== clientId && !(Array.isArray(aud) && aud.includes(clientId))) {
    return 'is for somebody else';
  }
  return typeof exp !== 'number' || exp <= Date.now() / 1000 - TOLERANCE ? 'has expired' : undefined;
}

/** The object under which the library keeps a provider's keys: another one has them fetched anew. */
class KeyHolder {
  readonly #make: (metadata: Metadata) => Metadata;
  /** Where the library puts the keys. */
  cache: { jwks?: { readonly keys: readonly object[] } } = {};
  #source: Metadata | undefined;
  #keys: Metadata | undefined;
  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(make: (metadata: Metadata) => Metadata) {
    this.#make = make;
  }

  of(metadata: Metadata): Metadata {
    if (this.#keys === undefined || this.#source !== metadata) {
      this.#source = metadata;
      this.#keys = this.#make(metadata);
      this.cache = {};
    }
    return this.#keys;
  }

  /** Has the keys fetched anew, unless that was done a moment ago (milliseconds of the monotonic clock): false. */
  renew(now: number): boolean {
    if (now - this.#renewedAt < KEYS_REST) {
      return false;
    }
    this.#renewedAt = now;
    this.#keys = undefined;
    return true;
  }
}

/** What is wrong with the claims of a logout token that are its own. */
function faultOf({ events, nonce, iat, jti, sub = '', sid = '' }: Readonly<Record<string, unknown>>): string | undefined {
  const event = typeof events === 'object' && events !== null ? (events as Record<string, unknown>)[LOGOUT_EVENT] : undefined;
  if (typeof event !== 'object' || event === null) {
    return 'has no event of a logout';
  }
  if (nonce !== undefined) {
    return 'has a nonce';
  }
  if (typeof jti !== 'string' || jti === '') {
    return 'has no "jti"';
  }
  if (typeof sub !== 'string' || typeof sid !== 'string' || (sub === '' && sid === '')) {
    return 'names neither a user nor a session';
  }
  return typeof iat !== 'number' || iat < Date.now() / 1000 - LOGOUT_AGE - TOLERANCE ? 'is too old' : undefined;
}

function tokensOf(answer: TokenEndpointResponse): Tokens {
  return {
    idToken: answer.id_token ?? '',
    accessToken: answer.access_token,
    refreshToken: answer.refresh_token ?? '',
    expiresIn: answer.expires_in,
    claims: { ...oauthPackage().getValidatedIdTokenClaims(answer) },
  };
}

/** Whether other keys may help. */
function needsKeys(error: unknown): boolean {
  const { OperationProcessingError, KEY_SELECTION } = oauthPackage();
  return (
    error instanceof OperationProcessingError && (error.code === KEY_SELECTION || error.message === 'JWT signature verification failed')
  );
}

function failureOf(error: unknown): ProviderFailure {
  if (error instanceof ProviderFailure) {
    return error;
  }
  const oauth = oauthPackage();
  if (error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError) {
    const why = error.error_description === undefined ? '' : ` (${error.error_description})`;
    return new ProviderFailure('refused', `the provider answers "${error.error}"${why}`, error.error);
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    return new ProviderFailure('refused', `the provider answers with status ${error.status}`, 'invalid_token');
  }
  return new ProviderFailure('invalid', (error as Error).message);
}
