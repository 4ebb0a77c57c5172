// What is counted and logged of tokens, keys, signatures and logins; limits by whom a token is of.
import { createHash } from 'node:crypto';
import { connect } from 'node:http2';
import t from 'tap';
import { openIdScene } from '../support/openid-scene.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { signed } from '../support/signatures.js';
import { keySet, newKey, sharedKey, token } from '../support/tokens.js';
import { waitFor } from '../support/wait.js';
import { WebBrowser } from '../support/web-browser.js';

const KEY = sharedKey('shop', 'a secret of thirty-two letters..');

/** The values of metrics whose line begins with a name. */
function metrics(text: string, name: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line.startsWith(`sluice_${name}`));
  return Object.fromEntries(
    lines.map((line) => line.split(/ (?=[\d.]+$)/)).map(([label, value]) => [label!.slice(7 + name.length), Number(value)]),
  );
}

t.test('metrics, log variables and limits', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `error_log %%DIR%%/error.log info; listen 127.0.0.1:%%PORT_1%%; http2 on; access_log %%DIR%%/who.log who;
      error_page 418 =200 @in; location @in { return 200 "$jwt_claim_sub"; }
      location /jwt { auth_jwt api; auth_jwt_key_file keys; auth_jwt_require $jwt_claim_sub; try_files /none =418; }
      location /lost { auth_jwt api; auth_jwt_key_file none; try_files /none =418; }
      location /key { auth_api_key x; auth_api_key_file api-keys; try_files /none =418; }
      location /signed { auth_signature x; auth_signature_key_file keys; try_files /none =418; }
      location /limited { auth_jwt api; auth_jwt_key_file keys; limit_req zone=sub; limit_conn subs 5; try_files /none =418; }
      location = /status { access_log off; sluice_status; }`,
      'limit_req_zone $jwt_claim_sub zone=sub:1m rate=1r/m; limit_conn_zone $jwt_claim_sub zone=subs:1m; log_format who "$uri $status [$jwt_claim_sub] [$api_key_name] [$signature_keyid] [$error_reason]";',
    ),
    files: { keys: keySet(KEY), 'api-keys': `shop:${createHash('sha256').update('k').digest('hex')}\n` },
  });
  const bearer = (claims: object, key = KEY): Record<string, string> => ({ Authorization: `Bearer ${token(key, claims)}` });
  const status = async (path: string, headers: Record<string, string> = {}): Promise<number> => (await httpGet(s, path, headers)).status;
  t.equal(await status('/jwt', bearer({ sub: 'jones' })), 200);
  t.equal(await status('/jwt', bearer({ sub: 'smith' })), 200);
  t.equal(await status('/jwt', bearer({})), 401);
  t.equal(await status('/jwt', bearer({ sub: 'jones' }, newKey('x', 'ES256'))), 401);
  t.equal(await status('/jwt'), 401);
  t.equal(await status('/lost', bearer({ sub: 'jones' })), 500);
  t.equal(await status('/key', { 'X-API-Key': 'k' }), 200);
  t.equal(await status('/key', { 'X-API-Key': 'x' }), 401);
  t.equal(await status('/signed', signed(KEY, { path: '/signed' })), 200);
  t.equal(await status('/signed'), 401);
  t.equal(
    (
      await http(
        s,
        requestText('POST', '/signed', { ...signed(KEY, { method: 'POST', path: '/signed', body: 'a' }), Connection: 'close' }, 'b'),
      )
    ).status,
    401,
  );
  t.strictSame(metrics((await httpGet(s, '/status?format=prometheus')).text, 'auth_requests_total'), {
    '{method="auth_api_key",result="passed"}': 1,
    '{method="auth_api_key",result="refused"}': 1,
    '{method="auth_api_key",result="failed"}': 0,
    '{method="auth_jwt",result="passed"}': 2,
    '{method="auth_jwt",result="refused"}': 3,
    '{method="auth_jwt",result="failed"}': 1,
    '{method="auth_signature",result="passed"}': 1,
    '{method="auth_signature",result="refused"}': 2,
    '{method="auth_signature",result="failed"}': 0,
  });
  const lines = await waitFor(() => {
    const all = s.read('who.log').trim().split('\n');
    return all.length === 11 ? all : undefined;
  });
  for (const [i, line] of [
    '/jwt 200 [jones] [-] [-] []',
    '/jwt 200 [smith] [-] [-] []',
    '/jwt 401 [-] [-] [-] [the JSON Web Token is refused: the rule "auth_jwt_require $jwt_claim_sub" is not met]',
    '/jwt 401 [-] [-] [-] [the JSON Web Token is refused: no key fits it]',
    '/jwt 401 [-] [-] [-] [no JSON Web Token was provided]',
    '/lost 500 [-] [-] [-] [open() "',
    '/key 200 [-] [shop] [-] []',
    '/key 401 [-] [-] [-] [the API key is not known]',
    '/signed 200 [-] [-] [shop] []',
    '/signed 401 [-] [-] [-] [no signature was provided]',
    '/signed 401 [-] [-] [-] [the signature is refused: the body is not the one that was signed]',
  ].entries()) {
    t.ok(
      lines[i]!.replaceAll('\\x22', '"')
        .replace(/\[\]|\[-\]$/, (found) => found)
        .startsWith(line.replace(/ \[\]$/, '')),
      `${line} in ${lines[i]}`,
    );
  }

  // Who has used the limit up leaves it to others; a token that is not right counts for nobody.
  const limited = (sub: string, key = KEY): Promise<number> => status('/limited', bearer({ sub }, key));
  t.strictSame([await limited('jones'), await limited('jones'), await limited('smith')], [200, 503, 200]);
  t.strictSame([await limited('brown', newKey('x', 'ES256')), await limited('brown'), await limited('brown')], [401, 200, 503]);
  const session = connect(`http://127.0.0.1:${s.port(1)}`);
  const over2 = (sub: string): Promise<number> =>
    new Promise((resolve) => {
      const stream = session.request({ ':path': '/limited', authorization: bearer({ sub }).Authorization! });
      stream.on('response', (headers) => resolve(Number(headers[':status'])));
      stream.resume();
    });
  t.strictSame([await over2('jones'), await over2('green'), await over2('green')], [503, 200, 503], 'over HTTP/2 likewise');
  session.destroy();
});

t.test('metrics of logins', async (t) => {
  const { s, provider, own } = await openIdScene(t, {
    lines: 'logout_uri /out;',
    server: 'location = /status { auth_oidc off; sluice_status; }',
  });
  const browser = new WebBrowser();
  t.equal((await browser.visit(`${own}/page`)).text, 'jones|jones@example.com');
  t.equal((await browser.visit(`${own}/page`)).status, 200);
  await provider.set({ user: 'nobody' });
  const other = new WebBrowser();
  t.equal((await other.visit(`${own}/page`)).status, 403);
  await browser.visit(`${own}/out`, { follow: 0 });
  await browser.visit(`${own}/out`, { follow: 0 });
  const { text } = await httpGet(Number(new URL(own).port), '/status?format=prometheus');
  t.strictSame(metrics(text, 'oidc_'), {
    'requests_total{provider="idp"}': 2,
    'logins_total{provider="idp"}': 1,
    'login_failures_total{provider="idp"}': 1,
    'refreshes_total{provider="idp"}': 0,
    'refresh_failures_total{provider="idp"}': 0,
    'logouts_total{provider="idp"}': 1,
  });
  t.notMatch(s.log(), /\[(alert|crit|emerg)\]/);
});
