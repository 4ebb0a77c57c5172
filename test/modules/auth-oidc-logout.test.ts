import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import t from 'tap';
import { CLIENT_ID, type OpenIdProvider } from '../support/openid-provider.js';
import { openIdScene } from '../support/openid-scene.js';
import { waitFor } from '../support/wait.js';
import { WebBrowser } from '../support/web-browser.js';

const HOST = '127.0.0.1';
const XHR = { headers: { 'Sec-Fetch-Mode': 'cors' }, follow: 0 };
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A logout token as the provider signs it, with other claims or another header. */
function logoutToken(provider: OpenIdProvider, claims: object, header: object = {}): string {
  const key = provider.key as { kid: string };
  const now = Math.floor(Date.now() / 1000);
  const text = `${part({ alg: 'RS256', kid: key.kid, typ: 'logout+jwt', ...header })}.${part({
    iss: provider.issuer,
    aud: CLIENT_ID,
    iat: now,
    exp: now + 120,
    jti: randomUUID(),
    events: { [EVENT]: {} },
    ...claims,
  })}`;
  return `${text}.${sign('sha256', Buffer.from(text), createPrivateKey({ key: provider.key, format: 'jwk' } as never)).toString('base64url')}`;
}

for (const store of ['zone', 'cookie'] as const) {
  t.test(`${store}: logouts`, async (t) => {
    const { s, provider, own } = await openIdScene(t, {
      lines: `${store === 'cookie' ? 'session_store cookie;' : ''} logout_uri /logout; post_logout_uri /bye; logout_token_hint on;
        frontchannel_logout_uri /front; backchannel_logout_uri /back;`,
      shown: '$oidc_claim_sub|$oidc_claim_sid',
      workers: 2,
      provider: { backchannelLogoutUri: '/back' },
    });
    const login = async (): Promise<{ browser: WebBrowser; sid: string }> => {
      const browser = new WebBrowser();
      const page = await browser.visit(`${own}/`);
      t.equal(page.status, 200);
      return { browser, sid: page.text.split('|')[1]! };
    };
    const goesOn = async (browser: WebBrowser): Promise<boolean> => (await browser.copy().visit(`${own}/`, XHR)).status === 200;

    await t.test('the user asks for it', async (t) => {
      const { browser } = await login();
      const stolen = browser.copy();
      const first = await browser.visit(`${own}/logout`, { follow: 0 });
      t.equal(first.status, 302);
      const url = new URL(first.header('location')!);
      t.equal(url.pathname, '/session/end');
      t.equal(url.searchParams.get('post_logout_redirect_uri'), `${own}/bye`);
      t.equal(url.searchParams.get('client_id'), CLIENT_ID);
      t.equal(url.searchParams.get('id_token_hint')!.split('.').length, 3);
      t.match(first.header('set-cookie'), /^NGX_OIDC_SESSION=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/);
      t.equal(browser.cookie(HOST, 'NGX_OIDC_SESSION'), undefined);
      t.notOk(await goesOn(stolen), 'the cookie is of no use any more');
      const form = await browser.visit(url.href);
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(form.text)![1]!;
      const end = await browser.visit(`${provider.issuer}/session/end/confirm`, { method: 'POST', body: `xsrf=${xsrf}&logout=yes` });
      t.equal(end.url, `${own}/bye`);
      t.equal(end.text, 'bye');
      t.notMatch(s.log(), /back-channel logout.*400/);
      const again = await browser.visit(`${own}/logout`, { follow: 0 });
      t.equal(again.status, 302, 'without a session, too');
      t.equal((await browser.visit(`${own}/logout`, { method: 'PUT' })).status, 405);
    });

    await t.test('the browser is told by the provider', async (t) => {
      const [one, two] = [await login(), await login()];
      const iss = encodeURIComponent(provider.issuer);
      // In a frame of another site there are no cookies.
      const frame = (args: string) => new WebBrowser().visit(`${own}/front${args}`, { follow: 0 });
      t.equal((await frame(`?iss=https://evil.example&sid=${one.sid}`)).status, 400);
      t.equal((await frame(`?iss=${iss}&sid=unknown`)).status, 200);
      t.equal((await frame(`?sid=${one.sid}`)).status, 200);
      t.equal((await frame('')).status, 200);
      t.ok(await goesOn(one.browser));
      const done = await frame(`?iss=${iss}&sid=${one.sid}`);
      t.equal(done.status, 200);
      t.equal(done.header('cache-control'), 'no-store');
      t.notOk(await goesOn(one.browser));
      t.ok(await goesOn(two.browser), 'others go on');
      t.equal((await one.browser.visit(`${own}/`)).status, 200, 'a new login is possible, though the provider has the same session');
      t.equal((await two.browser.visit(`${own}/front`)).status, 200);
      t.notOk(await goesOn(two.browser), 'with the cookie alone');
      t.equal((await frame('?iss=x')).status, 400);
      t.equal((await new WebBrowser().visit(`${own}/front`, { method: 'POST' })).status, 405);
    });

    await t.test('the provider tells it by itself', async (t) => {
      const { browser, sid } = await login();
      const post = (token: string, body = `logout_token=${token}`) => new WebBrowser().visit(`${own}/back`, { method: 'POST', body });
      const now = Math.floor(Date.now() / 1000);
      const good = logoutToken(provider, { sid });
      for (const [token, why] of [
        ['', 'nothing'],
        ['a.b.c', 'no token'],
        [`${good.slice(0, -8)}AAAAAAAA`, 'another signature'],
        [`${good.split('.')[0]}.${part({ sid })}.${good.split('.')[2]}`, 'other claims'],
        [`${part({ alg: 'none' })}.${good.split('.')[1]}.`, 'no signature'],
        [logoutToken(provider, { sid }, { alg: 'HS256' }), 'another algorithm'],
        [logoutToken(provider, { sid, aud: 'other' }), 'another audience'],
        [logoutToken(provider, { sid, iss: 'https://evil.example' }), 'another issuer'],
        [logoutToken(provider, { sid, exp: now - 1000 }), 'its time is over'],
        [logoutToken(provider, { sid, iat: now - 10_000 }), 'it is old'],
        [logoutToken(provider, { sid, events: {} }), 'no event'],
        [logoutToken(provider, { sid, events: null }), 'no events'],
        [logoutToken(provider, { sid, nonce: 'x' }), 'an ID token'],
        [logoutToken(provider, { sid, jti: undefined }), 'no name'],
        [logoutToken(provider, {}), 'nobody'],
      ] as const) {
        t.equal((await post(token)).status, 400, why);
      }
      t.equal((await post('', 'x'.repeat(100_000))).status, 413);
      t.equal((await new WebBrowser().visit(`${own}/back`)).status, 405);
      t.ok(await goesOn(browser));
      const done = await post(good);
      t.equal(done.status, 200);
      t.equal(done.header('cache-control'), 'no-store');
      t.notOk(await goesOn(browser));
      t.equal((await post(good)).status, 400, 'the same token once more');

      const [one, two] = [await login(), await login()];
      t.equal((await post(logoutToken(provider, { sub: 'smith' }))).status, 200);
      t.ok(await goesOn(one.browser));
      t.equal((await post(logoutToken(provider, { sub: 'jones' }))).status, 200);
      t.notOk(await goesOn(one.browser), 'all sessions of the user');
      t.notOk(await goesOn(two.browser));
      t.equal((await one.browser.visit(`${own}/`)).status, 200, 'and a new one goes on');
      t.ok(await goesOn(one.browser));
    });

    await t.test('the user logs out at the provider', async () => {
      const { browser } = await login();
      const form = await browser.visit(`${provider.issuer}/session/end`);
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(form.text)![1]!;
      await browser.visit(`${provider.issuer}/session/end/confirm`, { method: 'POST', body: `xsrf=${xsrf}&logout=yes` });
      await waitFor(async () => !(await goesOn(browser)), { what: 'the back-channel logout' });
    });

    await t.test('without the provider', async (t) => {
      const { browser } = await login();
      await provider.stop();
      t.equal((await browser.visit(`${own}/logout`, { follow: 0 })).status, 302);
      t.notOk(await goesOn(browser));
    });
    t.notMatch(s.log(), /\[(alert|crit|emerg)\]/);
  });
}

t.test('no pages to go to', async (t) => {
  const { provider, own, s, conf } = await openIdScene(t, { lines: 'logout_uri /logout;' });
  const browser = new WebBrowser();
  await browser.visit(`${own}/`);
  t.match((await browser.visit(`${own}/logout`, { follow: 0 })).header('location'), /\/session\/end\?client_id=sluice$/);
  await provider.stop();
  await s.reload(conf('logout_uri /logout;'));
  const page = await browser.visit(`${own}/logout`);
  t.equal(page.status, 200);
  t.match(page.text, 'You have been logged out.');
});
