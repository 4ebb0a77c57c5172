import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { noBrowser, startBrowser } from '../support/browser.js';
import { certs } from '../support/certs.js';
import { noQuicClient } from '../support/gtlsclient.js';
import { openIdScene } from '../support/openid-scene.js';

for (const [store, quic] of [
  ['', false],
  ['session_store cookie;', false],
  ['response_mode form_post;', false],
  ['response_mode form_post;', true],
] as const) {
  const skip = noBrowser || (quic && noQuicClient);
  t.test(`logins in Chromium ${store}${quic ? ' over HTTP/3' : ''}`, { skip }, async (t) => {
    const { rsa } = certs();
    const { s, provider, own } = await openIdScene(t, {
      scheme: 'https',
      listen: quic ? 'ssl; listen 127.0.0.1:%%OWN%% quic' : 'ssl',
      lines: `${store} logout_uri /logout; post_logout_uri /bye;`,
      http: `ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key}; http2 on;`,
      server: `add_header Cache-Control no-store always; location /app/ { default_type text/html; alias %%DIR%%/html/; }
        location = /api { default_type application/json; alias %%DIR%%/html/api.json; }`,
      provider: { form: true },
      options: {
        files: {
          'html/index.html':
            '<!DOCTYPE html><title>App</title><form method="post" action="/app/save"><input name="a"><button id="save">Save</button></form>',
          'html/api.json': '{}',
        },
      },
    });
    const known = createHash('sha256').update(
      new X509Certificate(readFileSync(rsa.cert)).publicKey.export({ type: 'spki', format: 'der' }),
    );
    const browser = await startBrowser(t, [
      '--ignore-certificate-errors',
      ...(quic
        ? [
            '--enable-quic',
            `--origin-to-force-quic-on=${new URL(own).host}`,
            `--ignore-certificate-errors-spki-list=${known.digest('base64')}`,
          ]
        : []),
    ]);
    const context = await browser.newContext({ ignoreHTTPSErrors: true });

    const [one, two] = [await context.newPage(), await context.newPage()];
    await Promise.all([one.goto(`${own}/app/?tab=1#part`), two.goto(`${own}/app/?tab=2`)]);
    t.equal(await one.title(), 'Sign in', 'both tabs show the form');
    t.equal(await two.title(), 'Sign in');
    for (const page of [one, two]) {
      await page.fill('#login', 'jones');
      await page.click('#go');
      await page.waitForURL(`${own}/app/**`);
    }
    t.match(one.url(), `${own}/app/?tab=1`);
    t.equal(await one.evaluate('performance.getEntriesByType("navigation")[0].nextHopProtocol'), quic ? 'h3' : 'h2');
    t.equal(two.url(), `${own}/app/?tab=2`);
    const cookies = await context.cookies(own);
    const session = cookies.find(({ name }) => name === 'NGX_OIDC_SESSION');
    t.match(session, { httpOnly: true, secure: true, sameSite: 'Lax', path: '/' });
    t.notMatch(await one.evaluate('document.cookie'), /OIDC/, 'no script sees them');
    const api = (): Promise<number> => one.evaluate("fetch('/api').then(({ status }) => status)");
    t.equal(await api(), 200);

    // The session is over while a form is filled in.
    await context.clearCookies({ name: 'NGX_OIDC_SESSION' });
    t.equal(await api(), 401, 'a script is told');
    await one.click('#save');
    await one.waitForURL(`${own}/app/**`);
    t.equal(await one.title(), 'App', 'the provider knows the user, and the form is shown again');
    t.equal(await api(), 200);

    await one.goto(`${own}/logout`);
    await one.click('button[name=logout]');
    await one.waitForURL(`${own}/bye`);
    await two.goto(`${own}/app/?tab=2`);
    t.equal(await two.title(), 'Sign in', 'logged out in all tabs');
    await two.fill('#login', 'nobody');
    await two.click('#go');
    await two.waitForURL(`${own}/oidc_callback**`);
    t.match(await two.content(), /403 Forbidden/);
    t.notMatch(s.log(), /\[(alert|crit|emerg)\]/);
    t.ok(provider.port);
  });
}
