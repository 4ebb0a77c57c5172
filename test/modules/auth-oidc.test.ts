import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { CLIENT_ID } from '../support/openid-provider.js';
import { openIdScene } from '../support/openid-scene.js';
import { testConfig } from '../support/run-cli.js';
import { serverConf } from '../support/server.js';
import { WebBrowser } from '../support/web-browser.js';

t.test('logins', async (t) => {
  const { s, provider, own } = await openIdScene(t, { shown: '$oidc_claim_sub|$oidc_claim_email|$oidc_claim_roles' });
  const host = '127.0.0.1';
  const session = (browser: WebBrowser): string | undefined => browser.cookie(host, 'NGX_OIDC_SESSION');

  await t.test('from the deep link and back to it', async (t) => {
    const browser = new WebBrowser();
    const first = await browser.visit(`${own}/deep/link?with=args&and=%20more`, { follow: 0 });
    t.equal(first.status, 302);
    t.equal(first.header('cache-control'), 'no-store');
    t.match(first.header('set-cookie'), /^NGX_OIDC_SESSION_LOGIN=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    const asked = new URL(first.header('location')!);
    t.equal(asked.origin + asked.pathname, `${provider.issuer}/auth`);
    const { state, nonce, code_challenge, ...others } = Object.fromEntries(asked.searchParams);
    t.strictSame(others, {
      response_type: 'code',
      client_id: CLIENT_ID,
      redirect_uri: `${own}/oidc_callback`,
      scope: 'openid email profile',
      code_challenge_method: 'S256',
    });
    t.match(nonce, /^[\w-]{43}$/);
    t.match(code_challenge, /^[\w-]{43}$/);
    t.notMatch(Buffer.from(state!, 'base64url').toString('latin1'), /deep/, 'nobody reads the state');
    const back = await browser.visit(asked.href, { follow: 2 });
    const callback = back.header('location')!;
    t.match(callback, `${own}/oidc_callback?`);
    const done = await browser.visit(callback, { follow: 0 });
    t.equal(done.header('location'), `${own}/deep/link?with=args&and=%20more`);
    t.match(done.header('set-cookie'), /^NGX_OIDC_SESSION=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    const page = await browser.visit(done.header('location')!, { follow: 0 });
    t.equal(page.text, 'jones|jones@example.com|admin,dev');
    t.strictSame(page.all('set-cookie'), []);

    const again = await browser.visit(callback, { follow: 0 });
    t.equal(again.status, 302, 'the same address once more leads to the page');
    t.equal(again.header('location'), `${own}/deep/link?with=args&and=%20more`);
    t.notMatch(s.log(), /invalid_grant/, 'without asking the provider for a code that is used up');
    const other = await new WebBrowser().visit(callback, { follow: 0 });
    t.match(other.header('location'), `${provider.issuer}/auth?`, 'in another browser, a login of its own begins');
    t.equal((await new WebBrowser().visit(callback)).text, 'jones|jones@example.com|admin,dev');

    const without = browser.copy();
    without.setCookie(host, 'NGX_OIDC_SESSION', undefined);
    const used = await without.visit(callback, { follow: 0 });
    t.match(used.header('location'), `${provider.issuer}/auth?`, 'a code that is used up is for nothing, and another login begins');
    await s.logged(/oidc provider "idp": the provider answers "invalid_grant".*; the login is begun again/);
  });

  await t.test('forms', async (t) => {
    const posted = await new WebBrowser().visit(`${own}/form/save`, {
      method: 'POST',
      body: 'a=b',
      headers: { Referer: `${own}/form?id=1` },
      follow: 0,
    });
    t.equal(posted.status, 303);
    const page = await new WebBrowser().visit(`${own}/form/save`, {
      method: 'POST',
      body: 'a=b',
      headers: { Referer: `${own}/form?id=1` },
    });
    t.equal(page.url, `${own}/form?id=1`, 'the page of the form is shown again');
    for (const referer of ['https://evil.example/form', `${own}.evil.example/form`, `${own}@evil.example/`, '']) {
      const elsewhere = await new WebBrowser().visit(`${own}/form/save`, { method: 'POST', body: 'a=b', headers: { Referer: referer } });
      t.equal(elsewhere.url, `${own}/`, referer);
    }
  });

  await t.test('what no page can come of gets 401', async (t) => {
    for (const [method, headers] of [
      ['GET', { 'Sec-Fetch-Mode': 'cors' }],
      ['GET', { 'Sec-Fetch-Mode': 'no-cors' }],
      ['GET', { 'X-Requested-With': 'XMLHttpRequest' }],
      ['GET', { Accept: 'application/json' }],
      ['GET', { Accept: 'application/json, text/plain, */*' }],
      ['GET', { Accept: 'image/avif,image/webp' }],
      ['GET', { Upgrade: 'websocket', Connection: 'Upgrade' }],
      ['PUT', {}],
      ['DELETE', { 'Sec-Fetch-Mode': 'navigate' }],
      ['POST', { 'Sec-Fetch-Mode': 'cors' }],
    ] as const) {
      const { status } = await new WebBrowser().visit(`${own}/api`, { method, headers, follow: 0 });
      t.equal(status, 401, JSON.stringify([method, headers]));
    }
    for (const headers of [{ 'Sec-Fetch-Mode': 'navigate', Accept: 'application/json' }, { Accept: '*/*' }, { Accept: 'text/html' }]) {
      t.equal((await new WebBrowser().visit(`${own}/api`, { headers, follow: 0 })).status, 302, JSON.stringify(headers));
    }
    const refused = await new WebBrowser().visit(`${own}/api`, { headers: { 'Sec-Fetch-Mode': 'cors' } });
    t.equal(refused.header('www-authenticate'), 'Bearer realm="idp"');
    t.strictSame(refused.all('set-cookie'), []);
  });

  await t.test('the way back is on our own host', async (t) => {
    for (const target of [
      '//evil.example/x',
      '///evil.example',
      '/\\evil.example',
      '/%5cevil.example',
      '//evil.example:80\\@/',
      '/.//evil.example/',
    ]) {
      const page = await new WebBrowser().visit(`${own}/`, { target });
      t.equal(new URL(page.url).origin, own, `${target} leads to ${page.url}`);
      t.equal(page.status, 200);
    }
  });

  await t.test('states and codes that do not belong here', async (t) => {
    const browser = new WebBrowser();
    const first = await browser.visit(`${own}/page`, { follow: 0 });
    const state = new URL(first.header('location')!).searchParams.get('state')!;
    const changed = `${state.slice(0, 40)}${state[40] === 'A' ? 'B' : 'A'}${state.slice(41)}`;
    for (const args of [
      '',
      '?code=x',
      '?code=x&state=',
      `?code=x&state=${changed}`,
      `?code=x&state=${state.slice(0, -4)}`,
      '?state=AAAA',
      `?code=x&state=${'A'.repeat(4000)}`,
    ]) {
      t.equal((await browser.visit(`${own}/oidc_callback${args}`, { follow: 0 })).status, 400, args.slice(0, 60));
    }
    t.equal((await browser.visit(`${own}/oidc_callback?code=x&state=${state}`, { method: 'POST' })).status, 405);
    t.equal((await browser.visit(`${own}/oidc_callback?code=made-up&state=${state}&iss=${provider.issuer}`, { follow: 0 })).status, 302);
    t.equal((await browser.visit(`${own}/oidc_callback?code=made-up&state=${state}`, { follow: 0 })).status, 502, 'no issuer (RFC 9207)');
    t.equal((await browser.visit(`${own}/oidc_callback?code=x&state=${state}&iss=https://evil.example`, { follow: 0 })).status, 502);
    await s.logged(/unexpected "iss" \(issuer\) response parameter value/);
    t.equal((await browser.visit(`${own}/oidc_callback?code=x&code=y&state=${state}&iss=${provider.issuer}`, { follow: 0 })).status, 502);
    t.equal(
      (await browser.visit(`${own}/oidc_callback?error=x&error_description=a%0A2026/01/01%20[debug]&state=${state}&iss=${provider.issuer}`))
        .status,
      502,
    );
    await s.logged(/the provider answers "x" \(a 2026/);
    t.equal(session(browser), undefined);

    // Somebody has another one's browser come back with his own code: the victim does not get his session.
    const attacker = new WebBrowser();
    await provider.set({ user: 'attacker' });
    const theirs = await attacker.visit(`${own}/page`, { follow: 3 });
    t.match(theirs.header('location'), `${own}/oidc_callback?`);
    await provider.set({ user: 'victim' });
    const victim = await browser.visit(theirs.header('location')!);
    t.match(victim.text, /^victim\|/);
    await provider.set({ user: 'jones' });
  });

  await t.test('a nonce, and a verifier, that were changed on the way', async (t) => {
    for (const [name, status, line] of [
      ['nonce', 502, /unexpected ID Token "nonce" claim value/],
      ['code_challenge', 302, /"invalid_grant"/],
    ] as const) {
      const browser = new WebBrowser();
      const first = await browser.visit(`${own}/page`, { follow: 0 });
      const url = new URL(first.header('location')!);
      url.searchParams.set(name, 'x'.repeat(43));
      const end = await browser.visit(url.href, { follow: 3 });
      t.equal(end.status, status, name);
      await s.logged(line);
      t.equal(session(browser), undefined);
    }
  });

  await t.test('the provider refuses the user', async (t) => {
    await provider.set({ user: 'nobody' });
    t.equal((await new WebBrowser().visit(`${own}/`)).status, 403);
    await s.logged(/the provider answers "access_denied" \(not you\)/);
    await provider.set({ user: 'jones' });
  });

  await t.test('a browser without cookies', async (t) => {
    const browser = new WebBrowser();
    let url = `${own}/page`;
    let last = 0;
    for (let i = 0; i < 30 && last !== 403; i++) {
      const page = await browser.visit(url, { follow: 0 });
      last = page.status;
      url = new URL(page.header('location') ?? url, url).href;
      browser.setCookie('127.0.0.1', 'NGX_OIDC_SESSION_LOGIN', undefined);
    }
    t.equal(last, 403, 'is not led in a circle');
  });

  await t.test('tabs side by side', async (t) => {
    const browser = new WebBrowser();
    const tabs = await Promise.all(['/one', '/two', '/three'].map((path) => browser.copy().visit(own + path, { follow: 0 })));
    // Each of the answers has set another cookie, and the last one counts.
    const cookie = /_LOGIN=([\w-]+)/.exec(tabs[2]!.header('set-cookie')!)![1];
    browser.setCookie(host, 'NGX_OIDC_SESSION_LOGIN', cookie);
    for (const [i, path] of ['/one', '/two', '/three'].entries()) {
      const page = await browser.visit(tabs[i]!.header('location')!);
      t.equal(page.url, own + path);
      t.match(page.text, /^jones/);
    }
    const later = await browser.visit(`${own}/four`, { follow: 0 });
    t.equal(later.status, 200);
  });
  t.notMatch(s.log(), /\[(alert|crit|emerg)\]/);
});

t.test('what is wrong in the configuration', async (t) => {
  const good = 'issuer https://127.0.0.1; client_id id; client_secret secret;';
  for (const [lines, message] of [
    ['', 'no "issuer" is defined in oidc_provider "idp"'],
    ['issuer https://127.0.0.1;', 'no "client_id" is defined in oidc_provider "idp"'],
    ['issuer http://127.0.0.1; client_id id;', '"issuer" must be a URL with the scheme "https"'],
    ['issuer 127.0.0.1; client_id id;', '"issuer" must be a URL with the scheme "https"'],
    [`${good} issuer https://127.0.0.1;`, '"issuer" directive is duplicate'],
    [`${good} client_id;`, 'invalid number of arguments in "client_id" directive'],
    [`${good} nothing on;`, 'unknown directive "nothing"'],
    [`${good} pkce maybe;`, 'invalid value "maybe" in "pkce" directive, it must be "on" or "off"'],
    [`${good} scope email;`, '"scope" must have "openid"'],
    [`${good} session_timeout 0;`, '"session_timeout" directive invalid value'],
    [`${good} logout_uri logout;`, 'invalid path "logout" in "logout_uri"'],
    [`${good} redirect_uri //evil;`, 'invalid path "//evil" in "redirect_uri"'],
    [`${good} redirect_uri http://own.example/;`, '"redirect_uri" must be a URL with the scheme "https"'],
    [`${good} cookie_name "a b";`, 'invalid cookie name "a b"'],
    [`${good} session_store cookie;`, 'the "client_secret" of oidc_provider "idp" is too short to encrypt cookies with'],
    [
      'issuer https://127.0.0.1; client_id id; session_store cookie;',
      '"session_store cookie" of oidc_provider "idp" needs "client_secret", "private_key_jwt" or "session_key"',
    ],
    [`${good} session_store none;`, 'zero size shared memory zone "none"'],
    [`${good} session_store ip;`, 'the session store "ip" of oidc provider "idp" must be of type "string"'],
    [`${good} ssl_trusted_certificate /none;`, 'cannot load certificate "/none"'],
    [`${good} ssl_crl /none;`, 'cannot load CRL "/none"'],
    [`${good} session_key /none;`, 'open() "/none" failed'],
    [`${good} private_key_jwt /none;`, 'cannot load certificate key "/none"'],
  ] as const) {
    t.match(
      await configMessage(t, serverConf('auth_oidc idp;', `keyval_zone zone=ip:32k type=ip; oidc_provider idp { ${lines} }`)),
      message,
      lines,
    );
  }
  const whole = `oidc_provider idp { ${good} }`;
  t.match(await configMessage(t, serverConf('auth_oidc other;', whole)), 'oidc provider "other" is not defined');
  t.match(
    await configMessage(t, serverConf('location / { if ($args) { auth_oidc idp; } }', whole)),
    '"auth_oidc" directive is not allowed here',
  );
  t.match(await configMessage(t, serverConf('auth_oidc idp; auth_oidc off;', whole)), '"auth_oidc" directive is duplicate');
  t.match(await configMessage(t, serverConf('', whole + whole)), 'duplicate oidc provider "idp"');
  const { stderr } = await testConfig(
    t,
    serverConf('auth_oidc idp;', 'oidc_provider idp { issuer https://provider.example; client_id id; }'),
  );
  t.match(stderr, 'no "resolver" is defined to find the oidc provider "idp" with');
});
