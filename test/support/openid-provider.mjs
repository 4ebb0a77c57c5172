// A certified OpenID Provider in a process of its own: `node openid-provider.mjs` with its settings as JSON in OPENID_PROVIDER. It logs in
// whoever the parent has named last, without asking; with a form if the parent wants one.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const settings = JSON.parse(process.env.OPENID_PROVIDER);

const state = { user: 'jones', claims: {}, clockOffset: 0, ...settings };
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...args) {
    super(...(args.length === 0 ? [RealDate.now() + state.clockOffset] : args));
  }

  static now() {
    return RealDate.now() + state.clockOffset;
  }
};

const { Provider } = await import('oidc-provider');
const issuer = `https://${settings.host}:${settings.port}`;

const provider = new Provider(issuer, {
  clients: settings.clients,
  jwks: settings.jwks,
  cookies: { keys: ['for tests alone'] },
  claims: { openid: ['sub', 'sid'], email: ['email'], profile: ['name', 'roles', 'padding', 'address'] },
  conformIdTokenClaims: false,
  // Its own asks no addresses of this machine.
  fetch: (url, { dispatcher: _dispatcher, ...options }) => fetch(url, options),
  features: {
    devInteractions: { enabled: false },
    backchannelLogout: { enabled: true },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (ctx, form) => {
        ctx.body = `<html><body>${form}<button form="op.logoutForm" name="logout" value="yes">out</button></body></html>`;
      },
    },
    userinfo: { enabled: true },
    ...settings.features,
  },
  ...(settings.algorithms === undefined ? {} : { enabledJWA: settings.algorithms }),
  pkce: { required: () => settings.pkceRequired !== false },
  ttl: {
    AccessToken: () => state.accessTokenTtl ?? 3600,
    IdToken: () => state.idTokenTtl ?? 3600,
    AuthorizationCode: 60,
    RefreshToken: 86400,
    Session: 86400,
    Grant: 86400,
    Interaction: 600,
  },
  issueRefreshToken: async (_ctx, client) => state.refreshTokens !== false && client.grantTypeAllowed('refresh_token'),
  rotateRefreshToken: true,
  clientBasedCORS: () => true,
  interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
  async loadExistingGrant(ctx) {
    const { client, session } = ctx.oidc;
    const id = session.grantIdFor(client.clientId);
    if (id) {
      return ctx.oidc.provider.Grant.find(id);
    }
    const grant = new ctx.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope('openid email profile offline_access');
    await grant.save();
    return grant;
  },
  findAccount: (_ctx, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@example.com`, name: `Mr ${id}`, roles: ['admin', 'dev'], ...state.claims }),
  }),
});
provider.on('backchannel.error', (_ctx, error) => process.stderr.write(`${error.stack}\n`));
provider.on('server_error', (_ctx, error) => process.stderr.write(`${error.stack}\n`));

const counts = {};
const callback = provider.callback();
const server = createServer({ cert: readFileSync(settings.cert), key: readFileSync(settings.key) }, async (req, res) => {
  const path = req.url.replace(/\?.*/s, '');
  counts[path] = (counts[path] ?? 0) + 1;
  if (path.startsWith('/interaction/')) {
    if (state.form && req.method === 'GET') {
      res.setHeader('Content-Type', 'text/html');
      res.end(
        '<!DOCTYPE html><title>Sign in</title><form method="post"><input name="login" id="login"><button id="go">Sign in</button></form>',
      );
      return;
    }
    let body = '';
    for await (const piece of req) {
      body += piece;
    }
    const user = new URLSearchParams(body).get('login') || state.user;
    await provider.interactionFinished(
      req,
      res,
      user === 'nobody' ? { error: 'access_denied', error_description: 'not you' } : { login: { accountId: user } },
    );
    return;
  }
  callback(req, res);
});
server.listen(settings.port, settings.host, () => process.send({ ready: true }));

process.on('message', (message) => {
  Object.assign(state, message.set);
  process.send({ counts: { ...counts } });
});
process.on('disconnect', () => process.exit(0));
