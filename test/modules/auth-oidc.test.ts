import t from 'tap';
import { CLIENT_SECRET, OpenIdProvider, type ProviderOptions } from '../support/openid-provider.js';
import { reservePort } from '../support/ports.js';
import type { Scene } from '../support/prefix.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { WebBrowser } from '../support/web-browser.js';

const SHOWN = '"$oidc_claim_sub|$oidc_claim_email|$oidc_claim_roles"';

/** A server on a port that its provider knows. */
async function scene(
  t: Scene,
  {
    provider: options = {},
    lines = '',
    http = '',
    server = '',
    workers = 1,
  }: {
    provider?: Partial<ProviderOptions>;
    lines?: string;
    http?: string;
    server?: string;
    workers?: number;
  } = {},
): Promise<{ s: Server; provider: OpenIdProvider; own: string; conf: (more?: string) => string }> {
  const reserved = await reservePort();
  t.teardown(() => reserved.release());
  const own = `http://127.0.0.1:${reserved.port}`;
  const provider = await OpenIdProvider.start(t, {
    redirectUris: [`${own}/oidc_callback`, `${own}/other_callback`],
    postLogoutUris: [`${own}/bye`],
    ...options,
  });
  const conf = (more = ''): string =>
    httpConf(
      `oidc_provider idp { ${provider.lines} client_secret "${CLIENT_SECRET}"; ${lines} }
      ${http}
      server {
        listen 127.0.0.1:${reserved.port};
        auth_oidc idp;
        location / { error_page 418 =200 @shown; try_files /none =418; }
        location @shown { return 200 ${SHOWN}; }
        location = /bye { auth_oidc off; return 200 bye; }
        ${server}
        ${more}
      }`,
      `worker_processes ${workers};`,
    );
  const s = await startServer(t, { conf: conf() });
  return { s, provider, own, conf };
}

t.test('a login, from the deep link and back to it', async (t) => {
  const { s, provider, own } = await scene(t, { lines: 'scope openid email profile;' });
  const browser = new WebBrowser();
  const page = await browser.visit(`${own}/deep/link?with=args&and=more`);
  t.equal(page.status, 200, s.log());
  t.equal(page.url, `${own}/deep/link?with=args&and=more`);
  t.equal(page.text, 'jones|jones@example.com|admin,dev');
  t.match(page.way[1], `${provider.issuer}/auth?`);
});
