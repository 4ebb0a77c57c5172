// The only file that imports oauth4webapi.
import { createRequire } from 'node:module';
import type * as OAuthPackage from 'oauth4webapi';

export type AuthorizationServer = OAuthPackage.AuthorizationServer;
export type Client = OAuthPackage.Client;
export type ClientAuth = OAuthPackage.ClientAuth;
export type TokenEndpointResponse = OAuthPackage.TokenEndpointResponse;

let loaded: typeof OAuthPackage | undefined;

/** The package. Its files may be out of reach of the user that a worker becomes: it is loaded before, where there are providers. */
export function oauthPackage(): typeof OAuthPackage {
  loaded ??= createRequire(import.meta.url)('oauth4webapi') as typeof OAuthPackage;
  return loaded;
}
