import { createPublicKey, type KeyObject } from 'node:crypto';
import { CompactEncrypt } from 'jose';
import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { keySet, newKey, sharedKey, type TestKey, token } from '../support/tokens.js';

const hs = sharedKey('one', 'a secret of thirty-two bytes, or more');
const other = sharedKey('two', 'another one of thirty-two bytes, or more');
const bearer = (text: string): Record<string, string> => ({ Authorization: `Bearer ${text}` });
const get = async (s: Server, path: string, key?: TestKey, claims: object = {}) =>
  httpGet(s, path, key === undefined ? {} : bearer(token(key, claims)));
const said = async (s: Server, path: string, key?: TestKey, claims: object = {}) => {
  const { status, text } = await get(s, path, key, claims);
  return [status, status === 200 ? text : ''];
};
/** Answers behind the access phase. */
const OK = 'location @ok { auth_jwt off; return 200 "$jwt_header_alg $jwt_claim_sub"; }';

t.test('tokens in the Authorization header', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `
      auth_jwt "closed site"; auth_jwt_key_file keys.json;
      location / { try_files /none @ok; }
      location /no-realm { auth_jwt ""; try_files /none @ok; }
      location /open { auth_jwt off; return 200 "[$jwt_claim_sub]"; }
      location /cookie { auth_jwt x token=$cookie_token; try_files /none @ok; }
      location /query { auth_jwt x token=\${arg_token}; try_files /none @ok; }
      location /switch { auth_jwt $realm; try_files /none @ok; }
      location /several { auth_jwt_key_file keys.json; auth_jwt_key_file one.jwk; try_files /none @ok; }
      location /missing { auth_jwt_key_file none.json; try_files /none @ok; }
      location /broken { auth_jwt_key_file keys.json; auth_jwt_key_file broken.json; try_files /none @ok; }
      location /by-issuer { auth_jwt_key_file $keys; try_files /none @ok; }
      location /named-by-issuer { auth_jwt_key_file $jwt_claim_iss.json; limit_req zone=subjects; try_files /none @ok; }
      location /late { auth_jwt_leeway 60s; try_files /none @ok; }
      location /write { limit_except GET { auth_jwt "writers"; } auth_jwt off; try_files /none @ok; }
      location = /401.html { internal; auth_jwt off; return 200 "log in, [$jwt_claim_sub]"; }
      location /page { error_page 401 /401.html; try_files /none @ok; }
      ${OK}`,
      `limit_req_zone $jwt_claim_sub zone=subjects:1m rate=100r/s;
      map $arg_off $realm { 1 off; default on; }
      map $jwt_claim_iss $keys { two two.json; default keys.json; }
      log_format who '$status <$jwt_claim_sub> <$error_reason>'; access_log %%DIR%%/who.log who;`,
    ),
    files: { 'keys.json': keySet(hs), 'one.jwk': JSON.stringify(other.jwk), 'two.json': keySet(other), 'broken.json': '{' },
  });
  const none = await get(s, '/');
  t.strictSame([none.status, none.header('WWW-Authenticate')], [401, 'Bearer realm="closed site"']);
  t.strictSame(await said(s, '/', hs, { sub: 'me' }), [200, 'HS256 me']);
  t.strictSame(await said(s, '/', hs, { sub: 'me' }), [200, 'HS256 me'], 'again');
  const wrong = await get(s, '/', other, { sub: 'forged' });
  t.strictSame([wrong.status, wrong.header('WWW-Authenticate')], [401, 'Bearer realm="closed site", error="invalid_token"']);
  t.equal((await get(s, '/no-realm')).header('WWW-Authenticate'), 'Bearer');
  t.equal((await get(s, '/no-realm', other)).header('WWW-Authenticate'), 'Bearer error="invalid_token"');
  t.strictSame(await said(s, '/open', hs, { sub: 'me' }), [200, '[]'], 'no token is looked at where none is asked for');
  const text = token(hs, { sub: 'me' });
  for (const [header, status] of [
    [`bEARER ${text}`, 200],
    [`Bearer   ${text}`, 200],
    [`Bearer ${text}x`, 401],
    [`Bearer ${text} x`, 401],
    [`Bearer${text}`, 401],
    [text, 401],
    ['Bearer', 401],
    [`Basic ${text}`, 401],
  ] as const) {
    t.equal((await httpGet(s, '/', { Authorization: header })).status, status, header.slice(0, 12));
  }
  const twice = await http(s, requestText('GET', '/', { Authorization: `Bearer ${text}`, authorization: `Bearer ${token(other, {})}` }));
  t.equal(twice.status, 400, 'two headers are one too many');
  t.equal((await httpGet(s, '/cookie', { Cookie: `a=b; token=${text}` })).text, 'HS256 me');
  t.equal((await httpGet(s, '/cookie', bearer(text))).status, 401);
  t.equal((await httpGet(s, `/query?token=${text}`)).text, 'HS256 me');
  t.equal((await httpGet(s, '/switch')).status, 401);
  t.equal((await httpGet(s, '/switch?off=1')).status, 200);
  t.strictSame(await said(s, '/several', other, { sub: 'b' }), [200, 'HS256 b']);
  t.equal((await get(s, '/missing', hs)).status, 500);
  t.equal((await get(s, '/missing')).status, 401, 'without a token no keys are needed');
  t.equal((await get(s, '/broken', hs)).status, 500);
  t.strictSame(await said(s, '/by-issuer', other, { iss: 'two', sub: 'x' }), [200, 'HS256 x'], 'the issuer chooses the keys');
  t.equal((await get(s, '/by-issuer', other, { iss: 'one' })).status, 401);
  t.strictSame(await said(s, '/named-by-issuer', other, { iss: 'two', sub: 'x' }), [200, 'HS256 x']);
  t.equal(
    (await get(s, '/named-by-issuer', other, { iss: 'two', sub: 'y', exp: 1 })).status,
    401,
    'expired: the keys are found nevertheless',
  );
  t.equal((await get(s, '/named-by-issuer', hs, { iss: 'two', sub: 'y' })).status, 401);
  t.equal((await get(s, '/named-by-issuer', hs, { iss: '../two', sub: 'y' })).status, 403, 'no way out of the folder');
  t.equal((await get(s, '/named-by-issuer', hs, { iss: '/etc/passwd\0', sub: 'y' })).status, 500);
  const now = Math.floor(Date.now() / 1000);
  t.equal((await get(s, '/', hs, { exp: now + 1000 })).status, 200);
  t.equal((await get(s, '/', hs, { exp: now - 30 })).status, 401);
  t.equal((await get(s, '/late', hs, { exp: now - 30 })).status, 200, 'leeway');
  t.equal((await get(s, '/', hs, { exp: now - 30 })).status, 401, 'what is remembered holds only where it does');
  t.equal((await get(s, '/late', hs, { exp: now - 90 })).status, 401);
  t.equal((await get(s, '/', hs, { nbf: now + 30 })).status, 401);
  t.equal((await get(s, '/late', hs, { nbf: now + 30 })).status, 200);
  t.equal((await httpGet(s, '/write')).status, 200);
  const post = await http(s, requestText('POST', '/write', {}, 'x'));
  t.strictSame([post.status, post.header('WWW-Authenticate')], [401, 'Bearer realm="writers"']);
  t.equal((await http(s, requestText('DELETE', '/write', bearer(text)))).status, 405);
  const page = await httpGet(s, '/page', bearer(token(other, { sub: 'forged' })));
  t.strictSame([page.status, page.text, page.header('WWW-Authenticate')?.slice(0, 6)], [401, 'log in, []', 'Bearer']);
  const lines = s.read('who.log');
  t.match(lines, '200 <me> <->');
  t.match(lines, '401 <-> <the JSON Web Token is refused: no key fits it>');
  t.match(lines, '401 <-> <no JSON Web Token was provided>');
  t.match(lines, '401 <-> <the JSON Web Token is refused: it has expired>');
  t.match(lines, /500 <-> <JSON Web Key Set .*broken.json.* cannot be used: it is not well-formed JSON>/);
  t.notMatch(lines, /forged/);
  t.equal(s.log().split(text.slice(-20)).length, 2, 'tokens do not go into the log, but for the line of the request that has one');
});

t.test('a file of keys that changes', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`auth_jwt x; auth_jwt_key_file keys.json; location / { try_files /none @ok; }
      location /cached { auth_jwt_key_cache 1h; try_files /none @ok; } ${OK}`),
    files: { 'keys.json': keySet(hs) },
  });
  t.equal((await get(s, '/', hs)).status, 200);
  t.equal((await get(s, '/cached', hs)).status, 200);
  await s.write('keys.json', keySet(other));
  t.equal((await get(s, '/', hs)).status, 401, 'the next request has the new keys');
  t.equal((await get(s, '/', other)).status, 200);
  t.equal((await get(s, '/cached', hs)).status, 200, 'they are kept for an hour');
  await s.reload();
  t.equal((await get(s, '/cached', hs)).status, 401, 'but not over a reload');
});

t.test('keys by a subrequest', async (t) => {
  let keys: string | undefined = keySet(hs);
  let asked = 0;
  const origin = await startOrigin(t, ({ header }) => {
    asked++;
    return keys === undefined
      ? { status: 503, body: 'down' }
      : { body: keys, headers: { 'Content-Type': 'application/json', 'X-Seen': header('Authorization') ?? '' } };
  });
  const s = await startServer(t, {
    conf: serverConf(`
      auth_jwt x; auth_jwt_key_request /keys;
      location / { try_files /none @ok; }
      location /cached { auth_jwt_key_cache 1h; try_files /none @ok; }
      location /two { auth_jwt_key_request /keys; auth_jwt_key_request /more; try_files /none @ok; }
      location /gone { auth_jwt_key_request /nowhere; try_files /none @ok; }
      location /unsafe { auth_jwt_key_request /../keys; try_files /none @ok; }
      location = /keys { internal; proxy_set_header Authorization ""; proxy_pass http://127.0.0.1:${origin.port}; }
      location = /more { internal; return 200 '${keySet(other)}'; }
      location /long { auth_jwt_key_request /long-keys; try_files /none @ok; }
      location = /long-keys { internal; alias %%DIR%%/long.json; }
      ${OK}`),
    files: { 'long.json': JSON.stringify({ keys: [hs.jwk], padding: 'x'.repeat(100_000) }) },
  });
  t.strictSame(await said(s, '/', hs, { sub: 'a' }), [200, 'HS256 a']);
  t.strictSame(await said(s, '/', hs, { sub: 'a' }), [200, 'HS256 a']);
  t.equal(asked, 2, 'once for each request');
  t.equal((await get(s, '/cached', hs)).status, 200);
  t.equal((await get(s, '/cached', hs)).status, 200);
  t.equal(asked, 3, 'once for the cache');
  t.equal((await get(s, '/two', other)).status, 200);
  t.equal((await get(s, '/long', hs)).status, 200, 'longer than subrequest_output_buffer_size');
  t.equal((await get(s, '/gone', hs)).status, 500);
  t.equal((await get(s, '/unsafe', hs)).status, 500);
  const post = await http(s, requestText('POST', '/', bearer(token(hs, { sub: 'p' })), 'a body'));
  t.strictSame([post.status, post.text], [200, 'HS256 p']);
  keys = keySet(other);
  t.equal((await get(s, '/', hs)).status, 401, 'rotated');
  t.equal((await get(s, '/', other)).status, 200);
  keys = undefined;
  t.equal((await get(s, '/', other)).status, 500, 'the provider is down');
  t.equal((await get(s, '/cached', hs)).status, 200);
  t.match(s.log(), 'JSON Web Key Set request "/keys" unexpected status: 503');
});

t.test('requirements', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `
      auth_jwt x; auth_jwt_key_file keys.json;
      location / { auth_jwt_require $good_issuer $jwt_claim_sub; auth_jwt_require $jwt_claim_scope error=403; try_files /none @ok; }
      location /nested { auth_jwt_require $role; try_files /none @nested; }
      location /general { auth_require $jwt_claim_admin error=404; auth_require $good_issuer; try_files /none @ok; }
      location /any { satisfy any; auth_jwt_require $good_issuer error=403; allow 127.0.0.2; deny all; try_files /none @ok; }
      location /inside { satisfy any; allow 127.0.0.1; deny all; empty_gif; add_header X-Sub "[$jwt_claim_sub]"; }
      location @nested { auth_jwt off; return 200 "$role $mail $type"; }
      ${OK}`,
      `map $jwt_claim_iss $good_issuer { good 1; bad 0; }
      auth_jwt_claim_set $role info "role of it";
      auth_jwt_claim_set $mail info e-mail;
      auth_jwt_header_set $type typ;`,
    ),
    files: { 'keys.json': keySet(hs) },
  });
  t.equal((await get(s, '/', hs, { iss: 'good', sub: 'a', scope: 'x' })).status, 200);
  const no = await get(s, '/', hs, { iss: 'bad', sub: 'a', scope: 'x' });
  t.strictSame([no.status, no.header('WWW-Authenticate')], [401, 'Bearer realm="x", error="invalid_token"']);
  t.equal((await get(s, '/', hs, { iss: 'good', scope: 'x' })).status, 401);
  const scope = await get(s, '/', hs, { iss: 'good', sub: 'a' });
  t.strictSame([scope.status, scope.header('WWW-Authenticate')], [403, undefined]);
  const nested = await httpGet(s, '/nested', bearer(token(hs, { info: { 'role of it': ['a', 'b'], 'e-mail': 'x@y' } }, { typ: 'JWT' })));
  t.strictSame([nested.status, nested.text], [200, 'a,b x@y JWT']);
  t.equal((await get(s, '/nested', hs, { info: { 'role of it': 0 } })).status, 401);
  t.equal((await get(s, '/general', hs, { iss: 'good', admin: 1 })).status, 200);
  t.equal((await get(s, '/general', hs, { iss: 'good' })).status, 404);
  t.equal((await get(s, '/general', hs, { iss: 'bad', admin: 1 })).status, 403);
  t.equal((await get(s, '/general', hs, { iss: 'other', admin: 1 })).status, 403);
  t.equal((await get(s, '/any', hs, { iss: 'good' })).status, 200);
  t.equal((await get(s, '/any', hs, { iss: 'bad' })).status, 403);
  t.equal((await get(s, '/any')).status, 401);
  t.equal((await get(s, '/inside', hs, { sub: 'a' })).header('X-Sub'), '[a]');
  t.equal(
    (await get(s, '/inside', other, { sub: 'forged' })).header('X-Sub'),
    '[]',
    'who is let in by address has no claims of a wrong token',
  );
});

t.test('claims before the access phase are verified then', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `
      auth_jwt x; auth_jwt_key_file keys.json;
      location / { limit_req zone=who; try_files /none @ok; }
      location /if { if ($jwt_claim_sub = root) { return 200 "hello root"; } try_files /none @ok; }
      location /set { set $who $jwt_claim_sub; return 200 "[$who]"; }
      location /ssi { ssi on; ssi_types text/plain; try_files /none @page; }
      location @page { auth_jwt off; ssi on; ssi_types text/plain; default_type text/plain; root %%DIR%%; try_files /page.txt =404; }
      location /part { auth_jwt off; return 200 "part of $jwt_claim_sub"; }
      ${OK}`,
      'limit_req_zone $jwt_claim_sub zone=who:1m rate=1r/m;',
    ),
    files: { 'keys.json': keySet(hs), 'page.txt': '<!--# include virtual="/part" --> and <!--# echo var="jwt_claim_sub" -->' },
  });
  t.equal((await get(s, '/', other, { sub: 'victim' })).status, 401);
  t.equal((await get(s, '/', other, { sub: 'victim' })).status, 401, 'a forged token does not use up the limit');
  t.equal((await get(s, '/', hs, { sub: 'victim' })).status, 200);
  t.equal((await get(s, '/', hs, { sub: 'victim', n: 2 })).status, 503);
  t.equal((await get(s, '/', hs, { sub: 'another' })).status, 200);
  t.strictSame(await said(s, '/if', hs, { sub: 'root' }), [200, 'hello root']);
  t.equal((await get(s, '/if', other, { sub: 'root' })).status, 401);
  t.strictSame(await said(s, '/set', hs, { sub: 'a' }), [200, '[a]']);
  t.strictSame(await said(s, '/set', other, { sub: 'a' }), [200, '[]']);
  t.strictSame(await said(s, '/ssi', hs, { sub: 'me' }), [200, 'part of me and me']);
});

t.test('encrypted and nested tokens', async (t) => {
  const secret = Buffer.alloc(32, 7);
  const wrap = { kty: 'oct', kid: 'enc', alg: 'A256KW', k: secret.toString('base64url') };
  const rsa = newKey('rsa', 'RS256');
  const privateJwk = { ...(rsa.secret as KeyObject).export({ format: 'jwk' }), kid: 'rsa-enc', use: 'enc' };
  const s = await startServer(t, {
    conf: serverConf(`
      auth_jwt x; auth_jwt_key_file keys.json;
      location / { auth_jwt_type encrypted; try_files /none @ok; }
      location /nested { auth_jwt_type nested; try_files /none @ok; }
      location /early { auth_jwt_type encrypted; set $who $jwt_claim_sub; try_files /none @early; }
      location /signed { try_files /none @ok; }
      location @early { auth_jwt off; return 200 "[$who] $jwt_claim_sub"; }
      location @ok { auth_jwt off; return 200 "$jwt_header_alg $jwt_claim_sub $jwt_payload"; }`),
    files: { 'keys.json': JSON.stringify({ keys: [hs.jwk, wrap, privateJwk] }) },
  });
  const encrypt = (text: string, key: Uint8Array | KeyObject, header: object): Promise<string> =>
    new CompactEncrypt(Buffer.from(text)).setProtectedHeader({ enc: 'A256GCM', ...header } as { alg: string; enc: string }).encrypt(key);
  const claims = JSON.stringify({ sub: 'me' });
  const plain = await encrypt(claims, secret, { alg: 'A256KW', kid: 'enc' });
  const send = async (path: string, text: string) => {
    const { status, text: body } = await httpGet(s, path, bearer(text));
    return [status, status === 200 ? body : ''];
  };
  t.strictSame(await send('/', plain), [200, `A256KW me ${claims}`]);
  t.strictSame(await send('/', plain), [200, `A256KW me ${claims}`], 'again, from memory');
  t.strictSame(await send('/early', plain), [200, '[me] me'], 'known by now');
  t.strictSame(await send('/early', await encrypt(claims, secret, { alg: 'A256KW' })), [200, '[] me'], 'not known before it is decrypted');
  t.strictSame(await send('/', await encrypt(claims, createPublicKey(rsa.secret as KeyObject), { alg: 'RSA-OAEP-256', kid: 'rsa-enc' })), [
    200,
    `RSA-OAEP-256 me ${claims}`,
  ]);
  const inner = token(hs, { sub: 'inside' });
  const nested = await encrypt(inner, secret, { alg: 'A256KW', cty: 'JWT' });
  t.strictSame(await send('/nested', nested), [200, `A256KW inside ${inner}`]);
  t.strictSame(await send('/nested', await encrypt(token(other, {}), secret, { alg: 'A256KW' })), [401, ''], 'signed by somebody else');
  t.strictSame(await send('/nested', plain), [401, ''], 'not signed');
  t.strictSame(await send('/', inner), [401, ''], 'not encrypted');
  t.strictSame(await send('/', nested), [401, ''], 'no claims in it');
  t.strictSame(await send('/signed', plain), [401, '']);
  t.strictSame(await send('/', `${plain.slice(0, -2)}AA`), [401, '']);
  t.strictSame(await send('/', await encrypt(JSON.stringify({ exp: 1 }), secret, { alg: 'A256KW' })), [401, '']);
  t.strictSame(await send('/', await encrypt(claims, Buffer.alloc(32, 8), { alg: 'dir' })), [401, '']);
});

t.test('configurations', async (t) => {
  const message = (text: string) => configMessage(t, serverConf(text));
  t.equal(await message('auth_jwt a b;'), 'invalid parameter "b" in %%FILE%%:11');
  t.equal(await message('auth_jwt a token=x;'), 'invalid variable name "x" in %%FILE%%:11');
  t.equal(await message('auth_jwt a token=$a$b;'), 'invalid variable name "$a$b" in %%FILE%%:11');
  t.equal(await message('auth_jwt a; auth_jwt b;'), '"auth_jwt" directive is duplicate in %%FILE%%:11');
  t.equal(await message('auth_jwt_type plain;'), 'invalid value "plain" in %%FILE%%:11');
  t.equal(await message('auth_jwt_require good;'), 'invalid value "good" in %%FILE%%:11');
  t.equal(await message('auth_jwt_require $host error=404;'), 'invalid parameter "error=404" in %%FILE%%:11');
  t.equal(await message('auth_jwt_require error=403;'), '"auth_jwt_require" directive must have a value in %%FILE%%:11');
  t.equal(await message('auth_require $host error=302;'), 'invalid parameter "error=302" in %%FILE%%:11');
  t.equal(await message('auth_jwt_claim_set $x a;'), '"auth_jwt_claim_set" directive is not allowed here in %%FILE%%:11');
  t.equal(await configMessage(t, serverConf('', 'auth_jwt_claim_set $host a;')), 'the duplicate "host" variable in %%FILE%%:6');
  t.equal(await configMessage(t, serverConf('', 'auth_jwt_claim_set x a;')), 'invalid variable name "x" in %%FILE%%:6');
  t.equal(
    await message('location / { limit_except GET { auth_jwt a; auth_jwt_key_file k; auth_jwt_require $host; auth_require $host; } }'),
    undefined,
  );
  const { stderr, code } = await testConfig(t, serverConf('location / { auth_jwt a; }'));
  t.equal(code, 0);
  t.match(stderr, '"auth_jwt" without keys refuses every token');
});
