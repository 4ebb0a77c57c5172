// What providers may make of tokens and answers beside the usual: encryption, shared secrets, forms, tenants.
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { CompactEncrypt } from 'jose';
import t, { type Test } from 'tap';
import { certs } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { openIdScene } from '../support/openid-scene.js';
import { serverConf, startServer } from '../support/server.js';
import { keySet, newKey, sharedKey, type TestKey, token } from '../support/tokens.js';
import { waitFor } from '../support/wait.js';
import { type Page, WebBrowser } from '../support/web-browser.js';

const XHR = { headers: { 'Sec-Fetch-Mode': 'cors' }, follow: 0 };
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const ENC_KEY = { ...createPublicKey(PEM).export({ format: 'jwk' }), kid: 'enc', use: 'enc', alg: 'RSA-OAEP' };

t.test('a certified provider: encrypted ID tokens and UserInfo data, forms', async (t) => {
  const { provider, own } = await openIdScene(t, {
    lines:
      'decryption_key %%DIR%%/old.pem; decryption_key %%DIR%%/enc.pem; userinfo on; response_mode form_post; pkce on; logout_uri /out; logout_token_hint on; post_logout_uri /bye;',
    scheme: 'https',
    listen: 'ssl',
    http: `ssl_certificate ${certs().rsa.cert}; ssl_certificate_key ${certs().rsa.key};`,
    shown: '$oidc_claim_sub|$oidc_claim_email|$oidc_userinfo|$oidc_id_token',
    provider: {
      accessTokenTtl: 2,
      clientKeys: [ENC_KEY],
      client: {
        id_token_encrypted_response_alg: 'RSA-OAEP',
        id_token_encrypted_response_enc: 'A256GCM',
        userinfo_signed_response_alg: 'RS256',
        userinfo_encrypted_response_alg: 'RSA-OAEP',
        userinfo_encrypted_response_enc: 'A128CBC-HS256',
      },
      features: { encryption: { enabled: true }, jwtUserinfo: { enabled: true } },
    },
    options: {
      files: {
        'enc.pem': PEM,
        'old.pem': generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      },
    },
  });
  const browser = new WebBrowser();
  const login = async (browser: WebBrowser): Promise<Page> => {
    const form = await browser.visit(`${own}/deep?link`);
    const action = /action="([^"]+)"/.exec(form.text)![1]!;
    const fields = [...form.text.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]): [string, string] => [name!, value!]);
    t.equal(action, `${own}/oidc_callback`);
    t.match(form.way.join('\n'), /response_mode=form_post/);
    return browser.visit(action, { method: 'POST', body: new URLSearchParams(fields).toString(), headers: { Origin: provider.issuer } });
  };
  const begun = await new WebBrowser().visit(`${own}/`, { follow: 0 });
  t.match(
    begun.header('set-cookie'),
    /^__Host-NGX_OIDC_SESSION_LOGIN=.*; HttpOnly; SameSite=None; Secure$/,
    'which a form of another site brings',
  );
  const page = await login(browser);
  t.equal(page.url, `${own}/deep?link`);
  const [sub, email, userinfo, idToken] = page.text.split('|');
  t.strictSame([sub, email, JSON.parse(userinfo!).name], ['jones', 'jones@example.com', 'Mr jones']);
  t.equal(idToken!.split('.').length, 3, 'what was in the envelope');
  t.match(await browser.visit(`${own}/oidc_callback?code=x&state=y`, { follow: 0 }), { status: 405 }, 'by a form alone');
  t.match(await browser.visit(`${own}/oidc_callback`, { method: 'POST', body: 'code=x&state=y' }), { status: 400 });
  t.match(await browser.visit(`${own}/oidc_callback`, { method: 'POST', body: `state=${'x'.repeat(70_000)}` }), { status: 413 });
  t.match(await browser.visit(`${own}/oidc_callback`, { method: 'PUT' }), { status: 405 });
  // Refreshed tokens are encrypted, too.
  const before = page.text;
  await waitFor(async () => {
    const { status, text } = await browser.visit(`${own}/x`, XHR);
    t.equal(status, 200);
    return text.split('|')[3] !== before.split('|')[3];
  });
  const out = await browser.visit(`${own}/out`, { follow: 0 });
  t.match(out.header('location'), /id_token_hint=/);
});

t.test('a certified provider: HS256, and UserInfo data with the same', async (t) => {
  const { own } = await openIdScene(t, {
    lines: 'id_token_signed_response_alg HS256; userinfo on; backchannel_logout_uri /back;',
    shown: '$oidc_claim_sub|$oidc_claim_email',
    provider: {
      backchannelLogoutUri: '/back',
      client: { id_token_signed_response_alg: 'HS256', userinfo_signed_response_alg: 'HS256' },
      features: { jwtUserinfo: { enabled: true } },
      algorithms: { idTokenSigningAlgValues: ['RS256', 'HS256'], userinfoSigningAlgValues: ['RS256', 'HS256'] },
    },
  });
  const browser = new WebBrowser();
  t.equal((await browser.visit(`${own}/page`)).text, 'jones|jones@example.com');
});

interface Answers {
  idToken: string;
  userinfo: { type: string; body: string };
}

/** A provider that answers what it is told. */
async function toldProvider(
  t: Test,
  key: TestKey,
  issuer: (own: string) => string,
): Promise<{ readonly own: string; readonly answers: Answers; keys: string }> {
  const { rsa } = certs();
  const answers: Answers = { idToken: '', userinfo: { type: 'application/json', body: '{}' } };
  const told = { own: '', answers, keys: keySet(key) };
  const server = createServer({ cert: readFileSync(rsa.cert), key: readFileSync(rsa.key) }, (req, res) => {
    const { type, body } = req.url === '/userinfo' ? answers.userinfo : { type: 'application/json', body: '' };
    res.setHeader('Content-Type', type);
    const { port } = server.address() as { port: number };
    const own = `https://127.0.0.1:${port}`;
    res.end(
      req.url === '/keys'
        ? told.keys
        : req.url === '/token'
          ? JSON.stringify({ access_token: 'at', token_type: 'Bearer', id_token: answers.idToken, expires_in: 300 })
          : req.url === '/userinfo'
            ? body
            : JSON.stringify({
                issuer: issuer(own),
                authorization_endpoint: `${own}/auth`,
                token_endpoint: `${own}/token`,
                jwks_uri: `${own}/keys`,
                userinfo_endpoint: `${own}/userinfo`,
                id_token_signing_alg_values_supported: ['ES256', 'HS256'],
              }),
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  told.own = `https://127.0.0.1:${(server.address() as { port: number }).port}`;
  return told;
}

/** Logs in with what `make` makes of the nonce; the status, or what the page shows. */
async function loginWith(
  own: string,
  path: string,
  make: (nonce: string) => unknown,
  callback = '/oidc_callback',
): Promise<string | number> {
  const browser = new WebBrowser();
  const first = await browser.visit(`${own}${path}`, { follow: 0 });
  if (first.status !== 302) {
    return first.status;
  }
  const asked = new URL(first.header('location')!).searchParams;
  await make(asked.get('nonce')!);
  const { status } = await browser.visit(`${own}${callback}?code=c&state=${asked.get('state')}`, { follow: 0 });
  return status === 302 ? (await browser.visit(`${own}${path}`, { follow: 0 })).text : status;
}

const usual = (issuer: string, nonce: string) => {
  const now = Math.floor(Date.now() / 1000);
  return { iss: issuer, aud: 'us', sub: 'jones', iat: now, exp: now + 300, nonce };
};

t.test('tokens that are not what they should be', async (t) => {
  const key = newKey('one', 'ES256');
  const Secret = 'a secret of more than thirty-two letters';
  const { own: issuer, answers } = await toldProvider(t, key, (own) => own);
  const { ca } = certs();
  const provider = (name: string, lines: string): string =>
    `oidc_provider ${name} { issuer ${issuer}; client_id us; cookie_name ${name}; redirect_uri /${name}_back; ssl_trusted_certificate ${ca.cert}; ${lines} }`;
  const place = (name: string): string => `location /${name} { auth_oidc ${name}; try_files /none =418; }`;
  const s = await startServer(t, {
    conf: serverConf(
      `error_log %%DIR%%/error.log info; error_page 418 =200 @in; location @in { return 200 "$oidc_claim_sub $oidc_claim_role"; } ${['shared', 'es', 'plain', 'enc', 'info'].map(place).join('\n')}`,
      [
        provider('shared', `client_secret "${Secret}"; id_token_signed_response_alg HS256;`),
        provider('es', `client_secret "${Secret}"; id_token_signed_response_alg ES256;`),
        provider('plain', `client_secret "${Secret}";`),
        provider('enc', 'decryption_key enc.pem;'),
        provider('info', 'userinfo on;'),
      ].join('\n'),
    ),
    files: { 'enc.pem': PEM },
  });
  const own = `http://127.0.0.1:${s.port(0)}`;
  const login = (name: string, make: (nonce: string) => string | Promise<string>) =>
    loginWith(own, `/${name}`, async (nonce) => (answers.idToken = await make(nonce)), `/${name}_back`);
  const hs = sharedKey('x', Secret);
  const good = (nonce: string): string => token(key, usual(issuer, nonce));
  const shared = (nonce: string): string => token(hs, usual(issuer, nonce), { kid: undefined });

  t.equal(await login('shared', shared), 'jones ');
  t.equal(await login('shared', good), 502, 'a key of the provider where the secret is agreed on');
  t.equal(await login('shared', (nonce) => token({ ...hs, alg: 'HS512' }, usual(issuer, nonce))), 502, 'another algorithm');
  t.equal(await login('shared', (nonce) => token(sharedKey('x', `${Secret}!`), usual(issuer, nonce))), 502);
  t.equal(await login('shared', (nonce) => token(hs, { ...usual(issuer, nonce), aud: 'them' })), 502);
  t.equal(await login('es', good), 'jones ');
  t.equal(await login('es', shared), 502);
  t.equal(await login('plain', good), 'jones ');
  t.equal(await login('plain', shared), 502, 'the secret is no key unless that is agreed on');
  const publicText = JSON.stringify(key.jwk);
  t.equal(await login('plain', (nonce) => token(sharedKey('one', publicText), usual(issuer, nonce))), 502);

  const encrypt = (text: string, header: object = {}, pem = PEM): Promise<string> =>
    new CompactEncrypt(Buffer.from(text))
      .setProtectedHeader({ alg: 'RSA-OAEP', enc: 'A256GCM', cty: 'JWT', ...header })
      .encrypt(createPublicKey(pem));
  t.equal(await login('enc', (nonce) => encrypt(good(nonce))), 'jones ');
  t.equal(await login('enc', (nonce) => encrypt(good(nonce), { alg: 'RSA-OAEP-256', enc: 'A128CBC-HS256', kid: 'other' })), 'jones ');
  t.equal(await login('enc', good), 502, 'not encrypted');
  await s.logged(/the ID token is not encrypted/);
  t.equal(await login('plain', (nonce) => encrypt(good(nonce))), 502, 'nobody can open it');
  t.equal(
    await login('enc', (nonce) => encrypt(token({ ...hs, alg: 'HS256' }, usual(issuer, nonce)))),
    502,
    'everybody can encrypt, and not sign',
  );
  t.equal(await login('enc', async (nonce) => encrypt(`${good(nonce).split('.').slice(0, 2).join('.')}.`)), 502, 'no signature within');
  t.equal(await login('enc', async (nonce) => encrypt(JSON.stringify(usual(issuer, nonce)))), 502, 'nothing signed within');
  t.equal(await login('enc', async (nonce) => encrypt(await encrypt(good(nonce)))), 502, 'an envelope in an envelope');
  t.equal(
    await login('enc', async (nonce) => encrypt(good(nonce), {}, certs().rsa.cert === '' ? PEM : readFileSync(certs().rsa.key, 'latin1'))),
    502,
    'for another key',
  );
  for (const change of [
    { zip: 'DEF' },
    { crit: ['exp'], exp: 1 },
    { alg: 'RSA1_5' },
    { alg: 'dir' },
    { alg: 'PBES2-HS256+A128KW', p2c: 1e9, p2s: 'AAAA' },
  ]) {
    t.equal(
      await login('enc', async (nonce) => {
        const [, ...rest] = (await encrypt(good(nonce))).split('.');
        return [Buffer.from(JSON.stringify({ alg: 'RSA-OAEP', enc: 'A256GCM', ...change })).toString('base64url'), ...rest].join('.');
      }),
      502,
      JSON.stringify(change),
    );
  }
  t.equal(await login('enc', () => 'a.b.c.d.e'), 502);
  t.equal(await login('enc', () => '....'), 502);
  t.equal(await login('enc', () => `${'.'.repeat(100_000)}`), 502);

  const info = async (type: string, body: string) => {
    answers.userinfo = { type, body };
    return login('info', good);
  };
  const who = { sub: 'jones', role: 'admin' };
  t.equal(await info('application/json', JSON.stringify(who)), 'jones admin');
  t.equal(await info('application/jwt', token(key, who)), 'jones admin');
  t.equal(await info('application/jwt; charset=utf-8', token(key, { ...who, iss: issuer, aud: 'us' })), 'jones admin');
  t.equal(await info('application/jwt', token(key, { ...who, sub: 'smith' })), 502);
  t.equal(await info('application/jwt', token(key, { ...who, iss: 'https://evil.example' })), 502);
  t.equal(await info('application/jwt', token(key, { ...who, aud: 'them' })), 502);
  t.equal(await info('application/jwt', token(newKey('one', 'ES256'), who)), 502, 'another key');
  t.equal(await info('application/jwt', token(sharedKey('one', Secret), who)), 502);
  t.equal(await info('application/jwt', `${token(key, who, { alg: 'none' }).split('.').slice(0, 2).join('.')}.`), 502);
  t.equal(await info('application/jwt', await encrypt(token(key, who))), 502);
  t.equal(await info('application/jwt', ''), 502);
});

t.test("Entra ID's addresses for several tenants", async (t) => {
  const key = newKey('one', 'ES256');
  const Tenant = '11111111-2222-3333-4444-555555555555';
  const told = await toldProvider(t, key, (own) => `${own}/{tenantid}/v2.0`);
  const { own: at, answers } = told;
  const { ca } = certs();
  const provider = (name: string, path: string): string =>
    `oidc_provider ${name} { issuer ${at}/${path}; config_url ${at}/x; client_id us; redirect_uri /${name}_back; frontchannel_logout_uri /${name}_front; ssl_trusted_certificate ${ca.cert}; }`;
  const conf = serverConf(
    `error_page 418 =200 @in; location @in { return 200 "$oidc_claim_sub $oidc_claim_tid"; }
      location /common { auth_oidc common; try_files /none =418; } location /own { auth_oidc own; try_files /none =418; } location /odd { auth_oidc odd; try_files /none =418; }`,
    `${provider('common', 'common/v2.0')} ${provider('own', `${Tenant}/v2.0`)} ${provider('odd', 'x/common/v2.0/y')}`,
  );
  const s = await startServer(t, { conf });
  const own = `http://127.0.0.1:${s.port(0)}`;
  const login = (name: string, claims: object) =>
    loginWith(
      own,
      `/${name}`,
      (nonce) => (answers.idToken = token(key, { ...usual(`${at}/${Tenant}/v2.0`, nonce), ...claims })),
      `/${name}_back`,
    );
  t.equal(await login('common', { tid: Tenant }), `jones ${Tenant}`);
  t.equal(await login('common', {}), 502, 'no tenant');
  t.equal(await login('common', { tid: '99999999-2222-3333-4444-555555555555' }), 502, "another tenant's");
  t.equal(await login('common', { tid: '../evil', iss: `${at}/../evil/v2.0` }), 502);
  t.equal(await login('common', { iss: `${at}/{tenantid}/v2.0` }), 502);
  t.equal(await login('common', { tid: Tenant, iss: `${at}/common/v2.0` }), 502);
  // Keys say whose tokens they sign.
  const keyOf = (tenant: string): string => keySet({ ...key, jwk: Object.assign({ issuer: `${at}/${tenant}/v2.0` }, key.jwk) });
  told.keys = keyOf('{tenantid}');
  await s.reload(conf);
  t.equal(await login('common', { tid: Tenant }), `jones ${Tenant}`);
  told.keys = keyOf('9188040d-6c67-4c5b-b112-36a304b66dad');
  await s.reload(conf);
  t.equal(await login('common', { tid: Tenant }), 502, "another tenant's key");
  t.equal(await login('own', { tid: Tenant }), 502, 'metadata of several tenants for one');
  t.equal(await login('odd', { tid: Tenant }), 502);
  const front = (iss: string) => new WebBrowser().visit(`${own}/common_front?iss=${encodeURIComponent(iss)}&sid=x`);
  t.equal((await front(`${at}/${Tenant}/v2.0`)).status, 200);
  t.equal((await front('https://evil.example')).status, 400);
});

t.test('what the lines take', async (t) => {
  const message = (lines: string): Promise<string | undefined> =>
    configMessage(t, serverConf('', `resolver 127.0.0.1; oidc_provider x { issuer https://a.example; client_id y; ${lines} }`), {
      'rsa.pem': PEM,
      'ec.pem': generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    });
  t.ok(createPrivateKey(PEM));
  t.equal(
    await message('response_mode form_post; decryption_key rsa.pem; decryption_key rsa.pem; id_token_signed_response_alg ES256;'),
    undefined,
  );
  t.match(await message('response_mode fragment;'), 'invalid response mode "fragment"');
  t.match(await message('id_token_signed_response_alg none;'), 'invalid algorithm "none"');
  t.match(await message('id_token_signed_response_alg HS256;'), 'needs "client_secret"');
  t.match(await message('decryption_key ec.pem;'), 'it is not one of RSA');
  t.match(await message('decryption_key none.pem;'), 'cannot load certificate key');
});
