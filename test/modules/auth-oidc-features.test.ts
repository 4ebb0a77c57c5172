import { createHmac, generateKeyPairSync } from 'node:crypto';
import { connect } from 'node:http2';
import t from 'tap';
import { certs } from '../support/certs.js';
import { OpenIdProvider, signingKey } from '../support/openid-provider.js';
import { openIdScene } from '../support/openid-scene.js';
import { startOrigin } from '../support/origin.js';
import { WebBrowser } from '../support/web-browser.js';

const SECRET = Buffer.from('a secret that has at least 256 bits of length');
const XHR = { headers: { 'Sec-Fetch-Mode': 'cors' }, follow: 0 };

t.test('between other features', async (t) => {
  const origin = await startOrigin(t, ({ header, target }) => ({
    headers: { 'Set-Cookie': `own=${target}`, 'Cache-Control': 'max-age=100' },
    body: `${header('X-Email') ?? 'nobody'}|${header('X-Name') ?? ''}|${header('X-Injected') ?? ''}`,
  }));
  const key = signingKey();
  const { s, provider, own } = await openIdScene(t, {
    lines: 'userinfo on;',
    http: `proxy_cache_path %%DIR%%/cache keys_zone=c:1m;
      log_format oidc "$uri $status $oidc_claim_sub [$error_reason]";
      auth_jwt_claim_set $city address city;
      map $oidc_claim_roles $admin { "~\\badmin\\b" 1; }
      map $arg_idp $idp { yes idp; unknown other; default ""; }`,
    server: `
      access_log %%DIR%%/oidc.log oidc;
      location /proxy/ {
        proxy_set_header X-Email $oidc_claim_email;
        proxy_set_header X-Name $oidc_claim_name;
        proxy_pass http://127.0.0.1:${origin.port};
      }
      location /cached/ {
        proxy_cache c; proxy_ignore_headers Set-Cookie; proxy_hide_header Set-Cookie; add_header X-Cache $upstream_cache_status;
        proxy_pass http://127.0.0.1:${origin.port};
      }
      location = /any { satisfy any; allow 127.0.0.2; deny all; alias %%DIR%%/html/page.html; }
      location /none/ { satisfy any; allow 127.0.0.1; deny all; alias %%DIR%%/html/; }
      location /basic/ { satisfy any; auth_basic realm; auth_basic_user_file %%DIR%%/users; alias %%DIR%%/html/; }
      location /token/ { satisfy any; auth_jwt "" token=$arg_token; auth_jwt_key_file %%DIR%%/keys.json; alias %%DIR%%/html/; }
      location /nested/ { auth_jwt off token=$oidc_id_token; add_header X-City $city; alias %%DIR%%/html/; }
      location /checked/ {
        auth_jwt "" token=$oidc_id_token; auth_jwt_key_file %%DIR%%/provider.json; auth_require $jwt_claim_email;
        add_header X-City $city; alias %%DIR%%/html/;
      }
      location /admin/ { auth_request /is-admin; alias %%DIR%%/html/; }
      location = /is-admin { internal; if ($admin = "") { return 403; } return 204; }
      location /page/ { error_page 401 /login-needed; alias %%DIR%%/html/; }
      location = /login-needed { auth_oidc off; default_type text/plain; return 200 "please reload"; }
      location /choice/ { auth_oidc $idp; alias %%DIR%%/html/; }
      location /open/ { auth_oidc off; return 200 "open|$oidc_claim_sub"; }
      location /info/ { add_header X-Info $oidc_userinfo; alias %%DIR%%/html/; }
      `,
    provider: { key, claims: { address: { city: 'Bern' } } },
    options: {
      files: {
        'html/page.html': 'the page',
        users: 'jane:{PLAIN}secret\n',
        'keys.json': JSON.stringify({ keys: [{ kty: 'oct', k: SECRET.toString('base64url'), alg: 'HS256' }] }),
        'provider.json': JSON.stringify({ keys: [key] }),
      },
    },
  });
  const browser = new WebBrowser();
  await browser.visit(`${own}/`);

  await t.test('backends', async (t) => {
    t.equal((await browser.visit(`${own}/proxy/x`)).text, 'jones@example.com|Mr jones|');
    const forged = await browser.visit(`${own}/proxy/x`, { headers: { 'X-Email': 'root@example.com' } });
    t.equal(forged.text, 'jones@example.com|Mr jones|', 'what a browser sends under that name is replaced');
    await provider.set({ claims: { name: 'Eve\r\nX-Injected: yes', email: null } });
    const eve = new WebBrowser();
    t.equal((await eve.visit(`${own}/proxy/x`, { headers: { 'X-Email': 'root@example.com' } })).text, 'nobody|Eve  X-Injected: yes|');
    await provider.set({ claims: { address: { city: 'Bern' } } });
    t.equal((await new WebBrowser().visit(`${own}/proxy/x`, XHR)).status, 401);
  });

  await t.test('a cache', async (t) => {
    const first = await browser.visit(`${own}/cached/a`);
    t.equal(first.header('x-cache'), 'MISS');
    const second = await browser.visit(`${own}/cached/a`);
    t.equal(second.header('x-cache'), 'HIT');
    t.strictSame(second.all('set-cookie'), []);
    t.equal((await new WebBrowser().visit(`${own}/cached/a`, XHR)).status, 401, 'who has no session gets nothing of it');
    const led = await new WebBrowser().visit(`${own}/cached/b`, { follow: 0 });
    t.equal(led.status, 302);
    t.equal((await browser.visit(`${own}/cached/b`)).header('x-cache'), 'MISS', 'a redirect to the login is not cached');
  });

  await t.test('satisfy', async (t) => {
    t.equal((await new WebBrowser().visit(`${own}/any`, XHR)).status, 401);
    t.equal((await new WebBrowser().visit(`${own}/any`, { follow: 0 })).status, 302);
    t.equal((await browser.visit(`${own}/any`, XHR)).text, 'the page');
    t.equal((await new WebBrowser().visit(`${own}/none/page.html`, XHR)).text, 'the page', 'the address is enough');
    const basic = { ...XHR, headers: { ...XHR.headers, Authorization: `Basic ${Buffer.from('jane:secret').toString('base64')}` } };
    t.equal((await new WebBrowser().visit(`${own}/basic/page.html`, basic)).text, 'the page', 'so is a password');
    t.equal((await browser.visit(`${own}/basic/page.html`, XHR)).text, 'the page', 'and a session');
  });

  await t.test('tokens', async (t) => {
    const text = [{ alg: 'HS256' }, { sub: 'program' }].map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')).join('.');
    const token = `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`;
    t.equal((await new WebBrowser().visit(`${own}/token/page.html?token=${token}`, { follow: 0 })).text, 'the page', 'a token is enough');
    t.equal((await new WebBrowser().visit(`${own}/token/page.html?token=x`, { follow: 0 })).status, 302);
    t.equal((await new WebBrowser().visit(`${own}/token/page.html?token=x`, XHR)).status, 401);
    t.equal((await browser.visit(`${own}/token/page.html`, XHR)).text, 'the page', 'so is a session');
    const bearer = await new WebBrowser().visit(`${own}/`, { headers: { Authorization: 'Bearer x' }, follow: 0 });
    t.equal(bearer.status, 401, 'a program with a token is not led to a form');
    t.equal((await browser.visit(`${own}/nested/page.html`)).header('x-city'), 'Bern');
    const checked = await browser.visit(`${own}/checked/page.html`);
    t.strictSame([checked.status, checked.header('x-city')], [200, 'Bern']);
  });

  await t.test('subrequests, error pages, names with variables', async (t) => {
    t.equal((await browser.visit(`${own}/admin/page.html`)).text, 'the page');
    await provider.set({ claims: { roles: ['dev'] }, user: 'smith' });
    t.equal((await new WebBrowser().visit(`${own}/admin/page.html`)).status, 403);
    await provider.set({ claims: {}, user: 'jones' });
    const told = await new WebBrowser().visit(`${own}/page/x`, XHR);
    t.strictSame([told.status, told.text], [401, 'please reload']);
    t.equal((await new WebBrowser().visit(`${own}/choice/page.html`, XHR)).text, 'the page');
    t.equal((await new WebBrowser().visit(`${own}/choice/page.html?idp=yes`, XHR)).status, 401);
    t.equal((await new WebBrowser().visit(`${own}/choice/page.html?idp=unknown`, XHR)).status, 500);
    await s.logged(/oidc provider "other" not found/);
    t.equal((await browser.visit(`${own}/open/`)).text, 'open|');
    t.match(JSON.parse((await browser.visit(`${own}/info/page.html`)).header('x-info')!), { sub: 'jones', email: 'jones@example.com' });
    for (const method of ['POST', 'PUT']) {
      const half = await browser.visit(`${own}/proxy/upload`, {
        method,
        body: 'x'.repeat(100_000),
        headers: { 'Content-Length': '100000' },
      });
      t.equal(half.status, 200, method);
    }
  });

  await t.test('logs', async (t) => {
    await new WebBrowser().visit(`${own}/oidc_callback?state=x`, { follow: 0 });
    t.match(
      s.read('oidc.log'),
      /^\/oidc_callback 400 {1,2}-? ?\[oidc: the redirect URI was asked for with a state that this server has not given\]$/m,
    );
    t.match(s.read('oidc.log'), /^\/proxy\/x 200 jones \[-?\]$/m);
    t.match(s.read('oidc.log'), /^\/proxy\/x 401 -? ?\[oidc: there is no session/m);
  });
  t.notMatch(s.log(), /\[(alert|crit|emerg)\]/);
});

t.test('over TLS and HTTP/2, with a key of its own and two providers', async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { rsa } = certs();
  const second = await OpenIdProvider.start(t, { redirectUris: ['https://elsewhere.example/'] });
  const { s, provider, own } = await openIdScene(t, {
    scheme: 'https',
    listen: 'ssl',
    secret: 'private_key_jwt %%DIR%%/client.key kid=one;',
    provider: {
      clientAuth: 'private_key_jwt',
      clientKeys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' }],
    },
    http: `ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key}; http2 on;
      oidc_provider two { ${second.lines} client_secret another; cookie_name two; }`,
    server: 'location /two/ { auth_oidc two; alias %%DIR%%/html/; }',
    options: { files: { 'client.key': privateKey.export({ type: 'pkcs8', format: 'pem' }) as string } },
  });
  const browser = new WebBrowser();
  const first = await browser.visit(`${own}/deep?er`, { follow: 0 });
  t.match(first.header('set-cookie'), /^__Host-NGX_OIDC_SESSION_LOGIN=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
  const page = await browser.visit(`${own}/deep?er`);
  t.equal(page.text, 'jones|jones@example.com', s.log());
  const cookie = browser.cookies(`${own}/`);
  t.equal(await statusOverHttp2(own, '/deep', cookie), 200);
  t.equal(await statusOverHttp2(own, '/deep', ''), 302);

  // A code of one provider, with the state of a login at the other.
  const mixed = new WebBrowser();
  const atTwo = await mixed.visit(`${own}/two/`, { follow: 0 });
  t.match(atTwo.header('location'), `${second.issuer}/auth?`);
  const state = new URL(atTwo.header('location')!).searchParams.get('state')!;
  const atOne = await mixed.visit(`${own}/`, { follow: 3 });
  const callback = new URL(atOne.header('location')!);
  callback.searchParams.set('state', state);
  t.equal((await mixed.visit(callback.href, { follow: 0 })).status, 502);
  await s.logged(/oidc: provider "two": unexpected "iss"/);
  t.strictSame(Object.keys(await second.set()).includes('/token'), false, 'the code was not told to the other provider');
  t.equal((await browser.visit(`${own}/two/`, XHR)).status, 401, 'a session of one provider is none of the other');
  browser.setCookie('127.0.0.1', 'two', browser.cookie('127.0.0.1', 'NGX_OIDC_SESSION'));
  t.equal((await browser.visit(`${own}/two/`, XHR)).status, 401);
  t.not(second.port, provider.port);
});

/** The status of a GET over HTTP/2 whose cookies are fields of their own. */
function statusOverHttp2(own: string, path: string, cookies: string): Promise<number> {
  const session = connect(own, { rejectUnauthorized: false });
  return new Promise((resolve, reject) => {
    session.on('error', reject);
    const request = session.request({ ':path': path, ...(cookies === '' ? {} : { cookie: cookies.split('; ') }) });
    request.on('error', reject);
    request.on('response', (head) => {
      resolve(Number(head[':status']));
      session.destroy();
    });
  });
}
