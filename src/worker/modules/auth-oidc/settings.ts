import type { Pos } from '../../../shared/config/language/ast.js';
import type { ZoneRef } from '../../../shared/zone/kind.js';
import type { KeyvalData, KeyvalZone } from '../../lookup/keyval-zone.js';

/** Shorter secrets (characters) can be guessed from what was encrypted with them. */
export const MIN_SECRET = 16;

/** The zone that holds a provider's sessions, or what workers tell each other of sessions that cookies hold. */
export type SessionZoneRef = ZoneRef<KeyvalZone, KeyvalData>;

/** The key by which the server shows at the token endpoint who it is. */
export interface ClientKey {
  /** PKCS #8. */
  readonly pem: string;
  readonly kid: string | undefined;
  /** The name of a JWS algorithm. */
  readonly algorithm: string;
}

/** What an `oidc_provider` block says. Texts are UTF-8 read as latin1, as all of the configuration is. */
export interface ProviderSettings {
  readonly name: string;
  readonly pos: Pos;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly clientKey: ClientKey | undefined;
  /** Where the provider's metadata is. */
  readonly configUrl: string;
  readonly cookieName: string;
  readonly extraAuthArgs: string;
  readonly scope: string;
  /** How browsers bring the provider's answer. */
  readonly responseMode: 'query' | 'form_post';
  /** What ID tokens must be signed with; undefined: with any asymmetric algorithm that the provider names. */
  readonly idTokenAlgorithm: string | undefined;
  /** Private RSA keys (PKCS #8) that tokens are encrypted for; none: they come plain. */
  readonly decryptionKeys: readonly string[];
  /** undefined: as the provider says. */
  readonly pkce: boolean | undefined;
  /** A path, or a whole URL. */
  readonly redirectUri: string;
  readonly logoutUri: string | undefined;
  /** A path, or a whole URL. */
  readonly postLogoutUri: string | undefined;
  readonly frontchannelLogoutUri: string | undefined;
  readonly backchannelLogoutUri: string | undefined;
  readonly logoutTokenHint: boolean;
  readonly userinfo: boolean;
  readonly zone: SessionZoneRef;
  /** The zone was made for this provider: no `keyval_zone` opens it. */
  readonly ownZone: boolean;
  /** Cookies hold the sessions. */
  readonly inCookies: boolean;
  /** The texts of the files with keys; the first one encrypts. */
  readonly sessionKeys: readonly string[];
  /** Milliseconds. */
  readonly sessionTimeout: number;
  /** Complete paths. */
  readonly crl: string | undefined;
  readonly trustedCertificate: string | undefined;
}

/** The path of a URI that is a path or a whole URL. */
export const uriPath = (uri: string): string => uri.replace(/^https?:\/\/[^/?]*/i, '').replace(/\?.*/s, '') || '/';
