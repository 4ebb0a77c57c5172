import { createHmac, createPrivateKey, generateKeyPairSync, type JsonWebKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import t from 'tap';
import { certs } from '../support/certs.js';
import { RawClient } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';
import { type Page, WebBrowser } from '../support/web-browser.js';

const XHR = { headers: { 'Sec-Fetch-Mode': 'cors' }, follow: 0 };
const SECRET = 'a secret of more than sixteen letters';
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

const part = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

function signed(claims: unknown, header: object = { alg: 'ES256', kid: 'one' }, key = privateKey): string {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), { key: createPrivateKey(key.export({ type: 'pkcs8', format: 'pem' })), dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

const publicKey = (kid: string): JsonWebKey => {
  const { d: _private, ...jwk } = privateKey.export({ format: 'jwk' });
  return { ...jwk, kid, alg: 'ES256', use: 'sig' };
};

type Answer = string | object | ((res: ServerResponse, req: IncomingMessage) => void);

t.test('providers that are not what they should be', async (t) => {
  const answers = new Map<string, Answer>();
  const counts = new Map<string, number>();
  const { rsa, ca } = certs();
  const provider = createServer({ cert: readFileSync(rsa.cert), key: readFileSync(rsa.key) }, (req, res) => {
    const path = req.url!.replace(/\?.*/s, '');
    counts.set(path, (counts.get(path) ?? 0) + 1);
    const answer = answers.get(path) ?? '';
    if (typeof answer === 'function') {
      answer(res, req);
      return;
    }
    res.setHeader('Content-Type', 'application/json');
    res.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  await new Promise<void>((done) => provider.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    provider.closeAllConnections();
    provider.close();
  });
  const { port } = provider.address() as { port: number };
  const issuer = `https://127.0.0.1:${port}`;
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    userinfo_endpoint: `${issuer}/userinfo`,
    id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'],
    code_challenge_methods_supported: ['S256'],
  };
  const conf = (lines = ''): string =>
    serverConf(
      'auth_oidc idp; location / { empty_gif; } location = /token { add_header X-Token "[$oidc_access_token]"; empty_gif; } location = /none { auth_oidc off; return 204; }',
      `oidc_provider idp { issuer ${issuer}; client_id us; client_secret "${SECRET}"; ssl_trusted_certificate ${ca.cert}; ${lines} }`,
    );
  const s = await startServer(t, { conf: conf() });
  const own = `http://127.0.0.1:${s.port(0)}`;
  const fine = (): void => {
    answers.set('/.well-known/openid-configuration', metadata).set('/keys', { keys: [publicKey('one')] });
  };

  /** Logs in; the provider's login page is left out. */
  async function login(claims: object | ((nonce: string) => Answer), more: object = {}, browser = new WebBrowser()): Promise<Page> {
    const first = await browser.visit(`${own}/page`, { follow: 0 });
    if (first.status !== 302) {
      return first;
    }
    const asked = new URL(first.header('location')!).searchParams;
    const now = Math.floor(Date.now() / 1000);
    const usual = { iss: issuer, aud: 'us', sub: 'jones', iat: now, exp: now + 300, nonce: asked.get('nonce') };
    answers.set(
      '/token',
      typeof claims === 'function'
        ? claims(asked.get('nonce')!)
        : { access_token: 'at', token_type: 'Bearer', id_token: signed({ ...usual, ...claims }), expires_in: 300, ...more },
    );
    return browser.visit(`${own}/oidc_callback?code=c&state=${asked.get('state')}`, { follow: 0 });
  }

  await t.test('metadata', async (t) => {
    const documents = [
      ['', 'nothing'],
      ['{', 'no JSON'],
      ['[]', 'no object'],
      [{ ...metadata, issuer: 'https://evil.example' }, 'another issuer'],
      [{ ...metadata, token_endpoint: `http://127.0.0.1:${port}/token` }, 'no TLS'],
      [{ ...metadata, authorization_endpoint: 'javascript:alert(1)//https://' }, 'a script'],
      [{ ...metadata, authorization_endpoint: undefined }, 'no login'],
      [{ ...metadata, jwks_uri: 5 }, 'no keys'],
      [{ ...metadata, padding: 'x'.repeat(300_000) }, 'a long document'],
      [(res) => res.writeHead(302, { Location: 'https://evil.example/' }).end(), 'a redirect'],
      [(res) => res.writeHead(500).end(), 'trouble'],
      [(res) => res.destroy(), 'an end'],
      [
        (res) => {
          res.writeHead(200, { 'Content-Length': '1000' }).write('{');
          res.destroy();
        },
        'an end in the middle',
      ],
    ] as readonly (readonly [Answer, string])[];
    // Each is that of a provider of its own.
    for (const [i, [answer]] of documents.entries()) {
      answers.set(`/m${i}`, answer);
    }
    await s.reload(
      serverConf(
        documents.map((_, i) => `location = /m${i} { auth_oidc m${i}; }`).join('\n'),
        documents
          .map(
            (_, i) =>
              `oidc_provider m${i} { issuer ${issuer}; client_id us; config_url ${issuer}/m${i}; ssl_trusted_certificate ${ca.cert}; }`,
          )
          .join('\n'),
      ),
    );
    for (const [i, [, why]] of documents.entries()) {
      t.equal((await new WebBrowser().visit(`${own}/m${i}`, { follow: 0 })).status, 502, why);
    }
    for (let i = 0; i < 10; i++) {
      t.equal((await new WebBrowser().visit(`${own}/m0`, { follow: 0 })).status, 502);
    }
    t.ok(counts.get('/m0')! <= 5, 'it is left alone after a failure');
    fine();
    await s.reload(conf());
    t.equal((await login({})).status, 302, 'one that is right');
  });

  await t.test('tokens', async (t) => {
    const now = Math.floor(Date.now() / 1000);
    const hs = (nonce: string): string => {
      const text = `${part({ alg: 'HS256' })}.${part({ iss: issuer, aud: 'us', sub: 'root', iat: now, exp: now + 300, nonce })}`;
      return `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`;
    };
    const token = (idToken: unknown) => ({ access_token: 'at', token_type: 'Bearer', id_token: idToken });
    const usual = (nonce: string) => ({ iss: issuer, aud: 'us', sub: 'root', iat: now, exp: now + 300, nonce });
    for (const [claims, why] of [
      [{ iss: 'https://evil.example' }, 'another issuer'],
      [{ aud: 'them' }, 'another audience'],
      [{ aud: ['us', 'them'], azp: 'them' }, 'another party'],
      [{ nonce: 'x' }, 'another nonce'],
      [{ nonce: undefined }, 'no nonce'],
      [{ exp: now - 200 }, 'it has ended'],
      [{ nbf: now + 200 }, 'it has not begun'],
      [{ sub: undefined }, 'nobody'],
      [{ sub: 5 }, 'a number'],
      [(nonce: string) => token(signed(usual(nonce), { alg: 'ES256', kid: 'one' }, other)), 'another key'],
      [(nonce: string) => token(`${part({ alg: 'none' })}.${part(usual(nonce))}.`), 'no signature'],
      [(nonce: string) => token(`${signed(usual(nonce)).split('.').slice(0, 2).join('.')}.`), 'a signature that is empty'],
      [(nonce: string) => token(hs(nonce)), 'a signature by what everybody knows who has our configuration'],
      [(nonce: string) => token(signed(usual(nonce), { alg: 'ES256', kid: 'one', crit: ['exp'] })), 'what must be understood and is not'],
      [() => token('a.b.c'), 'no token'],
      [() => token(5), 'a number'],
      [() => token(undefined), 'nothing'],
      [() => ({ error: 'server_error' }), 'an error with status 200'],
      [() => 'null', 'null'],
      [() => 'x'.repeat(1_000_000), 'a long answer'],
      [() => (res: ServerResponse) => res.writeHead(500).end('{}'), 'trouble'],
      [() => (res: ServerResponse) => res.writeHead(302, { Location: `${issuer}/other` }).end(), 'a redirect'],
      [() => (res: ServerResponse) => res.destroy(), 'an end'],
    ] as readonly (readonly [object | ((nonce: string) => Answer), string])[]) {
      const browser = new WebBrowser();
      t.equal((await login(claims, {}, browser)).status, 502, why);
      t.equal(browser.cookie('127.0.0.1', 'NGX_OIDC_SESSION'), undefined, why);
    }
    const endless = new WebBrowser();
    t.equal((await login({ exp: 1e300 }, { expires_in: 1e305, refresh_token: 'r' }, endless)).status, 302);
    t.equal((await endless.visit(`${own}/`, XHR)).status, 200);
    const odd = new WebBrowser();
    t.equal((await login({ name: 'x\r\ny' }, { access_token: 'a\r\nb', refresh_token: 'r' }, odd)).status, 302);
    t.equal((await odd.visit(`${own}/token`, XHR)).header('x-token'), '[a  b]');
  });

  await t.test('keys', async (t) => {
    answers.set('/keys', { keys: [publicKey('two')] });
    const before = counts.get('/keys')!;
    for (let i = 0; i < 5; i++) {
      t.equal(
        (
          await login((nonce) => ({
            access_token: 'at',
            token_type: 'Bearer',
            id_token: signed({ iss: issuer, aud: 'us', sub: 'x', iat: 1, exp: 9e9, nonce }, { alg: 'ES256', kid: `${i}` }),
          }))
        ).status,
        502,
      );
    }
    t.ok(counts.get('/keys')! <= before + 2, 'who signs with made-up keys does not have them asked for again and again');
    answers.set('/keys', { keys: Array.from({ length: 20_000 }, (_, i) => publicKey(`${i}`)) });
    await s.reload(conf());
    t.equal((await login({})).status, 502, 'a long list');
    fine();
    await s.reload(conf('userinfo on;'));
    t.equal((await login({})).status, 502, 'no UserInfo data');
    answers.set('/userinfo', { sub: 'smith' });
    t.equal((await login({})).status, 502, 'those of somebody else');
    answers.set('/userinfo', { sub: 'jones', name: 'Mr Jones' });
    t.equal((await login({})).status, 302);
  });

  await t.test('a provider that does not answer, and clients that go', async (t) => {
    await s.reload(conf());
    t.equal((await login({})).status, 302);
    const held: ServerResponse[] = [];
    answers.set('/token', (res) => held.push(res));
    const browser = new WebBrowser();
    const first = await browser.visit(`${own}/page`, { follow: 0 });
    const state = new URL(first.header('location')!).searchParams.get('state');
    const gone = await RawClient.connect(s);
    gone.send(
      `GET /oidc_callback?code=c&state=${state} HTTP/1.1\r\nHost: 127.0.0.1:${s.port(0)}\r\nCookie: ${browser.cookies(own)}\r\n\r\n`,
    );
    await waitFor(() => held.length === 1, { what: 'the request to the provider' });
    t.equal((await new WebBrowser().visit(`${own}/none`)).status, 204, 'others are served meanwhile');
    gone.socket.resetAndDestroy();
    await s.logged(/client prematurely closed connection/);
    held[0]!.end('{}');
    t.equal((await login({})).status, 302, 'and afterwards');
    t.notMatch(s.log(), /\[(alert|crit|emerg)\]/);
  });

  await t.test('a refresh', async (t) => {
    const browser = new WebBrowser();
    t.equal((await login({}, { expires_in: 1, refresh_token: 'r' }, browser)).status, 302);
    const now = Math.floor(Date.now() / 1000);
    const before = counts.get('/token')!;
    answers.set('/token', {
      access_token: 'at2',
      token_type: 'Bearer',
      id_token: signed({ iss: issuer, aud: 'us', sub: 'root', iat: now, exp: now + 300 }),
    });
    await waitFor(
      async () => {
        t.equal((await browser.visit(`${own}/`, XHR)).status, 200);
        return counts.get('/token')! > before;
      },
      { what: 'the refresh' },
    );
    await s.logged(/the refreshed ID token is of another user; sessions go on with their old tokens/);
    t.equal((await browser.visit(`${own}/`, XHR)).status, 200);
  });
});
