import t from 'tap';
import { frame, get, Http3Scene, headers, responseOf, until } from '../../support/http3-scene.js';
import { openIdScene } from '../../support/openid-scene.js';
import { signed, type ToSign } from '../../support/signatures.js';
import { keySet, newKey, sharedKey, token } from '../../support/tokens.js';
import { WebBrowser } from '../../support/web-browser.js';

const KEY = sharedKey('shop', 'a secret of thirty-two letters..');
const lines = (fields: Record<string, string>): string[] => Object.entries(fields).map(([name, value]) => `${name}: ${value}`);

t.test('tokens, signatures and sessions over HTTP/3', async (t) => {
  // The session is made over HTTP/1, by another machine with the same key.
  const sessionKey = 'k'.repeat(40);
  const { own, provider } = await openIdScene(t, {
    lines: 'session_store cookie; session_key %%DIR%%/session.key;',
    options: { files: { 'session.key': sessionKey } },
  });
  const browser = new WebBrowser();
  t.equal((await browser.visit(`${own}/page`)).status, 200);
  const cookie = browser.cookies(own);

  const scene = await Http3Scene.of(
    t,
    `keyval_zone zone=nonces:1m; limit_req_zone $jwt_claim_sub zone=sub:1m rate=1r/m; resolver 127.0.0.1;
    oidc_provider idp { ${provider.lines} client_secret "a secret that only tests know: 0123456789"; session_store cookie; session_key DIR/html/session.key; }
    server {
      listen 127.0.0.1:8443; server_name localhost; error_page 418 =200 @in;
      location @in { return 200 "$jwt_claim_sub|$signature_keyid|$oidc_claim_sub"; }
      location /jwt { auth_jwt api; auth_jwt_key_file DIR/html/keys; limit_req zone=sub burst=1 nodelay; try_files /none =418; }
      location /signed { auth_signature api; auth_signature_key_file DIR/html/keys; auth_signature_nonce_zone nonces; try_files /none =418; }
      location /login { auth_oidc idp; try_files /none =418; }
    }`,
    { keys: keySet(KEY), 'session.key': sessionKey },
  );
  const client = scene.client();
  let id = -4;
  const ask = async (...parts: readonly Buffer[]) => {
    const stream = client.open((id += 4)).send(Buffer.concat(parts), true);
    await until(() => stream.ended || stream.resetCode !== undefined);
    return responseOf(stream);
  };

  await t.test('tokens', async (t) => {
    const bearer = (key = KEY) => get('/jwt', `authorization: Bearer ${token(key, { sub: 'jones' })}`);
    t.equal((await ask(bearer())).body, 'jones||');
    const refused = await ask(bearer(newKey('shop', 'ES256')));
    t.strictSame([refused.status, refused.headers['www-authenticate']], ['401', 'Bearer realm="api", error="invalid_token"']);
    t.equal((await ask(get('/jwt'))).status, '401');
    t.strictSame([(await ask(bearer())).status, (await ask(bearer())).status], ['200', '503'], 'limits by whom a token is of');
  });

  await t.test('signatures', async (t) => {
    const send = async (request: ToSign, body = request.body?.toString() ?? '', sent = signed(KEY, request)) => {
      const { method = 'GET', path } = request;
      const head = headers(`:method: ${method}`, ':scheme: https', `:path: ${path}`, ':authority: localhost', ...lines(sent));
      const { status, body: text } = await ask(head, ...(body === '' ? [] : [frame(0, body)]));
      return status === '200' ? text : status;
    };
    t.equal(await send({ path: '/signed?a=b' }), '|shop|');
    const post: ToSign = { method: 'POST', path: '/signed', body: 'pay=5' };
    const sent = signed(KEY, post);
    t.equal(await send(post, 'pay=6', sent), '401');
    t.equal(await send(post, 'pay=5', sent), '|shop|');
    t.equal(await send(post, 'pay=5', sent), '401', 'a second time');
    t.equal(await send({ method: 'POST', path: '/signed' }, 'pay=5'), '401', 'a body that nobody signed');
    t.equal(await send({ ...post, body: 'x'.repeat(40_000) }), '|shop|', 'a body in a file');
  });

  await t.test('sessions', async (t) => {
    t.equal((await ask(get('/login', `cookie: ${cookie}`))).body, '||jones');
    t.equal((await ask(get('/login', ...cookie.split('; ').map((one) => `cookie: ${one}`)))).body, '||jones', 'cookies in several fields');
    t.equal((await ask(get('/login', `cookie: ${cookie.replace(/.$/, 'x')}`, 'sec-fetch-mode: cors'))).status, '401');
    const led = await ask(get('/login', 'accept: text/html'));
    t.equal(led.status, '302');
    t.match(led.headers['location'], `${provider.issuer}/auth?`);
    t.match(led.headers['set-cookie'], /_LOGIN=.*HttpOnly; SameSite=Lax/);
  });
});
