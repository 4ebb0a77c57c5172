// The guide's snippets beside what the providers publish about themselves, as of 2026: the members that matter here.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { OpenIdClient } from '../../src/worker/modules/auth-oidc/openid-client.js';
import type { ProviderSettings } from '../../src/worker/modules/auth-oidc/settings.js';
import { configMessage } from '../support/config-message.js';
import { serverConf } from '../support/server.js';

const guide = readFileSync('docs/guides/login.md', 'utf8');
const blocks = new Map([...guide.matchAll(/^oidc_provider (\w+) \{\n[\s\S]*?^\}/gm)].map(([text, name]) => [name!, text]));

interface Published {
  readonly base: string;
  /** The last parts of the addresses: login, tokens, keys, logout. */
  readonly paths: readonly [string, string, string, string?];
  readonly pkce?: readonly string[];
  readonly methods: readonly string[];
  readonly algorithms: readonly string[];
}

const BOTH = ['client_secret_basic', 'client_secret_post'];
const published: Readonly<Record<string, Published>> = {
  keycloak: {
    base: 'https://keycloak.example.com/realms/main/protocol/openid-connect',
    paths: ['/auth', '/token', '/certs', '/logout'],
    pkce: ['plain', 'S256'],
    methods: ['private_key_jwt', ...BOTH, 'tls_client_auth', 'client_secret_jwt'],
    algorithms: ['PS384', 'RS384', 'EdDSA', 'ES384', 'HS256', 'HS512', 'ES256', 'RS256', 'HS384', 'ES512', 'PS256', 'PS512', 'RS512'],
  },
  entra: {
    base: 'https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555',
    paths: ['/oauth2/v2.0/authorize', '/oauth2/v2.0/token', '/discovery/v2.0/keys', '/oauth2/v2.0/logout'],
    methods: ['client_secret_post', 'private_key_jwt', 'client_secret_basic'],
    algorithms: ['RS256'],
  },
  google: {
    base: 'https://',
    paths: ['accounts.google.com/o/oauth2/v2/auth', 'oauth2.googleapis.com/token', 'www.googleapis.com/oauth2/v3/certs'],
    pkce: ['plain', 'S256'],
    methods: ['client_secret_post', 'client_secret_basic'],
    algorithms: ['RS256'],
  },
  okta: {
    base: 'https://example.okta.com/oauth2/default/v1',
    paths: ['/authorize', '/token', '/keys', '/logout'],
    pkce: ['S256'],
    methods: [...BOTH, 'client_secret_jwt', 'private_key_jwt', 'none'],
    algorithms: ['RS256'],
  },
  auth0: {
    base: 'https://example.eu.auth0.com',
    paths: ['/authorize', '/oauth/token', '/.well-known/jwks.json', '/oidc/logout'],
    pkce: ['S256', 'plain'],
    methods: [...BOTH, 'private_key_jwt'],
    algorithms: ['HS256', 'RS256', 'PS256'],
  },
  authelia: {
    base: 'https://auth.example.com',
    paths: ['/api/oidc/authorization', '/api/oidc/token', '/jwks.json'],
    pkce: ['S256'],
    methods: [...BOTH, 'client_secret_jwt', 'private_key_jwt', 'none'],
    algorithms: ['RS256', 'none'],
  },
  authentik: {
    base: 'https://authentik.example.com/application/o',
    paths: ['/authorize/', '/token/', '/app/jwks/', '/app/end-session/'],
    pkce: ['plain', 'S256'],
    methods: ['client_secret_post', 'client_secret_basic'],
    algorithms: ['RS256'],
  },
  zitadel: {
    base: 'https://example-a1b2c3.zitadel.cloud',
    paths: ['/oauth/v2/authorize', '/oauth/v2/token', '/oauth/v2/keys', '/oidc/v1/end_session'],
    pkce: ['S256'],
    methods: ['none', ...BOTH, 'private_key_jwt'],
    algorithms: ['EdDSA', 'RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512'],
  },
};

for (const [name, { base, paths, pkce, methods, algorithms }] of Object.entries(published)) {
  t.test(name, async (t) => {
    const block = blocks.get(name)!;
    t.equal(await configMessage(t, serverConf('', `resolver 127.0.0.1; ${block}`)), undefined, '-t');
    const line = (directive: string): string | undefined => new RegExp(`^ +${directive} +"?([^";]*)"?;`, 'm').exec(block)?.[1];
    const issuer = line('issuer')!;
    const asked: string[] = [];
    const settings = {
      issuer,
      configUrl: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
      clientId: 'x',
      clientSecret: 'y',
      decryptionKeys: [],
      pkce: line('pkce') === undefined ? undefined : line('pkce') === 'on',
    } as unknown as ProviderSettings;
    const [login, token, keys, logout] = paths.map((path) => base + path);
    const client = new OpenIdClient(settings, async (url) => {
      asked.push(url);
      return Response.json({
        issuer,
        authorization_endpoint: login,
        token_endpoint: token,
        jwks_uri: keys,
        ...(logout === undefined ? {} : { end_session_endpoint: logout }),
        ...(pkce === undefined ? {} : { code_challenge_methods_supported: pkce }),
        token_endpoint_auth_methods_supported: methods,
        id_token_signing_alg_values_supported: algorithms,
      });
    });
    const metadata = await client.discover();
    t.strictSame(asked, [settings.configUrl]);
    t.ok(client.usesPkce(metadata), 'PKCE');
    t.ok(login!.startsWith('https://') && new URL(login!).hostname.endsWith(new URL(issuer).hostname.split('.').slice(-2).join('.')));
    t.equal(line('post_logout_uri') !== undefined, logout !== undefined, 'a logout of its own');
    t.match(line('scope'), /\bopenid\b/);
  });
}

t.test('all of them are in the guide', async (t) => {
  t.strictSame([...blocks.keys()].filter((name) => name in published).sort(), Object.keys(published).sort());
});
