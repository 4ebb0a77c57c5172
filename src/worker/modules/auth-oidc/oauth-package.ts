// The only file that imports oauth4webapi. It is loaded with the first word to a provider.
import { createRequire } from 'node:module';
import type * as OAuthPackage from 'oauth4webapi';

export type AuthorizationServer = OAuthPackage.AuthorizationServer;
export type Client = OAuthPackage.Client;
export type ClientAuth = OAuthPackage.ClientAuth;
export type TokenEndpointResponse = OAuthPackage.TokenEndpointResponse;

let loaded: typeof OAuthPackage | undefined;

/** The package, once it is needed. */
export function oauthPackage(): typeof OAuthPackage {
  loaded ??= createRequire(import.meta.url)('oauth4webapi') as typeof OAuthPackage;
  return loaded;
}
