import { randomBytes } from 'node:crypto';
import t from 'tap';
import { openIdScene } from '../support/openid-scene.js';
import { waitFor } from '../support/wait.js';
import { WebBrowser } from '../support/web-browser.js';

const HOST = '127.0.0.1';
const TOKENS = '$oidc_claim_sub|$oidc_access_token|$oidc_id_token';
const XHR = { headers: { 'Sec-Fetch-Mode': 'cors' }, follow: 0 };

for (const store of ['zone', 'cookie'] as const) {
  const lines = store === 'cookie' ? 'session_store cookie;' : '';

  t.test(`${store}: tokens are refreshed once, by any of two workers`, async (t) => {
    const { s, provider, own, conf } = await openIdScene(t, {
      lines,
      workers: 2,
      shown: TOKENS,
      provider: { accessTokenTtl: 3 },
    });
    const browser = new WebBrowser();
    const first = await browser.visit(`${own}/`);
    t.match(first.text, /^jones\|/);
    const asked = async (): Promise<number> => (await provider.set())['/token'] ?? 0;
    t.equal(await asked(), 1);

    // Ten tabs at once, again and again, with the cookies of the first answer: until the tokens are others.
    const fresh = await waitFor(
      async () => {
        const pages = await Promise.all(
          Array.from({ length: 10 }, async () => {
            const tab = browser.copy();
            return { tab, page: await tab.visit(`${own}/`, { follow: 0 }) };
          }),
        );
        for (const { page } of pages) {
          t.equal(page.status, 200, page.header('location') ?? '');
        }
        return pages.find(({ page }) => page.text !== first.text);
      },
      { what: 'fresh tokens' },
    );
    t.match(fresh.page.text, /^jones\|/);
    t.ok((await asked()) <= 3, 'one refresh for all of them');

    await s.reload(conf(`${lines} logout_uri /logout;`));
    t.equal((await fresh.tab.copy().visit(`${own}/`, XHR)).status, 200, 'a reload keeps the session');

    await provider.stop();
    const old = await waitFor(
      async () => {
        const page = await fresh.tab.visit(`${own}/`, { follow: 0 });
        t.equal(page.status, 200, 'without the provider the session goes on');
        return /sessions go on with their old tokens/.test(s.log()) && page;
      },
      { what: 'a refresh that failed' },
    );
    t.match(old.text, /^jones\|/);
    t.equal((await new WebBrowser().visit(`${own}/`, XHR)).status, 401);
  });

  t.test(`${store}: a refresh token that the provider refuses, and the end of sessions`, async (t) => {
    const { s, provider, own, conf } = await openIdScene(t, { lines, shown: TOKENS, provider: { accessTokenTtl: 2 } });
    const browser = new WebBrowser();
    await browser.visit(`${own}/`);
    await provider.stop();
    provider.rotateKeys();
    await provider.begin();
    await waitFor(async () => (await browser.copy().visit(`${own}/`, XHR)).status === 401, { what: 'the end of the session' });
    await s.logged(/invalid_grant.*the session of "jones" ends/);
    const page = await browser.visit(`${own}/again`);
    t.equal(page.url, `${own}/again`);
    t.match(page.text, /^jones\|/, 'a new login, by the new keys of the provider');

    await s.reload(conf(`${lines} session_timeout 2s; cookie_name Own;`));
    await provider.set({ refreshTokens: false, accessTokenTtl: 1 });
    const later = new WebBrowser();
    t.equal((await later.visit(`${own}/`)).status, 200);
    t.equal((await later.visit(`${own}/`, XHR)).status, 200);
    await waitFor(async () => (await later.visit(`${own}/`, XHR)).status === 401, { what: 'the end of the session' });
    t.equal((await later.visit(`${own}/`)).status, 200, 'the provider still knows the user');
    const cookie = later.cookie(HOST, 'Own')!;
    for (const other of ['x', '', cookie.slice(1), `${cookie}x`, '1.', '9.AAAA', '3.AAAA', 'A'.repeat(43), 'A'.repeat(5000)]) {
      const forger = new WebBrowser();
      forger.setCookie(HOST, 'Own', other);
      t.equal((await forger.visit(`${own}/`, XHR)).status, 401, other.slice(0, 50));
    }
    t.notMatch(s.log(), /\[(alert|crit|emerg)\]/);
  });
}

t.test('a public client with a zone of its own, whose state is kept over restarts', async (t) => {
  const { s, own } = await openIdScene(t, {
    secret: '',
    http: 'keyval_zone zone=kept:1m state=%%DIR%%/kept.json; server { listen 127.0.0.1:%%PORT_9%%; location /api { api; } }',
    lines: 'session_store kept;',
    provider: { clientAuth: 'none' },
    options: { asRoot: true },
  });
  const browser = new WebBrowser();
  t.match((await browser.visit(`${own}/`)).text, /^jones/);
  const { text } = await new WebBrowser().visit(`http://127.0.0.1:${s.port(9)}/api/9/http/keyvals/kept`);
  t.notMatch(text, browser.cookie(HOST, 'NGX_OIDC_SESSION')!, 'the API does not show what a browser must send');
  t.notMatch(text, /eyJ|jones/, 'or tokens');
  await s.stop('QUIT');
  t.match(s.read('kept.json'), /:/);
  await s.start();
  t.match((await browser.visit(`${own}/`, { follow: 0 })).text, /^jones/);
});

t.test('long tokens', async (t) => {
  const { s, provider, own, conf } = await openIdScene(t, {
    lines: 'session_store cookie; userinfo on;',
    shown: '$oidc_claim_sub|$oidc_claim_padding',
    http: 'large_client_header_buffers 4 16k;',
  });
  const padding = randomBytes(3000).toString('base64url');
  await provider.set({ claims: { padding } });
  const browser = new WebBrowser();
  t.equal((await browser.visit(`${own}/`)).text, `jones|${padding}`);
  t.match(browser.cookie(HOST, 'NGX_OIDC_SESSION'), /^3\./);
  t.ok(browser.cookie(HOST, 'NGX_OIDC_SESSION_2'));
  for (const name of ['NGX_OIDC_SESSION', 'NGX_OIDC_SESSION_1', 'NGX_OIDC_SESSION_2']) {
    t.ok(browser.cookie(HOST, name)!.length < 4000);
  }
  const part = browser.copy();
  part.setCookie(HOST, 'NGX_OIDC_SESSION_1', undefined);
  t.equal((await part.visit(`${own}/`, XHR)).status, 401, 'a part that is missing');
  await provider.set({ claims: { padding: 'short' }, user: 'smith' });
  t.equal((await browser.visit(`${own}/`)).text, `jones|${padding}`);

  await provider.set({ claims: { padding: randomBytes(9000).toString('base64url') } });
  t.equal((await new WebBrowser().visit(`${own}/`)).status, 500);
  await s.logged(/the session has \d+ characters, too many for cookies/);
  await s.reload(conf('userinfo on;'));
  const zoned = new WebBrowser();
  t.equal((await zoned.visit(`${own}/`)).text.length, 'smith|'.length + 12_000, 'a zone has room for it');
  t.equal((await browser.visit(`${own}/`, XHR)).status, 401, 'cookies of another store are no session');
  await provider.set({ claims: { padding: randomBytes(150_000).toString('base64url') } });
  t.equal((await new WebBrowser().visit(`${own}/`)).status >= 500, true);
  await s.logged(/has no room for the session|is too large|too long|http response body/);
});

t.test('keys for cookies are rotated', async (t) => {
  const keys = { one: randomBytes(40).toString('latin1'), two: randomBytes(40).toString('latin1') };
  const { s, own, conf } = await openIdScene(t, {
    lines: 'session_store cookie; session_key %%DIR%%/one;',
    options: { files: { one: Buffer.from(keys.one, 'latin1'), two: Buffer.from(keys.two, 'latin1') } },
  });
  const browser = new WebBrowser();
  await browser.visit(`${own}/`);
  await s.reload(conf('session_store cookie; session_key %%DIR%%/two; session_key %%DIR%%/one;'));
  t.equal((await browser.visit(`${own}/`, XHR)).status, 200);
  const later = new WebBrowser();
  await later.visit(`${own}/`);
  await s.reload(conf('session_store cookie; session_key %%DIR%%/two;'));
  t.equal((await browser.visit(`${own}/`, XHR)).status, 401);
  t.equal((await later.visit(`${own}/`, XHR)).status, 200);
});

t.test("a provider's clock that is off", async (t) => {
  const { own, s, provider } = await openIdScene(t, { provider: { idTokenTtl: 10 } });
  for (const clockOffset of [-60_000, 60_000]) {
    await provider.set({ clockOffset });
    t.equal((await new WebBrowser().visit(`${own}/`)).status, 200, `by ${clockOffset} ms`);
  }
  await provider.set({ clockOffset: -400_000 });
  t.equal((await new WebBrowser().visit(`${own}/`)).status, 502, 'by far');
  await s.logged(/unexpected JWT "exp" \(expiration time\) claim value, expiration is past/);
});

t.test('a provider that is not there, and one with another name', async (t) => {
  const { s, provider, own, conf } = await openIdScene(t, {});
  await provider.stop();
  const away = await new WebBrowser().visit(`${own}/`);
  t.equal(away.status, 502);
  t.equal((await new WebBrowser().visit(`${own}/`, XHR)).status, 401);
  await s.logged(/oidc fetch connect\(\) failed .*refused/);
  await provider.begin();
  await waitFor(async () => (await new WebBrowser().visit(`${own}/`)).status === 200, { what: 'the provider to be found again' });
  await s.reload(
    conf().replace(
      `issuer ${provider.issuer};`,
      `issuer ${provider.issuer}/; config_url ${provider.issuer}/.well-known/openid-configuration;`,
    ),
  );
  t.equal((await new WebBrowser().visit(`${own}/`)).status, 502);
  await s.logged(/the metadata has the issuer "https:[^"]*\d" instead of "https:[^"]*\/"/);
  await s.reload(conf().replace(/ssl_trusted_certificate \S+;/, ''));
  t.equal((await new WebBrowser().visit(`${own}/`)).status, 502, 'its certificate is not trusted by the system');
  await s.logged(/oidc http SSL certificate verify error/);
});
